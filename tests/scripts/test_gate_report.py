"""The gate report: its messages and intervals, and its held-out figures on judged sets, on a sample."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

sets: Any = pytest.importorskip("gate_lib.sets", reason="the scripts are not beside the tests")
asking: Any = pytest.importorskip("gate_lib.asking")
table: Any = pytest.importorskip("gate_lib.table")

SLACK = 0.03
"""Below the targets: a sample of some hundred messages is off by so much (standard error of .95 in 100: .02)."""
MOST = 160
"""Messages of a group."""


def test_there_are_three_hundred_everyday_messages_in_six_languages_and_none_twice():
    spoken = sets.everyday()
    by_language = Counter(language for language, _ in spoken)
    assert len(spoken) >= 300 and len(by_language) == 6 and min(by_language.values()) >= 50
    assert len({(language, message.text) for language, message in spoken}) == len(spoken)
    assert len({message.id for _, message in spoken}) == len(spoken)


def test_halves_are_about_equal_and_do_not_depend_on_other_messages():
    halves = Counter(message.half for _, message in sets.everyday())
    assert abs(halves["tune"] - halves["held"]) < 60
    assert sets.Labelled("one", "", True).half == sets.Labelled("one", "other text", False).half


@pytest.mark.parametrize(("hits", "total", "low", "high"), [(95, 100, 0.888, 0.978), (0, 10, 0.0, 0.278), (0, 0, 0, 1)])
def test_intervals_are_wilsons(hits, total, low, high):
    assert table.wilson(hits, total) == pytest.approx((low, high), abs=0.001)


@pytest.mark.reference
def test_held_out_messages_are_kept_and_withheld_as_often_as_promised(reference_data, tmp_path):
    every = sets.all_sets(reference_data / "beir")
    names = ("intent-gate", "mtrag-followup")
    groups = [sets.held_out(group, MOST) for group in every.groups if group.collection in names and group.target]
    some = sets.Sets(groups, {name: every.collections[name] for name in names})
    asking.built(some, tmp_path, print)
    found = asking.answers(some, tmp_path, words_only=False, say=print)
    shares = {group.name: sum(table.right(group, one) for one in found[group.name]) / len(group.messages)
              for group in groups}  # fmt: skip
    assert len(shares) == 5
    assert [(group.name, shares[group.name]) for group in groups if shares[group.name] < group.target - SLACK] == []
