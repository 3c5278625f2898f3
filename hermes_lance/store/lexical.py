"""Reading the lexical index: one Tantivy directory for each table and generation, written by one, read by many.

It stores row numbers, never text. How a question becomes a query stands in `lexical_query.py`, which fields there are
in `lexical_fields.py`, how rows get in in `lexical_writer.py`, snapshots of the directory in `lexical_files.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.core.words import AnalysedQuery, Analyser
from hermes_lance.store import lexical_files, lexical_query
from hermes_lance.store.lexical_fields import KEY, PAIRS, SERIAL, check_fields, engine_errors, layout, opened
from hermes_lance.store.lexical_query import LexicalFilters

TIE_ROOM = 50
"""Rows fetched beyond the limit, so that a tie across the cut is decided by row number."""

MOST_OF_A_BEGINNING = 64
"""Words with a common beginning whose rows are counted."""


class LexicalReader:
    """Answers from one committed state of an index; later commits are not seen. Needs no write permission."""

    def __init__(self, folder: Path, table: str = "chunks", analyser: Analyser | None = None) -> None:
        self.folder = folder
        self._layout = layout(table)
        if not (folder / "meta.json").exists():
            raise DatasetDamaged(f"lexical index at {folder}: meta.json is missing")
        with engine_errors(folder), lexical_files.for_reading(folder) as place:
            index = opened(place, analyser or Analyser())
            self._schema: Any = index.schema
            check_fields(folder, self._schema, self._layout)
            index.config_reader("manual")
            self._searcher: Any = index.searcher()

    def search(
        self, query: AnalysedQuery, limit: int, filters: LexicalFilters | None = None
    ) -> list[tuple[int, float]]:
        """Best rows as (row number, BM25 score), best first, equal scores by row number; at most `limit`.

        An empty question and one that matches nothing give an empty list.
        """
        with engine_errors(self.folder):
            built = lexical_query.ranked(self._schema, self._searcher, self._layout, query, filters)
            return self._rows(built, limit)

    def verbatim(self, query: AnalysedQuery, limit: int = 50, filters: LexicalFilters | None = None) -> list[int]:
        """Row numbers that hold the whole question word for word, or the one identifier it is; best first."""
        with engine_errors(self.folder):
            built = lexical_query.verbatim(self._schema, self._layout, query, filters)
            return [serial for serial, _ in self._rows(built, limit)]

    def count(self) -> int:
        """Number of rows."""
        return int(self._searcher.num_docs)

    def holding(self, token: str, *, pair: bool = False, beginning: bool = False) -> int:
        """How many rows hold a token in their text: a stemmed word, a pair of characters, or any word that begins so.

        Of words with a common beginning the rows are added up, at most all of them.
        """
        with engine_errors(self.folder):
            field = PAIRS if pair else self._layout.body
            if not beginning:
                return int(self._searcher.doc_freq(field, token))
            words = self._searcher.terms_with_prefix(field, token, limit=MOST_OF_A_BEGINNING)
            return min(self.count(), sum(int(rows) for _, rows in words))

    def keys(self) -> list[tuple[int, int]]:
        """Row number and `lexical_fields.key_number` of every row, by row number; what is there twice comes twice."""
        import tantivy

        count = self._searcher.num_docs
        if not count:
            return []
        with engine_errors(self.folder):
            found = self._searcher.search(tantivy.Query.all_query(), count, count=False).hits
            places = [address for _, address in found]
            columns = [self._searcher.fast_field_values(field, places) for field in (SERIAL, KEY)]
        if any(None in column for column in columns):
            raise DatasetDamaged(f"lexical index at {self.folder}: a row without a number")
        return sorted(zip(*columns, strict=True))

    def _rows(self, query: Any | None, limit: int) -> list[tuple[int, float]]:
        if query is None or limit <= 0 or self._searcher.num_docs == 0:
            return []
        found = self._searcher.search(query, min(limit + TIE_ROOM, self._searcher.num_docs), count=False).hits
        serials = self._searcher.fast_field_values(SERIAL, [address for _, address in found])
        if None in serials:
            raise DatasetDamaged(f"lexical index at {self.folder}: a row without a number")
        rows = [(int(serial), float(score)) for serial, (score, _) in zip(serials, found, strict=True)]
        return sorted(rows, key=lambda row: (-row[1], row[0]))[:limit]
