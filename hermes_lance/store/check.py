"""The checks of `doctor`: is every part of a dataset there, whole, and in agreement with the others?

Each check names what it looked at, what it found and the remedy. None of them changes anything.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_lance.core import ids
from hermes_lance.core.errors import DatasetDamaged, DatasetMissing, DatasetNewer, HermesLanceError
from hermes_lance.store import forgotten
from hermes_lance.store import manifest as manifests
from hermes_lance.store.artifact_tables import edge_id, read_artifacts, read_edges
from hermes_lance.store.lexical_fields import key_number
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.segment import file_sha256
from hermes_lance.store.snapshot import Snapshot, open_snapshot
from hermes_lance.store.tables import Tables

FIX = "Run `hermes-lance doctor --fix`."
_FEW = 3


@dataclass(frozen=True, slots=True)
class Check:
    """One finding."""

    name: str
    ok: bool
    detail: str
    fatal: bool = True
    remedy: str | None = None


def checks(dataset: Path, tables: Tables | None = None) -> list[Check]:
    """All checks of a dataset, in an order in which later ones rely on earlier ones.

    Once more where another generation was published meanwhile: what this one names may be gone by then.
    """
    before = manifests.known_generations(dataset)[-1:]
    found = _checks(dataset, tables)
    sound = all(one.ok or not one.fatal for one in found)
    return found if sound or manifests.known_generations(dataset)[-1:] == before else _checks(dataset, tables)


def _checks(dataset: Path, tables: Tables | None) -> list[Check]:
    found: list[Check] = []
    try:
        manifest = manifests.current(dataset)
    except DatasetMissing as error:
        return [Check("dataset", False, str(error), remedy=error.hint)]
    except HermesLanceError as error:
        return [Check("dataset", False, str(error), remedy=error.hint)]
    found.append(Check("dataset", True, f"generation {manifest.id}, published {manifest.published_at}"))
    found.append(_interrupted(dataset, manifest))
    found.append(_forgotten(dataset))
    found.append(_side_files(dataset, manifest))
    found.append(_permissions(dataset))
    found.append(_orphans(dataset))
    if any(one.name == "side-files" and not one.ok for one in found):
        return found
    try:
        snapshot = open_snapshot(dataset)
    except HermesLanceError as error:
        return [*found, Check("snapshot", False, str(error), remedy=FIX)]
    found.append(_lexical(snapshot))
    found.append(_artifacts(snapshot))
    found.extend(_lance(snapshot, tables or Tables(dataset)))
    found.append(_vectors(snapshot))
    return found


def _interrupted(dataset: Path, manifest: Manifest) -> Check:
    if not (dataset / manifests.INTENT).exists():
        return Check("interrupted-run", True, "no run was interrupted")
    detail = f"a run was interrupted after generation {manifest.id}; the next build finishes or undoes it"
    return Check("interrupted-run", False, detail, fatal=False, remedy="Run `hermes-lance build`.")


def _forgotten(dataset: Path) -> Check:
    try:
        listed = forgotten.read(dataset)
    except DatasetDamaged as error:
        return Check("forgotten", False, str(error), remedy=error.hint)
    if listed.pending:
        detail = "a forgotten document is still to be dropped"
        return Check("forgotten", False, detail, fatal=False, remedy="Run `hermes-lance build`.")
    return Check("forgotten", True, f"{len(listed.entries)} documents are forgotten, all of them dropped")


def _entries(manifest: Manifest) -> Iterator[dict[str, Any]]:
    yield from manifest.text_segments
    yield from manifest.vector_segments
    for entry in (manifest.dead, manifest.files, manifest.artifacts, (manifest.artifacts or {}).get("vectors")):
        if entry is not None:
            yield entry


def _side_files(dataset: Path, manifest: Manifest) -> Check:
    """Every file that the manifest names is there, of the right size and with the right bytes."""
    files = {dataset / manifests.SIDE / entry["file"]: entry for entry in _entries(manifest)}
    folder = dataset / manifests.LEXICAL / str(manifest.lexical.get("folder"))
    files.update({folder / name: entry for name, entry in manifest.lexical.get("files", {}).items()})
    for path, entry in files.items():
        try:
            actual = path.stat().st_size
            if actual != entry["size"]:
                return Check("side-files", False, f"{path}: {actual} bytes, {entry['size']} were written", remedy=FIX)
            if file_sha256(path) != entry["sha256"]:
                return Check("side-files", False, f"{path}: its content has changed", remedy=FIX)
        except OSError as error:
            return Check("side-files", False, f"{path}: {error.strerror}", remedy=FIX)
    size = sum(entry["size"] for entry in files.values())
    return Check("side-files", True, f"{len(files)} files, {size:,} bytes, all as the manifest says")


def _permissions(dataset: Path) -> Check:
    if os.name != "posix":
        return Check("permissions", True, "not checked on this system", fatal=False)
    mode = stat.S_IMODE(dataset.stat().st_mode)
    open_to = [str(dataset)] if mode & 0o077 else []
    for path in (dataset / manifests.POINTER, *(dataset / manifests.GENERATIONS).glob("*.json")):
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            open_to.append(str(path))
    if open_to:
        remedy = f"chmod go-rwx {open_to[0]}"
        return Check("permissions", False, f"others may look into {_some(open_to)}", fatal=False, remedy=remedy)
    return Check("permissions", True, "only the owner can look in")


def _orphans(dataset: Path) -> Check:
    named: set[str] = set()
    for generation in manifests.generations_on_disk(dataset):
        try:
            manifest = manifests.read_manifest(dataset, generation)
        except HermesLanceError as error:
            return Check("orphans", False, str(error), fatal=False, remedy="Run `hermes-lance generations gc`.")
        named.update(entry["file"] for entry in _entries(manifest))
        named.add(str(manifest.lexical.get("folder")))
    places = (*(dataset / manifests.SIDE).glob("*"), *(dataset / manifests.LEXICAL).glob("*"))
    stray = sorted(path.name for path in places if path.name not in named)
    if not stray:
        return Check("orphans", True, "no stray files")
    detail = f"{len(stray)} files that no generation names: {_some(stray)}"
    return Check("orphans", False, detail, fatal=False, remedy="Run `hermes-lance generations gc`.")


def _lexical(snapshot: Snapshot) -> Check:
    """Tantivy and the side files name the same rows."""
    indexed = dict(snapshot.lexical.keys())
    stored = {serial: key_number(segment.id(index)) for serial, segment, index in snapshot.text.living()}
    if snapshot.lexical.count() != len(indexed):
        detail = f"{snapshot.lexical.count()} documents for {len(indexed)} rows"
        return Check("lexical", False, f"the Tantivy index holds a row twice: {detail}", remedy=FIX)
    if indexed != stored:
        wrong = {serial for serial in indexed.keys() | stored.keys() if indexed.get(serial) != stored.get(serial)}
        return Check("lexical", False, f"{len(wrong)} rows differ between Tantivy and the side files", remedy=FIX)
    return Check("lexical", True, f"{len(indexed):,} passages, the same in Tantivy and the side files")


def _artifacts(snapshot: Snapshot) -> Check:
    """Tantivy and the side file name the same artifacts, and every link has both its ends."""
    index, rows = snapshot.artifact_index, snapshot.artifacts
    if index is None:
        return Check("artifacts", True, "none were collected yet")
    if index.keys() != [(at, key_number(rows.id(at))) for at in range(len(rows))]:
        return Check("artifacts", False, "Tantivy and the side file name different artifacts", remedy=FIX)
    vectors = snapshot.artifact_vectors
    if vectors is not None and vectors.serials().tolist() != list(range(len(rows))):
        return Check("artifacts", False, "the vectors are of other artifacts", remedy=FIX)
    links = sum(1 for _ in rows.edges())
    return Check("artifacts", True, f"{len(rows):,} artifacts, the same in Tantivy and the side file, {links:,} links")


def _lance(snapshot: Snapshot, tables: Tables) -> Iterator[Check]:
    """The tables hold what the side files hold, each key once."""
    if snapshot.manifest.tables_behind:
        detail = "the newest text is not in the tables yet; the build at work, or else the next one, puts it there"
        yield Check("tables", False, detail, fatal=False, remedy="Run `hermes-lance build`.")
        return
    for name, entry in snapshot.manifest.tables.items():
        try:
            yield _counts(tables, name, entry)
        except HermesLanceError as error:
            yield Check(f"table-{name}", False, str(error), remedy=error.hint)
            return
        except (RuntimeError, ValueError, OSError) as error:
            detail = f"version {entry['version']} cannot be read: {_first_line(error)}"
            yield Check(f"table-{name}", False, detail, remedy="Restore a backup, or build into a fresh --home.")
            return
    try:
        yield _agreement(snapshot, tables)
        if snapshot.manifest.artifacts is not None:
            yield _agreement_of_artifacts(snapshot, tables)
    except (HermesLanceError, RuntimeError, ValueError, OSError) as error:
        yield Check("agreement", False, f"the passages cannot be compared: {_first_line(error)}", remedy=FIX)


def _agreement(snapshot: Snapshot, tables: Tables) -> Check:
    stored = {segment.id(index): (segment, index) for _, segment, index in snapshot.text.living()}
    version = snapshot.manifest.tables["chunks"]["version"]
    different = 0
    seen = 0
    for batch in tables.read("chunks", ["id", "text_sha"], version=version):
        for key, sha in zip(batch.column("id").to_pylist(), batch.column("text_sha").to_pylist(), strict=True):
            seen += 1
            place = stored.get(key)
            different += place is None or ids.text_sha(place[0].text(place[1])) != sha
    ok = different == 0 and seen == len(stored)
    detail = f"{seen:,} passages in Lance, {len(stored):,} in the side files, {different:,} different"
    return Check("agreement", ok, detail, remedy=None if ok else FIX)


def _agreement_of_artifacts(snapshot: Snapshot, tables: Tables) -> Check:
    rows, versions = snapshot.artifacts, snapshot.manifest.tables
    same = read_artifacts(tables, versions["artifacts"]["version"]) == rows.all()
    links = [edge_id(one) for one in rows.edges()]
    same = same and [edge_id(one) for one in read_edges(tables, versions["edges"]["version"])] == links
    detail = f"{len(rows):,} artifacts in the side file, {'the same' if same else 'others'} in Lance"
    return Check("agreement-of-artifacts", same, detail, remedy=None if same else FIX)


def _counts(tables: Tables, name: str, entry: dict[str, Any]) -> Check:
    key = "key" if name.startswith("vectors_") else "id"
    keys: list[str] = []
    for batch in tables.read(name, [key], version=entry["version"]):
        keys.extend(batch.column(key).to_pylist())
    if len(set(keys)) != len(keys):
        detail = f"{len(keys) - len(set(keys))} keys are stored more than once"
        return Check(f"table-{name}", False, detail, remedy=FIX)
    if len(keys) != entry["rows"]:
        return Check(f"table-{name}", False, f"{len(keys)} rows where {entry['rows']} were published", remedy=FIX)
    return Check(f"table-{name}", True, f"{len(keys):,} rows, every key once, version {entry['version']}")


def _vectors(snapshot: Snapshot) -> Check:
    import numpy as np

    have = np.unique(snapshot.vectors.serials())
    alive = snapshot.text.alive()
    stray = np.setdiff1d(have, np.concatenate([alive, snapshot.dead.array()]))
    if len(stray):
        return Check("vectors", False, f"{len(stray)} vectors belong to no passage", remedy=FIX)
    missing = len(np.setdiff1d(alive, have))
    if missing:
        detail = f"{missing:,} of {len(alive):,} passages have no vector yet"
        return Check("vectors", False, detail, fatal=False, remedy="Run `hermes-lance build`.")
    return Check("vectors", True, f"{len(alive):,} passages, all with vectors")


def repair(dataset: Path, rebuild: Callable[[Manifest | None], Manifest]) -> Manifest:
    """Publishes afresh from the Lance tables, trusting nothing else but the settings of the last readable manifest.

    Raises `DatasetNewer` where a later release has written: its rows may hold what this one would lose.
    """
    newest: Manifest | None = None
    for generation in reversed(manifests.generations_on_disk(dataset)):
        try:
            newest = manifests.read_manifest(dataset, generation)
            break
        except DatasetNewer:
            raise
        except HermesLanceError:
            # The search goes on to an older manifest; the unreadable one has been reported by the checks.
            continue
    return rebuild(newest)


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_FEW])
    return shown if len(names) <= _FEW else f"{shown} and {len(names) - _FEW} more"


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
