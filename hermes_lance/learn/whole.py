"""Answers that are counted are whole: where a leg has failed, words answer a person, but they are no measurement."""

from __future__ import annotations

from typing import TypeVar

from hermes_lance.core.errors import ModelUnavailable

Answer = TypeVar("Answer")


def whole(answer: Answer) -> Answer:
    """`answer`, or `ModelUnavailable` with its warnings if the embedder had failed and only words were compared."""
    for entry in getattr(answer, "trace", ()):
        if entry.stage == "dense" and entry.outcome == "failed":
            said = "; ".join(getattr(answer, "warnings", ()))
            raise ModelUnavailable(f"the evaluation was ended: {said}", hint="Run it again when the embedder answers.")
    return answer
