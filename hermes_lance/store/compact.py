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
from hermes_lance.store.tables import Tables

KEPT_GENERATIONS = 3
"""Generations whose files stay for readers that opened them and for `--as-of`."""
MOST_DEAD_SHARE = 0.25
COMMITS_BETWEEN_COMPACTIONS = 24
GRACE_SECONDS = 600.0
"""Age at which an old Lance version may go; longer than any export runs."""


@dataclass(slots=True)
class Removed:
    """What retention deleted."""

    generations: int = 0
    files: int = 0
    bytes: int = 0


def retain(dataset: Path, keep: int = KEPT_GENERATIONS) -> Removed:
    """Removes generations but the newest `keep`, and every side file and Tantivy folder that none of these names.

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
    """The current manifest and the newest `keep` whose tables are complete, by id. One that nobody can read serves
    nobody and goes, but never the current one; one whose tables were behind was followed by its equal.
    """
    found: dict[str, Manifest] = {}
    for generation in reversed(known):
        try:
            manifest = manifests.read_manifest(dataset, generation)
        except DatasetDamaged:
            if generation == known[-1]:
                raise
            continue
        if generation == known[-1] or not manifest.tables_behind:
            found[generation] = manifest
        if sum(not one.tables_behind for one in found.values()) >= keep:
            break
    return found


def _named_files(generations: Iterable[Manifest]) -> tuple[set[str], set[str]]:
    """Names of the side files and of the Tantivy folders of generations."""
    side: set[str] = set()
    folders: set[str] = set()
    for manifest in generations:
        entries = [*manifest.text_segments, *manifest.vector_segments, manifest.dead, manifest.files]
        side.update(entry["file"] for entry in entries if entry)
        if manifest.lexical:
            folders.add(manifest.lexical["folder"])
    return side, folders


def tidy(dataset: Path, tables: Tables, base: Manifest, *, force: bool = False) -> Manifest:
    """Merges what has become many small pieces; the given generation when there is nothing to do."""
    manifest = same_rows(base, "upkeep")
    whole = force or _too_dead(base)
    some = _too_many(base.text_segments) or _too_many(base.vector_segments)
    commits = {name: entry["version"] - entry.get("compacted", 0) for name, entry in base.tables.items()}
    lance = [name for name, count in commits.items() if count >= COMMITS_BETWEEN_COMPACTIONS or (force and count > 1)]
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
    _merge_side_files(dataset / manifests.SIDE, base, manifest, whole=whole)
    publish_manifest(dataset, manifest)
    for name in lance:
        tables.clean(name, GRACE_SECONDS)
        failpoints.reach("cleaned")
    retain(dataset)
    return manifest


def _merge_side_files(side: Path, base: Manifest, manifest: Manifest, *, whole: bool) -> None:
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


def _too_dead(base: Manifest) -> bool:
    rows = sum(entry["rows"] for entry in base.text_segments)
    return base.dead is not None and base.dead["rows"] > MOST_DEAD_SHARE * rows


def pin(dataset: Path, generation: str) -> Path:
    """A self-contained copy of a generation that no upkeep touches, by hard links; its folder. `GenerationMissing` for
    one whose tables were behind.

    Lance, Tantivy and side files are written once and never in place, so links are safe. Only under the writer lock.
    """
    manifest = manifests.read_manifest(dataset, generation)
    if manifest.tables_behind:
        raise GenerationMissing(
            f"generation {generation}: a passing state, whose tables were not complete; keep another"
        )
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
