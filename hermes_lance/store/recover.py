"""What an interrupted publication leaves, and how the next writer tidies it. Only under the writer lock.

A publication changes no table but that of vectors, which are keyed by content and harm nobody, so there is nothing to
undo. Tables that are behind the published text get it now (roll forward). Tables that are ahead for any other reason go
back to what was published, but for compaction, which changes no row.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hermes_lance.core import ids, schema
from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.core.records import ChunkRow, KnownFile
from hermes_lance.store import failpoints, unflushed
from hermes_lance.store import manifest as manifests
from hermes_lance.store.artifact_tables import read_artifacts, read_edges
from hermes_lance.store.catch_up import catch_up, same_rows
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.pointer import publish_manifest, write_intent
from hermes_lance.store.publish import FIXED_TABLES, Facts, Publication, note_table
from hermes_lance.store.tables import VECTOR_PREFIX, Tables, any_of

FILES_READ_AT_ONCE = 500

LOST = "Run `hermes-lance doctor --fix`: it puts the rest aside, and the next build reads the files anew."


def facts_of(manifest: Manifest | None) -> Facts:
    """The facts of a generation, to carry over."""
    if manifest is None:
        return Facts()
    return Facts(manifest.fingerprints, manifest.space, manifest.config, manifest.roots)


def recover(dataset: Path, tables: Tables) -> tuple[Manifest | None, str]:
    """The published generation after tidying, and what was done: clean, finished, rolled back or rolled forward."""
    base = manifests.current_or_none(dataset)
    done = "clean"
    try:
        intent = manifests.read_intent(dataset)
    except DatasetDamaged:
        # Cut off by a power cut: those that are written before a table changes are flushed.
        intent, done = None, "rolled back"
        unflushed.forget(dataset, base)
    if intent is not None:
        done = "rolled back"
        if base is not None and base.id == intent["generation"]:
            done = "finished"
        elif unflushed.machine_went_down(intent):
            unflushed.forget(dataset, base)
        elif base is not None and intent["target"]:
            # Vectors, which harm nobody and are found by their keys, or a compaction, which changes no row.
            base = _republished(dataset, tables, base, "finished an interrupted run")
            done = "rolled forward" if _of_compaction(intent) else done
    if base is not None and base.tables_behind:
        base, done = catch_up(dataset, tables, base), "rolled forward"
    elif base is not None:
        base, done = _as_published(dataset, tables, base, done)
    # Last: whatever ends this early, the next writer begins with it again.
    (dataset / manifests.INTENT).unlink(missing_ok=True)
    return base, done


def _of_compaction(intent: dict[str, Any]) -> bool:
    """Compaction changes no row, so that the newest versions are as good as the published ones."""
    return bool(intent["target"]) and intent["target"] == intent["heads"]


def settle_tables(dataset: Path, tables: Tables, newest: Manifest | None) -> None:
    """Brings tables that an interrupted run left torn back to one state, for a rebuild that trusts nothing else.

    `newest` is the newest manifest that can be read.
    """
    try:
        intent = manifests.read_intent(dataset)
    except DatasetDamaged:
        intent = None  # Nothing can be learnt from it; the tables are taken as they are.
    if intent is not None and unflushed.machine_went_down(intent):
        unflushed.forget(dataset, newest)
    if newest is not None and newest.tables_behind:
        # Written in part at best, by however many runs: back to when they were last complete.
        for name in FIXED_TABLES:
            if name not in newest.tables:
                tables.remove(name)
            tables.ensure(name)
        _restore(tables, {name: newest.tables[name]["version"] for name in FIXED_TABLES if name in newest.tables})
    elif intent is not None and not _of_compaction(intent):
        _restore(tables, intent["heads"])
    (dataset / manifests.INTENT).unlink(missing_ok=True)


def _as_published(dataset: Path, tables: Tables, base: Manifest, done: str) -> tuple[Manifest, str]:
    """Tables that are ahead of the pointer though no run noted it: what was published counts."""
    published = {name: base.tables[name]["version"] for name in FIXED_TABLES if name in base.tables}
    lost = sorted(published.keys() - set(tables.names()))
    if lost:
        raise DatasetDamaged(f"{tables.folder}: table {lost[0]} is missing", hint=LOST)
    if all(tables.newest(name) == version for name, version in published.items()):
        return base, done
    write_intent(dataset, same_rows(base, ""), base, {}, published)
    _restore(tables, published)
    return _republished(dataset, tables, base, note="rolled back an interrupted run"), "rolled back"


def _restore(tables: Tables, heads: dict[str, int]) -> None:
    """The fixed tables as they were at these versions."""
    for name, version in heads.items():
        if name.startswith(VECTOR_PREFIX) or name not in tables.names():
            continue
        if tables.newest(name) != version:
            tables.restore(name, version)
            failpoints.reach("restored")


def _republished(dataset: Path, tables: Tables, base: Manifest, note: str) -> Manifest:
    """The same rows under the newest table versions: a generation that differs from its parent in these alone."""
    manifest = same_rows(base, note)
    for name in tables.names():
        note_table(manifest, tables, name)
    publish_manifest(dataset, manifest)
    return manifest


def rebuild(
    dataset: Path,
    tables: Tables,
    *,
    facts: Facts | None = None,
    newer_than: Manifest | None = None,
    note: str = "rebuilt from the tables",
    progress: Callable[[int, int], None] | None = None,
) -> Manifest:
    """Publishes what the newest table versions hold, and nothing else.

    `newer_than` is the generation that the new one follows when its own files cannot be relied on.

    Vectors are left to the next build, which takes them from their table.
    """
    missing = [name for name in FIXED_TABLES if name not in tables.names()]
    if missing:
        raise DatasetDamaged(f"{tables.folder}: table {missing[0]} is missing", hint=LOST)
    with Publication(dataset, tables, None, ids.unique_name(), facts or Facts()) as work:
        work.follow(newer_than)
        states = _states(tables)
        sources = list(states)
        for start in range(0, len(sources), FILES_READ_AT_ONCE):
            some = sources[start : start + FILES_READ_AT_ONCE]
            rows = _rows_of(tables, [source for source in some if states[source].chunks])
            for source in some:
                work.put_file(states[source], rows.get(source, []))
            if progress is not None:
                progress(start + len(some), len(states))
        if tables.rows("artifacts"):
            work.put_artifacts(read_artifacts(tables), read_edges(tables))
        return work.commit_without_tables(tables.names(), note)


def _states(tables: Tables) -> dict[str, KnownFile]:
    names = schema.load("sources").names
    found = {}
    for batch in tables.read("sources", names):
        for record in batch.to_pylist():
            found[record["id"]] = KnownFile(**record)
    return found


def _rows_of(tables: Tables, source_ids: list[str]) -> dict[str, list[ChunkRow]]:
    """The passages of some files by file, in their order."""
    names = [column for column in schema.load("chunks").names if column != "text_sha"]
    found: dict[str, list[ChunkRow]] = {}
    if not source_ids:
        return found
    for batch in tables.read("chunks", names, where=any_of("source_id", source_ids)):
        for record in batch.to_pylist():
            for name in ("section", "embed_keys", "flags"):
                record[name] = tuple(record[name])
            found.setdefault(record["source_id"], []).append(ChunkRow(**record))
    return {source: sorted(rows, key=lambda row: row.ordinal) for source, rows in found.items()}
