"""The flow from a question to a page of hits: candidates, fuse, order, freshness, page. Each stage leaves a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from hermes_lance.core.errors import UsageError
from hermes_lance.core.records import WORKSPACE, Hit, KnownFile, Query
from hermes_lance.search.freshness import GONE, UNVERIFIED, Freshness
from hermes_lance.search.fuse import Fused
from hermes_lance.search.page import Answer
from hermes_lance.search.ranking import Settings, Trace, hit_of, ranked
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
    page, has_more, dropped = _page(query, ranking.placed(snapshot), snapshot, settings, freshness, display)
    snapshot.let_go()
    if dropped:
        gone = "1 hit was left out: its file is" if dropped == 1 else f"{dropped} hits were left out: their files are"
        legs.warnings.append(f"{gone} gone; run `hermes-lance build`")
    for root in sorted(root for root, away in freshness.away.items() if away):
        shown = "the workspace" if root == WORKSPACE else f"root {root}"
        legs.warnings.append(f"{shown} is not there; what is shown of it could not be compared with its files")
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


def _page(
    query: Query,
    ranked: Iterator[tuple[Fused, Located]],
    snapshot: Snapshot,
    settings: Settings,
    freshness: Freshness,
    display: Callable[[KnownFile], str],
) -> tuple[list[Hit], bool, int]:
    labels = {root["key"]: root["label"] for root in snapshot.manifest.roots}
    page: list[Hit] = []
    passed, dropped = 0, 0
    for one, place in ranked:
        known = snapshot.files.get(place.source_id)
        state = freshness.of(known) if settings.check_disk else UNVERIFIED
        if state == GONE:
            dropped += 1
            continue
        if passed >= query.offset + query.limit:
            return page, True, dropped
        passed += 1
        if passed > query.offset:
            row = place.row()
            page.append(hit_of(one, row, state, known, display, labels.get(row.root, row.root)))
    return page, False, dropped
