"""How many cores there are to use."""

from __future__ import annotations

import os

from hermes_lance.core.cores import usable_cores


def test_it_is_what_the_system_lets_this_process_use():
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)


def test_a_system_that_does_not_say_has_the_cores_of_the_machine(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1
