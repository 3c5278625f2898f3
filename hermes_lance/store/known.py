"""The files of a generation as a mapping, with changes laid over it: what is not asked for is not read.

Writing it copies the records that stay as bytes, so that one changed file among many costs about as much as alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import ItemsView, Iterator, MutableMapping, ValuesView
from pathlib import Path
from typing import Any

from hermes_lance.core.records import KnownFile
from hermes_lance.store.files import FilesState, FilesWriter, sort_key


class KnownFiles(MutableMapping[str, KnownFile]):
    """Source id to record. Behaves like a dictionary of all of them; iterating reads all of them."""

    def __init__(self, state: FilesState) -> None:
        self._state = state
        self._changed: dict[str, KnownFile] = {}
        self._gone: set[int] = set()
        """Positions in the state that no longer count: replaced or removed."""

    def __getitem__(self, source_id: str) -> KnownFile:
        changed = self._changed.get(source_id)
        if changed is not None:
            return changed
        found = self._state.find(source_id)
        if found is None or found[0] in self._gone:
            raise KeyError(source_id)
        return found[1]

    def __setitem__(self, source_id: str, known: KnownFile) -> None:
        if source_id not in self._changed and (found := self._state.find(source_id)) is not None:
            self._gone.add(found[0])
        self._changed[source_id] = known

    def __delitem__(self, source_id: str) -> None:
        if self._changed.pop(source_id, None) is not None:
            return
        found = self._state.find(source_id)
        if found is None or found[0] in self._gone:
            raise KeyError(source_id)
        self._gone.add(found[0])

    def __len__(self) -> int:
        return len(self._state) - len(self._gone) + len(self._changed)

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def items(self) -> ItemsView[str, KnownFile]:
        """As of a dictionary; reads every record once."""
        return self._whole().items()

    def values(self) -> ValuesView[KnownFile]:
        """Likewise."""
        return self._whole().values()

    def _whole(self) -> dict[str, KnownFile]:
        if not self._gone:
            return self._state.all() | self._changed
        stay = self._state.records(one for one in range(len(self._state)) if one not in self._gone)
        return {known.id: known for known in stay} | self._changed

    def by_state(self) -> Counter[str]:
        """Number of files in each state; reads only records that were replaced or removed."""
        counts = self._state.by_state()
        counts.subtract(known.state for known in self._state.records(self._gone))
        counts.update(known.state for known in self._changed.values())
        return counts

    def write(self, path: Path) -> dict[str, Any]:
        """Writes all of it as a new state file; its entry for the manifest."""
        writer = FilesWriter(path)
        added = sorted(self._changed.values(), key=sort_key)
        # At the same place what is added comes before what goes.
        edits: list[tuple[int, KnownFile | None]] = [(self._place(known), known) for known in added]
        edits += [(position, None) for position in self._gone]
        edits.sort(key=lambda edit: (edit[0], edit[1] is None))
        at = 0
        for position, known in edits:
            writer.copy(self._state, at, position)
            at = position
            if known is None:
                at += 1
            else:
                writer.add(known)
        writer.copy(self._state, at, len(self._state))
        return writer.close()

    def _place(self, known: KnownFile) -> int:
        """The position in the state before which a record belongs."""
        state = self._state
        positions = state.roots.get(known.root)
        if positions is not None:
            return positions.start + bisect_left(state.paths(known.root), known.path)
        return next((one.start for root, one in state.roots.items() if root > known.root), len(state))
