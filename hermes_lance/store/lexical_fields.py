"""The fields of a Tantivy index, derived from the roles in `schemas/*.json`, and how heavy each one counts.

`text` columns become analysed fields, `filter` columns raw ones, but for those that all rows of a file share: they are
looked up in the list of files. Added to them: `serial` (row number), `key` (that of the row, as a number), `folder`
(every folder above a file, and the file), `name` (whole file name), `pairs` and `grams`.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hermes_lance.core import schema
from hermes_lance.core.errors import DatasetBusy, DatasetDamaged, HermesLanceError
from hermes_lance.core.signature import digest
from hermes_lance.core.words import Analyser, encodable
from hermes_lance.store.durable import translated

SERIAL, KEY, FOLDER, NAME, PAIRS, GRAMS = "serial", "key", "folder", "name", "pairs", "grams"

OF_THE_FILE = frozenset({"root", "media_type"})
"""Filter columns that the file decides: as terms of every row they would only cost time."""

FIRST = "\0"
"""Begins the file name in the field `name` of the first passage of a file."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Factors on BM25 scores. Measured on judged sets; a field that is not named counts `other`."""

    fields: Mapping[str, float]
    other: float = 0.5
    phrase: float = 2.0
    neighbours: float = 0.2
    """Two words of the question that stand close together in the passage."""
    snake_phrase: float = 2.0
    name: float = 2.0
    """A whole snake_case or camelCase name."""
    file_name: float = 1.0
    """A word of the question that equals the file name, with or without its suffix."""
    whole_file_name: float = 8.0
    """The whole question equals it: added to the first passage of the file only, or one file would fill the page."""
    kind: float = 0.1
    pairs: float = 1.0
    grams: float = 0.5

    def of(self, field: str) -> float:
        """The factor of an analysed field."""
        return self.fields.get(field, self.other)


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of one table's index."""

    table: str
    key: str
    body: str
    """The field of the text itself."""
    phrases: tuple[str, ...]
    """Fields that phrases can be looked for in."""
    analysed: tuple[str, ...]
    """Analysed fields, body included."""
    raw: tuple[str, ...]
    """Filter columns."""
    weights: Weights


WEIGHTS: Mapping[str, Weights] = {
    "chunks": Weights({"text": 1.0, "section": 0.3, "symbol": 0.5, "path": 0.3}),
    "artifacts": Weights(
        {"title": 6.0, "path": 5.0, "triggers": 3.0, "entities": 2.0, "summary": 1.0, "search_text": 0.4}
    ),
}
BODIES: Mapping[str, str] = {"chunks": "text", "artifacts": "search_text"}


@cache
def layout(table: str) -> Layout:
    """The fields that the schema of `table` asks for."""
    columns = schema.load(table)
    analysed = tuple(column.name for column in columns.by_role("text"))
    raw = tuple(column.name for column in columns.by_role("filter") if column.name not in OF_THE_FILE)
    body = BODIES[table]
    # Passages are many, and quoted from; of artifacts there are few, and what is quoted may stand in any field.
    phrases = analysed if table == "artifacts" else (body,)
    return Layout(table, columns.key, body, phrases, analysed, raw, WEIGHTS[table])


def lexical_digest(table: str, analyser: Analyser | None = None) -> str:
    """Fingerprint of everything that shapes the stored index of `table`; weights only shape queries."""
    fields = layout(table)
    return digest({
        "lexical": 3 if table == "chunks" else 5,
        "analyser": (analyser or Analyser()).digest(),
        "table": table,
        "analysed": list(fields.analysed),
        "raw": list(fields.raw),
    })  # fmt: skip


def tantivy_schema(fields: Layout) -> Any:
    """`tantivy.Schema` of a table. Nothing is stored but what finding needs: no text."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    # Indexed as well as fast: the writer replaces a row by its number.
    builder.add_unsigned_field(SERIAL, indexed=True, fast=True)
    # Keys are compared, never asked for: as terms, one a row, they would be a tenth of the work of indexing.
    builder.add_unsigned_field(KEY, indexed=False, fast=True)
    for name in fields.raw:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(NAME, tokenizer_name="raw", index_option="basic")
    # All folders of a row in one value, by `folder_term`: ten values a row would cost as much as its words.
    builder.add_text_field(FOLDER, tokenizer_name="tokens", index_option="basic")
    for name in fields.analysed:
        option = "position" if name in fields.phrases else "freq"
        builder.add_text_field(name, tokenizer_name="words", index_option=option)
    for name in (PAIRS, GRAMS):
        builder.add_text_field(name, tokenizer_name="tokens", index_option="freq")
    return builder.build()


def key_number(key: str) -> int:
    """A key as the field `key` holds it: the first 64 bits of its SHA-256."""
    return int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def folder_key(root_key: str, path: str) -> str:
    """Names a folder or file of a root; the root itself is the empty path."""
    return f"{root_key}\0{path.strip('/')}"


def folder_term(key: str) -> str:
    """What the field `folder` holds for a `folder_key`: the first 64 bits of its SHA-256, in hexadecimal."""
    return hashlib.sha256(encodable(key).encode("utf-8")).hexdigest()[:16]


def folder_keys(root_key: str, path: str) -> Iterator[str]:
    """The root, every folder above the file, and the file itself."""
    yield folder_key(root_key, "")
    at = path.find("/")
    while at != -1:
        if at:
            yield folder_key(root_key, path[:at])
        at = path.find("/", at + 1)
    yield folder_key(root_key, path)


def check_fields(folder: Path, schema: Any, fields: Layout) -> None:
    """`DatasetDamaged` when the index in `folder` lacks a field that questions use."""
    import tantivy

    with engine_errors(folder):
        for name in (*fields.raw, *fields.analysed, FOLDER, NAME, PAIRS, GRAMS):
            tantivy.Query.term_query(schema, name, "")


def opened(folder: Path, analyser: Analyser, *, create: Layout | None = None) -> Any:
    """`tantivy.Index` of a folder with its tokenizers, which Tantivy forgets.

    `create` makes a new index where there is none. A missing or unreadable index is `DatasetDamaged`.
    """
    import tantivy

    with engine_errors(folder):
        if create is not None and not (folder / "meta.json").exists():
            index = tantivy.Index(tantivy_schema(create), str(folder), reuse=False)
        else:
            index = tantivy.Index.open(str(folder))
    for name, tokenizer in analyser.tokenizers().items():
        index.register_tokenizer(name, tokenizer)
    return index


_MOST_WORDS = 200


@contextlib.contextmanager
def engine_errors(folder: Path) -> Iterator[None]:
    """Turns what Tantivy raises inside the block into our errors, which name the folder.

    It tells kinds of failure apart only by words, and panics on some damaged files: that exception is no `Exception`.
    """
    try:
        yield
    except (ValueError, OSError) as error:
        raise _ours(folder, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise DatasetDamaged(f"lexical index at {folder}: damaged ({_short(str(error))})") from error


def _ours(folder: Path, error: Exception) -> HermesLanceError:
    words = str(error)
    if "LockBusy" in words or "Failed to acquire Lockfile" in words:
        return DatasetBusy(f"lexical index at {folder}: another process is writing to it")
    known = translated(error, f"lexical index at {folder}")
    return known or DatasetDamaged(f"lexical index at {folder}: cannot be read ({_short(words)})")


def _short(words: str) -> str:
    """One line of reasonable length: Tantivy quotes whole files."""
    line = " ".join(words.split())
    return line if len(line) <= _MOST_WORDS else f"{line[:_MOST_WORDS]}…"
