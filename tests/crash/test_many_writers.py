"""Several processes build the same home: one at a time, the others wait or are told who is at it."""

from __future__ import annotations

import threading
import time

import pytest

from hermes_lance.core.errors import DatasetBusy

BUILDER = """
import sys
import hermes_lance
from hermes_lance.core.errors import DatasetBusy
import lancedb
print("ready", flush=True)
for line in sys.stdin:
    try:
        report = hermes_lance.open(sys.argv[1]).index(wait_seconds=float(line))
        print("built", report.generation, flush=True)
    except DatasetBusy as error:
        print("busy", error, flush=True)
"""
STUCK = """
import sys, time
import hermes_lance
def stop_here(*_):
    print("inside", flush=True)
    time.sleep(600)
hermes_lance.open(sys.argv[1]).index(progress=stop_here)
"""


def write_tree(home, turn):
    for number in range(12):
        home.write(
            f"folder {number % 3}/{number}.md", f"# File {number}", f"Turn {turn} of file {number}.", "The same."
        )


@pytest.mark.parametrize(
    "waits",
    [(60, 0), pytest.param((60, 60, 0, 0), marks=pytest.mark.slow), pytest.param((60,) * 4, marks=pytest.mark.slow)],
    ids=["two", "four, two of them impatient", "four"],
)
def test_builders_of_one_home_at_once_give_what_one_clean_build_gives(waits, home, clean_build, child):
    builders = [child(BUILDER, home.folder) for _ in waits]
    for builder in builders:
        assert builder.stdout.readline() == "ready\n"
    pids = [builder.pid for builder in builders]
    for turn in range(3):
        write_tree(home, turn)
        for builder, wait in zip(builders, waits, strict=True):
            builder.stdin.write(f"{wait}\n")
            builder.stdin.flush()
        said = [builder.stdout.readline().split(" ", 1) for builder in builders]
        for (outcome, detail), wait in zip(said, waits, strict=True):
            assert outcome == "built" or (outcome == "busy" and wait == 0), detail
            assert outcome == "built" or any(f"process {pid} " in detail for pid in pids) or "another process" in detail
        assert home.contents() == clean_build(home)
        assert home.healthy()
        generation = home.library().manifest().id
        assert home.build().published == 0 and home.library().manifest().id == generation
    for builder in builders:
        _, errors = builder.communicate()
        assert (builder.returncode, errors) == (0, "")


def test_a_builder_killed_while_it_holds_the_lock_lets_the_next_one_on(home, clean_build, child):
    write_tree(home, 0)
    stuck = child(STUCK, home.folder)
    assert stuck.stdout.readline() == "inside\n"
    with pytest.raises(DatasetBusy, match=f"process {stuck.pid} "):
        home.build()
    began = time.monotonic()
    threading.Timer(0.5, stuck.kill).start()
    home.library().index(wait_seconds=60.0)
    assert time.monotonic() - began >= 0.5
    assert home.contents() == clean_build(home)
    assert home.healthy()


def test_while_one_builds_the_others_read_and_look_after_nothing(home, child):
    write_tree(home, 0)
    home.build()
    write_tree(home, 1)
    stuck = child(STUCK, home.folder)
    assert stuck.stdout.readline() == "inside\n"
    library = home.library()
    assert [hit.freshness for hit in library.search("turn", limit=3)] == ["changed"] * 3
    assert library.status()["chunks"] == library.manifest().totals["chunks"]
    assert all(one.ok for one in library.doctor())
    with pytest.raises(DatasetBusy):
        library.collect_garbage(wait_seconds=0.0)
