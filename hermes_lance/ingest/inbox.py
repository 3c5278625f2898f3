"""Paths that have changed and are not indexed yet. What is put in leaves only by being taken: nothing is dropped."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Sequence

VANISHED_SECONDS = 0.4
"""A path that is not there gets so long to return: many programs save by moving the old file out of the way first."""
LATE_SECONDS = 3.0
"""Names that are left out as a rule wait so long: most swap files are gone by then."""


class Inbox:
    """Filled by threads that hear of changes, emptied by the one that indexes. Times are of the monotonic clock."""

    def __init__(self) -> None:
        self._soon: dict[str, float] = {}
        self._late: dict[str, float] = {}
        self._missed: set[str] = set()
        self._filled = threading.Condition()

    def put(self, soon: Iterable[str], late: Iterable[str] = (), seen: float | None = None) -> None:
        """Paths that changed; `seen` when (default: now). The earliest time of a path stays."""
        moment = time.monotonic() if seen is None else seen
        with self._filled:
            for path in soon:
                self._soon[path] = min(moment, self._soon.get(path, moment))
            for path in late:
                self._late[path] = min(moment, self._late.get(path, moment))
            self._filled.notify_all()

    def miss(self, root: str) -> None:
        """Something below the root with this key changed, and nobody can say what."""
        with self._filled:
            self._missed.add(root)
            self._filled.notify_all()

    def missed(self) -> Sequence[str]:
        """Takes the keys of the roots below which something was missed."""
        with self._filled:
            found, self._missed = sorted(self._missed), set()
            return found

    def take(self) -> tuple[dict[str, float], dict[str, float]]:
        """Takes what is due, with the time when it was seen first: paths of the first kind, and late ones."""
        with self._filled:
            now = time.monotonic()
            there = {path for path in self._soon if os.path.lexists(path)}
            # Together with what has appeared a path that vanished may be one end of a move.
            due = [path for path, seen in self._soon.items() if there or now - seen >= VANISHED_SECONDS]
            late = {path for path, seen in self._late.items() if now - seen >= LATE_SECONDS}
            return {path: self._soon.pop(path) for path in due}, {path: self._late.pop(path) for path in late}

    @property
    def waiting(self) -> bool:
        """Something has changed that is worth interrupting other work for."""
        with self._filled:
            return bool(self._soon or self._missed)

    def wait(self, seconds: float) -> None:
        """Returns when something comes in, or after so long; sooner where something that came before gets due."""
        with self._filled:
            if self._missed:
                return
            now = time.monotonic()
            moments = [seen + VANISHED_SECONDS for seen in self._soon.values()]
            moments += [seen + LATE_SECONDS for seen in self._late.values()]
            left = min([seconds, *(moment - now for moment in moments)])
            if left > 0:
                self._filled.wait(left)
