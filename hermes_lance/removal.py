"""Documents that leave the dataset because somebody says so: `forget`, its lifting, and `delete`.

On the library's own floor: wires the flow of `ingest/forget.py` with the lock and the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hermes_lance.core.errors import DatasetMissing, UsageError
from hermes_lance.ingest import forget as flow
from hermes_lance.ingest import roots as root_list
from hermes_lance.ingest.forget import Dropped
from hermes_lance.overview import Opened
from hermes_lance.store import compact, forgotten, recover
from hermes_lance.store.forgotten import Tombstone
from hermes_lance.store.lock import writing
from hermes_lance.store.tables import Tables

if TYPE_CHECKING:
    from hermes_lance.store.manifest import Manifest

Made = TypeVar("Made")


def forget(library: Opened, paths: Sequence[str | Path], *, purge: bool = False, wait_seconds: float = 30.0) -> Dropped:
    """Documents leave the dataset for good: later builds leave their paths, and equal contents elsewhere, out.

    `purge`: their text also goes from older and kept generations, every table version, index and side file, which are
    then all opened to see that nothing is left. Raises `FileMissing`, `OutsideRoots`, `DatasetBusy`.
    """

    def act(tables: Tables, base: Manifest | None) -> Dropped:
        beside = [library.config.knowledgebase_root]
        return flow.forget(library.dataset, tables, base, _places(library, paths), purge=purge, beside=beside)

    return _locked(library, act, wait_seconds)


def lift(library: Opened, paths: Sequence[str | Path], *, wait_seconds: float = 30.0) -> list[str]:
    """Documents may come back: the next build reads them again. Their display paths; `UsageError` for one that was not
    forgotten."""
    return _locked(library, lambda tables, base: flow.lift(library.dataset, _places(library, paths)), wait_seconds)


def drop(library: Opened, paths: Sequence[str | Path], *, wait_seconds: float = 30.0) -> Dropped:
    """Documents leave the index until their bytes change. `UsageError` for one that is not indexed."""

    def act(tables: Tables, base: Manifest | None) -> Dropped:
        if base is None:
            raise DatasetMissing(f"{library.dataset}: nothing is indexed here yet")
        return flow.drop(library.dataset, tables, base, _places(library, paths))

    return _locked(library, act, wait_seconds)


def forgotten_files(library: Opened) -> list[Tombstone]:
    """What is on the list, by display path."""
    return sorted(forgotten.read(library.dataset).entries.values(), key=lambda one: one.shown)


def _places(library: Opened, paths: Sequence[str | Path]) -> list[root_list.Place]:
    roots = library.roots()
    places = [root_list.located(path, roots) for path in paths]
    for given, place in zip(paths, places, strict=True):
        if not place.path:
            raise UsageError(f"{given}: a root, not a document", hint="Name a file in it.")
    return places


def _locked(library: Opened, act: Callable[[Tables, Manifest | None], Made], wait_seconds: float) -> Made:
    if library.caller_owned:
        raise UsageError(f"{library.dataset}: a dataset named by --dataset is never changed", hint="Use --home.")
    with writing(library.dataset, wait_seconds):
        tables = Tables(library.dataset)
        base, _ = recover.recover(library.dataset, tables)
        made = act(tables, base)
        if base is not None:
            compact.retain(library.dataset)
    library.close()
    return made
