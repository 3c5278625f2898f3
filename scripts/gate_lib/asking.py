"""Builds the collections and asks every message through `Library.context(mode="gated")`, as an agent's host does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import hermes_lance
from hermes_lance.learn import beir
from hermes_lance.library import Library

from .sets import Labelled, Sets

WIDE_OPEN = -1_000.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of one message. `score` and `measures` are missing where the gate closed before a search."""

    message: Labelled
    stage: str
    reason: str
    formula: str
    score: float | None
    sure: bool
    measures: Mapping[str, Any]

    def given(self, least: float = 0.0) -> bool:
        """Whether it gets a block when so much evidence is asked for."""
        return self.stage == "injected" and (self.sure or (self.score is not None and self.score >= least))


def built(sets: Sets, keep: Path, say: Callable[[str], None]) -> None:
    """A home with an index for every collection; what is there already stays."""
    for name, judged in sets.collections.items():
        home = keep / name / "home"
        if (keep / name / "built").exists():
            continue
        shutil.rmtree(keep / name, ignore_errors=True)
        home.mkdir(parents=True)
        beir.materialise(judged, home / "workspace")
        library = hermes_lance.open(home)
        library.index()
        library.close()
        (keep / name / "built").touch()
        say(f"{name}: {len(judged.documents)} documents")


def answers(sets: Sets, keep: Path, words_only: bool, say: Callable[[str], None]) -> dict[str, list[Asked]]:
    """For each group what became of its messages, with a gate that asks for no evidence, so that any can be tried."""
    found: dict[str, list[Asked]] = {}
    for name in sets.collections:
        library = hermes_lance.open(keep / name / "home")
        library.config = replace(library.config, gate=replace(library.config.gate, evidence=WIDE_OPEN))
        if words_only:
            library.query_embedder = lambda snapshot: (None, ())  # type: ignore[method-assign]
        for group in sets.groups:
            if group.collection == name:
                found[group.name] = [_asked(library, message) for message in group.messages]
                say(f"{group.name}: {len(group.messages)}")
        library.close()
    return found


def _asked(library: Library, message: Labelled) -> Asked:
    made = library.context(message.text, message.history, mode="gated")
    if made.stage == "error":
        raise SystemExit(f"{message.id}: {made.reason}")
    notes = {entry.stage: entry for entry in made.trace}
    detail = dict(notes["evidence"].detail) if "evidence" in notes else {}
    reason = str(detail.pop("reason", made.reason))
    score = detail.pop("score", None)
    sure = "evidence" in notes and score is None
    return Asked(message, made.stage, reason, str(detail.pop("formula", "")), score, sure, detail)
