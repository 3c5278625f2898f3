"""Whether a message is worth a look into the files, and whether what was found is worth showing. `gated` mode only.

Two looks: at the message alone, before anything is searched, and at what was found. Cheap, deterministic, no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_lance.core.words import Analyser

if TYPE_CHECKING:
    from hermes_lance.core.config import GateConfig
    from hermes_lance.core.records import Hit
    from hermes_lance.search.candidates import Legs


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the gate is open, and why."""

    opens: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found for a message."""

    message: str
    """As it was written; never the enriched question."""
    legs: Legs
    """Of the question that was asked, in its context where it is a follow-up: its terms; rows and BM25 scores of the
    lexical leg, which share a word with it that is no stop word; rows and cosines of the dense leg. Best first."""
    alone: Legs | None
    """Of a follow-up without its context."""
    hits: Sequence[Hit]
    """The fused candidates, best first, with their texts, scores and ranks."""


def before(message: str, config: GateConfig) -> Verdict:
    """The look at the message alone."""
    text = " ".join(message.split())
    if text.casefold().strip(" .!?") in {phrase.casefold().strip(" .!?") for phrase in config.closed_phrases}:
        return Verdict(False, "the message is one of the closed phrases")
    analysed = Analyser().query(text)
    if analysed.empty:
        return Verdict(False, "the message holds no word")
    if analysed.only_stop_words:
        return Verdict(False, "the message holds only very common words")
    return Verdict(True, "the message may concern the files")


def after(evidence: Evidence, config: GateConfig) -> Verdict:
    """The look at what was found."""
    if not evidence.legs.lexical:
        return Verdict(False, "no passage shares a telling word with the message")
    return Verdict(True, "passages share words with the message")
