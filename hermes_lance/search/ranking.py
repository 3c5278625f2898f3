"""One ranking for every question: both legs, fused, in an order that history cannot change.

Shared by the page that a person asks for (`answer`) and the block that a turn is given (`turn`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from hermes_lance.core.records import ChunkRow, Hit, KnownFile, Query, TraceEntry
from hermes_lance.core.words import share_outside
from hermes_lance.search import candidates, fuse
from hermes_lance.search.fuse import Fused
from hermes_lance.search.legs import LegSource, OwnLegs
from hermes_lance.search.rerank import Reranking
from hermes_lance.store.rows import Located
from hermes_lance.store.snapshot import Snapshot

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder, Retriever


@dataclass(frozen=True, slots=True)
class Settings:
    """What of the configuration a search needs."""

    fusion: str = "zscore"
    dense_weight: float | None = None
    candidates: int = 100
    """Rows asked of each leg, at least; more where the page needs them."""
    leg_rows: tuple[int, int] | None = None
    """Rows asked of the lexical and of the dense leg, whatever the page; instead of `candidates`."""
    retriever: Retriever | None = None
    """A plugin that ranks in the place of our fusion."""
    legs: LegSource | None = None
    """An index store that is asked in the place of the generation's own index and vectors."""
    reranking: Reranking | None = None
    """What orders the best candidates anew."""
    check_disk: bool = True
    """Compare with the files on disk and drop what is gone; off for old generations and datasets without a home."""


@dataclass(slots=True)
class Trace:
    """What the stages of one question did."""

    entries: list[TraceEntry] = field(default_factory=list)

    def note(self, stage: str, outcome: str, **detail: Any) -> None:
        """One stage."""
        self.entries.append(TraceEntry(stage, outcome, detail))


@dataclass(slots=True)
class Ranking:
    """What the legs found, and the rows of both, best first."""

    legs: candidates.Legs
    """Of the question as it was asked; of the one in context, where that was asked too."""
    rows: list[Fused]
    alone: candidates.Legs | None = None
    """What was found for the message without its context, where it was asked with one."""

    def placed(self, snapshot: Snapshot) -> Iterator[tuple[Fused, Located]]:
        """The rows with their places; equal scores by the row's id, so that history does not show."""
        return _in_stable_order(self.rows, snapshot)


def ranked(
    query: Query,
    snapshot: Snapshot,
    settings: Settings,
    embedder: Callable[[], Embedder] | None,
    display: Callable[[KnownFile], str],
    trace: Trace,
) -> Ranking:
    """Both legs of a question and their fusion. `embedder` is called only when the dense leg is needed.

    A follow-up is asked twice, as it is and in its context, and counts as the mean of both: where the context helps it
    does so as well as alone, and where the subject has changed it harms a quarter as often (docs/BENCHMARKS.md).
    """
    found = _fused(query, snapshot, settings, embedder, display, trace)
    if query.in_context in ("", query.text):
        return found
    longer = _fused(replace(query, text=query.in_context), snapshot, settings, embedder, display, trace)
    return Ranking(longer.legs, fuse.averaged(found.rows, longer.rows), found.legs)


def _fused(
    query: Query,
    snapshot: Snapshot,
    settings: Settings,
    embedder: Callable[[], Embedder] | None,
    display: Callable[[KnownFile], str],
    trace: Trace,
) -> Ranking:
    rows = settings.leg_rows or (candidates.depth(query, settings.candidates),) * 2
    legs = candidates.gather(query, snapshot, embedder, rows, display, settings.legs)
    trace.note("analyse", "empty" if legs.analysed.empty else "ok", terms=list(legs.analysed.terms))
    trace.note("lexical", f"{len(legs.lexical)} rows", verbatim=len(legs.verbatim))
    trace.note("dense", "failed" if legs.dense_failed else f"{len(legs.dense)} rows", asked=legs.dense_asked)
    if settings.retriever is not None and not legs.analysed.empty:
        from hermes_lance.search.view import View, ranked_by

        view = View(query, snapshot, settings.legs or OwnLegs(snapshot), embedder, legs, legs.files)
        ranking = ranked_by(settings.retriever, view, max(rows))
        trace.note("retrieve", "failed" if ranking is None else f"{len(ranking)} rows", by=settings.retriever.name)
        if ranking is not None:
            return Ranking(legs, ranking)
    method = query.fusion or settings.fusion
    weight = _weight(query, settings, embedder if legs.dense_asked else None)
    tiers = _tiers(query, legs, snapshot)
    # One row is no list to be compared with its own average; with more, vectors weigh as much as ever.
    complete = len(legs.lexical) == 1
    found = fuse.fused(legs.lexical, legs.dense, method=method, weight=weight, tiers=tiers, lexical_complete=complete)
    trace.note("fuse", f"{len(found)} rows", method=method, dense_weight=weight)
    return Ranking(legs, found)


def _weight(query: Query, settings: Settings, embedder: Callable[[], Embedder] | None) -> float:
    if embedder is None:
        return 0.5
    model = embedder()
    own = settings.dense_weight if settings.dense_weight is not None else model.fusion_weight
    outside = share_outside(query.text, model.scripts) if model.scripts else 0.0
    return fuse.dense_weight(own, outside)


WORDS, CHARACTERS, NAME = 1, 2, 3
"""Tiers: holds the question's words in order; its very characters, blanks aside; is the file of that name."""


FIRST_LEXICAL = 10
"""Of the lexical list, the rows among which a file of the question's name is looked for: there it stands on top."""


def _tiers(query: Query, legs: candidates.Legs, snapshot: Snapshot) -> dict[int, int]:
    """How literally rows answer the question, where they do."""
    wanted = " ".join(query.text.split())
    tiers: dict[int, int] = {}
    for serial in legs.verbatim:
        place = snapshot.text.place(serial)
        if _bears(place, wanted):
            tiers[serial] = NAME
        else:
            tiers[serial] = CHARACTERS if wanted in " ".join(place.text.split()) else WORDS
    for serial, _ in legs.lexical[:FIRST_LEXICAL]:
        # One plain word is no quotation, but it may be the name of a file.
        if serial not in tiers and _bears(snapshot.text.place(serial), wanted):
            tiers[serial] = NAME
    return tiers


def _bears(place: Located, name: str) -> bool:
    """Whether a row is the first of a file of that name."""
    if place.ordinal != 0:
        return False
    path = PurePosixPath(place.path)
    return name in (path.name, path.stem)


def _in_stable_order(ranking: Sequence[Fused], snapshot: Snapshot) -> Iterator[tuple[Fused, Located]]:
    """The ranking with the place of each row; equal scores by the row's id, so that history does not show."""
    for _, group in groupby(ranking, key=lambda one: (one.tier, one.score)):
        rows = [(one, snapshot.text.place(one.serial)) for one in group]
        yield from sorted(rows, key=lambda pair: pair[1].id) if len(rows) > 1 else rows


def hit_of(
    one: Fused,
    row: ChunkRow,
    state: str,
    known: KnownFile | None,
    display: Callable[[KnownFile], str],
    root: str,
) -> Hit:
    """A row of the ranking as a hit; `root` is the label of its root."""
    return Hit(
        kind="chunk",
        id=row.id,
        path=display(known) if known is not None else row.path,
        root=root,
        text=row.text,
        score=one.score if one.rerank is None else one.rerank,
        scores={"lexical": one.lexical, "dense": one.dense, "fused": one.score, "rerank": one.rerank},
        ranks={"lexical": one.lexical_rank, "dense": one.dense_rank},
        freshness=state,
        section=row.section,
        media_type=row.media_type,
        symbol=row.symbol,
        chunk_kind=row.kind,
        line_start=row.line_start,
        line_end=row.line_end,
        page_start=row.page_start,
        page_end=row.page_end,
        locator=row.locator,
        char_start=row.char_start,
        char_end=row.char_end,
        flags=row.flags,
        source_sha256=known.sha256 if known else None,
    )
