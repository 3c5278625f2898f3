"""`schemas/*.json` to columns and Arrow schemas. The JSON files are the only place where a column is defined.

Reading the JSON needs no pyarrow; only `arrow_schema` imports it.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROLES = ("key", "text", "vector", "filter", "stored")
TABLES = ("vectors", "chunks", "artifacts", "edges", "sources")
"""Tables on disk, in the order of a commit: sources last, since they say what is finished."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column as its schema file declares it."""

    name: str
    type: str
    null: bool
    role: str
    doc: str


@dataclass(frozen=True, slots=True)
class Schema:
    """One table as its schema file declares it."""

    name: str
    version: int
    doc: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """Column names in order."""
        return [column.name for column in self.columns]

    def by_role(self, role: str) -> list[Column]:
        """Columns of one role, in order."""
        return [column for column in self.columns if column.role == role]

    @property
    def indexed(self) -> list[str]:
        """Columns worth a scalar index in Lance: the key and what rows are filtered by."""
        return [column.name for column in self.columns if column.role in ("key", "filter")]

    @property
    def key(self) -> str:
        """Name of the key column."""
        return self.by_role("key")[0].name


def schemas_folder() -> Path:
    """Beside the package in a checkout or an editable install, inside it in an installed wheel."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "schemas", package.parent / "schemas"):
        if (folder / "chunks.json").is_file():
            return folder
    raise FileNotFoundError(f"schemas: not found beside or inside {package}; reinstall hermes-lance")


@cache
def load(name: str) -> Schema:
    """The schema called `name`."""
    raw = json.loads((schemas_folder() / f"{name}.json").read_text(encoding="utf-8"))
    columns = tuple(Column(**column) for column in raw["columns"])
    for column in columns:
        if column.role not in ROLES:
            raise ValueError(f"schemas/{name}.json: column {column.name} has the unknown role {column.role}")
    return Schema(raw["name"], raw["version"], raw["doc"], columns)


def digest_of(name: str) -> str:
    """Fingerprint of names, types, nullability, roles and order; words may change freely."""
    schema = load(name)
    lines = [f"{c.name}:{c.type}:{c.null}:{c.role}" for c in schema.columns]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def digests() -> dict[str, str]:
    """`name@version` to digest, for every table."""
    return {f"{name}@{load(name).version}": digest_of(name) for name in TABLES}


_SIMPLE = {
    "string": "string",
    "int32": "int32",
    "int64": "int64",
    "bool": "bool_",
    "float32": "float32",
    "float16": "float16",
}


def arrow_type(word: str, dimensions: int | None = None) -> Any:
    """The Arrow type that a word of the closed list names."""
    import pyarrow as pa

    if word in _SIMPLE:
        return getattr(pa, _SIMPLE[word])()
    if word == "timestamp[us, UTC]":
        return pa.timestamp("us", tz="UTC")
    inner = re.fullmatch(r"(list|dictionary|vector)<(.+)>", word)
    if inner is None:
        raise ValueError(f"schemas: unknown type {word!r}")
    outer, of = inner.groups()
    if outer == "list":
        return pa.list_(arrow_type(of))
    if outer == "dictionary":
        return pa.dictionary(pa.int32(), arrow_type(of))
    if dimensions is None:
        raise ValueError("schemas: a vector column needs the number of dimensions")
    return pa.list_(arrow_type(of), dimensions)


def arrow_schema(name: str, dimensions: int | None = None) -> Any:
    """`pyarrow.Schema` of a table, words and version in its metadata, the key marked as Lance's primary key."""
    import pyarrow as pa

    schema = load(name)
    fields = []
    for column in schema.columns:
        metadata = {"doc": column.doc, "role": column.role}
        if column.role == "key":
            # Without this mark two writers that race on new keys store both copies.
            metadata["lance-schema:unenforced-primary-key"] = "true"
        fields.append(pa.field(column.name, arrow_type(column.type, dimensions), column.null, metadata=metadata))
    return pa.schema(fields, metadata={"hermes_lance.schema": f"{schema.name}@{schema.version}", "doc": schema.doc})
