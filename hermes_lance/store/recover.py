"""What an interrupted publication leaves, and how the next writer tidies it. Only under the writer lock.

The intent file says which Lance versions were about to be made. All reached: the new rows are complete, so the rest is
built from them and published (roll forward). Otherwise the fixed tables go back to what was published; vectors stay,
since they are keyed by content and harm nobody. Lance is the truth throughout; Tantivy and the side files follow it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from hermes_lance.core import ids, schema
from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.core.records import ChunkRow, KnownFile
from hermes_lance.store import failpoints, unflushed
from hermes_lance.store import manifest as manifests
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.pointer import publish_manifest
from hermes_lance.store.publish import FIXED_TABLES, Facts, Publication, now
from hermes_lance.store.rows import DeadRows, TextRows
from hermes_lance.store.tables import VECTOR_PREFIX, Tables, any_of

LOST = "Run `hermes-lance doctor --fix`: it puts the rest aside, and the next build reads the files anew."


def facts_of(manifest: Manifest | None) -> Facts:
    """The facts of a generation, to carry over."""
    if manifest is None:
        return Facts()
    return Facts(manifest.fingerprints, manifest.space, manifest.config, manifest.roots)


def recover(dataset: Path, tables: Tables) -> tuple[Manifest | None, str]:
    """The published generation after tidying, and what was done: clean, finished, rolled back or rolled forward."""
    base = manifests.current_or_none(dataset)
    intent = manifests.read_intent(dataset)
    if intent is None:
        return _without_intent(dataset, tables, base)
    if base is not None and base.id == intent["generation"]:
        (dataset / manifests.INTENT).unlink()
        return base, "finished"
    if unflushed.machine_went_down(intent):
        unflushed.forget(dataset, base)
        (dataset / manifests.INTENT).unlink()
        return base, "rolled back"
    if _reached(tables, intent):
        return _roll_forward(dataset, tables, base, intent["facts"]), "rolled forward"
    return _roll_back(dataset, tables, base, intent["heads"]), "rolled back"


def _reached(tables: Tables, intent: dict[str, Any]) -> bool:
    """Every table is at the version that the run was about to make."""
    heads = {name: tables.head(name) for name in intent["target"] if name in tables.names()}
    return all(heads.get(name, 0) >= version for name, version in intent["target"].items())


def settle_tables(dataset: Path, tables: Tables) -> None:
    """Brings tables that an interrupted run left torn back to one state, for a rebuild that trusts nothing else."""
    try:
        intent = manifests.read_intent(dataset)
    except DatasetDamaged:
        intent = None  # Nothing can be learnt from it; the tables are taken as they are.
    if intent is not None and unflushed.machine_went_down(intent):
        unflushed.forget(dataset, manifests.current_or_none(dataset))
    elif intent is not None and not _reached(tables, intent):
        _restore(tables, intent["heads"])
    (dataset / manifests.INTENT).unlink(missing_ok=True)


def _without_intent(dataset: Path, tables: Tables, base: Manifest | None) -> tuple[Manifest | None, str]:
    """Tables that are ahead of the pointer though no run was noted: what was published counts."""
    published = {name: base.tables[name]["version"] for name in FIXED_TABLES if name in base.tables} if base else {}
    lost = sorted(published.keys() - set(tables.names()))
    if lost:
        raise DatasetDamaged(f"{tables.folder}: table {lost[0]} is missing", hint=LOST)
    if all(tables.head(name) == version for name, version in published.items()):
        return base, "clean"
    return _roll_back(dataset, tables, base, published), "rolled back"


def _roll_back(dataset: Path, tables: Tables, base: Manifest | None, heads: dict[str, int]) -> Manifest | None:
    if _restore(tables, heads) and base is not None:
        base = republish(dataset, tables, base, note="rolled back an interrupted run")
    (dataset / manifests.INTENT).unlink(missing_ok=True)
    return base


def _restore(tables: Tables, heads: dict[str, int]) -> bool:
    """The fixed tables as they were at these versions; whether any had to go back."""
    changed = False
    for name, version in heads.items():
        if name.startswith(VECTOR_PREFIX) or name not in tables.names():
            continue
        if tables.head(name) != version:
            tables.restore(name, version)
            failpoints.reach("restored")
            changed = True
    return changed


def republish(dataset: Path, tables: Tables, base: Manifest, note: str) -> Manifest:
    """The same rows under new table versions: a generation that differs from its parent in these alone."""
    manifest = Manifest(**{item.name: getattr(base, item.name) for item in fields(Manifest)})
    manifest.id, manifest.parent, manifest.note, manifest.tags = manifests.next_id(base), base.id, note, []
    manifest.published_at = now()
    manifest.tables = {
        name: {**entry, "version": tables.head(name), "rows": tables.rows(name)}
        for name, entry in base.tables.items()
        if name in tables.names()
    }
    publish_manifest(dataset, manifest)
    return manifest


def _roll_forward(dataset: Path, tables: Tables, base: Manifest | None, noted: dict[str, Any]) -> Manifest:
    facts = Facts(**noted)
    if base is not None:
        # The vectors that are served are those of the base, so its space stays; the next build goes on from there.
        facts = replace(facts, space=base.space)
    return rebuild(dataset, tables, base, facts=facts, note="finished an interrupted run")


def rebuild(
    dataset: Path,
    tables: Tables,
    base: Manifest | None,
    *,
    facts: Facts | None = None,
    newer_than: Manifest | None = None,
    note: str = "rebuilt from the tables",
    progress: Callable[[int, int], None] | None = None,
) -> Manifest:
    """Publishes what the newest table versions hold. With a base only the difference is written; without, everything.

    `newer_than` is the generation that the new one follows when its own files cannot be relied on.

    Vectors of rows that the base does not have are left to the next build, which takes them from their table.
    """
    missing = [name for name in FIXED_TABLES if name not in tables.names()]
    if missing:
        raise DatasetDamaged(f"{tables.folder}: table {missing[0]} is missing", hint=LOST)
    with Publication(dataset, tables, base, ids.unique_name(), facts or facts_of(base)) as work:
        if base is None:
            work.known = {}
            work.follow(newer_than)
        _put_what_differs(work, tables, base, progress)
        versions = {name: tables.head(name) for name in tables.names()}
        return work.commit_without_tables(versions, note)


def _put_what_differs(
    work: Publication, tables: Tables, base: Manifest | None, progress: Callable[[int, int], None] | None
) -> None:
    states = _states(tables)
    stored = _row_ids(tables)
    before = _published_ids(work.dataset, base)
    changed = {source for source in stored.keys() | before.keys() if stored.get(source) != before.get(source)}
    # Passages keep their ids when only their place in the file changes, and the place is in the side files too.
    changed |= {source for source, state in states.items() if _read_again(state, work.known.get(source))}
    for source in sorted(set(work.known) - set(states)):
        work.drop_file(source)
    for position, source in enumerate(sorted(changed & states.keys())):
        work.put_file(states[source], _rows_of(tables, source))
        if progress is not None:
            progress(position + 1, len(changed))
    for source, state in states.items():
        if source not in changed and work.known.get(source) != state:
            work.put_state(state)


def _read_again(state: KnownFile, before: KnownFile | None) -> bool:
    if before is None:
        return state.chunks > 0
    return (state.sha256, state.pieces_signature) != (before.sha256, before.pieces_signature)


def _states(tables: Tables) -> dict[str, KnownFile]:
    names = schema.load("sources").names
    found = {}
    for batch in tables.read("sources", names):
        for record in batch.to_pylist():
            found[record["id"]] = KnownFile(**record)
    return found


def _row_ids(tables: Tables) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for batch in tables.read("chunks", ["id", "source_id"]):
        for row, source in zip(batch.column("id").to_pylist(), batch.column("source_id").to_pylist(), strict=True):
            found.setdefault(source, set()).add(row)
    return found


def _published_ids(dataset: Path, base: Manifest | None) -> dict[str, set[str]]:
    if base is None:
        return {}
    side = dataset / manifests.SIDE
    rows = TextRows(side, base.text_segments, DeadRows.read(side, base.dead))
    found: dict[str, set[str]] = {}
    for _, segment, index in rows.living():
        row = segment.row(index)
        found.setdefault(row.source_id, set()).add(row.id)
    return found


def _rows_of(tables: Tables, source_id: str) -> list[ChunkRow]:
    names = [column for column in schema.load("chunks").names if column != "text_sha"]
    rows = []
    for batch in tables.read("chunks", names, where=any_of("source_id", [source_id])):
        for record in batch.to_pylist():
            for name in ("section", "embed_keys", "flags"):
                record[name] = tuple(record[name])
            rows.append(ChunkRow(**record))
    return sorted(rows, key=lambda row: row.ordinal)
