"""The Lance tables get what a published generation already shows.

Text is published first, from side files that hold whole rows, because Lance takes a second to load. Then the same
rows go into the tables, chunks first and the records of the files last, and a generation of the same rows names the
new versions. Until then `tables_behind` stands in the manifest. Whoever writes next begins with this; after an
interruption it compares, since a file whose record in the table is old has old or torn rows there at worst.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from hermes_lance.core import schema
from hermes_lance.core.ids import source_hash
from hermes_lance.core.records import KnownFile
from hermes_lance.store import failpoints
from hermes_lance.store import manifest as manifests
from hermes_lance.store.arrow_rows import arrow_rows
from hermes_lance.store.artifact_rows import ArtifactRows
from hermes_lance.store.artifact_tables import write_artifact_tables
from hermes_lance.store.changes import Changes
from hermes_lance.store.files import FilesState
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.pointer import publish_manifest, table_step, write_intent
from hermes_lance.store.publish import FIXED_TABLES, note_table, now
from hermes_lance.store.rows import DeadRows, TextRows, TextSegment

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from hermes_lance.store.tables import Tables

ROWS_IN_A_COMMIT = 12_000
"""About 15 MB of text: bounds memory."""

_LIMIT = 1 << 63

Progress = Callable[[int, int], None]


def catch_up(
    dataset: Path, tables: Tables, base: Manifest, changes: Changes | None = None, progress: Progress | None = None
) -> Manifest:
    """Writes to the tables what `base` has and they lack, and publishes that. `changes` names it where that is known.

    Only under the writer lock. `progress(rows written, rows in all)`. Stopped at any point, it can be called again.
    """
    manifest = same_rows(base, note=base.note)
    manifest.tables_behind = False
    # The versions matter to nobody: a run that finds this intent compares the rows.
    write_intent(dataset, manifest, base, {}, {name: tables.newest(name) or 0 for name in FIXED_TABLES})
    failpoints.reach("intent")
    write_tables(dataset, tables, base, changes, progress)
    for name in FIXED_TABLES:
        note_table(manifest, tables, name)
    publish_manifest(dataset, manifest)
    return manifest


def write_tables(
    dataset: Path, tables: Tables, base: Manifest, changes: Changes | None = None, progress: Progress | None = None
) -> None:
    """The same without publishing it: for a publication that stores something else too, after its intent is noted."""
    for name in FIXED_TABLES:
        tables.ensure(name)
    side = dataset / manifests.SIDE
    dead = DeadRows.read(side, base.dead)
    if changes is None:
        changes = _difference(tables, TextRows(side, base.text_segments, dead), FilesState(side, base.files).all())
    # One at a time: what is mapped counts as memory for as long as it is open.
    segments = (TextRows(side, [entry], dead) for entry in base.text_segments)
    _write_chunks(tables, segments, changes, base.run, progress)
    failpoints.reach(table_step("chunks"))
    if changes.artifacts:
        write_artifact_tables(tables, ArtifactRows(side, base.artifacts), base.run)
    _write_sources(tables, changes)
    failpoints.reach(table_step("sources"))


def same_rows(base: Manifest, note: str) -> Manifest:
    """The next generation, as yet equal to its parent."""
    manifest = Manifest(**{item.name: getattr(base, item.name) for item in fields(Manifest)})
    manifest.id, manifest.parent, manifest.note, manifest.tags = manifests.next_id(base), base.id, note, []
    manifest.published_at = now()
    manifest.tables = {name: dict(entry) for name, entry in base.tables.items()}
    return manifest


def _write_chunks(
    tables: Tables, segments: Iterable[TextRows], changes: Changes, run: str, progress: Progress | None
) -> None:
    """New passages, those of a file whole in one commit with the end of its old ones."""
    total = sum(changes.states[source].chunks for source in changes.written if source in changes.states)
    empty = not tables.rows("chunks")
    left = dict(changes.replaced)
    done = 0
    for segment, indices in _parts(segments, changes.written):
        old = [source for source in _sources_of(segment, indices) if source in left]
        for source in old:
            del left[source]
        rows = arrow_rows(segment, indices, run)
        if empty:
            # Keys are unique within the text of a generation, so there is nothing to merge with.
            tables.append("chunks", rows)
        else:
            tables.upsert("chunks", "id", rows, ("source_id", old))
        done += len(indices)
        if progress is not None:
            progress(done, total)
    if left and not empty:
        tables.delete("chunks", "source_id", sorted(left))


def _parts(
    segments: Iterable[TextRows], source_ids: Iterable[str]
) -> Iterator[tuple[TextSegment, npt.NDArray[np.intp]]]:
    """Living rows of these files, by segment, in portions of whole files."""
    import numpy as np

    wanted = np.array(sorted(map(source_hash, source_ids)), dtype=np.uint64)
    for text in segments:
        if not text.segments:
            continue
        (segment,) = text.segments
        hit = np.isin(segment.file.array("source_hashes"), wanted)
        if not hit.any():
            continue
        files = segment.file.array("row_source")
        indices = np.flatnonzero(hit[files] & ~np.isin(segment.file.array("serials"), text.dead.array()))
        while len(indices):
            end = min(ROWS_IN_A_COMMIT, len(indices))
            # Rows of a file stand together; a file is never cut.
            while end < len(indices) and files[indices[end]] == files[indices[end - 1]]:
                end += 1
            yield segment, indices[:end]
            indices = indices[end:]


def _sources_of(segment: TextSegment, indices: npt.NDArray[np.intp]) -> list[str]:
    import numpy as np

    files = segment.file.array("row_source")[indices]
    return [str(segment.source(int(one))[0]) for one in np.unique(files)]


def _write_sources(tables: Tables, changes: Changes) -> None:
    import pyarrow as pa

    gone = sorted(changes.dropped)
    if changes.states:
        wanted = schema.arrow_schema("sources")
        states = [_storable(state) for state in changes.states.values()]
        columns = [pa.array([getattr(state, item.name) for state in states], type=item.type) for item in wanted]
        tables.upsert("sources", "id", pa.Table.from_arrays(columns, schema=wanted), ("id", gone))
    elif gone:
        tables.delete("sources", "id", gone)


def _storable(state: KnownFile) -> KnownFile:
    """The record with numbers that a column of 64 bits can hold; some file systems give times and inodes beyond."""
    beyond = {
        name: max(-_LIMIT, min(getattr(state, name), _LIMIT - 1))
        for name in ("size", "mtime_ns", "inode", "dev")
        if not -_LIMIT <= getattr(state, name) < _LIMIT
    }
    return replace(state, **beyond) if beyond else state


def _difference(tables: Tables, text: TextRows, known: dict[str, KnownFile]) -> Changes:
    """What the tables lack, found by comparing them; artifacts are compared when they are written."""
    changes = Changes(artifacts=True)
    stored: dict[str, KnownFile] = {}
    for batch in tables.read("sources", schema.load("sources").names):
        stored.update((record["id"], KnownFile(**record)) for record in batch.to_pylist())
    for source in stored.keys() - known.keys():
        changes.drop(source)
    for source, state in known.items():
        if stored.get(source) != _storable(state):
            changes.put(state)
    there = _ids_by_source(tables)
    wanted: dict[str, set[str]] = {}
    for _, segment, index in text.living():
        wanted.setdefault(segment.source_id(index), set()).add(segment.id(index))
    for source in there.keys() | wanted.keys():
        # Passages keep their ids when only their place in the file changes, hence the look at the records too.
        if source in changes.states or there.get(source) != wanted.get(source):
            if source in there:
                changes.replaced[source] = None
            if source in wanted:
                changes.written[source] = None
    return changes


def _ids_by_source(tables: Tables) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for batch in tables.read("chunks", ["id", "source_id"]):
        for row, source in zip(batch.column("id").to_pylist(), batch.column("source_id").to_pylist(), strict=True):
            found.setdefault(source, set()).add(row)
    return found
