"""Work that gives way to everything else: the lowest CPU priority, for one thread and those that it starts.

On Linux a thread has a nice value of its own, which new threads inherit and which cannot be raised again: hence a
thread that ends with the work. Reading and writing follow the nice value (man 2 ioprio_set). Elsewhere it belongs to
the whole process, which only a process that does nothing else may lower. Threads that a library keeps for good, as
Lance does, stay as they were when it started them.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LOWEST = 19
WAIT_SECONDS = 0.2
"""Between two looks at the work: on some systems a thread that waits without end cannot be interrupted."""


def lower_this_thread() -> bool:
    """Lowers the calling thread and those that it will start. False where the system has no way to do that."""
    if sys.platform == "win32":
        return False
    if os.getpriority(os.PRIO_PROCESS, 0) >= LOWEST:
        return True
    if sys.platform != "linux":
        return False
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST)
    return True


def lower_process_where_threads_cannot_be() -> None:
    """For a process that does nothing else: macOS and others with nice values of processes alone. Nothing on Linux,
    where `in_background` does better, and on Windows, which has no nice values."""
    if sys.platform not in ("linux", "win32"):
        os.nice(LOWEST)


def in_background(work: Callable[[Callable[[], bool]], T]) -> tuple[T, bool]:
    """What `work` returns, and whether its priority was lowered; what it raises. A thread of its own does it while the
    caller, whose priority stays, waits.

    `work` is given a function that becomes true when the caller is interrupted while it waits; it should end then.
    """
    over, interrupted = threading.Event(), threading.Event()
    results: list[tuple[T, bool]] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            lowered = lower_this_thread()
            results.append((work(interrupted.is_set), lowered))
        except BaseException as error:
            errors.append(error)
        finally:
            over.set()

    thread = threading.Thread(target=run, name="hermes-lance-background", daemon=True)
    try:
        thread.start()
        while not over.wait(WAIT_SECONDS):
            pass
    except BaseException:
        interrupted.set()
        raise
    finally:
        if thread.ident is not None:
            thread.join()
    if errors:
        raise errors[0]
    return results[0]
