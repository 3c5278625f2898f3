"""Dropping documents on purpose: for good (`forget`), or until their bytes change (`drop`).

Forgetting writes the list first (`store/forgotten.py`) and then does what it says, so that whoever writes next can
finish it. Files on the disk are never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from hermes_lance.core import ids
from hermes_lance.core.errors import FileMissing, UsageError
from hermes_lance.core.ids import source_id
from hermes_lance.core.names import on_disk, raw_bytes
from hermes_lance.core.records import KnownFile, Skipped, SourceFile
from hermes_lance.ingest import contents
from hermes_lance.ingest.plan import DROPPED, reason_of
from hermes_lance.ingest.roots import Place
from hermes_lance.store import failpoints, forgotten
from hermes_lance.store import manifest as manifests
from hermes_lance.store import purge as purging
from hermes_lance.store.catch_up import catch_up
from hermes_lance.store.files import FilesState
from hermes_lance.store.forgotten import Forgotten, Tombstone
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.proof import Proof, Traces
from hermes_lance.store.publish import Publication, now
from hermes_lance.store.recover import facts_of
from hermes_lance.store.tables import Tables

LARGEST_HASHED_BYTES = 1 << 40
"""A file is hashed whatever its size; the limit of indexing does not matter here."""


class Elsewhere(Protocol):
    """Removes what is kept outside the dataset of the files that are to be purged."""

    files: Sequence[Path]
    """What may hold something of it."""

    def __call__(self, listed: Forgotten, traces: Traces) -> int:
        """How many records it has removed."""
        ...


@dataclass(slots=True)
class Dropped:
    """What was done."""

    paths: list[str] = field(default_factory=list)
    """Display paths of the files that were named."""
    copies: list[str] = field(default_factory=list)
    """Display paths of indexed files with the same contents, which left the dataset too."""
    chunks: int = 0
    """Passages that are gone."""
    generation: str | None = None
    recorded: int = 0
    """Recorded turns that a purge has removed, since they name one of the files or were given a part of it."""
    proof: Proof | None = None
    """What was opened after a purge."""


def forget(
    dataset: Path,
    tables: Tables,
    base: Manifest | None,
    places: Sequence[Place],
    *,
    purge: bool,
    beside: Sequence[Path] = (),
    elsewhere: Callable[[], Elsewhere] | None = None,
) -> Dropped:
    """The named files leave the dataset for good. Only under the writer lock, after recovery.

    A purge asks `elsewhere` to remove what is kept outside the dataset, before it looks whether anything is left.
    `FileMissing` for a path that is not on the disk and that no generation knows.
    """
    listed = forgotten.read(dataset)
    listed.put(_tombstone(dataset, place, listed, purge=purge) for place in places)
    made = Dropped([place.display_path for place in places])
    forgotten.write(dataset, listed)
    failpoints.reach("listed")
    after = finish(dataset, tables, base, made, beside, elsewhere)
    made.generation = after.id if after is not None else None
    return made


def finish(
    dataset: Path,
    tables: Tables,
    base: Manifest | None,
    made: Dropped | None = None,
    beside: Sequence[Path] = (),
    elsewhere: Callable[[], Elsewhere] | None = None,
) -> Manifest | None:
    """Does what the list says and nobody has done yet; the generation after it. Safe to be stopped and called again.

    After a purge the files in the folders `beside` the dataset are searched too. `elsewhere` as for `forget`.
    """
    listed = forgotten.read(dataset)
    if not listed.pending:
        return base
    made = made or Dropped()
    traces = purging.traces(dataset, tables, listed) if any(_to_purge(listed)) else None
    if traces is not None and elsewhere is not None:
        outside = elsewhere()
        made.recorded += outside(listed, traces)
        beside = [*beside, *outside.files]
    if base is not None:
        base = _without(dataset, tables, base, listed, made)
        if traces is not None:
            base, made.proof = purging.purge(dataset, tables, base, listed, traces, beside)
    listed.settle()
    forgotten.write(dataset, listed)
    failpoints.reach("settled")
    return base


def _to_purge(listed: Forgotten) -> Iterable[Tombstone]:
    return (entry for entry in listed.entries.values() if entry.pending and entry.purge)


def lift(dataset: Path, places: Sequence[Place]) -> list[str]:
    """Takes files off the list, so that the next build reads them again; their display paths. `UsageError` for one
    that is not on it."""
    listed = forgotten.read(dataset)
    lifted = []
    for place in places:
        entry = listed.lift(_id_of(dataset, place)) or listed.lift(_listed_as(listed, place))
        if entry is None:
            raise UsageError(f"{place.display_path}: was not forgotten", hint="See `hermes-lance forget --list`.")
        lifted.append(place.display_path)
    forgotten.write(dataset, listed)
    return lifted


def drop(dataset: Path, tables: Tables, base: Manifest, places: Sequence[Place]) -> Dropped:
    """The named files leave the index until their bytes change. Only under the writer lock, after recovery.

    `UsageError` for a file that is not indexed.
    """
    state = FilesState(dataset / manifests.SIDE, base.files)
    made = Dropped()
    rows = []
    for place in places:
        known = state.get(_id_of(dataset, place))
        if known is None or not known.chunks:
            why = f" ({known.reason})" if known is not None and known.reason else ""
            raise UsageError(f"{place.display_path}: not in the index{why}", hint="See `hermes-lance workspace list`.")
        found = contents.hashed(file_at(place, known.raw_path), LARGEST_HASHED_BYTES)
        sha = known.sha256 if isinstance(found, Skipped) else found.sha256
        row = _bare(known, reason_of(DROPPED), sha256=sha, tombstone_sha=sha)
        if not isinstance(found, Skipped):
            row = replace(row, size=found.size, mtime_ns=found.mtime_ns, inode=found.inode, dev=found.dev)
        rows.append(row)
        made.paths.append(place.display_path)
        made.chunks += known.chunks
    made.generation = _published(dataset, tables, base, rows).id
    return made


def _without(dataset: Path, tables: Tables, base: Manifest, listed: Forgotten, made: Dropped) -> Manifest:
    """The generation without the passages of forgotten files; the given one where there are none."""
    labels = {root["key"]: root["label"] for root in base.roots}
    rows = []
    for known in FilesState(dataset / manifests.SIDE, base.files).all().values():
        why = listed.of_file(known.id) or listed.of_contents(known.sha256)
        if why is None or (forgotten.is_forgotten(known.reason) and not known.chunks):
            continue
        rows.append(_bare(known, reason_of(why), sha256=known.sha256))
        made.chunks += known.chunks
        if known.id not in listed.entries:
            label = labels.get(known.root, known.root)
            made.copies.append(known.path if label == "workspace" else f"{label}/{known.path}")
    return _published(dataset, tables, base, rows) if rows else base


def _bare(known: KnownFile, reason: str, *, sha256: str | None, tombstone_sha: str | None = None) -> KnownFile:
    """The record of a file whose passages go: nothing in it says what the file held."""
    return replace(
        known, state="skipped", reason=reason, rule=None, media_type=None, sha256=sha256, encoding=None,
        replaced_chars=0, parser=None, chunks=0, pieces_signature=None, tombstone_sha=tombstone_sha, retry_after=None,
        indexed_at=None,
    )  # fmt: skip


def _published(dataset: Path, tables: Tables, base: Manifest, rows: Sequence[KnownFile]) -> Manifest:
    run = ids.unique_name()
    with Publication(dataset, tables, base, run, facts_of(base)) as work:
        for row in rows:
            work.put_file(replace(row, run=run), [])
        after = work.commit("dropped on purpose")
    return catch_up(dataset, tables, after, work.changes)


# -- which file is meant --------------------------------------------------------------------------------------------


def _tombstone(dataset: Path, place: Place, listed: Forgotten, *, purge: bool) -> Tombstone:
    known = [one for state in _states(dataset) if (one := known_at(state, place)) is not None]
    raw_path = known[0].raw_path if known else None
    found = contents.hashed(file_at(place, raw_path), LARGEST_HASHED_BYTES)
    if isinstance(found, Skipped) and not known and _listed_as(listed, place) not in listed.entries:
        if found.code == "vanished":
            raise FileMissing(f"{place.display_path}: no such file, and no generation knows it")
        raise UsageError(
            f"{place.display_path}: not a document ({found.detail})",
            hint="Name a file; a folder is left out by a line in .hermesignore.",
        )
    shas = [one.sha256 for one in known if one.sha256 is not None]
    if not isinstance(found, Skipped):
        shas.append(found.sha256)
    return Tombstone(
        id=known[0].id if known else source_id(place.root.key, raw_bytes(place.path, None)),
        root=place.root.key,
        path=place.path,
        raw_path=raw_path,
        shas=tuple(dict.fromkeys(shas)),
        at=now(),
        shown=place.display_path,
        purge=purge,
    )


def _states(dataset: Path) -> Iterable[FilesState]:
    """What the generations on disk know of files, newest first."""
    for manifest in reversed(manifests.known_manifests(dataset)):
        yield FilesState(dataset / manifests.SIDE, manifest.files)
    kept = [path for path in (dataset / manifests.PINNED).glob("*") if path.name.isdigit()]
    for place in sorted(kept, reverse=True):
        yield FilesState(place / manifests.SIDE, manifests.read_manifest(place, place.name).files)


def known_at(state: FilesState, place: Place) -> KnownFile | None:
    """The record of the file at a place."""
    found = state.get(source_id(place.root.key, raw_bytes(place.path, None)))
    if found is None and place.path in (paths := state.paths(place.root.key)):
        # A name that is not valid UTF-8 is found by how it is shown.
        found = state.record(state.roots[place.root.key].start + paths.index(place.path))
    return found


def _id_of(dataset: Path, place: Place) -> str:
    for state in _states(dataset):
        if (known := known_at(state, place)) is not None:
            return known.id
    return source_id(place.root.key, raw_bytes(place.path, None))


def _listed_as(listed: Forgotten, place: Place) -> str:
    """The id under which a path stands on the list, also when no generation knows it any more."""
    entries = listed.entries.values()
    return next((one.id for one in entries if (one.root, one.path) == (place.root.key, place.path)), "")


def file_at(place: Place, raw_path: str | None) -> SourceFile:
    """The file at a place as it may be on the disk, to be read or hashed."""
    location = f"{place.root.path}/{on_disk(place.path, raw_path)}"
    return SourceFile(place.root, place.path, location, 0, 0, 0, 0, raw_path)
