"""The lexical index: one Tantivy directory for each table and generation, written by one, read by many.

It stores row numbers, never text. How a question becomes a query stands in `lexical_query.py`, which fields there are
in `lexical_fields.py`, snapshots of the directory in `lexical_files.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any

from hermes_lance.core.words import AnalysedQuery, AnalysedText, Analyser, clean
from hermes_lance.store import lexical_query
from hermes_lance.store.lexical_fields import (
    FIRST,
    FOLDER,
    GRAMS,
    NAME,
    PAIRS,
    SERIAL,
    folder_keys,
    layout,
    opened,
    storage_error,
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
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(folder, error) from error
        index = opened(folder, self._analyser, create=self._layout)
        try:
            self._writer: Any = index.writer(heap_size=heap_mb * 1_000_000, num_threads=1)
        except (ValueError, OSError) as error:
            raise storage_error(folder, error) from error

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
        try:
            self._writer.delete_all_documents()
        except (ValueError, OSError) as error:
            raise storage_error(self.folder, error) from error

    def commit(self) -> None:
        """Makes all changes durable in the folder and visible to readers that open it from now on."""
        self._flush()
        try:
            self._writer.commit()
        except (ValueError, OSError) as error:
            raise storage_error(self.folder, error) from error

    def close(self) -> None:
        """Waits for merges and frees the lock. What was not committed is lost. May be called twice."""
        self._waiting.clear()
        writer, self._writer = self._writer, None
        if writer is None:
            return
        try:
            writer.wait_merging_threads()
        except (ValueError, OSError) as error:
            raise storage_error(self.folder, error) from error
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
        try:
            for value in values:
                self._writer.delete_documents_by_term(field, clean(value))
        except (ValueError, OSError) as error:
            raise storage_error(self.folder, error) from error

    def _flush(self) -> None:
        if not self._waiting:
            return
        rows, self._waiting, self._waiting_chars = self._waiting, [], 0
        places: list[tuple[int, str]] = []
        texts: list[str] = []
        for number, (row, _) in enumerate(rows):
            for field in self._layout.analysed:
                value = _as_text(row.get(field))
                if value:
                    places.append((number, field))
                    texts.append(value)
        documents = [self._raw_fields(row, serial) for row, serial in rows]
        for (number, field), analysed in zip(places, self._analyser.texts(texts), strict=True):
            _add_text(documents[number], field, analysed)
        try:
            for document in documents:
                self._writer.add_document(document)
        except (ValueError, OSError) as error:
            raise storage_error(self.folder, error) from error

    def _raw_fields(self, row: Mapping[str, Any], serial: int) -> Any:
        import tantivy

        document = tantivy.Document()
        # Always through `add_unsigned`: a plain integer is taken as signed and kills the indexing thread.
        document.add_unsigned(SERIAL, serial)
        for field in self._layout.raw:
            value = row.get(field)
            if value is not None:
                document.add_text(field, clean(str(value)))
        path = clean(str(row.get("path") or ""))
        if path:
            for key in folder_keys(clean(str(row.get("root") or "")), path):
                document.add_text(FOLDER, key)
            first = not row.get("ordinal")
            for name in _file_names(path):
                document.add_text(NAME, name)
                if first:
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


def _file_names(path: str) -> list[str]:
    """The file name with and without its suffix, lower case."""
    name = PurePosixPath(path).name.lower()
    stem = PurePosixPath(name).stem
    return [name, stem] if stem != name else [name]


class LexicalReader:
    """Answers from one committed state of an index; later commits are not seen. Needs no write permission."""

    def __init__(self, folder: Path, table: str = "chunks", analyser: Analyser | None = None) -> None:
        self.folder = folder
        self._layout = layout(table)
        if not (folder / "meta.json").exists():
            raise storage_error(folder, FileNotFoundError("meta.json is missing"))
        index = opened(folder, analyser or Analyser())
        self._schema: Any = index.schema
        try:
            index.config_reader("manual")
            self._searcher: Any = index.searcher()
        except (ValueError, OSError) as error:
            raise storage_error(folder, error) from error

    def search(
        self, query: AnalysedQuery, limit: int, filters: LexicalFilters | None = None
    ) -> list[tuple[int, float]]:
        """Best rows as (row number, BM25 score), best first, equal scores by row number; at most `limit`.

        An empty question and one that matches nothing give an empty list.
        """
        built = lexical_query.ranked(self._schema, self._searcher, self._layout, query, filters)
        return self._rows(built, limit)

    def verbatim(self, query: AnalysedQuery, limit: int = 50, filters: LexicalFilters | None = None) -> list[int]:
        """Row numbers that hold the whole question word for word, or the one identifier it is; best first."""
        built = lexical_query.verbatim(self._schema, self._layout, query, filters)
        return [serial for serial, _ in self._rows(built, limit)]

    def count(self) -> int:
        """Number of rows."""
        return int(self._searcher.num_docs)

    def ids(self) -> Iterator[tuple[int, str]]:
        """Row number and key of every row, in no particular order; a key that occurs twice comes twice."""
        import tantivy

        for key, _ in self._searcher.terms_with_prefix(self._layout.key, ""):
            query = tantivy.Query.term_query(self._schema, self._layout.key, key, "basic")
            for serial, _ in self._rows(query, 1_000):
                yield serial, key

    def _rows(self, query: Any | None, limit: int) -> list[tuple[int, float]]:
        if query is None or limit <= 0 or self._searcher.num_docs == 0:
            return []
        try:
            found = self._searcher.search(query, min(limit + TIE_ROOM, self._searcher.num_docs), count=False).hits
            serials = self._searcher.fast_field_values(SERIAL, [address for _, address in found])
        except (ValueError, OSError) as error:
            raise storage_error(self.folder, error) from error
        rows = [(int(serial), float(score)) for serial, (score, _) in zip(serials, found, strict=True)]
        return sorted(rows, key=lambda row: (-row[1], row[0]))[:limit]
