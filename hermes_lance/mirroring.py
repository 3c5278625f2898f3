"""A further index beside ours: filled after publications, asked in the place of our legs while it is in step.

On the library's own floor. Ours stays the source of truth: the other one is compared with it file by file, is thrown
away where it does not fit, and is not asked for a generation that it does not hold.
"""

from __future__ import annotations

import json
import math
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hermes_lance.core import plugins
from hermes_lance.core.errors import DiskFull, HermesLanceError, PluginFailed
from hermes_lance.core.words import AnalysedQuery
from hermes_lance.plugged import Had, Holds, had
from hermes_lance.search.legs import OwnLegs
from hermes_lance.store import manifest as manifests
from hermes_lance.store.durable import disk_errors
from hermes_lance.store.lock import writing
from hermes_lance.store.snapshot import Snapshot

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.core.contracts import IndexSession, IndexStore, Vectors
    from hermes_lance.core.records import ChunkRow, KnownFile
    from hermes_lance.store.manifest import Manifest

FILES_AT_ONCE = 200
"""Files whose rows and vectors are in memory together, and that one commit of the store holds."""
_SESSION = "index session"
_opening = threading.Lock()


class Opened(Holds, Protocol):
    """What is asked of an opened dataset here."""

    dataset: Path

    def snapshot(self) -> Snapshot:
        """The current generation."""
        ...


def folder_of(config: Config) -> Path:
    """The parent of the folders of other stores: one for each name, with a note beside it."""
    return config.knowledgebase_root / "index_stores"


@dataclass(frozen=True, slots=True)
class _Mark:
    """What a store holds, noted beside its folder."""

    generation: str
    """Number, run and moment: a dataset that was made anew begins with the same numbers."""
    signature: str
    space: str | None
    """Signature of the embedder whose vectors it holds."""

    @classmethod
    def read(cls, file: Path) -> _Mark | None:
        """None where there is no note, or one that nobody can read."""
        try:
            return cls(**json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None


def in_step(library: Opened, wait_seconds: float) -> list[str]:
    """Brings the configured store in step with the current generation; what is to be said. Never raises for a fault of
    the store: then ours answers."""
    name = library.config.index_store
    found = had(library, "index_stores")
    if found.trouble is not None:
        return [f"{found.trouble}; lance answers instead. {found.trouble.hint}"]
    current = manifests.current_or_none(library.dataset)
    if current is None:
        return []
    file = _mark_file(library.config, name)
    try:
        mark = _Mark.read(file)
        if mark is not None and (mark.generation, mark.signature) == (_state(current), str(found.made.signature())):
            return []
        let_go(library)
        with writing(library.dataset, wait_seconds):
            _bring(library, found.made, file)
    except DiskFull:
        raise
    except HermesLanceError as error:
        return [f"index store {name} is behind: {error}; lance answers instead. {error.hint}"]
    except (Exception, SystemExit) as error:
        return [f"{plugins.fault('index_stores', name, error)}; lance answers instead"]
    return []


def _state(manifest: Manifest) -> str:
    return f"{manifest.id} {manifest.run} {manifest.published_at}"


def _mark_file(config: Config, name: str) -> Path:
    return folder_of(config) / f"{name}.json"


def _bring(library: Opened, store: IndexStore, file: Path) -> None:
    snapshot = library.snapshot()
    mark, folder = _Mark.read(file), file.with_suffix("")
    active = snapshot.manifest.space.get("active") if len(snapshot.vectors) else None
    new = _Mark(_state(snapshot.manifest), str(store.signature()), active["signature"] if active else None)
    file.unlink(missing_ok=True)  # while it changes, nobody asks it
    if mark is None or (mark.signature, mark.space) != (new.signature, new.space):
        shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    session = store.open(folder, dimensions=snapshot.vectors.dimensions)
    try:
        wanted = _stamps(snapshot)
        _fill(session, snapshot, wanted)
        if dict(session.files()) != wanted:
            raise PluginFailed(f"index store {store.name}: it does not list the files that it was given")
    finally:
        session.close()
    with disk_errors(str(file)):
        beside = file.with_suffix(".new")
        beside.write_text(json.dumps(asdict(new)), encoding="utf-8")
        beside.replace(file)


def _stamps(snapshot: Snapshot) -> dict[str, str]:
    """Source id of each file with passages, to what its passages and vectors were made from."""
    waiting: set[str] = set()
    if not snapshot.vectors_complete:
        alive = snapshot.text.alive()
        without = alive[~snapshot.vectors.rows_with_vectors(alive)]
        waiting = {snapshot.text.place(int(serial)).source_id for serial in without}
    return {
        known.id: f"{known.sha256}:{known.pieces_signature}:{'text' if known.id in waiting else 'vectors'}"
        for known in snapshot.files.all().values()
        if known.chunks
    }


def _fill(session: IndexSession, snapshot: Snapshot, wanted: Mapping[str, str]) -> None:
    have = dict(session.files())
    for source_id in sorted(have.keys() - wanted.keys()):
        session.drop_file(source_id)
    changed = sorted(source_id for source_id, stamp in wanted.items() if have.get(source_id) != stamp)
    for first in range(0, len(changed), FILES_AT_ONCE):
        for known, rows, vectors in _contents(snapshot, changed[first : first + FILES_AT_ONCE]):
            session.put_file(known, rows, vectors, wanted[known.id])
        session.commit()
    session.commit()


def _contents(
    snapshot: Snapshot, source_ids: Sequence[str]
) -> Iterator[tuple[KnownFile, list[ChunkRow], list[Vectors]]]:
    """Some files with their passages, in order, and the vectors of each."""
    import numpy as np

    of_file: dict[str, list[ChunkRow]] = {source_id: [] for source_id in source_ids}
    for serial in snapshot.text.serials_of(source_ids):
        row = snapshot.text.row(serial)
        if row.source_id in of_file:
            of_file[row.source_id].append(row)
    stored = snapshot.vectors.by_key({key for rows in of_file.values() for row in rows for key in row.embed_keys})
    none = np.zeros((0, snapshot.vectors.dimensions or 0), dtype=np.float32)
    for source_id, rows in of_file.items():
        known = snapshot.files.get(source_id)
        if known is None:
            continue
        rows.sort(key=lambda row: row.ordinal)
        own = [[stored[key] for key in row.embed_keys if key in stored] for row in rows]
        yield known, rows, [np.stack(some).astype(np.float32) if some else none for some in own]


def discard(library: Opened) -> None:
    """Removes the indexes of all other stores: for a purge, after which nobody may find the text there. They are made
    again when they are next brought in step."""
    let_go(library)
    folder = folder_of(library.config)
    if folder.exists():
        with disk_errors(str(folder)):  # a purge that could not do this must not say that nothing is left
            shutil.rmtree(folder)


def let_go(library: Opened) -> None:
    """Closes the session that answers questions."""
    known = library.plugged.pop(_SESSION, None)
    if known is not None:
        with known.made.lock:
            known.made.session.close()


def legs(library: Opened, snapshot: Snapshot) -> tuple[StoreLegs | None, tuple[str, ...]]:
    """The configured store for the legs of one question; none, and why, where ours answers."""
    name = library.config.index_store
    found = had(library, "index_stores")
    if found.trouble is not None:
        return None, (f"{found.trouble}; lance answers instead. {found.trouble.hint}",)
    file = _mark_file(library.config, name)
    mark = _Mark.read(file)
    try:
        signature = str(found.made.signature())
    except (Exception, SystemExit) as error:
        return None, (f"{plugins.fault('index_stores', name, error)}; lance answers instead",)
    if mark is None or (mark.generation, mark.signature) != (_state(snapshot.manifest), signature):
        return None, (f"index store {name} does not hold this generation; lance answers. Run `hermes-lance build`.",)
    key = f"{name} {mark.generation}"
    with _opening:
        known = library.plugged.get(_SESSION)
        if known is None or known.key != key:
            let_go(library)
            try:
                session = found.made.open(file.with_suffix(""), dimensions=snapshot.vectors.dimensions)
            except (Exception, SystemExit) as error:
                return None, (f"{plugins.fault('index_stores', name, error)}; lance answers instead",)
            known = library.plugged[_SESSION] = Had(key, _Shared(name, session, snapshot))
    return StoreLegs(known.made, snapshot), ()


@dataclass(slots=True)
class _Shared:
    """A session for the questions of all threads, one after the other."""

    name: str
    session: IndexSession
    snapshot: Snapshot
    lock: threading.Lock = field(default_factory=threading.Lock)
    _serials: dict[str, int] | None = None

    def serials(self) -> dict[str, int]:
        """Row id to the row's number in the generation; made at the first question."""
        if self._serials is None:
            living = self.snapshot.text.living()
            self._serials = {segment.id(index): serial for serial, segment, index in living}
        return self._serials


class StoreLegs:
    """Both legs from another store, for one question; fits `search.legs.LegSource`. Where it fails, ours answers."""

    def __init__(self, shared: _Shared, snapshot: Snapshot) -> None:
        self.warnings: list[str] = []
        self._shared = shared
        self._snapshot = snapshot
        self._own = OwnLegs(snapshot)

    def lexical(
        self, analysed: AnalysedQuery, text: str, rows: int, files: frozenset[str] | None
    ) -> list[tuple[int, float]]:
        """By words, as the store understands them."""
        found = self._asked("lexical", text, rows, files)
        return self._own.lexical(analysed, text, rows, files) if found is None else found

    def dense(
        self, vector: Vectors, rows: int, files: frozenset[str] | None, *, exact: bool
    ) -> list[tuple[int, float]]:
        """By nearness, as the store computes it."""
        found = self._asked("dense", vector, rows, files)
        return self._own.dense(vector, rows, files, exact=exact) if found is None else found

    def _asked(self, leg: str, what: Any, rows: int, files: frozenset[str] | None) -> list[tuple[int, float]] | None:
        shared = self._shared
        try:
            with shared.lock:
                said = [(str(one), float(score)) for one, score in getattr(shared.session, leg)(what, rows, files)]
                serials = shared.serials()
            if not all(math.isfinite(score) for _, score in said):
                raise ValueError(f"{leg}() gave scores that are no numbers")  # they would unsettle the whole ranking
        except (Exception, SystemExit) as error:
            self.warnings.append(f"{plugins.fault('index_stores', shared.name, error)}; lance has answered")
            return None
        found = {serials[one]: score for one, score in said if one in serials}
        if files is not None:
            found = {row: score for row, score in found.items() if self._snapshot.text.place(row).source_id in files}
        return list(found.items())[:rows]
