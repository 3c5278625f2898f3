"""One publication: a set of whole files made visible at once.

Order: intent, the vectors table, Tantivy, side files, flush, manifest, and last the pointer. Text is published before
the tables have it, since Lance takes a second to load: `catch_up` writes them right after. What a kill between any two
of these steps leaves is described in docs/FORMAT.md; `recover` tidies it.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hermes_lance.core import ids
from hermes_lance.core.artifact import Artifact, Edge
from hermes_lance.core.errors import DatasetDamaged, HermesLanceError
from hermes_lance.core.ids import source_hash
from hermes_lance.core.memory import give_back
from hermes_lance.core.records import ChunkRow, KnownFile
from hermes_lance.store import failpoints
from hermes_lance.store import manifest as manifests
from hermes_lance.store.artifact_rows import write_artifact_vectors, write_artifacts
from hermes_lance.store.changes import Changes
from hermes_lance.store.durable import make_private
from hermes_lance.store.files import FilesState
from hermes_lance.store.known import KnownFiles
from hermes_lance.store.lexical_folder import LexicalFolder
from hermes_lance.store.lexical_writer import LexicalWriter
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.new_vectors import NewVectors
from hermes_lance.store.pointer import publish_manifest, table_step, write_intent
from hermes_lance.store.rows import DeadRows, TextRows, TextSegmentWriter
from hermes_lance.store.tables import Tables
from hermes_lance.store.vectors import VectorRows

FIXED_TABLES = ("chunks", "artifacts", "edges", "sources")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a manifest says beside its data: fingerprints, vector space, settings, roots."""

    fingerprints: Mapping[str, str] = field(default_factory=dict)
    space: Mapping[str, Any] = field(default_factory=dict)
    config: Sequence[Sequence[str]] = ()
    roots: Sequence[Mapping[str, Any]] = ()


class Publication:
    """Gathers changes on top of a generation and publishes them. Only under the writer lock, after recovery.

    `put_file` replaces everything known of a file; `put_state` changes its record and keeps its passages;
    `drop_file` forgets it. Nothing is visible before `commit` returns; `changes` is then what the tables lack. A `with`
    block removes what was gathered when an error ends it; what was committed to the tables by then is left to recovery.
    """

    def __init__(self, dataset: Path, tables: Tables, base: Manifest | None, run: str, facts: Facts) -> None:
        self.dataset, self.tables, self.base, self.run, self.facts = dataset, tables, base, run, facts
        self.side = make_private(dataset / manifests.SIDE)
        self.known = KnownFiles(FilesState(self.side, base.files if base else None))
        self.dead = set(DeadRows.read(self.side, base.dead if base else None))
        self.serial = base.next_serial if base else 0
        self.changes = Changes()
        self._segment: TextSegmentWriter | None = None
        self._artifacts: tuple[Sequence[Artifact], Sequence[Edge]] | None = None
        self._artifact_vectors: tuple[Sequence[Artifact], Any] | None = None
        self._fresh_vectors = False
        self._complete_tables: Callable[[], None] | None = None
        self._after = base
        made: list[Path] = []
        self._made: list[Path] | None = made
        """Files and folders that no generation names yet; none once they have been handed to one."""
        self._vectors = NewVectors(self.side, made)
        self._lexical = LexicalFolder(dataset / manifests.LEXICAL, base.lexical if base else {}, made)
        self.text_bytes = 0
        self.written: list[tuple[int, ChunkRow]] = []
        """Serial and row of everything put so far."""

    def follow(self, generation: Manifest | None) -> None:
        """Numbers the new generation after this one, without relying on anything in it."""
        self._after = generation

    # -- gathering ---------------------------------------------------------------------------------------------

    def put_file(self, state: KnownFile, rows: Sequence[ChunkRow]) -> None:
        """The whole new state of a file: its record and all its passages."""
        before = self.known.get(state.id)
        if before is not None and before.chunks:
            self._replace(state.id)
        self.put_state(state)
        if not rows:
            return
        if self._segment is None:
            self._segment = TextSegmentWriter(self._new_side_file("text"))
        index = self._index()
        self.changes.written[state.id] = None
        for row in rows:
            self._segment.add(row, self.serial)
            index.add(row, self.serial)
            self.written.append((self.serial, row))
            self.text_bytes += len(row.text)
            self.serial += 1

    def _replace(self, source_id: str) -> None:
        self.changes.replaced[source_id] = None
        self._index().delete_sources([source_id])

    def put_state(self, state: KnownFile) -> None:
        """A new record of a file; its passages stay."""
        self.changes.put(state)
        self.known[state.id] = state

    def drop_file(self, source_id: str) -> None:
        """The file and its passages are gone."""
        before = self.known.pop(source_id, None)
        self.changes.drop(source_id)
        if before is not None and before.chunks:
            self._replace(source_id)

    def put_artifacts(self, artifacts: Sequence[Artifact], edges: Sequence[Edge]) -> None:
        """All artifacts and links of the new generation; those of the base are replaced as a whole, without vectors."""
        self.changes.artifacts = True
        self._artifacts = (artifacts, edges)

    def put_artifact_vectors(self, artifacts: Sequence[Artifact], matrix: Any) -> None:
        """Vectors of the active space for all artifacts that the new generation has: float16 `[artifacts by id,
        dimensions]`."""
        self._artifact_vectors = (artifacts, matrix)

    def put_vector(self, serial: int, source_id: str, key: str, vector: Any, *, stored: bool) -> None:
        """One float16 vector of a row. `stored`: the vectors table has this key already, or is given it elsewhere."""
        self.put_vectors([serial], [source_hash(source_id)], [key], vector[None])
        if not stored:
            self.store_vectors([key], vector[None])

    def put_vectors(self, serials: Sequence[int], sources: Sequence[int], keys: Sequence[str], matrix: Any) -> None:
        """Float16 vectors that answer: `matrix[i]` is of row `serials[i]` of the file with hash `sources[i]`."""
        self._vectors.put(serials, sources, keys, matrix)

    def store_vectors(self, keys: Sequence[str], matrix: Any) -> None:
        """Float16 vectors for the table, which has none of these keys. Alone they belong to a space that is not in use
        yet, where there is one."""
        self._vectors.store(keys, matrix)

    @property
    def vector_bytes(self) -> int:
        """Size of the vectors gathered and still in memory."""
        return self._vectors.bytes

    def start_vectors_anew(self) -> None:
        """The vector segments of the base are not carried over: the space changes with this publication."""
        self._fresh_vectors = True

    def preview(self) -> Manifest:
        """The generation that `commit` would publish, where only vectors were gathered: its files are written and can
        be read, and nobody else sees it. `commit` and `abandon` remain."""
        assert not self.changes and self._segment is None and not self._lexical.begun, "more than vectors was gathered"
        manifest = self._new_manifest("")
        self._write_side(manifest)
        return manifest

    def complete_tables(self, write: Callable[[], None]) -> None:
        """`write` brings the tables to the base, which they are behind; called before the vectors are stored, so that
        one publication does for both."""
        self._complete_tables = write

    def _index(self) -> LexicalWriter:
        """The new Tantivy index of passages, a clone of the published one, opened at the first change."""
        assert self._made is not None, "a publication is committed once"
        return self._lexical.chunks()

    def _new_side_file(self, suffix: str) -> Path:
        path = self.side / f"{ids.unique_name()}.{suffix}"
        self._note_made(path)
        return path

    def _note_made(self, path: Path) -> None:
        assert self._made is not None, "a publication is committed once"
        self._made.append(path)

    @property
    def empty(self) -> bool:
        """Nothing was gathered."""
        return not (self.changes or self._vectors)

    # -- publishing --------------------------------------------------------------------------------------------

    def commit(self, note: str = "") -> Manifest:
        """Publishes; the new manifest. On any error the published generation is still the old one."""
        failpoints.reach("start")
        manifest = self._new_manifest(note)
        table = self._vectors_table()
        heads = {table: self.tables.head(table)} if table is not None else {}
        if self._complete_tables is not None:
            heads.update((name, self.tables.newest(name) or 0) for name in FIXED_TABLES)
        write_intent(self.dataset, manifest, self.base, {table: heads[table] + 1} if table is not None else {}, heads)
        failpoints.reach("intent")
        if self._complete_tables is not None:
            self._complete_tables()
            for name in FIXED_TABLES:
                note_table(manifest, self.tables, name)
            manifest.tables_behind = False
        for name, head in ((table, heads[table]),) if table is not None else ():
            # One writer, which has looked: the keys are not there, so there is nothing to merge with.
            self.tables.append(name, self._vectors.table_rows())
            failpoints.reach(table_step(name))
            if self.tables.head(name) != head + 1:
                raise DatasetDamaged(f"table {name}: version {self.tables.head(name)} after one commit on {head}")
            note_table(manifest, self.tables, name)
        served = self.facts.space["active"]["table"] if self._vectors.serve else None
        if served is not None and served not in manifest.tables:
            # All of them were there already, left by an earlier dataset in this place.
            note_table(manifest, self.tables, served)
        manifest.tables_behind = bool(self.changes) or self.base is None or manifest.tables_behind
        return self._finish(manifest)

    def _vectors_table(self) -> str | None:
        """The table for vectors that are stored nowhere yet; none when there are no such vectors."""
        if not self._vectors.stored_keys:
            return None
        # Vectors that answer queries are those of the active space, whatever else is being filled.
        serve = self._vectors.serve or self._artifact_vectors is not None
        building = self.facts.space.get("building") if not serve else None
        space = building or self.facts.space["active"]
        self.tables.ensure(space["table"], space["dimensions"])
        return str(space["table"])

    def commit_without_tables(self, tables: Sequence[str], note: str = "") -> Manifest:
        """Publishes the side files and Tantivy alone, over tables that have everything already (recovery)."""
        manifest = self._new_manifest(note)
        for name in tables:
            note_table(manifest, self.tables, name)
        manifest.tables_behind = False
        return self._finish(manifest)

    def _finish(self, manifest: Manifest) -> Manifest:
        self._write_lexical(manifest)
        failpoints.reach("lexical")
        self._write_side(manifest)
        failpoints.reach("side")
        # From here on the files belong to the generation, even if an error hides whether the pointer has moved.
        self._made = None
        publish_manifest(self.dataset, manifest)
        # Rows are let go now, whoever still holds this object: a large build has the collector of cycles resting.
        self.written.clear()
        self._segment = self._artifacts = self._artifact_vectors = None
        give_back()
        return manifest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.abandon()

    def abandon(self) -> None:
        """Closes and removes what was gathered: a full disk gets its room back. The error that led here is the one to
        report, so another one of closing a half-written index is not raised."""
        if self._made is None:
            return
        if self._segment is not None:
            self._segment.discard()
        with contextlib.suppress(HermesLanceError):
            self._lexical.close()
        for path in self._made:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def _new_manifest(self, note: str) -> Manifest:
        base = self.base
        return Manifest(
            id=manifests.next_id(self._after),
            parent=self._after.id if self._after else None,
            published_at=now(),
            run=self.run,
            tables=dict(base.tables) if base else {},
            tables_behind=base.tables_behind if base else False,
            lexical=dict(base.lexical) if base else {},
            text_segments=list(base.text_segments) if base else [],
            vector_segments=list(base.vector_segments) if base and not self._fresh_vectors else [],
            dead=base.dead if base else None,
            files=base.files if base else None,
            artifacts=base.artifacts if base else None,
            next_serial=self.serial,
            fingerprints=dict(self.facts.fingerprints),
            space=dict(self.facts.space),
            config=[list(row) for row in self.facts.config],
            roots=[dict(root) for root in self.facts.roots],
            note=note,
        )

    def _write_lexical(self, manifest: Manifest) -> None:
        if self.base is None:
            self._index()
        if self._artifacts is not None:
            self._lexical.put_artifacts(self._artifacts[0])
        manifest.lexical = self._lexical.finish() or manifest.lexical

    def _write_side(self, manifest: Manifest) -> None:
        base_text = TextRows(self.side, self.base.text_segments if self.base else [], DeadRows(self.dead))
        died = base_text.serials_of(self.changes.replaced)
        if died:
            self.dead.update(died)
            manifest.dead = DeadRows(self.dead).write(self._new_side_file("dead"))
        if self._segment is not None:
            manifest.text_segments.append(self._segment.close())
        manifest.vector_segments += self._vectors.close_segments()
        if self._artifacts is not None:
            manifest.artifacts = write_artifacts(self._new_side_file("artifacts"), *self._artifacts)
        if self._artifact_vectors is not None and manifest.artifacts is not None:
            vectors = write_artifact_vectors(self._new_side_file("vectors"), *self._artifact_vectors)
            space = self.facts.space["active"]["table"]
            manifest.artifacts = {**manifest.artifacts, "space": space, "vectors": vectors}
        if self.changes.of_files or manifest.files is None:
            manifest.files = self.known.write(self._new_side_file("files"))
        manifest.totals = self._totals(manifest)

    def _without_vectors(self, manifest: Manifest) -> int:
        dead = DeadRows(self.dead)
        living = TextRows(self.side, manifest.text_segments, dead).alive()
        have = VectorRows(self.side, manifest.vector_segments, dead).rows_with_vectors(living)
        return len(living) - int(have.sum())

    def _totals(self, manifest: Manifest) -> dict[str, int]:
        totals = {"indexed": 0, "skipped": 0, "failed": 0, "pending": 0}
        totals.update(self.known.by_state())
        chunks = sum(entry["rows"] for entry in manifest.text_segments) - len(self.dead)
        routed = manifest.artifacts or {"rows": 0, "edges": 0}
        totals.update(files=len(self.known), chunks=chunks, artifacts=routed["rows"], edges=routed["edges"])
        totals["vectors_pending"] = self._without_vectors(manifest)
        return totals


def note_table(manifest: Manifest, tables: Tables, name: str) -> None:
    """Notes the newest version of a table. That of the last compaction stays: upkeep counts commits from it."""
    before = manifest.tables.get(name, {})
    manifest.tables[name] = {**before, "version": tables.head(name), "rows": tables.rows(name)}


def now() -> str:
    """ISO 8601, UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
