"""The Lance tables `artifacts` and `edges`: brought to what the side file of a generation holds, and read back.

What is to be written is found by comparing: there are thousands of them, not millions, and so an interruption needs
no record of how far it came.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from hermes_lance.core import schema
from hermes_lance.core.artifact import ARTIFACT_COLUMNS, EDGE_COLUMNS, LISTS, Artifact, Edge
from hermes_lance.core.ids import SHORT_HEX
from hermes_lance.store import failpoints
from hermes_lance.store.artifact_rows import ArtifactRows

if TYPE_CHECKING:
    from hermes_lance.store.tables import Tables


def edge_id(edge: Edge) -> str:
    """The key of an edge in its table: source, target and kind."""
    text = f"edge\0{edge.source_id}\0{edge.target_id}\0{edge.kind}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:SHORT_HEX]


def write_artifact_tables(tables: Tables, rows: ArtifactRows, run: str) -> None:
    """Makes both tables hold exactly these rows, each in one commit where anything differs."""
    artifacts = {one.id: _record(one, ARTIFACT_COLUMNS, run) for one in rows.all()}
    if _write(tables, "artifacts", artifacts):
        failpoints.reach("artifacts")
    edges = {edge_id(one): {"id": edge_id(one), **_record(one, EDGE_COLUMNS, run)} for one in rows.edges()}
    if _write(tables, "edges", edges):
        failpoints.reach("edges")


def _record(one: Any, names: tuple[str, ...], run: str) -> dict[str, Any]:
    values = {name: getattr(one, name) for name in names}
    return {**{name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}, "run": run}


def _write(tables: Tables, name: str, wanted: dict[str, dict[str, Any]]) -> bool:
    import pyarrow as pa

    stored = {
        record["id"]: record for batch in tables.read(name, schema.load(name).names) for record in batch.to_pylist()
    }
    gone = sorted(stored.keys() - wanted.keys())
    new = [record for key, record in sorted(wanted.items()) if not _same(stored.get(key), record)]
    if new:
        rows = pa.Table.from_pylist(new, schema=schema.arrow_schema(name))
        if stored:
            tables.upsert(name, "id", rows, ("id", gone))
        else:
            tables.append(name, rows)
    elif gone:
        tables.delete(name, "id", gone)
    return bool(new or gone)


def _same(stored: dict[str, Any] | None, wanted: dict[str, Any]) -> bool:
    """Equal but for the run; confidences are stored in 32 bits."""
    if stored is None:
        return False
    return all(
        abs(stored[name] - value) < 1e-6 if name == "confidence" else stored[name] == value
        for name, value in wanted.items()
        if name != "run"
    )


def read_artifacts(tables: Tables, version: int | None = None) -> list[Artifact]:
    """Every artifact of a version of the table, by id."""
    records: list[dict[str, Any]] = [
        record for batch in tables.read("artifacts", ARTIFACT_COLUMNS, version=version) for record in batch.to_pylist()
    ]
    found = [Artifact(**{**record, **{name: tuple(record[name]) for name in LISTS}}) for record in records]
    return sorted(found, key=lambda one: one.id)


def read_edges(tables: Tables, version: int | None = None) -> list[Edge]:
    """Every edge of a version of the table, by source, target and kind."""
    found = [
        Edge(**{**record, "confidence": round(record["confidence"], 6)})
        for batch in tables.read("edges", EDGE_COLUMNS, version=version)
        for record in batch.to_pylist()
    ]
    return sorted(found, key=lambda one: (one.source_id, one.target_id, one.kind))
