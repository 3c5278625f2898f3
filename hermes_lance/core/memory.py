"""Giving memory back to the system, how much of files is in it, and the collector of cycles.

A long build frees as much as it takes, but the C library keeps what lies between live pieces: 1.2 GB at the end of a
large build instead of half of it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator
from typing import NamedTuple


def give_back() -> bool:
    """Asks the C library and Arrow to return unused pages. False where the library has no such call (not glibc)."""
    import ctypes

    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    try:
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    except (OSError, TypeError):
        # Windows has no library of that name; there the heap shrinks by itself.
        return False
    if trim is None:
        return False
    trim(0)
    return True


class Resident(NamedTuple):
    """What a process has in memory, in bytes."""

    all: int
    files: int
    """The part of it that is mapped from files, libraries included."""


def resident() -> Resident:
    """What this process has in memory; zeros where the system does not say (it does on Linux)."""
    try:
        descriptor = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return Resident(0, 0)
    try:
        pages = os.read(descriptor, 256).split()
    finally:
        os.close(descriptor)
    size = os.sysconf("SC_PAGE_SIZE")
    return Resident(int(pages[1]) * size, int(pages[2]) * size)


@contextlib.contextmanager
def collector_resting() -> Iterator[None]:
    """The cyclic collector does not run inside the block: for a second of work that only makes lasting objects."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


ALLOCATIONS_BETWEEN_COLLECTIONS = (50_000, 20, 10)
"""Instead of 700, 10 and 10 as in Python 3.11, under which a large build looks through all it has made many times."""


@contextlib.contextmanager
def collector_seldom() -> Iterator[None]:
    """The cyclic collector runs seldom inside the block, and what is there already is never looked at again.

    For a process of our own that builds and ends: a build makes millions of lasting objects and hardly any cycles.
    Never inside a host, whose own cycles have to go.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*ALLOCATIONS_BETWEEN_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
