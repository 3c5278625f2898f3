"""What the operating system tells of changes below a root, or why it cannot tell: then somebody has to look.

On Linux each real folder is watched by itself: a recursive watch would follow links out of the root and count every
folder of a `node_modules` against the limit of the system. Elsewhere one recursive watch serves a root. Events only
say where to look; nothing is concluded from their kind, since programs save in many ways.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.names import printable
from hermes_lance.core.records import Root

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

GATHER_MS = 300
"""Events are gathered for at most so long while more of them come."""
STEP_MS = 30
"""Without a new event for so long what was gathered is told."""
STOP_MS = 250
"""Between two looks at whether to stop."""
ADDED = 1
"""Kind of an event that names something new, as watchfiles numbers them."""
FOLDERS_AT_ONCE = 100
"""Of more new folders the whole root is listed again."""

NETWORK = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "vboxsf", "prl_fs", "virtiofs",
    "davfs", "ncpfs", "drvfs", "beegfs", "gpfs", "ocfs2", "gfs2",
})  # fmt: skip
"""File systems that others write too, of which the kernel tells nothing."""
LOCAL_FUSE = frozenset({"fuse.gocryptfs", "fuse.encfs", "fuse.ntfs-3g", "fuse.exfat", "fuse.bindfs", "fuse.mergerfs"})
MOUNTS = Path("/proc/self/mountinfo")


class RootEvents:
    """Tells, from a thread of its own, which paths below one root have changed.

    `folders(root, within)` lists the locations of the folders to be watched, within some of them or all. `told(paths)`
    gets absolute paths; no path at all means that something was missed and the root is to be looked at.
    """

    def __init__(
        self,
        root: Root,
        folders: Callable[[Root, Sequence[str] | None], Iterable[str]],
        told: Callable[[Sequence[str]], None],
    ) -> None:
        """Watches from here on. Raises `OSError` or `RuntimeError` where the system cannot do that."""
        self._root, self._list, self._told = root, folders, told
        self._single = sys.platform != "linux"
        self._folders: set[str] = set()
        self._odd: dict[str, bool] = {}
        """Folder to whether a name in it is no UTF-8: the library fails at every event of such a name, even at those
        of our own reading, so that folder is not watched."""
        self._stop = threading.Event()
        self.unheard = False
        """Some folder cannot be watched by name; somebody has to look from time to time."""
        self._notify = self._watching_all()
        self._thread = threading.Thread(target=self._run, name="hermes-lance-events", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """False when the thread has ended by itself."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Asks the thread to end; `close` waits for that."""
        self._stop.set()

    def close(self) -> None:
        """Ends the thread within a moment."""
        self._stop.set()
        self._thread.join()

    def _watching_all(self) -> RustNotify:
        top = os.fspath(self._root.path)
        self._odd.clear()
        self._folders = {top} if self._single else {top, *self._list(self._root, None)}
        return self._watching()

    def _watching(self) -> RustNotify:
        """A watch of all folders that are still there."""
        from watchfiles._rust_notify import RustNotify

        deep = self._single and self._root.recursive
        for last in (False, True):
            self._folders = {one for one in self._folders if os.path.isdir(one)}
            named = [one for one in self._folders if not self._is_odd(one)]
            self.unheard = len(named) < len(self._folders)
            try:
                return RustNotify(sorted(named), False, False, 0, deep, True)
            except FileNotFoundError:
                if last:  # one went between the two looks at it, twice
                    raise
        raise AssertionError

    def _is_odd(self, folder: str) -> bool:
        if folder not in self._odd:
            try:
                names = os.listdir(folder)
            except OSError:
                names = []  # gone or closed to us; the watch says the same
            self._odd[folder] = any(printable(name)[1] is not None for name in (folder, *names))
        return self._odd[folder]

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    found = self._notify.watch(GATHER_MS, STEP_MS, STOP_MS, self._stop)
                except RuntimeError:
                    # A name that is no UTF-8 cannot be told, and ends the watch: another one, and a look.
                    self._exchange(self._watching_all)
                    self._told(())
                    continue
                if isinstance(found, set):
                    self._tell(found)
        except (OSError, RuntimeError):
            self._told(())  # whoever looks sees that the thread has ended
        finally:
            self._notify.close()

    def _tell(self, found: set[tuple[int, str]]) -> None:
        paths = {path for _, path in found}
        new = [] if self._single else [path for kind, path in found if kind == ADDED and _real_folder(path)]
        # A folder is watched before it is looked into, so that nothing falls between the two.
        if new and self._root.recursive:
            before = len(self._folders)
            self._folders.update(self._list(self._root, new if len(new) <= FOLDERS_AT_ONCE else None))
            if len(self._folders) > before or not self._folders.isdisjoint(new):
                paths.update(self._exchange(self._watching))
        self._told(sorted(paths))

    def _exchange(self, make: Callable[[], RustNotify]) -> set[str]:
        """Another watch takes over before the old one ends; paths that only the old one has heard of."""
        old, self._notify = self._notify, make()
        left: Any = ()
        with contextlib.suppress(RuntimeError):
            left = old.watch(1, 1, 1, None)
        old.close()
        return {path for _, path in left} if isinstance(left, set) else set()


def _real_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def silent(folder: str | os.PathLike[str], mounts: Path = MOUNTS) -> str | None:
    """The file system of a folder where the system tells nothing of what others write there; none elsewhere."""
    kind = _file_system(os.path.realpath(folder), mounts)
    if kind is None or kind in LOCAL_FUSE:
        return None
    return kind if kind in NETWORK or kind.startswith("fuse.") else None


def _file_system(folder: str, mounts: Path) -> str | None:
    """Name of the file system that a folder lies on, from the table of mounts (man 5 proc_pid_mountinfo)."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None  # no such table on this system
    best, kind = "", None
    for line in lines:
        front, _, back = line.partition(" - ")
        parts, types = front.split(" "), back.split(" ")
        if len(parts) < 5:
            continue
        point = _unescaped(parts[4])
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):  # the last of several on one point is on top
            best, kind = point, types[0]
    return kind


def _unescaped(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
