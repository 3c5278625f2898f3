"""Taking forgotten text out of everything that a dataset keeps: tables with all their versions, Tantivy, side files,
older and kept generations, vectors. Only under the writer lock; stopped anywhere, it is simply done again.

A purge rewrites instead of cutting out: Lance keeps a deleted row until its fragment is rewritten, Tantivy its words
until segments merge. What is written anew holds the living rows and nothing else; then all that is older is removed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from hermes_lance.core import ids
from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.store import compact, failpoints, forgotten, lexical_files
from hermes_lance.store import manifest as manifests
from hermes_lance.store.artifact_rows import ArtifactRows, write_artifacts
from hermes_lance.store.artifact_tables import edge_id
from hermes_lance.store.aside import FOLDER as ASIDE
from hermes_lance.store.catch_up import same_rows
from hermes_lance.store.durable import disk_errors, make_private
from hermes_lance.store.files import FilesState
from hermes_lance.store.forgotten import Forgotten, PurgedGeneration
from hermes_lance.store.lexical_folder import write_artifact_index
from hermes_lance.store.lexical_writer import LexicalWriter
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.pointer import publish_manifest, table_step, write_intent
from hermes_lance.store.proof import Proof, Traces, hex_keys, holds, look, segments
from hermes_lance.store.rows import DeadRows, TextRows
from hermes_lance.store.tables import VECTOR_PREFIX, Tables, any_of, versions_on_disk


def traces(dataset: Path, tables: Tables, listed: Forgotten) -> Traces:
    """What the purges of the list have to remove, as far as it is still there: of the files and of equal ones, in the
    present generation, older and kept ones."""
    entries = [entry for entry in listed.entries.values() if entry.purge]
    found = Traces({entry.id for entry in entries})
    shas = {sha for entry in entries for sha in entry.shas}
    for place in _places(dataset):
        for path in (place / manifests.SIDE).glob("*.files"):
            state = FilesState(path.parent, {"file": path.name, "size": path.stat().st_size})
            found.sources.update(known.id for known in state.all().values() if known.sha256 in shas)
    for place in _places(dataset):
        for segment in segments(place / manifests.SIDE):
            mine = {number for number, one in enumerate(segment.sources) if one[0] in found.sources}
            rows = segment.file.cast("row_source") if mine else ()
            for index, number in enumerate(rows):
                if number in mine:
                    _note(found, segment.id(index), segment.text(index), segment.keys(index))
    _note_tables(tables, found)
    return found


def _places(dataset: Path) -> Iterable[Path]:
    yield dataset
    yield from sorted(path for path in (dataset / manifests.PINNED).glob("*") if path.name.isdigit())


def _note(found: Traces, row: str, text: str, keys: Iterable[str]) -> None:
    if row not in found.rows:
        found.rows.add(row)
        found.texts.append(text)
        found.keys.update(keys)


def _note_tables(tables: Tables, found: Traces) -> None:
    """The same from every version of the tables: a purge that was stopped may have left rows only there."""
    if not found.sources or "chunks" not in tables.names():
        return
    mine = any_of("source_id", sorted(found.sources))
    for version in versions_on_disk(tables.folder / "chunks.lance"):
        for batch in tables.read("chunks", ["id", "text", "embed_keys"], version=version, where=mine):
            for record in batch.to_pylist():
                _note(found, record["id"], record["text"], record["embed_keys"])


def purge(
    dataset: Path, tables: Tables, base: Manifest, listed: Forgotten, found: Traces, beside: Sequence[Path] = ()
) -> tuple[Manifest, Proof]:
    """The generation after `base` with everything rewritten, and what was opened to see that nothing is left.

    `base` is already without the passages. Raises `DatasetDamaged` when something is found all the same.
    """
    shas = {sha for entry in listed.entries.values() if entry.purge for sha in entry.shas}
    manifest = _rewritten(dataset, tables, base, shas)
    kept = [path for path in _places(dataset) if path != dataset and holds(path, found)]
    gone = [one for one in manifests.known_manifests(dataset) if one.id != manifest.id]
    gone += [manifests.read_manifest(path, path.name) for path in kept]
    listed.purged.update({one.id: PurgedGeneration(one.id, one.published_at, tuple(one.tags)) for one in gone})
    forgotten.write(dataset, listed)
    failpoints.reach("purged-noted")
    compact.retain(dataset, keep=1)
    with disk_errors(str(dataset)):
        for path in (*kept, dataset / ASIDE):
            if path.exists():
                shutil.rmtree(path)
    failpoints.reach("pinned")
    found.keys -= _keys_in_use(dataset, manifest)
    proof = look(dataset, tables, found, beside)
    if proof.found:
        raise DatasetDamaged(
            f"{dataset}: the purge has left something: {proof.found[0]}",
            hint="Run the same command again; if that does not help, remove the index and build it anew.",
        )
    return manifest, proof


def _keys_in_use(dataset: Path, manifest: Manifest) -> set[str]:
    text = TextRows(dataset / manifests.SIDE, manifest.text_segments, DeadRows())
    used = {key for segment in text.segments for key in hex_keys(bytes(segment.file.raw("keys")))}
    routed = ArtifactRows(dataset / manifests.SIDE, manifest.artifacts)
    return used | {key for one in routed.all() for key in one.embed_keys}


def _without_forgotten(side: Path, manifest: Manifest, shas: set[str]) -> dict[str, tuple[str, set[str]]]:
    """Leaves the artifacts out of `manifest` that were made from files with these hashes; for both tables the column
    and the keys that stay, nothing where all of them do."""
    rows = ArtifactRows(side, manifest.artifacts)
    every = rows.all()
    kept = [one for one in every if one.content_sha not in shas]
    if len(kept) == len(every):
        return {}
    known = {one.id for one in kept}
    edges = [one for one in rows.edges() if {one.source_id, one.target_id} <= known]
    entry = write_artifacts(side / f"{ids.unique_name()}.artifacts", kept, edges)
    # Vectors stand by position: those of the rest come back from their table with the next build.
    manifest.artifacts = entry
    manifest.totals = {**manifest.totals, "artifacts": len(kept), "edges": len(edges)}
    return {"artifacts": ("id", known), "edges": ("id", {edge_id(one) for one in edges})}


def _rewritten(dataset: Path, tables: Tables, base: Manifest, shas: set[str]) -> Manifest:
    """Publishes the living rows of `base`, written anew in every store, and removes the old versions of the tables.
    Artifacts of files with these hashes are left out."""
    manifest = same_rows(base, "purge")
    names = tables.names()
    heads = {name: tables.head(name) for name in names}
    # As in upkeep the rows stay what they are at every version; an interruption is finished by publishing the newest.
    write_intent(dataset, manifest, base, heads, heads)
    failpoints.reach("intent")
    compact.merge_side_files(dataset / manifests.SIDE, base, manifest, whole=True)
    staying = _without_forgotten(dataset / manifests.SIDE, manifest, shas)
    used = _keys_in_use(dataset, manifest)
    for name in names:
        tables.rewrite(name, ("key", used) if name.startswith(VECTOR_PREFIX) else staying.get(name))
        tables.compact(name)
        failpoints.reach(table_step(name))
        manifest.tables[name] = {
            "version": tables.head(name),
            "rows": tables.rows(name),
            "compacted": tables.head(name),
        }
    manifest.lexical = _lexical(dataset, manifest)
    failpoints.reach("lexical")
    publish_manifest(dataset, manifest)
    return compact.without_old_versions(dataset, tables, manifest, names)


def _lexical(dataset: Path, manifest: Manifest) -> dict[str, object]:
    """A Tantivy index made from the rows, not from its predecessor; its entry for the manifest."""
    folder = dataset / manifests.LEXICAL / ids.unique_name()
    with disk_errors(str(folder)):
        make_private(folder)
        with LexicalWriter(folder / "chunks") as writer:
            for serial, segment, index in TextRows(
                dataset / manifests.SIDE, manifest.text_segments, DeadRows()
            ).living():
                writer.add(segment.row(index), serial)
            writer.commit()
        parts = ["chunks"]
        if manifest.artifacts is not None:
            write_artifact_index(folder / "artifacts", ArtifactRows(dataset / manifests.SIDE, manifest.artifacts).all())
            parts.append("artifacts")
    entries = {part: lexical_files.file_entries(folder / part, {}) for part in parts}
    files = {f"{part}/{name}": entry for part, of_part in entries.items() for name, entry in of_part.items()}
    return {"folder": folder.name, "files": files}
