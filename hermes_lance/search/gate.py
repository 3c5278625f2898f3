"""Whether a message is worth a look into the files, and whether what was found is worth showing. `gated` mode only.

Two looks: at the message alone, before anything is searched, and at what was found. Cheap, deterministic, no model.
The words are in `gate_words.py`, what is measured in `evidence.py`, the figures in `gate_formulas.py`; how they were
found in docs/decisions/0010-gate.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_lance.core.words import Analyser
from hermes_lance.search import talk
from hermes_lance.search.evidence import Measures, Passage, Word, measured
from hermes_lance.search.gate_formulas import formula_for

if TYPE_CHECKING:
    from hermes_lance.core.config import GateConfig
    from hermes_lance.core.contracts import Embedder
    from hermes_lance.core.records import Hit
    from hermes_lance.search.candidates import Legs


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the gate is open, and why."""

    opens: bool
    reason: str
    sure: bool = False
    """The message names the user's files: what is found is given without a second look."""
    detail: Mapping[str, str | float | bool] = field(default_factory=dict)
    """What was measured, for the trace."""


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
    """The fused candidates, best first, with their texts."""
    serials: Sequence[int]
    """The row of each of them."""
    rows: int
    """Passages of the collection."""
    holding: Callable[[Word], int]
    """How many of them hold a word."""
    embedder: Embedder | None
    """That made the vectors; none where none were compared."""


def before(message: str, config: GateConfig) -> Verdict:
    """The look at the message alone."""
    if talk.plain(message) in map(talk.plain, config.closed_phrases):
        return Verdict(False, "the message is one of the closed phrases of the configuration")
    named = talk.names_files(message, config.open_words)
    if named is not None:
        return Verdict(True, f"the message asks for the files: “{named}”", sure=True)
    if talk.is_talk(message):
        return Verdict(False, "the message is a greeting, thanks or a short answer")
    if talk.is_sum(message):
        return Verdict(False, "the message is a sum")
    analysed = Analyser().query(message)
    if analysed.empty:
        return Verdict(False, "the message holds no word")
    if analysed.only_stop_words and not talk.asks(message):
        return Verdict(False, "the message holds only very common words")
    return Verdict(True, "the message may concern the files")


def after(evidence: Evidence, config: GateConfig) -> Verdict:
    """The look at what was found: the score of a formula has to reach `config.evidence`."""
    cosines = dict(evidence.legs.dense)
    passages = [
        Passage(" ".join([hit.text, *hit.section, hit.path]), cosines.get(serial))
        for hit, serial in zip(evidence.hits, evidence.serials, strict=True)
    ]
    model = evidence.embedder
    found = measured(
        evidence.message, passages, [cosine for _, cosine in evidence.legs.dense], evidence.rows, evidence.holding,
        alone=evidence.alone.dense[0][1] if evidence.alone is not None and evidence.alone.dense else None,
        scripts=model.scripts if model is not None else frozenset(), asks=talk.asks(evidence.message),
    )  # fmt: skip
    name, formula = formula_for(model, foreign=found.foreign)
    score = formula.score(found)
    opens = score >= config.evidence
    detail = {"formula": name, "score": round(score, 3), **found.as_detail()}
    return Verdict(opens, _reason(found, opens), detail=detail)


def _reason(found: Measures, opens: bool) -> str:
    words = f"{found.held} of {found.words} telling words" if found.words else "no telling word to look for"
    near = f", nearness in meaning {found.cosine:.2f}, {found.lead:+.2f} against other passages" if found.cosine else ""
    return f"{'a passage answers to the message' if opens else 'no passage stands out'}: the best one has {words}{near}"
