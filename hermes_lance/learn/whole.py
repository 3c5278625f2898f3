"""Answers that are counted are whole: where a leg has failed, words answer a person, but they are no measurement."""

from __future__ import annotations

from typing import TypeVar

from hermes_lance.core.errors import ModelUnavailable

Answer = TypeVar("Answer")


def whole(answer: Answer, reranker: str | None = None) -> Answer:
    """`answer`, or `ModelUnavailable` with its warnings if the embedder had failed and only words were compared, or if
    a reranker had failed and the fused order was kept. `reranker`: the one that must have ordered it."""
    trace = getattr(answer, "trace", ())
    failed = any(entry.stage in ("dense", "rerank") and entry.outcome == "failed" for entry in trace)
    lacking = reranker is not None and not any(entry.stage == "rerank" for entry in trace)
    if failed or lacking:
        said = "; ".join(getattr(answer, "warnings", ()))
        hint = "Run it again when embedder and reranker answer."
        raise ModelUnavailable(f"the evaluation was ended: {said}", hint=hint)
    return answer
