"""Small honest stand-ins for tests, ours and those of plugin authors: rows, files, an embedder without weights.

`check_parser`, `check_chunker`, `check_embedder`, `check_reranker`, `check_retriever` and `check_index_store` say which
promise of its contract a plugin breaks.
`contents_of` reads a whole generation from each of its stores, so that two datasets can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core import ids, schema
from hermes_lance.core.artifact import Artifact, Edge
from hermes_lance.core.records import ChunkRow, KnownFile
from hermes_lance.testing.contracts import (
    SampleView,
    check_chunker,
    check_embedder,
    check_parser,
    check_reranker,
    check_retriever,
    sample_candidates,
    sample_documents,
)
from hermes_lance.testing.rows import chunk_rows, known_file, write_files
from hermes_lance.testing.stores import FileStore, check_index_store

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Vectors
    from hermes_lance.store.snapshot import Snapshot

__all__ = [
    "Contents",
    "FileStore",
    "SampleView",
    "WordCountEmbedder",
    "check_chunker",
    "check_embedder",
    "check_index_store",
    "check_parser",
    "check_reranker",
    "check_retriever",
    "chunk_rows",
    "contents_of",
    "known_file",
    "sample_candidates",
    "sample_documents",
    "write_files",
]


class WordCountEmbedder:
    """Vectors of 64 numbers from the words of a text. Deterministic, instant, and near for texts that share words."""

    name = "word_count"
    dimensions = 64
    window_tokens = 256
    scripts: frozenset[str] = frozenset()
    fusion_weight = 0.2

    def __init__(self) -> None:
        self.embedded = 0
        """Texts embedded so far; tests count with it."""

    def signature(self) -> str:
        """Name and version."""
        return "word_count/1"

    def embed_documents(self, texts: Sequence[str], *, cancelled: Callable[[], bool] | None = None) -> Vectors:
        """float32 `[n, 64]`."""
        import numpy as np

        self.embedded += len(texts)
        found = [self.embed_query(text) for text in texts]
        return np.stack(found) if found else np.zeros((0, self.dimensions), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        """float32 `[64]`, length 1, or zero without words."""
        import numpy as np

        vector = np.zeros(self.dimensions, dtype=np.float32)
        for word in text.lower().split():
            vector[int(ids.text_sha(word)[:8], 16) % self.dimensions] += 1.0
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words."""
        return [len(text.split()) for text in texts]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a generation holds, without what depends on history (serials, runs, moments)."""

    files: dict[str, dict[str, Any]]
    """Source id to the record of the file."""
    rows: dict[str, ChunkRow]
    """Row id to the passage."""
    vectors: dict[str, dict[str, bytes]]
    """Row id to the vectors (float16 bytes) of a passage by text key; passages without vectors are absent."""
    space: str
    """Signature of the embedder whose vectors answer queries."""
    artifacts: dict[str, Artifact] = field(default_factory=dict)
    """Id to the whole thing that an agent can open."""
    edges: frozenset[Edge] = frozenset()
    """Links between artifacts."""
    artifact_vectors: dict[str, bytes] = field(default_factory=dict)
    """Id to the vector (float16 bytes) of an artifact."""


def contents_of(dataset: Path) -> Contents:
    """The current generation, read from every store of it; without the tables where they are behind. `AssertionError`
    where two stores disagree, a key occurs twice, or a row has only a part of its vectors."""
    from hermes_lance.store.snapshot import open_snapshot
    from hermes_lance.store.tables import Tables

    snapshot = open_snapshot(dataset)
    versions = {name: entry["version"] for name, entry in snapshot.manifest.tables.items()}
    tables = Tables(dataset)
    rows = _rows_agreed_on(snapshot, tables, versions)
    files = {key: replace(known, run="", indexed_at=None) for key, known in snapshot.files.all().items()}
    if not snapshot.manifest.tables_behind:
        assert _records_in(tables, versions) == files, "the records of files differ between Lance and the side file"
    chunks_of: dict[str, int] = dict.fromkeys(files, 0)
    for row in rows.values():
        chunks_of[row.source_id] += 1
    assert chunks_of == {key: known.chunks for key, known in files.items()}, "files with too many or too few passages"
    active = snapshot.manifest.space.get("active") or {}
    vectors = _vectors_agreed_on(snapshot, tables, versions, active.get("table"), rows)
    records = {key: asdict(known) for key, known in files.items()}
    artifacts, edges = _artifacts_agreed_on(snapshot, tables, versions)
    routed = _artifact_vectors_agreed_on(snapshot, tables, versions, active.get("table"))
    return Contents(records, rows, vectors, str(active.get("signature", "")), artifacts, edges, routed)


def _artifact_vectors_agreed_on(
    snapshot: Snapshot, tables: Any, versions: dict[str, int], table: str | None
) -> dict[str, bytes]:
    if snapshot.artifact_vectors is None:
        return {}
    found: dict[str, bytes] = {}
    stored = {
        key: vector.values.to_numpy(zero_copy_only=False).tobytes()
        for batch in tables.read(table, ["key", "vector"], version=versions[str(table)])
        for key, vector in zip(batch.column("key").to_pylist(), batch.column("vector"), strict=True)
    }
    for segment in snapshot.artifact_vectors.segments:
        for at, serial in enumerate(segment.serials.tolist()):
            one = snapshot.artifacts.row(serial)
            assert one.embed_keys == (segment.key(at),), f"the vector of {one.id} is of another text"
            found[one.id] = segment.matrix[at].tobytes()
            assert stored.get(segment.key(at)) == found[one.id], "a vector differs between Lance and the side files"
    assert len(found) == len(snapshot.artifacts), "artifacts without vectors beside others that have some"
    return found


def _artifacts_agreed_on(
    snapshot: Snapshot, tables: Any, versions: dict[str, int]
) -> tuple[dict[str, Artifact], frozenset[Edge]]:
    from hermes_lance.store.artifact_tables import read_artifacts, read_edges
    from hermes_lance.store.lexical_fields import key_number

    rows = snapshot.artifacts.all()
    found, edges = {one.id: one for one in rows}, list(snapshot.artifacts.edges())
    assert len(found) == len(rows), "an artifact is twice in the side file"
    indexed = snapshot.artifact_index.keys() if snapshot.artifact_index is not None else []
    assert indexed == [(at, key_number(one.id)) for at, one in enumerate(rows)], "Tantivy has other artifacts"
    if not snapshot.manifest.tables_behind:
        assert read_artifacts(tables, versions["artifacts"]) == rows, "the artifacts differ between Lance and side file"
        assert read_edges(tables, versions["edges"]) == edges, "the links differ between Lance and the side file"
    assert all({edge.source_id, edge.target_id} <= found.keys() for edge in edges), "a link leads nowhere"
    return found, frozenset(edges)


def _records_in(tables: Any, versions: dict[str, int]) -> dict[str, KnownFile]:
    stored = [
        KnownFile(**{**record, "run": "", "indexed_at": None})
        for batch in tables.read("sources", schema.load("sources").names, version=versions["sources"])
        for record in batch.to_pylist()
    ]
    found = {one.id: one for one in stored}
    assert len(found) == len(stored), "a file is stored twice"
    return found


def _rows_agreed_on(snapshot: Snapshot, tables: Any, versions: dict[str, int]) -> dict[str, ChunkRow]:
    from hermes_lance.store.lexical_fields import key_number

    by_serial = {serial: segment.row(index) for serial, segment, index in snapshot.text.living()}
    rows = {row.id: row for row in by_serial.values()}
    assert len(rows) == len(by_serial), "a passage is twice in the side files"
    indexed = snapshot.lexical.keys()
    assert len(indexed) == len(dict(indexed)) == snapshot.lexical.count(), "a passage is twice in Tantivy"
    assert dict(indexed) == {serial: key_number(row.id) for serial, row in by_serial.items()}, (
        "Tantivy and side files differ"
    )
    if snapshot.manifest.tables_behind:
        return rows
    names = [name for name in schema.load("chunks").names if name != "text_sha"]
    stored = [
        _chunk_row(record)
        for batch in tables.read("chunks", names, version=versions["chunks"])
        for record in batch.to_pylist()
    ]
    assert len(stored) == len(rows), "a passage is stored twice, or lost"
    assert {row.id: row for row in stored} == rows, "the passages differ between Lance and the side files"
    return rows


def _chunk_row(record: dict[str, Any]) -> ChunkRow:
    lists = {name: tuple(record[name]) for name in ("section", "embed_keys", "flags")}
    return ChunkRow(**{**record, **lists, "run": ""})


def _vectors_agreed_on(
    snapshot: Snapshot, tables: Any, versions: dict[str, int], table: str | None, rows: dict[str, ChunkRow]
) -> dict[str, dict[str, bytes]]:
    found: dict[str, dict[str, bytes]] = {}
    for serial, key, vector in _living_vectors(snapshot):
        of_row = found.setdefault(snapshot.text.row(serial).id, {})
        assert key not in of_row, f"row {serial} has a vector twice"
        of_row[key] = vector
    for row_id, of_row in found.items():
        assert of_row.keys() == set(rows[row_id].embed_keys), f"row {row_id} has other vectors than its text asks for"
    if not found:
        return found
    assert table is not None
    stored: dict[str, bytes] = {}
    for batch in tables.read(table, ["key", "vector"], version=versions[table]):
        for key, vector in zip(batch.column("key").to_pylist(), batch.column("vector"), strict=True):
            assert key not in stored, "a vector is stored twice"
            stored[key] = vector.values.to_numpy(zero_copy_only=False).tobytes()
    for of_row in found.values():
        for key, vector in of_row.items():
            assert stored.get(key) == vector, "a vector differs between Lance and the side files"
    return found


def _living_vectors(snapshot: Snapshot) -> Iterator[tuple[int, str, bytes]]:
    for segment in snapshot.vectors.segments:
        for at, serial in enumerate(segment.serials.tolist()):
            if serial not in snapshot.dead:
                yield serial, segment.key(at), segment.matrix[at].tobytes()
