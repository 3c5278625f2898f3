"""Ctrl-C during long work: asked politely first, then firmly, so that the run ends within a second.

A publication may be stopped at any instruction (that is what the store is built for), so being firm loses nothing
but the batch at hand.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from hermes_lance.hosts.cli.invocation import Invocation

POLITE_SECONDS = 0.3
FIRM_SECONDS = 0.7
STATUS = 130


def stopped(invocation: Invocation) -> int:
    """Says that the run was stopped, and what that means; the exit status."""
    invocation.failure(
        "stopped; the last published generation is intact",
        "cancelled",
        "Run the command again: it continues where it stopped.",
    )
    return STATUS


@contextlib.contextmanager
def interruptible(invocation: Invocation) -> Iterator[Callable[[], bool]]:
    """Gives a function that is true once Ctrl-C was pressed; work that asks it ends by itself.

    Work that does not ask in time gets `KeyboardInterrupt`; where that does not help either (a long call into native
    code) the process ends there and then.
    """
    asked, over, gate = threading.Event(), threading.Event(), threading.Lock()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def insist() -> None:
        if over.wait(POLITE_SECONDS):
            return
        with gate:
            # Never after the end: the interrupt would strike while the ending is put into words.
            if over.is_set():
                return
            _thread.interrupt_main()
        if not over.wait(FIRM_SECONDS - POLITE_SECONDS):
            with contextlib.suppress(OSError, ValueError):
                stopped(invocation)
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(STATUS)

    def pressed(number: int, frame: Any) -> None:
        if over.is_set():
            return
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        threading.Thread(target=insist, daemon=True).start()

    def unraisable(found: sys.UnraisableHookArgs) -> None:
        # Struck in a destructor, where it cannot be raised: the firm end follows, and nobody needs the traceback.
        if not isinstance(found.exc_value, KeyboardInterrupt):
            hook(found)

    before = signal.signal(signal.SIGINT, pressed)
    hook, sys.unraisablehook = sys.unraisablehook, unraisable
    try:
        yield asked.is_set
    finally:
        try:
            over.set()
            with gate:
                pass  # an interrupt that is on its way arrives now, and `pressed` lets it go by
        finally:
            over.set()
            sys.unraisablehook = hook
            signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def end_now_if_threads_linger(status: int) -> None:
    """After a stop, ends the process where threads of a library would keep it waiting."""
    lingering = [one for one in threading.enumerate() if not one.daemon and one is not threading.current_thread()]
    if status == STATUS and lingering:
        os._exit(status)
