"""Writing the lexical index: rows in, in batches; nothing is visible before `commit`."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from functools import lru_cache
from operator import attrgetter
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any

from hermes_lance.core.words import AnalysedText, Analyser, clean, encodable
from hermes_lance.store.lexical_fields import (
    FIRST,
    FOLDER,
    GRAMS,
    KEY,
    NAME,
    PAIRS,
    SERIAL,
    engine_errors,
    folder_keys,
    folder_term,
    key_number,
    layout,
    opened,
)

HEAP_MB = 96
"""Memory of the one indexing thread before it writes a segment."""

BATCH_CHARS = 1_000_000
"""Characters that are analysed at a time: numpy is slow on single passages."""


class LexicalWriter:
    """Adds and deletes rows of one index. `close` must always be called.

    A folder that holds an index (a clone of its predecessor) is continued, an empty one begun.
    """

    def __init__(
        self, folder: Path, table: str = "chunks", heap_mb: int = HEAP_MB, analyser: Analyser | None = None
    ) -> None:
        self.folder = folder
        self._layout = layout(table)
        self._texts_of = attrgetter(*self._layout.analysed)
        self._body_of = attrgetter(self._layout.body)
        self._key_of = attrgetter(self._layout.key)
        self._analyser = analyser or Analyser()
        self._waiting: list[tuple[Any, int]] = []
        self._waiting_chars = 0
        with engine_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        index = opened(folder, self._analyser, create=self._layout)
        with engine_errors(self.folder):
            self._writer: Any = index.writer(heap_size=heap_mb * 1_000_000, num_threads=1)

    def add(self, row: Any, serial: int) -> None:
        """Adds one row, a record with the columns of the table as attributes, under its row number."""
        self._waiting.append((row, serial))
        self._waiting_chars += len(self._body_of(row) or "")
        if self._waiting_chars >= BATCH_CHARS:
            self._flush()

    def delete_sources(self, source_ids: Collection[str]) -> None:
        """Deletes every row of these files that was added before."""
        self._flush()
        with self._writing():
            for value in source_ids:
                self._writer.delete_documents_by_term("source_id", encodable(value))

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

    def _flush(self) -> None:
        if not self._waiting:
            return
        import tantivy

        rows, self._waiting, self._waiting_chars = self._waiting, [], 0
        fields = self._layout.analysed
        texts = [[_as_text(value) for value in self._texts_of(row)] for row, _ in rows]
        # Paths and sections repeat from one passage to the next.
        distinct = list(dict.fromkeys(text for of_row in texts for text in of_row if text))
        analysed = dict(zip(distinct, self._analyser.texts(distinct), strict=True))
        documents = []
        for (row, serial), of_row in zip(rows, texts, strict=True):
            document = tantivy.Document()
            # Always through `add_unsigned`: a plain integer is taken as signed and kills the indexing thread.
            document.add_unsigned(SERIAL, serial)
            document.add_unsigned(KEY, key_number(self._key_of(row)))
            for field, text in self._raw_fields(row):
                document.add_text(field, text)
            for field, text in zip(fields, of_row, strict=True):
                if text:
                    _add_text(document, field, analysed[text])
            documents.append(document)
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

    def _raw_fields(self, row: Any) -> tuple[tuple[str, str], ...]:
        """Fields and values that are stored as they are."""
        values = tuple([getattr(row, field) for field in self._layout.raw])
        path = getattr(row, "path", None)
        if not path:
            return _filters(self._layout.raw, values)
        first = not getattr(row, "ordinal", 0)
        return _filters_and_places(self._layout.raw, values, getattr(row, "root", None) or "", path, first)


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


def _filters(fields: tuple[str, ...], values: tuple[Any, ...]) -> tuple[tuple[str, str], ...]:
    pairs = zip(fields, values, strict=True)
    return tuple((field, encodable(str(value))) for field, value in pairs if value is not None)


_folder_term = lru_cache(maxsize=4_096)(folder_term)


@lru_cache(maxsize=1_024)
def _filters_and_places(
    fields: tuple[str, ...], values: tuple[Any, ...], root: str, path: str, first: bool
) -> tuple[tuple[str, str], ...]:
    """With the values of `folder` and `name`; the same for most passages of a file, which come together.

    `first` adds the mark of the first passage of a file.
    """
    name = PurePosixPath(clean(path)).name.lower()
    stem = PurePosixPath(name).stem
    names = (name, stem) if stem != name else (name,)
    return (
        *_filters(fields, values),
        (FOLDER, " ".join(map(_folder_term, folder_keys(root, path)))),
        *((NAME, one) for one in names),
        *((NAME, FIRST + one) for one in names if first),
    )
