"""Following the files from an opened library: the watch, wired to its configuration, roots and builds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from hermes_lance.core.errors import FileMissing, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_lance.core.config import Config
    from hermes_lance.core.records import FileChange, IndexReport, Root
    from hermes_lance.ingest.watch import Followed


class Indexed(Protocol):
    """What is asked of an opened dataset here."""

    config: Config
    dataset: Path
    caller_owned: bool

    def roots(self) -> list[Root]:
        """The folders that are indexed."""
        ...

    def reload(self) -> None:
        """Reads the configuration again."""
        ...

    @property
    def index(self) -> Callable[..., IndexReport]:
        """Brings the dataset in step with the files."""
        ...


def _nothing(*_: object) -> None:
    """For watches that nobody looks at."""


def ready_to_build(library: Indexed) -> None:
    """Makes the workspace before the first build. `UsageError` for a dataset that is never built, `FileMissing` where
    there can be no workspace."""
    from hermes_lance.ingest.roots import make_workspace
    from hermes_lance.store.manifest import current_or_none

    config = library.config
    if library.caller_owned:
        raise UsageError(f"{library.dataset}: a dataset named by --dataset is never rebuilt", hint="Use --home.")
    if not config.enabled or not config.workspace.enabled:
        raise UsageError(f"{config.home}: the workspace is switched off in config.yaml")
    if current_or_none(library.dataset) is None:
        # Later a workspace that is not there is one that is away, not an empty one.
        if not config.workspace.auto_create and not config.workspace_root.is_dir():
            raise FileMissing(
                f"workspace {config.workspace_root}: not there, and workspace.auto_create is off",
                hint="Make that folder, or correct workspace.path.",
            )
        make_workspace(config)


def watch(
    library: Indexed,
    *,
    cancelled: Callable[[], bool],
    changed: Callable[[FileChange, float], None] = _nothing,
    say: Callable[[str], None] = _nothing,
    poll: bool = False,
    warm: bool = False,
    workers: int | None = None,
) -> Followed:
    """Follows the roots in the calling thread until `cancelled()`; what was done by then.

    It begins with a build. `changed(change, seconds)` is called for each file whose new state can be searched, with the
    seconds since it was seen to change; `say` with sentences about the watch. With `poll` no events of the system are
    used: the folders are looked at every `knowledgebase.watch_interval_seconds`. With `warm` Lance is
    loaded at the start, so that the first change does not wait for it. Another writer is waited for, and a
    full disk too. Raises `UsageError` where nothing is ever built, `ConfigError` at the start.
    """
    from hermes_lance.ingest.watch import Watch
    from hermes_lance.keeping import note_look

    ready_to_build(library)

    def settings() -> tuple[Sequence[Root], Config]:
        library.reload()
        return library.roots(), library.config

    def tidy(wait_seconds: float) -> None:
        upkeep(library.dataset, wait_seconds=wait_seconds)

    def note() -> None:
        note_look(library.config)

    index = partial(library.index, workers=workers)
    return Watch(index, settings, cancelled, changed, say, poll, _load_lance if warm else _nothing, tidy, note).run()


def upkeep(dataset: Path, *, wait_seconds: float) -> None:
    """Merges what many small changes have left, where there is enough of it; queries go on meanwhile."""
    from hermes_lance.store import compact, recover
    from hermes_lance.store import manifest as manifests
    from hermes_lance.store.lock import writing
    from hermes_lance.store.tables import Tables

    known = manifests.current_or_none(dataset)
    if known is None or not compact.due(known):
        return
    with writing(dataset, wait_seconds):
        tables = Tables(dataset)
        base, _ = recover.recover(dataset, tables)
        if base is not None:
            compact.tidy(dataset, tables, base)


def _load_lance() -> None:
    from hermes_lance.store.lance_engine import lancedb

    lancedb()


def watch_in_background(library: Indexed, *, cancelled: Callable[[], bool], **how: Any) -> Followed:
    """The same in a thread of the lowest priority, with one worker; the caller waits."""
    from hermes_lance.core.background import in_background

    def work(interrupted: Callable[[], bool]) -> Followed:
        return watch(library, cancelled=lambda: interrupted() or cancelled(), workers=1, **how)

    return in_background(work)[0]


def index_in_background(index: Callable[..., IndexReport], asked: Callable[[], bool]) -> IndexReport:
    """The report of a build that a thread of the lowest priority did."""
    from hermes_lance.core.background import in_background

    report, lowered = in_background(lambda interrupted: index(cancelled=lambda: interrupted() or asked()))
    if not lowered:
        report.warnings.append("this system has no priority of threads: the build ran at that of the process")
    return report
