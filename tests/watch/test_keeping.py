"""A question to a process that lives on is answered from the files as they are, at the price of one look in a while."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

import pytest

import hermes_lance
from hermes_lance import keeping
from hermes_lance.core.errors import DatasetReadOnly
from hermes_lance.hosts import tools as tool_table
from hermes_lance.library import Library
from tests.watch.conftest import PATIENCE_SECONDS, until

OLD = time.time() - 3_600


@pytest.fixture
def kept():
    """Keepers that end with the test."""
    made = keeping.Keeping()
    yield made
    made.stop()


@pytest.fixture
def home(make_watched):
    """A built home whose files nobody follows."""
    one = make_watched(more="  watch_for_changes: false\n")
    one.write("plan.md", "The heron waits.\n")
    hermes_lance.open(one.home).index()
    return one


@pytest.fixture
def looks(monkeypatch):
    """Builds over everything that were begun, by the text of their paths."""
    done: list[object] = []
    real = Library.index

    def index(self, **how):
        done.append(how.get("only_paths"))
        return real(self, **how)

    monkeypatch.setattr(Library, "index", index)
    return done


def expire(home) -> None:
    """As if the last look were an hour old."""
    os.utime(home.home / "knowledgebase" / "cache" / keeping.LOOKED, (OLD, OLD))


def settled(kept, home) -> bool:
    return not any(one.alive for one in kept._keepers.values())


def test_a_question_soon_after_a_build_looks_at_nothing_and_a_later_one_finds_what_is_new(home, kept, looks):
    library = hermes_lance.open(home.home)
    home.write("new.md", "The egret lands.\n")
    assert (kept.before_question(library), looks) == ([], [])
    expire(home)
    assert kept.before_question(library) == []
    assert home.found("egret") == ["new.md"]
    until(lambda: settled(kept, home))
    assert looks == [None, []]  # a look, and vectors for what it found
    assert hermes_lance.open(home.home).manifest().totals["vectors_pending"] == 0


def test_the_moment_of_the_last_look_is_one_for_all_processes_and_one_for_each_dataset(make_watched, home, kept, looks):
    other = make_watched("other", more="  watch_for_changes: false\n")
    other.write("a.md", "A kite.\n")
    hermes_lance.open(other.home).index()
    looks.clear()
    expire(home)
    code = f"import hermes_lance; hermes_lance.open({str(home.home)!r}).index()"
    paths = os.pathsep.join(map(str, sys.path))
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env={**os.environ, "PYTHONPATH": paths})
    kept.before_question(hermes_lance.open(home.home))
    assert looks == []  # the other process has looked
    expire(other)
    kept.before_question(hermes_lance.open(home.home))
    assert looks == []  # what is due elsewhere is not due here
    kept.before_question(hermes_lance.open(other.home))
    assert looks[0] is None


def test_a_clock_that_was_put_back_does_not_put_looks_off(home, kept, looks):
    later = time.time() + 10_000
    os.utime(home.home / "knowledgebase" / "cache" / keeping.LOOKED, (later, later))
    kept.before_question(hermes_lance.open(home.home))
    assert looks[0] is None


def test_without_an_index_the_first_question_makes_one(make_watched, kept):
    one = make_watched(more="  watch_for_changes: false\n")
    one.write("a.md", "A kite circles.\n")
    assert kept.before_question(hermes_lance.open(one.home)) == []
    assert one.found("kite") == ["a.md"]


def test_a_home_without_folders_stays_empty(tmp_path, kept):
    assert kept.before_question(hermes_lance.open(tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", ["  auto_index: false\n", "  enabled: false\n"])
def test_where_it_is_switched_off_nothing_is_looked_at(make_watched, kept, looks, more):
    one = make_watched(more=f"  watch_for_changes: false\n{more}")
    assert kept.before_question(hermes_lance.open(one.home)) == []
    assert looks == []


def test_a_long_look_keeps_no_question_waiting(home, kept, monkeypatch):
    go = threading.Event()
    monkeypatch.setattr(Library, "index", lambda self, **how: go.wait(PATIENCE_SECONDS))
    monkeypatch.setattr(keeping, "WAIT_SECONDS", 0.1)
    expire(home)
    library = hermes_lance.open(home.home)
    (said,) = kept.before_question(library)
    assert "still being indexed" in said
    assert kept.before_question(library) == [said]  # the same look, not another one
    go.set()
    until(lambda: settled(kept, home))


def test_a_look_that_fails_is_told_beside_the_answer(home, kept, monkeypatch):
    def refuse(self, **how):
        raise DatasetReadOnly("the folder cannot be written")

    monkeypatch.setattr(Library, "index", refuse)
    expire(home)
    (said,) = kept.before_question(hermes_lance.open(home.home))
    assert "could not be indexed: the folder cannot be written" in said


def test_a_look_that_has_just_failed_is_not_tried_again_by_every_question(home, kept, monkeypatch):
    tries: list[object] = []

    def refuse(self, **how):
        tries.append(how)
        raise DatasetReadOnly("the folder cannot be written")

    with monkeypatch.context() as broken:
        broken.setattr(Library, "index", refuse)
        expire(home)
        library = hermes_lance.open(home.home)
        first = kept.before_question(library)
        until(lambda: settled(kept, home))
        assert kept.before_question(library) == first != []
        assert len(tries) == 1
    # Later it is tried again.
    kept._keepers[library.dataset].began -= keeping.LOOK_EVERY_SECONDS
    assert kept.before_question(library) == []


def test_the_tool_answers_from_the_files_as_they_are(home):
    (tool,) = tool_table.tools(lambda: home.home)
    home.write("new.md", "The egret lands at dusk.\n")
    expire(home)
    answer = json.loads(tool.handler({"action": "retrieve", "query": "when does the egret land"}))
    assert answer["hits"][0]["source"].startswith("new.md")
    assert answer["warnings"] == []


def test_a_process_that_lives_on_follows_the_files_and_only_one_of_them_does(make_watched, kept, looks):
    one = make_watched()
    one.write("a.md", "A kite circles.\n")
    hermes_lance.open(one.home).index()
    looks.clear()
    second = keeping.Keeping()
    try:
        kept.before_question(hermes_lance.open(one.home))
        until(lambda: looks)
        one.write("b.md", "A heron stands.\n")
        one.until_found("heron", "b.md")
        second.before_question(hermes_lance.open(one.home))
        until(lambda: settled(second, one))  # the other one watches
        assert not keeping.look_due(hermes_lance.open(one.home).config)
    finally:
        second.stop()
    kept.stop()

    def free() -> bool:
        with keeping.watching(hermes_lance.open(one.home).config) as ours:
            return ours

    # Stopping waits a moment only, and a busy machine may need longer.
    until(free)


def test_a_watch_keeps_looks_of_others_from_being_due(watched):
    expire(watched)
    until(lambda: not keeping.look_due(hermes_lance.open(watched.home).config))
