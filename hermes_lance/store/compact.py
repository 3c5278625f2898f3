"""Upkeep: what keeps disk and reading flat over many small changes. Never in a query, always under the writer lock.

Retention removes files that the last generations no longer name. `tidy` merges small segments and Lance fragments
and publishes the result as a generation of its own with the same rows.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hermes_lance.core import ids
from hermes_lance.core.errors import DatasetDamaged, DatasetMissing, GenerationMissing
from hermes_lance.store import failpoints
from hermes_lance.store import manifest as manifests
from hermes_lance.store.durable import disk_errors, link_or_copy, link_tree, make_private
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.pointer import publish_manifest, table_step, write_intent
from hermes_lance.store.rows import DeadRows, TextRows, TextSegmentWriter, as_mapping
from hermes_lance.store.tables import Tables
from hermes_lance.store.vectors import VectorRows, write_vectors

KEPT_GENERATIONS = 3
"""Generations whose files stay for readers that opened them and for `--as-of`."""
MOST_SEGMENTS = 8
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
    kept = _readable(dataset, known[-keep:])
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


def _readable(dataset: Path, generations: list[str]) -> dict[str, Manifest]:
    """Manifests by id, oldest first. One that nobody can read serves nobody and goes, but never the current one."""
    found: dict[str, Manifest] = {}
    for generation in generations:
        try:
            found[generation] = manifests.read_manifest(dataset, generation)
        except DatasetDamaged:
            if generation == generations[-1]:
                raise
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
    manifest = _same_rows(base, "upkeep")
    text = force or _too_many(base.text_segments) or _too_dead(base)
    vectors = force or _too_many(base.vector_segments) or (text and base.dead is not None)
    commits = {name: entry["version"] - entry.get("compacted", 0) for name, entry in base.tables.items()}
    lance = [name for name, count in commits.items() if count >= COMMITS_BETWEEN_COMPACTIONS or (force and count > 1)]
    if not (text or vectors or lance):
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
    _merge_side_files(dataset / manifests.SIDE, base, manifest, text=text, vectors=vectors)
    publish_manifest(dataset, manifest)
    for name in lance:
        tables.clean(name, GRACE_SECONDS)
        failpoints.reach("cleaned")
    retain(dataset)
    return manifest


def _merge_side_files(side: Path, base: Manifest, manifest: Manifest, *, text: bool, vectors: bool) -> None:
    """Writes the merged segments into the manifest; nothing stays behind when that fails."""
    made: list[Path] = []
    try:
        if text:
            made.append(side / f"{ids.unique_name()}.text")
            manifest.text_segments = [_merged_text(side, base, made[-1])]
        if vectors:
            made.append(side / f"{ids.unique_name()}.vectors")
            manifest.vector_segments = _merged_vectors(side, base, made[-1])
        if text and vectors:
            manifest.dead = None
        failpoints.reach("side")
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        raise


def _same_rows(base: Manifest, note: str) -> Manifest:
    manifest = Manifest(**{item.name: getattr(base, item.name) for item in fields(Manifest)})
    manifest.id, manifest.parent, manifest.note, manifest.tags = manifests.next_id(base), base.id, note, []
    manifest.published_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    manifest.tables = {name: dict(entry) for name, entry in base.tables.items()}
    return manifest


def _too_many(entries: list[dict[str, Any]]) -> bool:
    return len(entries) > MOST_SEGMENTS


def _too_dead(base: Manifest) -> bool:
    rows = sum(entry["rows"] for entry in base.text_segments)
    return base.dead is not None and base.dead["rows"] > MOST_DEAD_SHARE * rows


def _merged_text(side: Path, base: Manifest, path: Path) -> dict[str, Any]:
    """All living rows into one segment, in order of their serials."""
    rows = TextRows(side, base.text_segments, DeadRows.read(side, base.dead))
    writer = TextSegmentWriter(path)
    for serial, segment, index in rows.living():
        writer.add(as_mapping(segment.row(index)), serial)
    return writer.close()


def _merged_vectors(side: Path, base: Manifest, path: Path) -> list[dict[str, Any]]:
    """All vectors of living rows into one segment."""
    import numpy as np

    dead = DeadRows.read(side, base.dead)
    rows = VectorRows(side, base.vector_segments, dead)
    if not rows.segments:
        return []
    keep = [~np.isin(segment.serials, dead.array()) for segment in rows.segments]
    keys: list[str] = []
    for segment, mask in zip(rows.segments, keep, strict=True):
        keys.extend(segment.key(at) for at in np.flatnonzero(mask).tolist())
    pairs = list(zip(rows.segments, keep, strict=True))
    return [
        write_vectors(
            path,
            np.concatenate([segment.matrix[mask] for segment, mask in pairs]),
            np.concatenate([segment.serials[mask] for segment, mask in pairs]),
            np.concatenate([segment.sources[mask] for segment, mask in pairs]),
            keys,
        )
    ]


def pin(dataset: Path, generation: str) -> Path:
    """A self-contained copy of a generation that no upkeep touches, by hard links; its folder.

    Lance, Tantivy and side files are written once and never in place, so links are safe. Only under the writer lock.
    """
    manifest = manifests.read_manifest(dataset, generation)
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
