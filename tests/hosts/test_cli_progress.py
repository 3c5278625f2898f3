"""Progress for people: which file of how many, how fast, and how long it will take; nothing where nobody looks."""

from __future__ import annotations

import io
import re

import pytest

from hermes_lance.hosts.cli import progress
from hermes_lance.hosts.cli.progress import Bar, described, pace
from hermes_lance.hosts.output import Console


def test_a_line_names_the_file_and_which_of_how_many_it_is():
    assert described("read", 3, 12, "docs/plan.md", 60) == "Indexing [3/12] docs/plan.md"
    assert described("embed", 1_200, 5_000, "", 60) == "Embedding [1,200/5,000]"
    long = described("read", 3, 12, "docs/" + "deeper/" * 20 + "plan.md", 50)
    assert len(long) <= 50 and long.startswith("Indexing [3/12] docs/") and long.endswith("plan.md")


@pytest.mark.parametrize(
    ("done", "total", "seconds", "said"),
    [
        (3, 12, 1.5, "2.0/s, 0:04 left"),
        (1_000, 13_000, 10, "100/s, 2:00 left"),
        (10, 40_000, 10, "1.0/s, 11:06:30 left"),
        (12, 12, 6, "2.0/s, 0:00 left"),
        (0, 12, 3, ""),
        (5, 0, 1, "5.0/s"),
    ],
)
def test_the_pace_is_a_rate_and_the_time_left(done, total, seconds, said):
    assert pace(done, total, seconds) == said


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_the_line_and_a_pipe_nothing(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    for stream, wanted in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        with Bar(Console(quiet=False, colour=False)) as bar:
            for done in range(1, 13):
                bar.progress("read", done, 12, "docs/plan.md")
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
        assert ("Indexing [12/12] docs/plan.md" in text) is wanted
