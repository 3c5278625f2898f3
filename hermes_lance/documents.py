"""What a person does with single documents: forgets them for good, brings them back, drops them until they change.

A part of `Library`, on its own floor: each method wires a flow with the lock and the tables. Loading this file loads
none of the rooms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hermes_lance.core.errors import DatasetMissing, UsageError

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.core.records import Root
    from hermes_lance.ingest.forget import Dropped
    from hermes_lance.ingest.roots import Place
    from hermes_lance.store.forgotten import Tombstone
    from hermes_lance.store.manifest import Manifest
    from hermes_lance.store.tables import Tables

Made = TypeVar("Made")
Paths = Sequence[str | Path]
"""Display paths or absolute paths."""


class Documents:
    """Acts on documents that are named by their paths."""

    config: Config
    dataset: Path
    caller_owned: bool

    def roots(self) -> list[Root]:
        """The folders that are indexed."""
        raise NotImplementedError

    def close(self) -> None:
        """Lets go of the open generation."""
        raise NotImplementedError

    def forget(self, paths: Paths, *, purge: bool = False, wait_seconds: float = 30.0) -> Dropped:
        """Documents leave the dataset for good: later builds leave their paths, and equal contents elsewhere, out.

        `purge`: their text also goes from older and kept generations, every table version, index and side file, which
        are then all opened to see that nothing is left. Raises `FileMissing`, `OutsideRoots`, `DatasetBusy`.
        """
        from hermes_lance.ingest import forget

        beside = [self.config.knowledgebase_root]
        return self._locked(
            lambda tables, base: forget.forget(
                self.dataset, tables, base, self._places(paths), purge=purge, beside=beside
            ),
            wait_seconds,
        )

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

    def _places(self, paths: Paths) -> list[Place]:
        from hermes_lance.ingest.roots import located

        roots = self.roots()
        places = [located(path, roots) for path in paths]
        for given, place in zip(paths, places, strict=True):
            if not place.path:
                raise UsageError(f"{given}: a root, not a document", hint="Name a file in it.")
        return places

    def _locked(self, act: Callable[[Tables, Manifest | None], Made], wait_seconds: float) -> Made:
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
        self.close()
        return made
