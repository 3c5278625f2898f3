"""Writing that survives: atomic replacement, flushing to disk, private modes, hard links.

Every call here that only POSIX has stands with a named fallback. Errors of the disk become our own errors in one place.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_lance.core.errors import DatasetReadOnly, DiskFull, HermesLanceError

if TYPE_CHECKING:
    import ctypes

_FULL = ("os error 28", "no space left", "disk quota")
_DENIED = ("os error 13", "os error 30", "permission denied", "read-only file system", "readonly")


def translated(error: BaseException, what: str) -> HermesLanceError | None:
    """Our error for a disk that is full or may not be written, whichever library raised it; else none.

    Lance and Tantivy raise RuntimeError, OSError or ValueError with the system's words inside.
    """
    number = getattr(error, "errno", None)
    text = str(error).lower()
    if number in (errno.ENOSPC, errno.EDQUOT) or any(mark in text for mark in _FULL):
        return DiskFull(f"{what}: no space left on the disk")
    if number in (errno.EACCES, errno.EPERM, errno.EROFS) or any(mark in text for mark in _DENIED):
        return DatasetReadOnly(f"{what}: may not be written by this user")
    return None


@contextlib.contextmanager
def disk_errors(what: str) -> Iterator[None]:
    """Turns the disk's errors inside the block into ours; others pass unchanged."""
    try:
        yield
    except HermesLanceError:
        raise
    except Exception as error:
        ours = translated(error, what)
        if ours is None:
            raise
        raise ours from error


def make_private(folder: Path) -> Path:
    """The folder, made with its parents; those that are new are for their owner only."""
    if not folder.is_dir():
        with disk_errors(str(folder)):
            if not folder.parent.is_dir():
                make_private(folder.parent)
            folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def open_private(path: Path) -> int:
    """A new or emptied file that only its owner can read, opened for writing; a descriptor."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)


def write_atomic(path: Path, data: bytes, *, flush: bool = True) -> None:
    """Replaces `path` as a whole: after a kill it holds the old bytes or the new ones, with `flush` after a power cut
    too."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with disk_errors(str(path.parent)):
        try:
            with os.fdopen(open_private(temporary), "wb") as file:
                file.write(data)
                if flush:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            # On a full disk nothing of the attempt may stay.
            temporary.unlink(missing_ok=True)
            raise
        if flush:
            sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes renames and new names in a folder last. Windows cannot open folders and needs none of it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


def sync_filesystem(folder: Path) -> None:
    """Flushes everything written below `folder`: `syncfs` where the C library has it, else file by file.

    Lance never flushes its own files, so this stands before the pointer that makes them visible.
    """
    syncfs = _syncfs()
    with disk_errors(str(folder)):
        if syncfs is None:
            sync_each_file(folder)
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            if syncfs(descriptor) != 0:
                sync_each_file(folder)
        finally:
            os.close(descriptor)


def _syncfs() -> ctypes._NamedFuncPointer | None:
    import ctypes

    try:
        return getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    except (OSError, TypeError):
        return None


def sync_each_file(folder: Path) -> None:
    """The fallback of `sync_filesystem`: flushes each file below `folder`, then each folder."""
    for place, _, files in os.walk(folder):
        for name in files:
            descriptor = os.open(os.path.join(place, name), os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_folder(Path(place))


def link_or_copy(source: Path, target: Path) -> None:
    """A second name for the same bytes; a copy on file systems without hard links."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EEXIST, errno.ENOENT):
            raise
        import shutil

        shutil.copyfile(source, target)


def link_tree(source: Path, target: Path) -> None:
    """A copy of a folder whose files are shared by hard links. Only for files that are never changed in place."""
    for place, _, files in os.walk(source):
        here = make_private(target / os.path.relpath(place, source))
        for name in files:
            link_or_copy(Path(place) / name, here / name)
