"""What a person does with single documents: takes them in, looks into them, drops them or forgets them for good.

A part of `Library`, on its own floor: each method wires a flow with the lock and the tables. Loading this file loads
none of the rooms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_lance.core.errors import DatasetBusy, DatasetMissing, DatasetReadOnly, DiskFull, UsageError
from hermes_lance.store import manifest as manifests

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.core.records import IndexReport, Root
    from hermes_lance.ingest.forget import Dropped
    from hermes_lance.ingest.lines import Lines
    from hermes_lance.ingest.roots import Place
    from hermes_lance.ingest.verify import Verdict
    from hermes_lance.plugged import Had
    from hermes_lance.recording import Purging
    from hermes_lance.store.forgotten import Tombstone
    from hermes_lance.store.manifest import Manifest
    from hermes_lance.store.snapshot import Snapshot
    from hermes_lance.store.tables import Tables

Made = TypeVar("Made")
Paths = Sequence[str | Path]
"""Display paths or absolute paths."""


@dataclass(frozen=True, slots=True)
class Added:
    """A file that was taken into the workspace, and what became of it."""

    file: str | Path
    path: str
    """Display path."""
    copied: bool
    state: str
    reason: str | None
    chunks: int


class Documents(ABC):
    """Acts on documents that are named by their paths."""

    config: Config
    dataset: Path
    caller_owned: bool
    warnings: list[str]
    plugged: dict[str, Had]

    @abstractmethod
    def roots(self) -> list[Root]:
        """The folders that are indexed."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of the open generation."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """The current generation."""

    @abstractmethod
    def index(
        self, *, only_paths: Paths, cancelled: Callable[[], bool] | None = None, wait_seconds: float = 30.0
    ) -> IndexReport:
        """Brings the dataset in step with these files."""

    @abstractmethod
    def reload(self) -> None:
        """Reads the configuration again."""

    def make_folders(self) -> list[Path]:
        """The workspace and the folder of the index with their usual sub-folders; those that were not there."""
        from hermes_lance.ingest.roots import make_folders

        return make_folders(self.config)

    def set_value(self, key: str, value: str | bool) -> Path:
        """Sets `knowledgebase.<key>` in the configuration file, which keeps its comments; that file."""
        from hermes_lance.ingest.settings_file import set_value

        file = self.config.config_file or self.config.home / "config.yaml"
        set_value(file, key, value)
        self.reload()
        return file

    def set_values(self, values: Mapping[str, Any]) -> Path:
        """Sets keys such as `knowledgebase.embedders.active`, all at once, and likewise; that file."""
        from hermes_lance.ingest.settings_file import set_values

        file = self.config.config_file or self.config.home / "config.yaml"
        set_values(file, values)
        self.reload()
        return file

    def add_files(
        self, files: Paths, *, cancelled: Callable[[], bool] | None = None, wait_seconds: float = 30.0
    ) -> tuple[list[Added], IndexReport]:
        """Copies files into `uploads` of the workspace, never over another one, and indexes them; what became of each.

        A file that lies in a root already is not copied. Raises `FileMissing`, `UsageError`, and as `index` does.
        """
        from hermes_lance.ingest import uploads

        if self.caller_owned:
            raise UsageError(f"{self.dataset}: a dataset named by --dataset is never changed", hint="Use --home.")
        roots = self.roots()
        taken = [uploads.taken_in(self.config, roots, file) for file in files]
        paths = [place.display_path for place, _ in taken]
        report = self.index(only_paths=paths, cancelled=cancelled, wait_seconds=wait_seconds)
        return [self._added(file, *one) for file, one in zip(files, taken, strict=True)], report

    def _added(self, file: str | Path, place: Place, copied: bool) -> Added:
        from hermes_lance.ingest.forget import known_at

        known = known_at(self.snapshot().files, place)
        if known is None:
            return Added(file, place.display_path, copied, "skipped", "left out together with its folder", 0)
        reason = f"{known.reason} ({known.rule})" if known.rule else known.reason
        return Added(file, place.display_path, copied, known.state, reason, known.chunks)

    def lines(
        self, pattern: str, *, path: str | None = None, file_glob: str | None = None, limit: int = 20, offset: int = 0
    ) -> Lines:
        """Lines of the files on the disk that a regular expression fits. `UsageError`, `FileMissing`."""
        from hermes_lance.ingest.lines import matching

        return matching(self.config, self.roots(), pattern, path=path, file_glob=file_glob, limit=limit, offset=offset)

    def forget(self, paths: Paths, *, purge: bool = False, wait_seconds: float = 30.0) -> Dropped:
        """Documents leave the dataset for good: later builds leave their paths, and equal contents elsewhere, out.

        `purge`: their text also goes from older and kept generations, every table version, index and side file, and
        recorded turns that name them or were given a part of them go too; all that is then opened to see that nothing
        is left. Raises `FileMissing`, `OutsideRoots`, `DatasetBusy`, `DatasetDamaged`.
        """
        from hermes_lance.ingest import forget
        from hermes_lance.mirroring import discard

        def act(tables: Tables, base: Manifest | None) -> Dropped:
            places = self._places(paths)
            if not purge:
                return forget.forget(self.dataset, tables, base, places, purge=False)
            # Before the list is written: what is in the way of these ends the purge before anything is forgotten.
            discard(self)
            first = self._recorded().named([place.display_path for place in places])
            beside = [self.config.knowledgebase_root]
            made = forget.forget(
                self.dataset, tables, base, places, purge=True, beside=beside, elsewhere=self._recorded
            )
            made.recorded += first
            return made

        return self._locked(act, wait_seconds)

    def _recorded(self) -> Purging:
        """What is recorded of turns, for a purge."""
        from hermes_lance.recording import Purging

        return Purging(self.config)

    def lift(self, paths: Paths, *, wait_seconds: float = 30.0) -> list[str]:
        """Forgotten documents may come back: the next build reads them again. Their display paths; `UsageError` for
        one that was not forgotten."""
        from hermes_lance.ingest import forget

        return self._locked(lambda tables, base: forget.lift(self.dataset, self._places(paths)), wait_seconds)

    def drop(self, paths: Paths, *, wait_seconds: float = 30.0) -> Dropped:
        """Documents leave the index until their bytes change. `UsageError` for one that is not indexed."""
        from hermes_lance.ingest import forget

        def act(tables: Tables, base: Manifest | None) -> Dropped:
            if base is None:
                raise DatasetMissing(f"{self.dataset}: nothing is indexed here yet")
            return forget.drop(self.dataset, tables, base, self._places(paths))

        return self._locked(act, wait_seconds)

    def forgotten(self) -> list[Tombstone]:
        """What was forgotten, by display path."""
        from hermes_lance.store import forgotten

        return sorted(forgotten.read(self.dataset).entries.values(), key=lambda one: one.shown)

    def verify(self, citation: str, *, sha256: str | None = None, generation: str | None = None) -> Verdict:
        """Whether a cited source still stands: exact, moved, changed or gone, and where it is now.

        `docs/plan.md:10-42`, `docs/plan.md#L10-L42`, `report.pdf#page=3`, also as the header of a passage has it.
        `sha256`: hash of the file when it was cited, or its beginning; `generation`: the one that was asked then (a
        number, a tag or an ISO time). Raises `UsageError`, `FileMissing`, `OutsideRoots`.
        """
        from hermes_lance.ingest.verify import Verifier

        if self.caller_owned:
            raise UsageError(f"{self.dataset}: a dataset named by --dataset is not compared with the disk")
        roots = self.roots()
        return Verifier(self.config, self.dataset, roots).verdict(citation, sha256=sha256, generation=generation)

    def _list_again(self, report: IndexReport) -> None:
        """Writes `workspace.json` after a run that had nothing to do, where the file does not speak of its generation:
        another command has published, or a run was killed before it wrote the file."""
        from hermes_lance.ingest import listing

        if report.generation is None or listing.is_of(self.config, report.generation):
            return
        from hermes_lance.store.lock import writing

        try:
            with writing(self.dataset, 0.0):
                listing.write(self.config, self.dataset, manifests.current(self.dataset))
        except DatasetBusy:
            return  # who is writing there will write this file too
        except (DatasetReadOnly, DiskFull) as error:
            report.warnings.append(f"writing workspace.json was put off: {error}")

    def _places(self, paths: Paths) -> list[Place]:
        from hermes_lance.ingest.roots import located

        roots = self.roots()
        places = [located(path, roots) for path in paths]
        for given, place in zip(paths, places, strict=True):
            if not place.path:
                raise UsageError(f"{given}: a root, not a document", hint="Name a file in it.")
        return places

    def _locked(self, act: Callable[[Tables, Manifest | None], Made], wait_seconds: float) -> Made:
        from hermes_lance.ingest import listing
        from hermes_lance.store import compact, recover
        from hermes_lance.store.lock import writing
        from hermes_lance.store.tables import Tables

        if self.caller_owned:
            raise UsageError(f"{self.dataset}: a dataset named by --dataset is never changed", hint="Use --home.")
        with writing(self.dataset, wait_seconds):
            tables = Tables(self.dataset)
            base, _ = recover.recover(self.dataset, tables)
            made = act(tables, base)
            if base is not None:
                compact.retain(self.dataset)
                listing.write(self.config, self.dataset, manifests.current(self.dataset))
        self.close()
        self.warnings += self._store_in_step(wait_seconds)
        return made

    def _let_go_of_store(self) -> None:
        """Closes another index store, where one has answered."""
        if self.config.index_store != "lance":
            from hermes_lance.mirroring import let_go

            let_go(self)

    def _said_after(self, report: IndexReport, roots: Sequence[Root], wait_seconds: float) -> list[str]:
        """Every warning of a run, each once; another index store is brought in step before."""
        from hermes_lance.ingest.roots import overlaps

        store = self._store_in_step(wait_seconds)
        return list(dict.fromkeys((*self.warnings, *overlaps(roots), *report.warnings, *store)))

    def _store_in_step(self, wait_seconds: float) -> list[str]:
        """Another index store gets what was published; what is to be said about it."""
        if self.config.index_store == "lance":
            return []
        from hermes_lance.mirroring import in_step

        return in_step(self, wait_seconds)
