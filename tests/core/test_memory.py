"""Memory that is no longer used goes back to the system, where that can be asked for."""

from __future__ import annotations

import ctypes

from hermes_lance.core import memory


def test_it_can_be_asked_for_at_any_time():
    assert memory.give_back() in (True, False)


def test_a_library_without_the_call_is_no_error(monkeypatch):
    class Bare:
        pass

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Bare())
    assert memory.give_back() is False


def test_a_system_without_the_library_is_no_error(monkeypatch):
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert memory.give_back() is False
