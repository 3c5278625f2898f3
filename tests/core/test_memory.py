"""Memory that is no longer used goes back to the system, where that can be asked for."""

from __future__ import annotations

import ctypes
import gc
import os

import pytest

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


def test_what_is_resident_grows_with_what_is_read_and_is_zero_where_it_cannot_be_told(monkeypatch):
    before = memory.resident()
    held = bytearray(32 << 20)
    now = memory.resident()
    assert 0 <= now.files <= now.all
    if before.all:
        assert now.all - before.all > 16 << 20
    del held

    def missing(*arguments):
        raise FileNotFoundError

    monkeypatch.setattr(os, "open", missing)
    assert memory.resident() == (0, 0)


def test_the_collector_runs_seldom_for_the_length_of_a_block_and_as_before_after_it():
    before = gc.get_threshold(), gc.get_freeze_count()
    with pytest.raises(LookupError), memory.collector_seldom():
        assert gc.get_threshold() == memory.ALLOCATIONS_BETWEEN_COLLECTIONS
        assert gc.get_freeze_count() > before[1] and gc.isenabled()
        raise LookupError
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before[0], 0)
