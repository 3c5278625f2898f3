"""The flow from a message to the block that an agent is given with it, or to the stage that ended it.

Each stage is a file of its own. Nothing here raises on purpose to say "no context": an ending is a result. What goes
wrong by accident is caught by the caller, who has the last word for every door.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from hermes_lance.core.config import Config
from hermes_lance.core.ids import text_sha
from hermes_lance.core.injected import InjectedSource
from hermes_lance.core.records import Hit, KnownFile, Query, TraceEntry
from hermes_lance.search import enrich, gate, selection
from hermes_lance.search.evidence import Word
from hermes_lance.search.freshness import GONE, UNVERIFIED, Freshness
from hermes_lance.search.in_time import Calls, Punctual
from hermes_lance.search.page import citation
from hermes_lance.search.ranking import Ranking, Settings, Trace, hit_of, ranked
from hermes_lance.search.render import block
from hermes_lance.search.rerank import Reranking
from hermes_lance.search.selection import Option
from hermes_lance.store.snapshot import Snapshot

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder

MODES = ("off", "gated", "always")
INJECTED = "injected"
"""The stage of a turn that has a block; every other stage is the one that ended it."""
LONGEST_MESSAGE_CHARS = 2_000
"""Of a message that are looked at: of a pasted log its beginning and its end, where the question stands."""
REST_SECONDS = 0.2
"""What is left to do once there is a vector, or an order: comparing, choosing, rendering."""
HOOK_CHARS = 9_900
"""Of a whole block on the hook route: the host puts longer ones aside into a file."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What an agent is given with one message, and why."""

    injected: bool
    stage: str
    """`injected`, or the stage that ended it: mode, message, gate, index, candidates, evidence, selection, error."""
    reason: str
    mode: str
    block: str = ""
    tokens: int = 0
    """Of the whole block, estimated on the high side."""
    sources: tuple[InjectedSource, ...] = ()
    generation: str | None = None
    query: str = ""
    """What was searched for: the message, enriched where it needs it."""
    warnings: tuple[str, ...] = ()
    trace: tuple[TraceEntry, ...] = ()
    message: str = ""
    """As it was written; of a list of parts, its text."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """What a turn is served from: one generation, and how to read it."""

    snapshot: Snapshot
    embedder: Callable[[], Embedder] | None
    freshness: Freshness
    display: Callable[[KnownFile], str]
    is_withheld: Callable[[KnownFile], bool] = lambda known: False
    """Whether a file is made to instruct agents, or is part of the host's own memory: never given unasked."""
    settings: Settings = field(default_factory=Settings)
    """How it is searched."""
    warnings: tuple[str, ...] = ()
    calls: Calls = field(default_factory=Calls)
    """Of the embedder, for a turn that has only so much time."""

    def hurried(self, until: float) -> Shelf:
        """The same, with an embedder that is waited for until then."""
        embedder = self.embedder
        if embedder is None:
            return self
        return replace(self, embedder=lambda: cast("Embedder", Punctual(embedder(), until, self.calls)))


def turn(
    message: str,
    history: Sequence[enrich.Message],
    mode: str,
    config: Config,
    shelf: Callable[[], Shelf],
    until: float | None = None,
) -> Turn:
    """The block for a message, or the stage that ended it. `shelf` is called once the gate lets the message pass.
    `until`: a `time.monotonic` by which the block is needed: a vector or an order that would come later is not waited
    for."""
    trace = Trace()
    warnings: list[str] = []

    def ended(stage: str, reason: str, **detail: Any) -> Turn:
        trace.note(stage, "ended", reason=reason, **detail)
        return Turn(False, stage, reason, mode, warnings=tuple(warnings), trace=tuple(trace.entries))

    if mode == "off":
        return ended("mode", "retrieval is off; turn it on with `hermes-lance workspace mode gated`")
    message = _shortened(message)
    if not message:
        return ended("message", "the message is empty")
    if mode == "gated":
        # The gate sees the message and nothing else: a "thanks" stays one, whatever was said before.
        verdict = gate.before(message, config.gate)
        if not verdict.opens:
            return ended("gate", verdict.reason)
        trace.note("gate", "open", reason=verdict.reason)
    asked = Query(message, in_context=enrich.enriched(message, history))
    trace.note("enrich", "enriched" if asked.in_context != asked.text else "as it is", query=asked.in_context)
    served = shelf() if until is None else shelf().hurried(until - REST_SECONDS)
    ranking, found = _candidates(asked, config, served, trace)
    warnings += dict.fromkeys([*served.warnings, *ranking.legs.warnings])
    if not found:
        return ended("candidates", "nothing was found")
    if mode == "gated":
        verdict = gate.after(_evidence(message, ranking, found, served), config.gate) if not verdict.sure else verdict
        if not verdict.opens:
            return ended("evidence", verdict.reason, **verdict.detail)
        trace.note("evidence", "enough", reason=verdict.reason, **verdict.detail)
    if served.settings.reranking is not None:
        # After the evidence: what the gate keeps back is not sent to any service.
        within = None if until is None else until - time.monotonic() - REST_SECONDS
        found, said = _reordered(asked, found, served.settings.reranking, within, trace)
        warnings += said
    final = selection.finalists(found, per_file=config.inject.max_chunks_per_file, most=config.inject.final_top_k)
    picked = selection.in_diverse_order(final, served.snapshot.vectors.of_rows, config.inject.diversity)
    trace.note(
        "selection", f"{len(picked)} of {len(found)}", suspect=sum(selection.is_suspect(one.hit) for one in picked)
    )
    longest = HOOK_CHARS if config.inject.injection_route == "hook" else None
    made = block(
        [one.hit for one in picked], config.inject.max_injected_tokens, config.inject.max_injected_chunks, longest
    )
    if not made.hits:
        return ended("selection", "no passage fits into the budget")
    trace.note("render", f"{len(made.hits)} passages", tokens=made.tokens)
    return Turn(
        True, INJECTED, f"{len(made.hits)} passages", mode, made.text, made.tokens,
        tuple(_source(hit, served.snapshot.id) for hit in made.hits), served.snapshot.id, asked.in_context,
        tuple(warnings), tuple(trace.entries),
    )  # fmt: skip


def _evidence(message: str, ranking: Ranking, found: Sequence[Option], shelf: Shelf) -> gate.Evidence:
    index = shelf.snapshot.lexical

    def holding(word: Word) -> int:
        return index.holding(word.text, pair=word.kind == "pair", beginning=word.kind == "beginning")

    embedder = shelf.embedder() if shelf.embedder is not None and ranking.legs.dense_asked else None
    return gate.Evidence(
        message, ranking.legs, ranking.alone, [one.hit for one in found], [one.serial for one in found],
        index.count(), holding, embedder,
    )  # fmt: skip


def _shortened(message: str) -> str:
    text = message.strip()
    if len(text) > LONGEST_MESSAGE_CHARS:
        half = LONGEST_MESSAGE_CHARS // 2
        text = f"{text[:half]} {text[-half:]}"
    return text


def _candidates(query: Query, config: Config, shelf: Shelf, trace: Trace) -> tuple[Ranking, list[Option]]:
    """The fused candidates that may be injected, best first."""
    inject = config.inject
    settings = replace(shelf.settings, leg_rows=(inject.sparse_top_k, inject.dense_top_k))
    ranking = ranked(query, shelf.snapshot, settings, shelf.embedder, shelf.display, trace)
    found = list(islice(_eligible(ranking, shelf, trace), inject.fused_top_k))
    shelf.snapshot.let_go()
    if inject.min_fused_score > 0:
        found = [one for one in found if one.hit.score is not None and one.hit.score >= inject.min_fused_score]
    return ranking, found


def _eligible(ranking: Ranking, shelf: Shelf, trace: Trace) -> Iterator[Option]:
    """The ranking without what is gone from the disk and without files that instruct agents."""
    labels = {root["key"]: root["label"] for root in shelf.snapshot.manifest.roots}
    for one, place in ranking.placed(shelf.snapshot):
        known = shelf.snapshot.files.get(place.source_id)
        state = shelf.freshness.of(known) if shelf.settings.check_disk else UNVERIFIED
        if state == GONE:
            trace.note("freshness", "left out: gone", path=place.path)
            continue
        if known is not None and shelf.is_withheld(known):
            trace.note("trust", "left out: instructs agents, or is the memory of one", path=place.path)
            continue
        row = place.row()
        hit = hit_of(one, row, state, known, shelf.display, labels.get(row.root, row.root))
        yield Option(hit, one.serial, one.tier)


def _reordered(
    asked: Query, found: Sequence[Option], reranking: Reranking, within: float | None, trace: Trace
) -> tuple[list[Option], list[str]]:
    """The candidates as the reranker has them, and what is to be said of it."""
    warnings: list[str] = []
    order = reranking.order(
        asked.in_context or asked.text, [one.candidate for one in found], [one.tier for one in found], within
    )
    order.tell(trace, warnings)
    return [found[position].reranked(score) for position, score in order.places], warnings


def _source(hit: Hit, generation: str) -> InjectedSource:
    return InjectedSource(
        hit.root, hit.path, citation(hit), hit.line_start, hit.line_end, hit.page_start, hit.page_end,
        text_sha(hit.text), hit.source_sha256, generation,
    )  # fmt: skip
