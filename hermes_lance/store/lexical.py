"""The lexical index: one Tantivy directory for each table and generation, written by one, read by many.

It stores row numbers, never text. How a question becomes a query stands in `lexical_query.py`, which fields there are
in `lexical_fields.py`, snapshots of the directory in `lexical_files.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any

from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.core.words import AnalysedQuery, AnalysedText, Analyser, clean, encodable
from hermes_lance.store import lexical_files, lexical_query
from hermes_lance.store.lexical_fields import (
    FIRST,
    FOLDER,
    GRAMS,
    NAME,
    PAIRS,
    SERIAL,
    check_fields,
    engine_errors,
    folder_keys,
    layout,
    opened,
)
from hermes_lance.store.lexical_files import clone, file_hashes, file_sizes
from hermes_lance.store.lexical_query import LexicalFilters

__all__ = ["LexicalFilters", "LexicalReader", "LexicalWriter", "clone", "file_hashes", "file_sizes"]

HEAP_MB = 96
"""Memory of the one indexing thread before it writes a segment."""

BATCH_CHARS = 1_000_000
"""Characters that are analysed at a time: numpy is slow on single chunks."""

TIE_ROOM = 50
"""Rows fetched beyond the limit, so that a tie across the cut is decided by row number."""


class LexicalWriter:
    """Adds and deletes rows of one index. Nothing is visible before `commit`; `close` must always be called.

    A folder that holds an index (a clone of its predecessor) is continued, an empty one begun.
    """

    def __init__(
        self, folder: Path, table: str = "chunks", heap_mb: int = HEAP_MB, analyser: Analyser | None = None
    ) -> None:
        self.folder = folder
        self._layout = layout(table)
        self._analyser = analyser or Analyser()
        self._waiting: list[tuple[Mapping[str, Any], int]] = []
        self._waiting_chars = 0
        with engine_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        index = opened(folder, self._analyser, create=self._layout)
        with engine_errors(self.folder):
            self._writer: Any = index.writer(heap_size=heap_mb * 1_000_000, num_threads=1)

    def add(self, row: Mapping[str, Any], serial: int) -> None:
        """Adds one row under its row number. Columns of other roles than key, filter and text are ignored."""
        self._waiting.append((row, serial))
        self._waiting_chars += len(row.get(self._layout.body) or "")
        if self._waiting_chars >= BATCH_CHARS:
            self._flush()

    def delete_sources(self, source_ids: Collection[str]) -> None:
        """Deletes every row of these files that was added before."""
        self._delete("source_id", source_ids)

    def delete_ids(self, ids: Collection[str]) -> None:
        """Deletes the rows with these keys that were added before."""
        self._delete(self._layout.key, ids)

    def delete_all(self) -> None:
        """Deletes every row, also those of earlier commits."""
        self._waiting.clear()
        self._waiting_chars = 0
        with engine_errors(self.folder):
            self._writer.delete_all_documents()

    def commit(self) -> None:
        """Makes all changes durable in the folder and visible to readers that open it from now on."""
        self._flush()
        with engine_errors(self.folder):
            self._writer.commit()

    def close(self) -> None:
        """Waits for merges and frees the lock. What was not committed is lost. May be called twice."""
        self._waiting.clear()
        writer, self._writer = self._writer, None
        if writer is None:
            return
        try:
            with engine_errors(self.folder):
                writer.wait_merging_threads()
        finally:
            # A writer that died of an I/O error keeps the lock until the object is gone.
            del writer

    def __enter__(self) -> LexicalWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _delete(self, field: str, values: Collection[str]) -> None:
        self._flush()
        with self._writing():
            for value in values:
                self._writer.delete_documents_by_term(field, encodable(value))

    def _flush(self) -> None:
        if not self._waiting:
            return
        rows, self._waiting, self._waiting_chars = self._waiting, [], 0
        fields = self._layout.analysed
        texts = [[_as_text(row.get(field)) for field in fields] for row, _ in rows]
        # Paths and sections repeat from one passage to the next.
        distinct = list(dict.fromkeys(text for of_row in texts for text in of_row if text))
        analysed = dict(zip(distinct, self._analyser.texts(distinct), strict=True))
        documents = [self._raw_fields(row, serial) for row, serial in rows]
        for document, of_row in zip(documents, texts, strict=True):
            for field, text in zip(fields, of_row, strict=True):
                if text:
                    _add_text(document, field, analysed[text])
        with self._writing():
            for document in documents:
                self._writer.add_document(document)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with engine_errors(self.folder):
            try:
                yield
            except ValueError as error:
                if "writer was killed" in str(error):
                    # Only a commit tells what the indexing thread died of, such as a full disk; it fails with it.
                    self._writer.commit()
                raise

    def _raw_fields(self, row: Mapping[str, Any], serial: int) -> Any:
        import tantivy

        document = tantivy.Document()
        # Always through `add_unsigned`: a plain integer is taken as signed and kills the indexing thread.
        document.add_unsigned(SERIAL, serial)
        for field in self._layout.raw:
            value = row.get(field)
            if value is not None:
                document.add_text(field, encodable(str(value)))
        path = row.get("path")
        if path:
            folders, names = _places(str(row.get("root") or ""), path)
            for key in folders:
                document.add_text(FOLDER, key)
            for name in names:
                document.add_text(NAME, name)
            if not row.get("ordinal"):
                for name in names:
                    document.add_text(NAME, FIRST + name)
        return document


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else "\n".join(map(str, value))


def _add_text(document: Any, field: str, analysed: AnalysedText) -> None:
    document.add_text(field, analysed.words)
    if analysed.pairs:
        document.add_text(PAIRS, analysed.pairs)
    if analysed.grams:
        document.add_text(GRAMS, analysed.grams)


@lru_cache(maxsize=1_024)
def _places(root: str, path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Values of the fields `folder` and `name`; the same for all passages of a file, which come together."""
    name = PurePosixPath(clean(path)).name.lower()
    stem = PurePosixPath(name).stem
    return tuple(folder_keys(encodable(root), encodable(path))), (name, stem) if stem != name else (name,)


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

    def ids(self) -> Iterator[tuple[int, str]]:
        """Row number and key of every row, in no particular order; a key that occurs twice comes twice."""
        import tantivy

        with engine_errors(self.folder):
            for key, _ in self._searcher.terms_with_prefix(self._layout.key, ""):
                query = tantivy.Query.term_query(self._schema, self._layout.key, key, "basic")
                for serial, _ in self._rows(query, 1_000):
                    yield serial, key

    def _rows(self, query: Any | None, limit: int) -> list[tuple[int, float]]:
        if query is None or limit <= 0 or self._searcher.num_docs == 0:
            return []
        found = self._searcher.search(query, min(limit + TIE_ROOM, self._searcher.num_docs), count=False).hits
        serials = self._searcher.fast_field_values(SERIAL, [address for _, address in found])
        if None in serials:
            raise DatasetDamaged(f"lexical index at {self.folder}: a row without a number")
        rows = [(int(serial), float(score)) for serial, (score, _) in zip(serials, found, strict=True)]
        return sorted(rows, key=lambda row: (-row[1], row[0]))[:limit]
