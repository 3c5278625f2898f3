"""Keeping a dataset in step for a process that lives on and answers questions: a look before a question, then a watch.

A look is due where nobody, in any process, has looked for half a minute: the moment is kept beside the dataset. It is
done by a thread, for which a question waits a few seconds at most; the same thread follows the files afterwards, at the
lowest priority, unless another process does that already.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hermes_lance.core.errors import HermesLanceError

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.core.records import IndexReport, Root
    from hermes_lance.ingest.watch import Followed
    from hermes_lance.store.manifest import Manifest

log = logging.getLogger(__name__)

LOOK_EVERY_SECONDS = 30.0
WAIT_SECONDS = 4.0
"""How long a question waits for a look; the first build of a large folder goes on behind it."""
BUSY_SECONDS = 2.0
"""How long a look waits for another writer, who is most likely doing the same."""
END_SECONDS = 1.0
LOOKED, WATCH_LOCK = "looked", "watch.lock"


class Kept(Protocol):
    """What is asked of an opened dataset here."""

    config: Config
    dataset: Path
    caller_owned: bool

    @property
    def index(self) -> Callable[..., IndexReport]:
        """Brings the dataset in step with the files."""
        ...

    @property
    def watch(self) -> Callable[..., Followed]:
        """Follows the files."""
        ...

    def roots(self) -> list[Root]:
        """The folders that are indexed."""
        ...

    def manifest_or_none(self) -> Manifest | None:
        """The current generation."""
        ...


def note_look(config: Config) -> None:
    """Everything has just been looked at. Where that cannot be noted, the next question looks again."""
    with contextlib.suppress(OSError):
        place = config.knowledgebase_root / "cache"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(place / LOOKED, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.utime(descriptor)
        finally:
            os.close(descriptor)


def look_due(config: Config) -> bool:
    """Nobody has looked for half a minute; a moment in the future, from a clock that was put back, counts as none."""
    try:
        age = time.time() - (config.knowledgebase_root / "cache" / LOOKED).stat().st_mtime
    except OSError:
        return True
    return not 0 <= age < LOOK_EVERY_SECONDS


@contextlib.contextmanager
def watching(config: Config) -> Iterator[bool]:
    """Whether this process may follow the files: true for one at a time. The lock of a killed one is free."""
    import filelock

    place = config.knowledgebase_root / "cache"
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Not thread-local: it is taken by whichever thread watches and freed with the process at the latest.
        lock = filelock.FileLock(place / WATCH_LOCK, mode=0o600, thread_local=False)
        lock.acquire(timeout=0)
    except (OSError, filelock.Timeout):
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


class _Keeper:
    """The thread of one dataset."""

    def __init__(self, library: Kept, *, look: bool) -> None:
        """With `look` there is something to wait for."""
        self.looked = threading.Event()
        """The text of everything is published, or it is known why not."""
        self.trouble = ""
        self.began = time.monotonic()
        self._library, self._look = library, look
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hermes-lance-keeping", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self, wait_seconds: float) -> None:
        self._stop.set()
        self._thread.join(wait_seconds)

    def _run(self) -> None:
        try:
            if self._look:
                self._library.index(embed=False, cancelled=self._stop.is_set, wait_seconds=BUSY_SECONDS)
            self.looked.set()
            self._follow()
        except HermesLanceError as error:
            self.trouble = str(error)
            log.warning("hermes-lance: %s", error)
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"
            log.exception("hermes-lance: keeping the index in step has failed")
        finally:
            self.looked.set()

    def _follow(self) -> None:
        """Watches, where that is wanted and nobody else does; else embeds what is waiting, and ends."""
        from hermes_lance.core.background import lower_this_thread

        lower_this_thread()
        wanted = self._library.config.watch_for_changes
        with watching(self._library.config) if wanted else contextlib.nullcontext(False) as ours:
            if ours:
                self._library.watch(cancelled=self._stop.is_set, say=_log, workers=1)
                return
        if self._look and not self._stop.is_set():
            self._library.index(only_paths=[], workers=1, cancelled=self._stop.is_set, wait_seconds=BUSY_SECONDS)


class Keeping:
    """Keepers of the datasets that a process has been asked about. May be used from several threads."""

    def __init__(self) -> None:
        self._keepers: dict[Path, _Keeper] = {}
        self._lock = threading.Lock()

    def before_question(self, library: Kept, *, wait_seconds: float = WAIT_SECONDS) -> list[str]:
        """Looks for changed files where that is due, and waits a little for it; what to tell beside the answer."""
        config = library.config
        if library.caller_owned or not (config.enabled and config.workspace.enabled):
            return []
        there = library.manifest_or_none() is not None
        # A home without any folder of files stays as it is.
        look = config.auto_index and (look_due(config) if there else any(one.path.is_dir() for one in library.roots()))
        with self._lock:
            keeper = self._keepers.get(library.dataset)
            if keeper is None or not keeper.alive:
                early = keeper is not None and time.monotonic() - keeper.began < LOOK_EVERY_SECONDS
                if not look and (early or not (there and config.watch_for_changes)):
                    return []
                # One that has just failed, such as while another process builds, would keep every question waiting.
                if keeper is None or not (early and keeper.trouble):
                    if not self._keepers:
                        atexit.register(self.stop)
                    keeper = self._keepers[library.dataset] = _Keeper(library, look=look)
        if not keeper.looked.wait(wait_seconds):
            return ["files are still being indexed: the newest may be missing; ask again in a moment"]
        return [f"changed files could not be indexed: {keeper.trouble}"] if keeper.trouble else []

    def stop(self) -> None:
        """Ends all threads, within a second where they are in the middle of work."""
        with self._lock:
            keepers, self._keepers = list(self._keepers.values()), {}
        end = time.monotonic() + END_SECONDS
        for one in keepers:
            one.stop(max(0.0, end - time.monotonic()))


def _log(sentence: str) -> None:
    log.info("hermes-lance: %s", sentence)
