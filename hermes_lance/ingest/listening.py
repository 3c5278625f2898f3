"""Hearing of changes in all roots: which of them the system tells about, and what becomes of a path that it names.

A root may come and go while it is followed (an unplugged disk, a folder that is exchanged), so its identity is looked
at too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from hermes_lance.core.config import Config
from hermes_lance.core.records import Root
from hermes_lance.ingest.events import RootEvents, silent
from hermes_lance.ingest.inbox import Inbox
from hermes_lance.ingest.touched import sorted_out
from hermes_lance.ingest.walk import Walk, settings_from


@dataclass(slots=True)
class FollowedRoot:
    """One root and when it is to be looked at next. Moments are of the monotonic clock."""

    root: Root
    events: RootEvents | None = None
    identity: tuple[int, int] | None = None
    """Device and inode of the folder; none while it is not there."""
    look: float = 0.0
    """Moment of the next look over everything."""
    unquiet: float | None = None
    """Moment of the first change since the last look."""
    said: bool = False
    """That parts of it are not heard of."""
    looked: float = 0.0
    took: float = 0.0

    @property
    def heard(self) -> bool:
        """The system tells of every change in it."""
        return self.events is not None and not self.events.unheard


@dataclass(slots=True)
class Listening:
    """Fills the inbox with what happens in the roots."""

    inbox: Inbox
    config: Config
    tell: Callable[[str], None]
    """A sentence for people."""
    poll: bool = False
    """Never rely on events."""
    roots: dict[str, FollowedRoot] = field(default_factory=dict)

    def attach(self, roots: Sequence[Root], config: Config) -> None:
        """Listens to these roots from here on; each is due for a look."""
        self.close()
        self.config = config
        self.roots = {root.key: FollowedRoot(root) for root in roots}
        for one in self.roots.values():
            self._listen(one)

    def close(self) -> None:
        """Ends the threads."""
        for one in self.roots.values():
            if one.events is not None:
                one.events.stop()
        for one in self.roots.values():
            self._deaf(one)

    @property
    def plain(self) -> list[Root]:
        """The roots themselves, in order."""
        return [one.root for one in self.roots.values()]

    def tick(self) -> None:
        """Notices roots that have come, gone, or become another folder, and events that have ended."""
        for one in self.roots.values():
            identity = _identity(one.root)
            if identity != one.identity:
                if identity is None:
                    self.tell(f"root {one.root.label}: {one.root.path} is not there; its files are kept")
                self._listen(one)
            elif one.events is not None and not one.events.alive:
                self._say_polling(one, "the system has stopped telling of changes there")
                self._deaf(one)
            elif one.events is not None and one.events.unheard and not one.said:
                one.said = True
                self._say_polling(one, "names that are not UTF-8 are in it, and of changes beside them nothing is told")

    def _listen(self, one: FollowedRoot) -> None:
        """Events of a root where there can be any; a look comes at once."""
        self._deaf(one)
        one.identity, one.look, one.unquiet = _identity(one.root), time.monotonic(), None
        if one.identity is None or self.poll:
            return
        kind = silent(one.root.path)
        if kind is not None:
            self._say_polling(one, f"it lies on {kind}, which tells nothing of what others write")
            return
        try:
            one.events = RootEvents(one.root, self._folders, lambda paths: self._heard(one.root, paths))
        except (OSError, RuntimeError) as error:
            self._say_polling(one, f"the system tells of no changes there ({error})")

    def _say_polling(self, one: FollowedRoot, why: str) -> None:
        every = f"{self.config.watch_interval_seconds:g} s"
        self.tell(f"root {one.root.label}: {why}; it is looked at every {every}")

    def _deaf(self, one: FollowedRoot) -> None:
        if one.events is not None:
            one.events.close()
            one.events = None

    def _folders(self, root: Root, within: Sequence[str] | None) -> Iterable[str]:
        """The folders that a walk enters; asked for by the threads that hear events."""
        top = os.fspath(root.path)
        only = [""] if within is None else [os.path.relpath(one, top) for one in within]
        walk = Walk(self.plain, settings_from(self.config), {root.key: only})
        for _ in walk:
            pass
        return walk.folders

    def _heard(self, root: Root, paths: Sequence[str]) -> None:
        if not paths:
            self.inbox.miss(root.key)
            return
        own = os.path.realpath(self.config.knowledgebase_root)
        hidden = self.config.indexing.include_hidden
        found = sorted_out(paths, self.plain, [own], include_hidden=hidden)
        if found.soon or found.late:
            self.inbox.put(found.soon, found.late)


def _identity(root: Root) -> tuple[int, int] | None:
    try:
        found = os.stat(root.path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
