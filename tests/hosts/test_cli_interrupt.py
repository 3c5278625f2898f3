"""Ctrl-C at awkward moments: one ending, no traceback, and nothing that strikes afterwards."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time

import pytest

from hermes_lance.hosts.cli import interrupt, main
from hermes_lance.hosts.cli.invocation import Invocation


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_work_that_ends_by_itself_while_it_is_being_interrupted_is_not_interrupted_later(monkeypatch):
    entered, real = threading.Event(), _thread.interrupt_main

    def slowly():
        entered.set()
        time.sleep(0.2)
        real()

    monkeypatch.setattr(interrupt, "POLITE_SECONDS", 0.0)
    monkeypatch.setattr(interrupt, "FIRM_SECONDS", 5.0)
    monkeypatch.setattr(_thread, "interrupt_main", slowly)
    before = signal.getsignal(signal.SIGINT), sys.unraisablehook
    with interrupt.interruptible(Invocation()) as cancelled:
        press()
        assert entered.wait(5) and cancelled()
    for _ in range(40):
        time.sleep(0.01)
    assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before


def test_an_interrupt_that_strikes_in_a_destructor_prints_no_traceback(capfd):
    class Awkward:
        def __del__(self):
            raise KeyboardInterrupt

    with interrupt.interruptible(Invocation()):
        Awkward()
    assert capfd.readouterr().err == ""


def test_pressing_again_while_the_ending_is_said_is_still_the_status_of_a_stop(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "_run", stop)
    assert main.run(["status"]) == interrupt.STATUS == main.STOPPED


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_stop_is_said_in_the_form_that_was_asked_for(form, capsys):
    assert interrupt.stopped(Invocation(json=form == "json")) == 130
    out, err = capsys.readouterr()
    assert ("cancelled" in out, err) == (True, "") if form == "json" else (out == "" and "intact" in err)
