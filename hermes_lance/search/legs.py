"""Where both legs of a question come from: the generation's own index and vectors, or those of another index store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hermes_lance.core.words import AnalysedQuery
from hermes_lance.store.lexical_query import LexicalFilters
from hermes_lance.store.snapshot import Snapshot

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Vectors


class LegSource(Protocol):
    """Both legs over one generation: rows with scores, best first. `files` are ids of files, none for all."""

    warnings: list[str]
    """What is to be said beside the answer."""

    def lexical(
        self, analysed: AnalysedQuery, text: str, rows: int, files: frozenset[str] | None
    ) -> list[tuple[int, float]]:
        """By words."""
        ...

    def dense(
        self, vector: Vectors, rows: int, files: frozenset[str] | None, *, exact: bool
    ) -> list[tuple[int, float]]:
        """By nearness to a vector of length 1."""
        ...


class OwnLegs:
    """Tantivy and the mapped vectors of a generation."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.warnings: list[str] = []
        self.snapshot = snapshot

    def lexical(
        self, analysed: AnalysedQuery, text: str, rows: int, files: frozenset[str] | None
    ) -> list[tuple[int, float]]:
        """Row and BM25 score."""
        return self.snapshot.lexical.search(analysed, rows, LexicalFilters(source_ids=files))

    def dense(
        self, vector: Vectors, rows: int, files: frozenset[str] | None, *, exact: bool
    ) -> list[tuple[int, float]]:
        """Row and cosine."""
        return self.snapshot.vectors.search(vector, rows, source_ids=files, exact=exact)
