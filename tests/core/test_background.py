"""Work with the lowest priority, beside a caller whose priority stays."""

from __future__ import annotations

import _thread
import os
import sys
import threading

import pytest

from hermes_lance.core import background

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a nice value for each thread")


def nice() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


@linux
def test_the_work_and_the_threads_that_it_starts_have_the_lowest_priority_and_the_caller_keeps_its_own():
    before = nice()

    def work(interrupted):
        inner = []
        thread = threading.Thread(target=lambda: inner.append(nice()))
        thread.start()
        thread.join()
        return nice(), inner[0], interrupted()

    assert background.in_background(work) == ((19, 19, False), True)
    assert nice() == before
    later = []
    thread = threading.Thread(target=lambda: later.append(nice()))
    thread.start()
    thread.join()
    assert later == [before]


def test_what_the_work_raises_reaches_the_caller():
    def work(interrupted):
        raise LookupError("not there")

    with pytest.raises(LookupError, match="not there"):
        background.in_background(work)


def test_a_caller_that_is_interrupted_while_it_waits_asks_the_work_to_end():
    ended = threading.Event()

    def work(interrupted):
        _thread.interrupt_main()
        while not interrupted():
            ended.wait(0.01)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        background.in_background(work)
    assert ended.is_set()


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_a_system_without_a_priority_of_threads_is_named_and_nothing_changes(monkeypatch, system):
    before = nice()
    monkeypatch.setattr(sys, "platform", system)
    assert background.in_background(lambda interrupted: nice()) == (before, before >= background.LOWEST)


def test_a_process_is_lowered_only_where_its_threads_cannot_be(monkeypatch):
    lowered: list[int] = []
    monkeypatch.setattr(os, "nice", lowered.append)
    for system in ("linux", "win32", "darwin"):
        monkeypatch.setattr(sys, "platform", system)
        background.lower_process_where_threads_cannot_be()
    assert lowered == [background.LOWEST]
