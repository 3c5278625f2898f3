"""The staircase: one object that opens a dataset and wires the rooms. It holds no ideas of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core import config_file
from hermes_lance.core.config import Config, settings_rows
from hermes_lance.core.errors import DatasetMissing, FileMissing, UsageError
from hermes_lance.core.records import Query
from hermes_lance.documents import Documents
from hermes_lance.embedding import Embedding
from hermes_lance.routing import Routing
from hermes_lance.store import manifest as manifests
from hermes_lance.turns import Turns

if TYPE_CHECKING:
    from hermes_lance.core.records import FileChange, IndexReport, Root, Verdict
    from hermes_lance.ingest.pipeline import Build
    from hermes_lance.ingest.survey import Survey
    from hermes_lance.ingest.watch import Followed
    from hermes_lance.places import Places
    from hermes_lance.plugged import Had
    from hermes_lance.search.in_time import Calls
    from hermes_lance.search.page import Answer
    from hermes_lance.search.turn import Shelf
    from hermes_lance.store.check import Check
    from hermes_lance.store.compact import Removed
    from hermes_lance.store.manifest import Manifest
    from hermes_lance.store.snapshot import Snapshot


class Library(Documents, Embedding, Routing, Turns):
    """A dataset with its configuration. Made by `hermes_lance.open`; may be used from several threads."""

    def __init__(self, config: Config, dataset: Path, *, caller_owned: bool = False) -> None:
        self.config = config
        self.dataset = dataset
        self.caller_owned = caller_owned
        """A dataset outside any home: read as it is, never built, not compared with the disk."""
        self.warnings: list[str] = list(config.warnings)
        self.follows_file = False
        """A change of its configuration file is a change of this library, with the next `reload`."""
        self.plugged: dict[str, Had] = {}
        """Plugins of the categories with one choice that were made, see `hermes_lance.plugged`."""
        self.question_calls: Calls | None = None
        """Questions to the embedder of turns that have only so much time; made by the first."""
        self._snapshot: Snapshot | None = None
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls, home: str | Path | None = None, *, config: str | Path | None = None, dataset: str | Path | None = None
    ) -> Library:
        """See `hermes_lance.open`."""
        resolved = config_file.resolve(home, config)
        if dataset is None:
            library = cls(resolved, resolved.dataset)
            library.follows_file = True
            return library
        folder = Path(dataset).expanduser().absolute()
        if not folder.is_dir():
            raise FileMissing(f"{folder}: no such dataset folder")
        return cls(resolved, folder, caller_owned=True)

    # -- index -------------------------------------------------------------------------------------------------

    def roots(self) -> list[Root]:
        """The workspace and the extra roots."""
        from hermes_lance.ingest import roots as root_list

        return root_list.active_roots(self.config)

    def add_root(self, path: str | Path, *, recursive: bool = False) -> Root:
        """Adds a lasting root to the configuration file."""
        from hermes_lance.ingest import roots as root_list

        made = root_list.add_root(self.config, path, recursive=recursive)
        self.reload()
        return made

    def remove_root(self, identifier: str | Path) -> Root:
        """Removes one; its rows vanish with the next build."""
        from hermes_lance.ingest import roots as root_list

        gone = root_list.remove_root(self.config, identifier)
        self.reload()
        return gone

    def move_root(self, identifier: str | Path, path: str | Path) -> tuple[Root, Root]:
        """Tells where the folder of a root now stands: before and after. The next build embeds nothing anew."""
        from hermes_lance.ingest import roots as root_list

        both = root_list.move_root(self.config, identifier, path)
        self.reload()
        return both

    def reload(self) -> None:
        """Reads the configuration file again. Raises `ConfigError`, and keeps what it had."""
        self.use(self._as_written())

    def _as_written(self) -> Config:
        named, usual = self.config.config_file, self.config.home / "config.yaml"
        return config_file.resolve(self.config.home, None if named == usual else named)

    def _still_chosen(self) -> bool:
        """The configuration file has not got another embedder since it was read."""
        if not self.follows_file:
            return True
        written = self._as_written()
        mine = (self.config.embedder, self.config.embedder_options)
        return (written.embedder, written.embedder_options) == mine

    def index(
        self,
        *,
        only_paths: Sequence[str | Path] | None = None,
        extra_roots: Sequence[tuple[Path, bool]] = (),
        full: bool = False,
        embed: bool = True,
        progress: Callable[[str, int, int, str], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        time_budget: float | None = None,
        wait_seconds: float = 30.0,
        workers: int | None = None,
        background: bool = False,
        in_passing: bool = False,
        changed: Callable[[FileChange], None] | None = None,
        approve: Callable[[Snapshot], bool] | None = None,
    ) -> IndexReport:
        """Brings the dataset in step with the files. `extra_roots`: folders (and whether recursive) for this run only.

        `progress(stage, done, total, path)`; `cancelled()` is asked between files and batches; `time_budget` in
        seconds ends the vector step early. `workers` threads embed, where the embedder gains from several (default: as
        many as it names and there are cores for). With `background` a thread of the lowest priority does everything,
        and one worker embeds unless `workers` says otherwise; it also calls `progress` and `cancelled`. A run
        `in_passing` leaves upkeep and the list of all files, `workspace.json`, to a later one. `changed` is called for
        each file whose state has been published; `approve` before other vectors take over, with a view of the dataset
        as it would be: on no they are kept beside those that answer. Raises `DatasetBusy`, `DatasetReadOnly`,
        `DiskFull`, `Cancelled`.
        """
        if workers is not None and workers < 1:
            raise UsageError(f"workers is {workers}; at least 1")
        if background:
            from hermes_lance.following import index_in_background

            again = partial(self.index, only_paths=only_paths, extra_roots=extra_roots, full=full, embed=embed)
            again = partial(again, progress=progress, time_budget=time_budget, wait_seconds=wait_seconds)
            again = partial(again, workers=workers or 1, in_passing=in_passing, changed=changed)
            return index_in_background(again, cancelled or (lambda: False))
        from hermes_lance.ingest.survey import unchanged
        from hermes_lance.keeping import note_look

        roots, only, first = self._surveyed(only_paths, extra_roots, full=full)
        embed = embed and self._can_embed()
        report = unchanged(first, self.dataset, self.embedder if embed else None)
        if report is not None and not in_passing:
            self._list_again(report)
        elif report is None:
            how = {"full": full, "wait_seconds": wait_seconds, "time_budget": time_budget, "changed": changed}
            build = self._building(roots, only, first, **how)
            build.embed, build.workers, build.in_passing = embed, workers, in_passing
            build.cancelled = cancelled or build.cancelled
            build.approve = approve or build.approve
            build.progress = progress or build.progress
            report = build.run()
        if only_paths is None and not extra_roots:
            note_look(self.config)
        report.warnings = self._said_after(report, roots, wait_seconds)
        return report

    def _building(self, roots: list[Root], only: dict[str, list[str]] | None, first: Survey, **how: Any) -> Build:
        from hermes_lance.ingest.pipeline import Build

        return Build(
            self.config,
            self.dataset,
            roots,
            self.embedder,
            fingerprints=self.fingerprints,
            settings=settings_rows(self.config),
            only=only,
            first=first,
            still_chosen=self._still_chosen,
            elsewhere=self._recorded,
            **how,
        )

    def _surveyed(
        self, only_paths: Sequence[str | Path] | None, extra_roots: Sequence[tuple[Path, bool]], *, full: bool
    ) -> tuple[list[Root], dict[str, list[str]] | None, Survey]:
        """The roots of a run, the part of them that it concerns, and what there is to do."""
        from hermes_lance.following import ready_to_build
        from hermes_lance.ingest.roots import active_roots, located_all
        from hermes_lance.ingest.signatures import PieceSignatures
        from hermes_lance.ingest.survey import survey

        ready_to_build(self)
        roots = active_roots(self.config, extra_roots)
        only = None if only_paths is None else located_all(only_paths, roots)
        known, signatures = self.manifest_or_none(), PieceSignatures.of_config(self.config)
        found = survey(self.config, self.dataset, roots, signatures.wanted, known, only=only, full=full)
        for warning in signatures.warnings():
            self._say(warning)
        return roots, only, found

    def watch(self, **how: Any) -> Followed:
        """Follows the roots until it is told to stop; see `hermes_lance.following.watch`."""
        from hermes_lance.following import watch

        return watch(self, **how)

    def fingerprints(self) -> dict[str, str]:
        """What the next publication is made with, by part, and one hash over all."""
        from hermes_lance.overview import fingerprints

        return fingerprints(self, self._vectors_fingerprint())

    # -- search ------------------------------------------------------------------------------------------------

    def snapshot(self, generation: str | None = None) -> Snapshot:
        """The current generation, exchanged when a newer one is published; or one by number, tag or time."""
        from hermes_lance.store.snapshot import open_snapshot

        if generation is not None:
            return open_snapshot(self.dataset, manifests.named(self.dataset, generation))
        with self._lock:
            current = manifests.current_id(self.dataset)
            if self._snapshot is None or self._snapshot.id != current:
                self._snapshot = open_snapshot(self.dataset)
            return self._snapshot

    def search(
        self,
        query: str | Query,
        *,
        limit: int = 8,
        offset: int = 0,
        mode: str = "hybrid",
        path: str | None = None,
        file_glob: str | None = None,
        fusion: str | None = None,
        generation: str | None = None,
        exact: bool = False,
        rerank: str | None = None,
    ) -> Answer:
        """The best passages for a question. Raises `DatasetMissing` before the first build, `UsageError`.

        `generation` is a number, a tag or an ISO time; `GenerationMissing` when there is none of that name. `rerank`
        names another reranker than the configured one; where it fails, the fused order is kept and a warning says so.
        """
        from hermes_lance.asking import search

        if isinstance(query, str):
            query = Query(query, mode, limit, offset, path, file_glob, fusion, exact, rerank)
        return search(self, query, generation)

    def shelf(self) -> Shelf:
        """What a turn is served from; see `context`."""
        from hermes_lance.asking import shelf

        return shelf(self)

    def places(self, snapshot: Snapshot) -> Places:
        """Where the files of a generation are on disk, and how they are shown."""
        from hermes_lance.places import Places

        return Places(snapshot.manifest, self.config)

    # -- what is here ------------------------------------------------------------------------------------------

    def manifest(self) -> Manifest:
        """The current generation's description. Raises `DatasetMissing`."""
        return manifests.current(self.dataset)

    def manifest_or_none(self) -> Manifest | None:
        """The same, or none before the first build."""
        return manifests.current_or_none(self.dataset)

    def status(self, *, files: bool = False) -> dict[str, Any]:
        """What is here, as `status --json` shows it; costs no import of lancedb."""
        from hermes_lance.overview import status

        return status(self, files=files)

    def why(self, path: str | Path, query: str | None = None) -> Verdict:
        """Why a file is or is not found: each stage with its outcome."""
        from hermes_lance.presence import why

        return why(self, path, query)

    def doctor(self, *, fix: bool = False, wait_seconds: float = 30.0) -> list[Check]:
        """What is wrong and the remedy. `fix` rebuilds the derived files from the Lance tables where they fail."""
        from hermes_lance.overview import doctor

        return doctor(self, fix=fix, wait_seconds=wait_seconds)

    def generations(self) -> list[Manifest]:
        """Generations on disk, newest first. Which one is current says `manifest()`."""
        found = manifests.known_manifests(self.dataset)
        if not found:
            raise DatasetMissing(f"{self.dataset}: nothing is indexed here yet")
        return found[::-1]

    def collect_garbage(self, *, keep: int = 3, wait_seconds: float = 30.0) -> Removed:
        """Removes generations but the newest `keep`, merges small pieces, and removes files that nothing names."""
        from hermes_lance.overview import collect_garbage

        return collect_garbage(self, keep=keep, wait_seconds=wait_seconds)

    def export(self, table: str) -> Any:
        """A whole table of the current generation as `pyarrow.Table`: chunks (with vectors), files."""
        from hermes_lance.overview import export

        return export(self, table)

    def close(self) -> None:
        """Lets go of the open generation."""
        with self._lock:
            self._snapshot = None
        self._let_go_of_store()
