"""Upkeep: what keeps disk and reading flat over many small changes. Never in a query, always under the writer lock.

Retention removes files that the last generations no longer name. `tidy` merges small segments and Lance fragments
and publishes the result as a generation of its own with the same rows.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_lance.core import ids
from hermes_lance.core.errors import DatasetDamaged, DatasetMissing, GenerationMissing
from hermes_lance.store import failpoints
from hermes_lance.store import manifest as manifests
from hermes_lance.store.catch_up import same_rows
from hermes_lance.store.durable import disk_errors, link_or_copy, link_tree, make_private
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.merge import MOST_SEGMENTS, first_to_merge, merged_text, merged_vectors
from hermes_lance.store.pointer import publish_manifest, table_step, write_intent
from hermes_lance.store.rows import DeadRows
from hermes_lance.store.tables import Tables, versions_on_disk

KEPT_RUNS = 3
"""Runs whose results stay for readers that opened them and for `--as-of`: the last complete generation of each."""
MOST_DEAD_SHARE = 0.25
COMMITS_BETWEEN_COMPACTIONS = 24
PATIENCE = 4
"""Times as much is put up with where a pause of a second would be felt."""


@dataclass(slots=True)
class Removed:
    """What retention deleted."""

    generations: int = 0
    files: int = 0
    bytes: int = 0
    spaces: int = 0
    """Vectors of embedders that answered before, or never did."""


def retain(dataset: Path, keep: int = KEPT_RUNS) -> Removed:
    """Removes generations but those that the newest `keep` runs ended with, and every side file and Tantivy folder that
    none of these names.

    Also sweeps what interrupted runs left behind, so it runs only while no publication is under way.
    """
    removed = Removed()
    published = _published_id(dataset)
    known = [one for one in manifests.generations_on_disk(dataset) if one <= published]
    stray = [one for one in manifests.generations_on_disk(dataset) if one > published]
    kept = _kept(dataset, known, keep)
    for generation in [one for one in known if one not in kept] + stray:
        manifests.manifest_path(dataset, generation).unlink(missing_ok=True)
        removed.generations += 1
    side, folders = _named_files(kept.values())
    for path in (dataset / manifests.SIDE).glob("*"):
        if path.name not in side:
            removed.bytes += path.stat().st_size
            removed.files += 1
            path.unlink()
    unfinished_copies = (dataset / manifests.PINNED).glob("*.*")
    strays = [path for path in (dataset / manifests.LEXICAL).glob("*") if path.name not in folders]
    for path in (*strays, *unfinished_copies):
        removed.files += 1
        shutil.rmtree(path)
    for path in (*dataset.glob("*.tmp"), *(dataset / manifests.GENERATIONS).glob("*.tmp")):
        path.unlink()
    failpoints.reach("retention")
    return removed


def _published_id(dataset: Path) -> str:
    """The current generation; before the first one an id below all others, so that nothing counts as published."""
    try:
        return manifests.current_id(dataset)
    except DatasetMissing:
        return ""


def _kept(dataset: Path, known: list[str], keep: int) -> dict[str, Manifest]:
    """The current manifest and the last complete one of each of the newest `keep` runs, by id.

    One that nobody can read serves nobody and goes, but never the current one; one that the same run followed with
    another, or whose tables were behind, was a passing state.
    """
    found: dict[str, Manifest] = {}
    runs: set[str] = set()
    for generation in reversed(known):
        try:
            manifest = manifests.read_manifest(dataset, generation)
        except DatasetDamaged:
            if generation == known[-1]:
                raise
            continue
        complete = not manifest.tables_behind and manifest.run not in runs
        if generation == known[-1] or complete:
            found[generation] = manifest
        if complete:
            runs.add(manifest.run)
        if len(runs) >= keep:
            break
    return found


def _named_files(generations: Iterable[Manifest]) -> tuple[set[str], set[str]]:
    """Names of the side files and of the Tantivy folders of generations."""
    side: set[str] = set()
    folders: set[str] = set()
    for manifest in generations:
        entries = [*manifest.text_segments, *manifest.vector_segments, manifest.dead, manifest.files]
        entries += [manifest.artifacts, (manifest.artifacts or {}).get("vectors")]
        side.update(entry["file"] for entry in entries if entry)
        if manifest.lexical:
            folders.add(manifest.lexical["folder"])
    return side, folders


def due(base: Manifest, patience: int = 1) -> bool:
    """There is something to merge that takes its time: tables of many commits, or many dead rows."""
    return _too_dead(base, patience) or bool(_worn(base, COMMITS_BETWEEN_COMPACTIONS * patience))


def tidy(dataset: Path, tables: Tables, base: Manifest, *, force: bool = False, patience: int = 1) -> Manifest:
    """Merges what has become many small pieces; the given generation when there is nothing to do.

    With `patience` what takes long is put off until there is so many times as much of it.
    """
    manifest = same_rows(base, "upkeep")
    whole = force or _too_dead(base, patience)
    some = _too_many(base.text_segments) or _too_many(base.vector_segments)
    lance = _worn(base, 2 if force else COMMITS_BETWEEN_COMPACTIONS * patience)
    if not (whole or some or lance):
        return base
    if lance:
        heads = {name: tables.head(name) for name in lance}
        # The rows stay what they are at every version, so an interruption is finished by publishing the newest.
        write_intent(dataset, manifest, base, heads, heads)
        failpoints.reach("intent")
        for name in lance:
            tables.compact(name)
            failpoints.reach(table_step(name))
            manifest.tables[name] = {
                "version": tables.head(name),
                "rows": tables.rows(name),
                "compacted": tables.head(name),
            }
    merge_side_files(dataset / manifests.SIDE, base, manifest, whole=whole)
    publish_manifest(dataset, manifest)
    if lance:
        manifest = without_old_versions(dataset, tables, manifest, lance)
    retain(dataset)
    return manifest


def without_old_versions(dataset: Path, tables: Tables, base: Manifest, names: list[str]) -> Manifest:
    """Removes the old versions of tables; the given generation, or one that follows it where that made new versions.

    Old versions would double the disk until the next compaction. Queries read none of them, and what reads a table
    begins again when it finds that its version is gone.
    """
    heads = {name: base.tables[name]["version"] for name in names}
    manifest = same_rows(base, "upkeep")
    write_intent(dataset, manifest, base, heads, heads)
    for name in names:
        tables.clean(name)
        failpoints.reach("cleaned")
        manifest.tables[name] = {**manifest.tables[name], "version": tables.head(name), "compacted": tables.head(name)}
    if manifest.tables == base.tables:
        (dataset / manifests.INTENT).unlink()
        return base
    publish_manifest(dataset, manifest)
    return manifest


def merge_side_files(side: Path, base: Manifest, manifest: Manifest, *, whole: bool) -> None:
    """Writes merged segments into the manifest: all of them without their dead rows, or the newest ones as they are.

    Nothing stays behind when that fails.
    """
    made: list[Path] = []
    dropped = DeadRows.read(side, base.dead if whole else None)

    def merged(entries: list[dict[str, Any]], suffix: str, merge: Callable[..., list[dict[str, Any]]]) -> Any:
        start = 0 if whole else first_to_merge(entries) if len(entries) > MOST_SEGMENTS else len(entries)
        if start >= len(entries):
            return entries
        made.append(side / f"{ids.unique_name()}.{suffix}")
        return [*entries[:start], *merge(side, entries[start:], dropped, made[-1])]

    try:
        manifest.text_segments = merged(base.text_segments, "text", merged_text)
        manifest.vector_segments = merged(base.vector_segments, "vectors", merged_vectors)
        if whole:
            manifest.dead = None
        failpoints.reach("side")
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        raise


def _too_many(entries: list[dict[str, Any]]) -> bool:
    return len(entries) > MOST_SEGMENTS


def _worn(base: Manifest, commits: int) -> list[str]:
    """Tables with so many commits since they were last compacted."""
    since = {name: entry["version"] - entry.get("compacted", 0) for name, entry in base.tables.items()}
    return [name for name, count in since.items() if count >= commits]


def _too_dead(base: Manifest, patience: int = 1) -> bool:
    rows = sum(entry["rows"] for entry in base.text_segments)
    return base.dead is not None and base.dead["rows"] > min(0.9, MOST_DEAD_SHARE * patience) * rows


def pin(dataset: Path, generation: str) -> Path:
    """A self-contained copy of a generation that no upkeep touches, by hard links; its folder. `GenerationMissing` for
    one whose tables were behind or are gone.

    Lance, Tantivy and side files are written once and never in place, so links are safe. Only under the writer lock.
    """
    manifest = manifests.read_manifest(dataset, generation)
    if manifest.tables_behind:
        raise GenerationMissing(
            f"generation {generation}: a passing state, whose tables were not complete; keep another"
        )
    for name, entry in manifest.tables.items():
        if entry["version"] not in versions_on_disk(dataset / manifests.LANCE / f"{name}.lance"):
            raise GenerationMissing(f"generation {generation}: upkeep has removed its tables; keep a later one")
    target = dataset / manifests.PINNED / generation
    if target.exists():
        return target
    unfinished = make_private(dataset / manifests.PINNED) / f"{generation}.{ids.unique_name()}"
    with disk_errors(str(unfinished)):
        make_private(unfinished / manifests.SIDE)
        side, _ = _named_files([manifest])
        for name in side:
            _link(dataset / manifests.SIDE / name, unfinished / manifests.SIDE / name)
        folder = manifest.lexical["folder"]
        link_tree(dataset / manifests.LEXICAL / folder, unfinished / manifests.LEXICAL / folder)
        link_tree(dataset / manifests.LANCE, unfinished / manifests.LANCE)
        manifests.write_manifest(unfinished, manifest)
        manifests.move_pointer(unfinished, generation)
        unfinished.rename(target)
    return target


def _link(source: Path, target: Path) -> None:
    try:
        link_or_copy(source, target)
    except FileNotFoundError:
        raise GenerationMissing(f"{source}: no longer there, so the generation cannot be kept") from None
