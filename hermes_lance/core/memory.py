"""Giving freed memory back to the system. A long build frees as much as it takes, but the C library keeps what lies
between live pieces: 1.2 GB at the end of a large build instead of half of it.
"""

from __future__ import annotations

import ctypes
import sys


def give_back() -> bool:
    """Asks the C library and Arrow to return unused pages. False where the library has no such call (not glibc)."""
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
