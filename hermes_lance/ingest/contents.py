"""Reading one file safely: no link is followed at the end of a path, no pipe is waited for, no change goes unseen.

The calls that only POSIX has are flags of `os.open`; where a flag is missing (Windows), a look before opening
takes its place.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass

from hermes_lance.core.records import Skipped, SourceFile

BLOCK_BYTES = 1 << 20
SMALLEST_READ_BYTES = 1 << 16
TRIES = 3
"""How often a file that changes while it is read is read again."""

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FLAGS = (
    os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


@dataclass(frozen=True, slots=True)
class Contents:
    """The bytes of a file (empty when only hashed), their SHA-256 in hexadecimal, and the stat that goes with them."""

    data: bytes
    sha256: str
    size: int
    mtime_ns: int
    inode: int
    dev: int


def read(file: SourceFile, limit: int) -> Contents | Skipped:
    """Bytes and hash of a file of at most `limit` bytes, or why it could not be read."""
    return _steady(file, limit, keep=True)


def hashed(file: SourceFile, limit: int) -> Contents | Skipped:
    """Hash of a file without holding it in memory, or why it could not be read."""
    return _steady(file, limit, keep=False)


def opened(location: str) -> int:
    """A descriptor of a regular file; `OSError` for anything else, links included."""
    if not _NO_FOLLOW and os.path.islink(location):
        raise OSError(f"{location!r} is a link")
    descriptor = os.open(location, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{location!r} is not a regular file")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _steady(file: SourceFile, limit: int, keep: bool) -> Contents | Skipped:
    for _ in range(TRIES):
        try:
            descriptor = opened(file.location)
        except FileNotFoundError:
            return Skipped("vanished", "the file was removed while the run was on", failed=True)
        except OSError as error:
            return Skipped("unreadable", f"cannot be opened: {reason(error)}", failed=True)
        try:
            before = os.fstat(descriptor)
            if (before.st_ino, before.st_dev) != (file.inode, file.dev) and not _inside(file):
                return Skipped("link-outside", "a folder on the way now leads out of the root", failed=True)
            if before.st_size > limit:
                return too_large(before.st_size, limit)
            found = _drained(descriptor, before.st_size, limit, keep)
            after = os.fstat(descriptor)
        except OSError as error:
            return Skipped("unreadable", f"cannot be read: {reason(error)}", failed=True)
        finally:
            os.close(descriptor)
        data, sha256, size = found
        if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and size == after.st_size:
            return Contents(data, sha256, size, after.st_mtime_ns, after.st_ino, after.st_dev)
    return Skipped("changing", f"the file changed while it was read, {TRIES} times in a row", failed=True)


def _drained(descriptor: int, expected: int, limit: int, keep: bool) -> tuple[bytes, str, int]:
    """All bytes (when kept), their hash and number; stops soon after `limit`, so that a growing file ends too."""
    # One byte more than there should be: a short answer is then the whole file, and nothing is asked again.
    at_once = min(max(expected + 1, SMALLEST_READ_BYTES), BLOCK_BYTES)
    digest = hashlib.sha256()
    blocks: list[bytes] = []
    size = 0
    while size <= limit and (block := os.read(descriptor, at_once)):
        digest.update(block)
        size += len(block)
        if keep:
            blocks.append(block)
        if size == expected and len(block) < at_once:
            break
    return b"".join(blocks), digest.hexdigest(), size


def _inside(file: SourceFile) -> bool:
    """Whether the file, now another one than the walk saw, still lies in its root."""
    real, top = os.path.realpath(file.location), os.path.realpath(file.root.path)
    return real.startswith(top.rstrip(os.sep) + os.sep)


def too_large(size: int, limit: int) -> Skipped:
    """The row for a file over the limit."""
    return Skipped(
        "too-large",
        f"{size / 2**20:,.1f} MiB is over the limit of {limit / 2**20:g} MiB",
        remedy="knowledgebase.indexing.max_file_mb",
    )


def reason(error: OSError) -> str:
    """The words of the operating system without the path, which may not be printable."""
    return (error.strerror or str(error)).lower()
