"""Asks each leg for its best rows. Filters become file sets or folder terms before a leg cuts its list.

One leg after the other: the lexical one costs a fraction of a millisecond, so a thread could win nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import translate
from typing import TYPE_CHECKING

from hermes_lance.core import ids
from hermes_lance.core.errors import ModelUnavailable, PluginFailed, PluginMissing
from hermes_lance.core.records import KnownFile, Query
from hermes_lance.core.words import AnalysedQuery, Analyser
from hermes_lance.search.legs import LegSource, OwnLegs
from hermes_lance.store.lexical_query import LexicalFilters
from hermes_lance.store.snapshot import Snapshot

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder


@dataclass(slots=True)
class Legs:
    """What the legs found, best first, and what is to be said about it."""

    analysed: AnalysedQuery
    lexical: list[tuple[int, float]] = field(default_factory=list)
    dense: list[tuple[int, float]] = field(default_factory=list)
    verbatim: list[int] = field(default_factory=list)
    dense_asked: bool = False
    dense_failed: bool = False
    """The embedder had no vector for the question; words alone were compared."""
    files: frozenset[str] | None = None
    """Ids of the files that the filters of the question leave; none without filters."""
    warnings: list[str] = field(default_factory=list)


def depth(query: Query, candidates: int) -> int:
    """Rows asked of each leg: enough for the page and for fusion to see both lists."""
    return max(candidates, 5 * (query.limit + query.offset))


def gather(
    query: Query,
    snapshot: Snapshot,
    embedder: Callable[[], Embedder] | None,
    rows: tuple[int, int],
    display: Callable[[KnownFile], str],
    source: LegSource | None = None,
) -> Legs:
    """Both legs of a query over one snapshot, with at most so many `rows` of the lexical and of the dense one.

    `embedder` is called only when there are vectors to compare with;
    `display` gives the path that filters are matched against; `source` is asked in the place of the snapshot."""
    legs = Legs(Analyser().query(query.text))
    if legs.analysed.empty:
        legs.warnings.append("nothing in the query can be looked for: it holds no word")
        return legs
    if legs.analysed.only_stop_words:
        legs.warnings.append("the query holds only very common words")
    files = matching_files(query, snapshot, display)
    if files is not None and not files:
        legs.warnings.append("no indexed file matches the filter")
        return legs
    legs.files, source = files, source or OwnLegs(snapshot)
    if query.mode in {"lexical", "hybrid"}:
        legs.lexical = source.lexical(legs.analysed, query.text, rows[0], files)
        legs.verbatim = snapshot.lexical.verbatim(legs.analysed, filters=LexicalFilters(source_ids=files))
    if query.mode in {"dense", "hybrid"}:
        _ask_dense(legs, query, snapshot, source, embedder, rows[1])
    legs.warnings += source.warnings
    return legs


def _ask_dense(
    legs: Legs,
    query: Query,
    snapshot: Snapshot,
    source: LegSource,
    embedder: Callable[[], Embedder] | None,
    rows: int,
) -> None:
    if embedder is None:
        return
    if not len(snapshot.vectors):
        if snapshot.manifest.totals.get("chunks", 0):
            legs.warnings.append("no vectors are stored yet: only words were compared")
        return
    try:
        vector = embedder().embed_query(legs.analysed.text)
    except (ModelUnavailable, PluginMissing, PluginFailed) as error:
        if query.mode == "dense":
            raise
        legs.dense_failed = True
        legs.warnings.append(f"only words were compared: {error}. {error.hint}")
        return
    if not vector.any():
        legs.warnings.append("the query has nothing that the embedder can read: only words were compared")
        return
    legs.dense = source.dense(vector, rows, legs.files, exact=query.exact)
    legs.dense_asked = True


def matching_files(query: Query, snapshot: Snapshot, display: Callable[[KnownFile], str]) -> frozenset[str] | None:
    """Ids of the files that the filters of a query leave; none when there are no filters.

    Goes by the lists of paths: records are read of the files only whose id cannot be told from their path.
    """
    if query.path is None and query.file_glob is None:
        return None
    fits, files = _filter(query), snapshot.files
    chunks, kinds, hashes = files.column("chunks"), files.column("kinds"), files.column("ids")
    found: list[str] = []
    unclear: list[int] = []
    for root, positions in files.roots.items():
        # The label of the root, where it is shown.
        prefix = display(KnownFile("", root, "", None, "indexed"))
        for position, path in zip(positions, files.paths(root), strict=True):
            if not chunks[position] or not fits(prefix + path):
                continue
            made = ids.source_id(root, path.encode("utf-8")) if files.kinds[kinds[position]].plain else ""
            if made and ids.source_hash(made) == hashes[position]:
                found.append(made)
            else:
                unclear.append(position)
    found += (known.id for known in files.records(unclear))
    return frozenset(found)


def _filter(query: Query) -> Callable[[str], bool]:
    """Whether a path as it is shown passes."""
    folder = query.path.strip("/") if query.path is not None else ""
    inside = f"{folder}/" if folder not in ("", ".") else ""
    pattern = query.file_glob
    whole = pattern is not None and "/" in pattern
    fits = re.compile(translate(pattern)).match if pattern is not None else None

    def passes(shown: str) -> bool:
        if inside and shown != folder and not shown.startswith(inside):
            return False
        return fits is None or fits(shown if whole else shown.rpartition("/")[2]) is not None

    return passes
