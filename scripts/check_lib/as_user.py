"""Runs a command as an ordinary user, even where interpreter and checkout lie below a folder that is root's alone.

    as_user.py NUMBER COMMAND...

Started by root. In a mount namespace of its own (Linux), folders that nobody else may enter are covered by empty ones
in which what the command needs is mounted; nothing changes for other processes. Source: unshare(2), mount(2).
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from pathlib import Path

CLONE_NEWNS = 0x00020000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
TOP = Path(__file__).resolve().parent.parent.parent


def needed() -> list[Path]:
    """Folders that the interpreter, the packages, the checkout and temporary files lie in, none inside another."""
    places = [sys.prefix, sys.base_prefix, str(TOP), tempfile.gettempdir(), *sys.path]
    found = {Path(os.path.realpath(place)) for place in places if os.path.isdir(place)}
    return sorted(one for one in found if not found.intersection(one.parents))


def closed(place: Path) -> Path | None:
    """The uppermost folder on the way that others may not enter."""
    return next((one for one in [*reversed(place.parents), place] if not one.stat().st_mode & 0o001), None)


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def open_the_way() -> None:
    """Makes every needed folder reachable for this process and those that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    behind: dict[Path, list[Path]] = {}
    for place in needed():
        if (door := closed(place)) is not None:
            behind.setdefault(door, []).append(place)
    if not behind:
        return
    _checked(libc.unshare(CLONE_NEWNS))
    _checked(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    for door, places in behind.items():
        held = [(place, os.open(place, os.O_PATH | os.O_DIRECTORY)) for place in places]
        _checked(libc.mount(b"tmpfs", os.fsencode(door), b"tmpfs", 0, b"mode=755"))
        for place, descriptor in held:
            place.mkdir(parents=True, exist_ok=True)
            source = os.fsencode(f"/proc/self/fd/{descriptor}")
            _checked(libc.mount(source, os.fsencode(place), None, MS_BIND | MS_REC, None))
            os.close(descriptor)


def main() -> None:
    """Opens the way, gives root up, and becomes the command."""
    user, command = int(sys.argv[1]), sys.argv[2:]
    os.umask(0o022)
    open_the_way()
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
