"""The flow from a question to a page of hits: candidates, fuse, order, freshness, page. Each stage leaves a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from hermes_lance.core.errors import UsageError
from hermes_lance.core.records import WORKSPACE, Candidate, Hit, KnownFile, Query
from hermes_lance.search.freshness import GONE, UNVERIFIED, Freshness
from hermes_lance.search.fuse import Fused
from hermes_lance.search.page import Answer
from hermes_lance.search.ranking import Settings, Trace, hit_of, ranked
from hermes_lance.search.rerank import Reranking
from hermes_lance.store.rows import Located
from hermes_lance.store.snapshot import Snapshot

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder

MODES = ("hybrid", "lexical", "dense")
FUSIONS = ("zscore", "convex", "rrf")


def answer(
    query: Query,
    snapshot: Snapshot,
    settings: Settings,
    embedder: Callable[[], Embedder] | None,
    freshness: Freshness,
    display: Callable[[KnownFile], str],
) -> Answer:
    """The page that `query` asks for. `embedder` is called only when the dense leg is needed."""
    _check(query)
    trace = Trace()
    ranking = ranked(query, snapshot, settings, embedder, display, trace)
    legs = ranking.legs
    shown = _Shown(snapshot, freshness if settings.check_disk else None, display)
    present = shown.present(ranking.placed(snapshot))
    if settings.reranking is not None:
        present = _reordered(query, present, shown, settings.reranking, legs.warnings, trace)
    page, has_more = _page(query, present, shown)
    snapshot.let_go()
    dropped = shown.dropped
    if dropped:
        gone = "1 hit was left out: its file is" if dropped == 1 else f"{dropped} hits were left out: their files are"
        legs.warnings.append(f"{gone} gone; run `hermes-lance build`")
    for root in sorted(root for root, away in freshness.away.items() if away):
        which = "the workspace" if root == WORKSPACE else f"root {root}"
        legs.warnings.append(f"{which} is not there; what is shown of it could not be compared with its files")
    trace.note("freshness", "checked" if settings.check_disk else "not checked", dropped=dropped)
    trace.note("page", f"{len(page)} hits", offset=query.offset, limit=query.limit, has_more=has_more)
    return Answer(query, snapshot.id, query.mode, tuple(page), has_more, tuple(legs.warnings), tuple(trace.entries))


def _check(query: Query) -> None:
    if query.mode not in MODES:
        raise UsageError(f"mode {query.mode!r}: unknown", hint=f"Choose one of: {', '.join(MODES)}.")
    if query.fusion is not None and query.fusion not in FUSIONS:
        raise UsageError(f"fusion {query.fusion!r}: unknown", hint=f"Choose one of: {', '.join(FUSIONS)}.")
    if query.limit < 1 or query.offset < 0:
        raise UsageError(f"limit {query.limit}, offset {query.offset}: the limit is at least 1, the offset at least 0")


class _Shown:
    """How the rows of one answer are shown, and how many are not, since their files are gone."""

    def __init__(self, snapshot: Snapshot, freshness: Freshness | None, display: Callable[[KnownFile], str]) -> None:
        self.dropped = 0
        self._files = snapshot.files
        self._freshness = freshness
        self._display = display
        self._labels = {root["key"]: root["label"] for root in snapshot.manifest.roots}

    def present(self, ranked: Iterator[tuple[Fused, Located]]) -> Iterator[Row]:
        """The rows whose files are there."""
        for one, place in ranked:
            known = self._files.get(place.source_id)
            state = self._freshness.of(known) if self._freshness is not None else UNVERIFIED
            if state == GONE:
                self.dropped += 1
            else:
                yield one, place, known, state

    def path(self, place: Located, known: KnownFile | None) -> str:
        return self._display(known) if known is not None else place.path

    def hit(self, row: Row) -> Hit:
        one, place, known, state = row
        stored = place.row()
        return hit_of(one, stored, state, known, self._display, self._labels.get(stored.root, stored.root))


Row = tuple[Fused, Located, KnownFile | None, str]
"""With the record of its file, and the state of that on disk."""


def _reordered(
    query: Query, rows: Iterator[Row], shown: _Shown, reranking: Reranking, warnings: list[str], trace: Trace
) -> Iterator[Row]:
    """The rows with the first of them as the reranker has them."""
    head = list(islice(rows, reranking.most))
    candidates = [
        Candidate(place.text, shown.path(place, known), place.section, one.lexical, one.dense, one.score)
        for one, place, known, _ in head
    ]
    order = reranking.order(query.in_context or query.text, candidates, [one.tier for one, *_ in head])
    order.tell(trace, warnings)
    ordered = [(head[position][0]._replace(rerank=score), *head[position][1:]) for position, score in order.places]
    return chain(ordered, rows)


def _page(query: Query, rows: Iterator[Row], shown: _Shown) -> tuple[list[Hit], bool]:
    page: list[Hit] = []
    for number, row in enumerate(rows):
        if number >= query.offset + query.limit:
            return page, True
        if number >= query.offset:
            page.append(shown.hit(row))
    return page, False
