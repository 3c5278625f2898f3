"""Following the roots: events say where to look, a build looks there, and a look over everything follows when it is
quiet again.

A change is delayed while more of them come, and never dropped: it stays in the inbox until a build has published it.
The look that follows costs a walk, and finds what no event can tell of: queues that ran over, links, mapped files.
Text is published first; vectors follow when nothing waits.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hermes_lance.core.config import Config
from hermes_lance.core.errors import (
    Cancelled,
    ConfigError,
    DatasetBusy,
    DatasetNewer,
    HermesLanceError,
    OutsideRoots,
    UsageError,
)
from hermes_lance.core.records import FileChange, IndexReport, Root
from hermes_lance.ingest.inbox import Inbox
from hermes_lance.ingest.listening import FollowedRoot, Listening
from hermes_lance.ingest.roots import nearest

QUIET_SECONDS = 3.0
"""A look over the root follows so long after the last change in it,"""
LONGEST_UNQUIET_SECONDS = 60.0
"""or so long after the first one where they do not end."""
IDLE_SECONDS = 600.0
"""Between two looks where nothing is heard."""
LOOK_SHARE = 0.05
"""Of the time that looks may take, at most."""
TICK_SECONDS = 1.0
"""Between two looks at the roots themselves and at the configuration."""
MOST_PATHS = 400
"""More changed paths of a root than these are found faster by walking all of it."""
BUSY_SECONDS = 0.5
PAUSED_SECONDS = 0.1
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 2.0, 60.0
"""After an error, doubled each time."""
VECTORS_AT_LATEST_SECONDS = 60.0
"""Where changes never end, vectors get a turn after so long,"""
VECTORS_TURN_SECONDS = 2.0
"""of so long."""


class Index(Protocol):
    """A build, as `Library.index` does it."""

    def __call__(
        self,
        *,
        only_paths: Sequence[str] | None,
        embed: bool,
        cancelled: Callable[[], bool],
        changed: Callable[[FileChange], None] | None,
        wait_seconds: float,
        time_budget: float | None,
        in_passing: bool,
    ) -> IndexReport: ...


@dataclass(slots=True)
class Followed:
    """What a watch did until it was stopped."""

    indexed: int = 0
    removed: int = 0
    runs: int = 0
    """Builds that published something."""
    published: int = 0
    """Generations that they published."""
    looks: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Watch:
    """One watch. `settings()` reads the configuration again: the roots, and what it says."""

    index: Index
    settings: Callable[[], tuple[Sequence[Root], Config]]
    cancelled: Callable[[], bool]
    changed: Callable[[FileChange, float], None]
    """Called with each change that can be searched now, and the seconds since it was seen."""
    say: Callable[[str], None]
    """A sentence about the watch itself, for people."""
    poll: bool = False
    """Never rely on events."""
    warm: Callable[[], None] = lambda: None
    """Called after the first look: loads what the first change would wait for."""
    upkeep: Callable[[float], None] = lambda _: None
    """Called when it is quiet after changes, with the seconds for which to wait for another writer."""
    current: Callable[[], None] = lambda: None
    """Called every second in which all changes that are known of are published."""
    done: Followed = field(default_factory=Followed)
    _inbox: Inbox = field(default_factory=Inbox)
    _listening: Listening | None = None
    _stamp: tuple[int, int, int] | None = None
    _ticked: float = 0.0
    _everything: bool = True
    """The next look is over all roots, and over those that are none any more."""
    _pending: int = 0
    """Passages without vectors, as the last build told."""
    _pending_since: float | None = None
    _worn: bool = False
    """Something was published since the last upkeep."""
    _pause: float = 0.0
    _not_before: float = 0.0
    _said: str = ""

    def run(self) -> Followed:
        """Follows the roots until `cancelled()`. Raises what no later try can mend: `UsageError`, `DatasetNewer`."""
        began = time.monotonic()
        try:
            self._begin()
            while not self.cancelled():
                self._tick()
                if time.monotonic() < self._not_before:
                    time.sleep(PAUSED_SECONDS)
                elif not self._step():
                    self._inbox.wait(min(TICK_SECONDS / 4, self._until_next()))
        finally:
            if self._listening is not None:
                self._listening.close()
            self.done.seconds = round(time.monotonic() - began, 3)
        return self.done

    def _begin(self) -> None:
        roots, config = self.settings()
        self._listening = Listening(self._inbox, config, self._tell, self.poll)
        self._stamp = _stamp(config)
        self._listening.attach(roots, config)

    def _tick(self) -> None:
        now = time.monotonic()
        if now - self._ticked < TICK_SECONDS:
            return
        self._ticked = now
        stamp = _stamp(self._heard.config)
        if stamp != self._stamp:
            self._stamp = stamp
            self._configured()
        self._heard.tick()
        if not (self._everything or self._pause or self._inbox.waiting):
            self.current()

    def _configured(self) -> None:
        """The file of the configuration has changed. A wrong one is for its writer to mend; the old one holds."""
        try:
            roots, config = self.settings()
        except ConfigError as error:
            self._tell(f"{error}; the earlier configuration holds")
            return
        self._tell("the configuration has changed: everything is looked at again")
        self._heard.attach(roots, config)
        self._everything = True

    @property
    def _heard(self) -> Listening:
        assert self._listening is not None
        return self._listening

    # -- work ----------------------------------------------------------------------------------------------------

    def _step(self) -> bool:
        """Does the most urgent thing; false when there is nothing to do now."""
        for key in self._inbox.missed():
            if key in self._heard.roots:
                self._unquiet(self._heard.roots[key], time.monotonic())
        if self._everything:
            return self._look(list(self._heard.roots.values()), everything=True)
        soon, late = self._inbox.take()
        if soon or late:
            return self._changed_paths(soon, late)
        now = time.monotonic()
        due = [one for one in self._heard.roots.values() if one.look <= now]
        if due:
            return self._look(due)
        return self._embed() or self._tidied()

    def _until_next(self) -> float:
        now = time.monotonic()
        return max(0.01, min([TICK_SECONDS, *(one.look - now for one in self._heard.roots.values())]))

    def _changed_paths(self, soon: dict[str, float], late: dict[str, float]) -> bool:
        """A build of the paths alone; of many, with the whole root that they lie in."""
        places: dict[str, list[str]] = {}
        roots = self._heard.plain
        for path in (*soon, *late):
            root = nearest(roots, path)
            if root is not None:
                places.setdefault(root.key, []).append(path)
        named: list[str] = []
        for key, paths in places.items():
            # The root first: a walk that begins with it asks for nothing else.
            if len(paths) > MOST_PATHS:
                named.append(os.fspath(self._heard.roots[key].root.path))
            named += paths
        now = time.monotonic()
        for key in places:
            self._unquiet(self._heard.roots[key], now)
        if not self._build(named, min((soon or late).values())):
            for path, moment in soon.items():
                self._inbox.put([path], seen=moment)
            for path, moment in late.items():
                self._inbox.put([], [path], seen=moment)
        return True

    def _unquiet(self, one: FollowedRoot, now: float) -> None:
        """A look over the root is due once it is quiet."""
        one.unquiet = now if one.unquiet is None else one.unquiet
        quiet = min(now + QUIET_SECONDS, one.unquiet + LONGEST_UNQUIET_SECONDS)
        one.look = max(quiet, one.looked + self._least_between(one))

    def _least_between(self, one: FollowedRoot) -> float:
        return max(self._heard.config.watch_interval_seconds, one.took / LOOK_SHARE)

    def _look(self, due: Sequence[FollowedRoot], *, everything: bool = False) -> bool:
        """A walk over some roots, or over all that there are and were."""
        began = time.monotonic()
        # From now on a change belongs to the next look.
        for one in due:
            one.unquiet = None
        named = None if everything else [os.fspath(one.root.path) for one in due]
        succeeded = self._build(named, began, whole=True)
        now = time.monotonic()
        if succeeded:
            if everything and not self.done.looks:
                self.warm()
                self._tell(f"following {', '.join(one.root.label for one in due)}")
            self._everything = self._everything and not everything
            self.done.looks += 1
        for one in due:
            one.looked, one.took = now, now - began
            one.look = now + (IDLE_SECONDS if one.heard else self._least_between(one)) if succeeded else now
        return True

    def _build(self, named: Sequence[str] | None, seen: float, *, whole: bool = False) -> bool:
        """Publishes the text of what has changed; false when that is to be tried again. Only looks are followed by
        upkeep and the list of all files, which cost as much for one file as for all."""

        def changed(one: FileChange) -> None:
            self.done.indexed += one.kind in ("indexed", "moved")
            self.done.removed += one.kind == "removed"
            self.changed(one, time.monotonic() - seen)

        return self._run(named, changed=changed, whole=whole)

    def _embed(self) -> bool:
        """Vectors for what has none, as long as nothing else is to be done; false when there is nothing to do."""
        if not self._pending:
            self._pending_since = None
            return False
        now = time.monotonic()
        self._pending_since = now if self._pending_since is None else self._pending_since
        turn = now - self._pending_since > VECTORS_AT_LATEST_SECONDS
        budget = VECTORS_TURN_SECONDS if turn else None
        before = self._pending
        succeeded = self._run((), embed=True, interrupted=not turn, time_budget=budget)
        if self._pending < before:
            self._pending_since = now
        elif succeeded:
            self._pending = 0  # there is no embedder for them now; the next build says whether they still wait
        return True

    def _tidied(self) -> bool:
        """Upkeep, once nobody has changed anything for a while; false when there is nothing to do now."""
        if not self._worn or any(one.unquiet is not None for one in self._heard.roots.values()):
            return False
        self._worn = not self._guarded(lambda: self.upkeep(BUSY_SECONDS))
        return not self._worn

    def _run(
        self,
        named: Sequence[str] | None,
        *,
        changed: Callable[[FileChange], None] | None = None,
        embed: bool = False,
        interrupted: bool = False,
        time_budget: float | None = None,
        whole: bool = False,
    ) -> bool:
        def stop() -> bool:
            return self.cancelled() or (interrupted and self._inbox.waiting)

        def run() -> None:
            report = self.index(
                only_paths=named,
                embed=embed,
                cancelled=stop,
                changed=changed,
                wait_seconds=BUSY_SECONDS,
                time_budget=time_budget,
                in_passing=not whole,
            )
            self._pending = report.vectors_pending
            self._worn = self._worn or report.published > 0
            self.done.runs += report.published > 0
            self.done.published += report.published

        return self._guarded(run)

    def _guarded(self, act: Callable[[], None]) -> bool:
        """Whether an act has succeeded; what a later try may mend is told, and waited for."""
        try:
            act()
        except Cancelled:
            return False
        except (UsageError, DatasetNewer):
            raise
        except OutsideRoots:
            # The roots have changed meanwhile.
            self._everything = True
            return True
        except DatasetBusy as error:
            self._tell(f"{error}; what has changed waits")
            return False
        except HermesLanceError as error:
            self._pause = min(max(FIRST_PAUSE_SECONDS, self._pause * 2), LONGEST_PAUSE_SECONDS)
            self._not_before = time.monotonic() + self._pause
            self._tell(f"{error}. {error.hint} It is tried again")
            return False
        self._pause, self._said = 0.0, ""
        return True

    def _tell(self, sentence: str) -> None:
        """Says a thing once, not at every try."""
        if sentence != self._said:
            self._said = sentence
            self.say(sentence)


def _stamp(config: Config) -> tuple[int, int, int] | None:
    try:
        found = os.stat(config.config_file or config.home / "config.yaml")
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
