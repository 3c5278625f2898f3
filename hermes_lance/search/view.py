"""What a retriever of another package sees of a question's generation, and its answer as a ranking of ours.

It ranks only rows that the legs could have given it: those of the generation, within the filters of the question.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_lance.core import plugins
from hermes_lance.core.records import ChunkRow, Query
from hermes_lance.core.words import Analyser
from hermes_lance.search.candidates import Legs
from hermes_lance.search.fuse import Fused
from hermes_lance.search.legs import LegSource
from hermes_lance.store.snapshot import Snapshot

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder, Retriever


@dataclass(slots=True)
class View:
    """Both legs of one generation with the filters of one question; fits `core.contracts.SearchView`."""

    query: Query
    snapshot: Snapshot
    source: LegSource
    embedder: Callable[[], Embedder] | None
    legs: Legs
    """What was found for the question itself; asked for again, it is not looked up a second time."""
    files: frozenset[str] | None = None
    words: dict[int, tuple[float, int]] = field(default_factory=dict)
    meaning: dict[int, tuple[float, int]] = field(default_factory=dict)

    def lexical(self, text: str, rows: int) -> list[tuple[int, float]]:
        """The best rows by words: row number and BM25 score, best first; none where only the dense leg was asked."""
        if self.query.mode == "dense" or rows < 1 or self._empty:
            return []
        if text == self.query.text and rows <= len(self.legs.lexical):
            found = self.legs.lexical[:rows]
        else:
            found = self.source.lexical(Analyser().query(text), text, rows, self.files)
        return _noted(self.words, found)

    def dense(self, text: str, rows: int) -> list[tuple[int, float]]:
        """The best rows by meaning: row number and cosine, best first; none without vectors or with words alone."""
        if self.query.mode == "lexical" or rows < 1 or self._empty or not self.legs.dense_asked:
            return []
        if text == self.query.text and rows <= len(self.legs.dense):
            found = self.legs.dense[:rows]
        else:
            assert self.embedder is not None
            vector = self.embedder().embed_query(text)
            found = self.source.dense(vector, rows, self.files, exact=self.query.exact) if vector.any() else []
        return _noted(self.meaning, found)

    def passage(self, row: int) -> ChunkRow:
        """The passage of a row."""
        return self.snapshot.text.row(row)

    @property
    def _empty(self) -> bool:
        return self.files is not None and not self.files


def _noted(known: dict[int, tuple[float, int]], found: list[tuple[int, float]]) -> list[tuple[int, float]]:
    for rank, (row, score) in enumerate(found, start=1):
        known.setdefault(row, (score, rank))
    return list(found)


def ranked_by(retriever: Retriever, view: View, rows: int) -> list[Fused] | None:
    """The ranking of a plugin with the scores of the legs beside it; none, and a warning, where it fails."""
    _noted(view.words, view.legs.lexical)
    _noted(view.meaning, view.legs.dense)
    name = str(getattr(retriever, "name", "?"))
    try:
        said: list[Any] = list(retriever.retrieve(view.query, view, rows))
        found = [(int(row), float(score)) for row, score in said]
    except (Exception, SystemExit) as error:
        view.legs.warnings.append(f"{plugins.fault('retrievers', name, error)}; builtin_hybrid has answered")
        return None
    ranking: dict[int, Fused] = {}
    for row, score in found:
        if row not in ranking and math.isfinite(score) and _may_be_shown(row, view):
            (word, word_rank), (near, near_rank) = view.words.get(row, _NONE), view.meaning.get(row, _NONE)
            ranking[row] = Fused(row, score, word, near, word_rank, near_rank)
    if len(ranking) < len(found):
        unknown = len(found) - len(ranking)
        view.legs.warnings.append(f"plugin {name} (retrievers): {unknown} of its {len(found)} rows are none, or twice")
    return list(ranking.values())[:rows]


_NONE: tuple[None, None] = (None, None)


def _may_be_shown(row: int, view: View) -> bool:
    if row in view.words or row in view.meaning:
        return True
    place = view.snapshot.text.locate(row) if row >= 0 and row not in view.snapshot.dead else None
    return place is not None and (view.files is None or place.source_id in view.files)
