"""What a child process may use, where the system enforces it, and the fallback where it does not.

On Linux the child sets its own limits (`setrlimit`). macOS ignores the limit on address space and Windows has none,
so there the parent polls the resident memory and stops the child itself: `polled_memory`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

MEMORY_BYTES = 1 << 30
CPU_SECONDS = 10
CPU_SECONDS_PER_PAGE = 0.1
WALL_SECONDS = 10.0
WALL_SECONDS_PER_PAGE = 0.2
WALL_SECONDS_MOST = 120.0
POLL_SECONDS = 0.1
OCR_MEMORY_BYTES = 3 << 30
"""Half of it is what its libraries map before the first page."""
OCR_CPU_SECONDS_PER_PAGE = 60.0
OCR_WALL_SECONDS_PER_PAGE = 90.0
OCR_PAGES = 300
"""Pages of one file that are recognised, at most; some ten seconds each."""


def wall_seconds(pages: int) -> float:
    """Seconds on the clock that a document of so many pages may take."""
    return min(WALL_SECONDS_MOST, WALL_SECONDS + WALL_SECONDS_PER_PAGE * pages)


def memory_is_enforced() -> bool:
    """Whether the system itself holds a child to its address space; else the parent has to poll."""
    return sys.platform.startswith("linux")


def limit_this_process(memory_bytes: int = MEMORY_BYTES) -> None:
    """Bound the address space of this process and let it leave no core file; nothing on systems without limits."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_is_enforced():
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def allow_cpu(pages: int, seconds_per_page: float = CPU_SECONDS_PER_PAGE) -> None:
    """Let this process compute for a document of so many pages from now on; the system ends it when it takes longer."""
    try:
        import resource
    except ImportError:
        return
    seconds = int(time.process_time() + CPU_SECONDS + seconds_per_page * pages) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds if hard == resource.RLIM_INFINITY else min(seconds, hard), hard))


def resident_bytes(pid: int) -> int | None:
    """Resident memory of another process, or None where it cannot be told."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass  # no /proc on this system, or the process is gone: ask `ps`
    if os.name != "posix":
        return None
    answer = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)
    value = answer.stdout.strip()
    return int(value) * 1024 if value.isdigit() else None
