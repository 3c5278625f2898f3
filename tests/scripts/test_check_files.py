"""How expectations are judged, and that every one of them is met by the product as a person runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

expect: Any = pytest.importorskip("check_lib.expect", reason="the scripts are not beside the tests")
runs: Any = pytest.importorskip("check_lib.runs")
table: Any = pytest.importorskip("check_lib.table")


def row(**more: Any) -> Any:
    fields = {"kind": "k", "outcome": "indexed", "also_ok": [], "must": [], "must_not": [], "should_not": []}
    return expect.Expected(path="a.md", **{**fields, **more})


def found(text: str = "", outcome: str = "indexed", reason: str = "") -> Any:
    return expect.Found("a.md", outcome, reason, text)


def checks(result: Any) -> list[str]:
    return [miss.check for miss in result.misses]


def test_texts_are_compared_without_regard_to_blanks_and_compatible_forms():
    wanted = row(must=["office hours", "25 °C"], must_not=["o f f i c e"])
    result = expect.judged(wanted, found("the oﬃce\n\n  hours, 25\u00a0°C"), {})
    assert (result.found, result.absent, result.misses) == (2, 1, [])


def test_every_way_to_be_wrong_is_a_miss():
    wanted = row(must=["there", "missing"], must_not=["there"], should_not=["there", "noise"])
    result = expect.judged(wanted, found("there"), {})
    assert checks(result) == ["must_contain", "must_not_contain"]
    assert (result.found, result.absent, result.noise) == (1, 0, ["there"])
    assert checks(expect.judged(row(), found(outcome="skipped", reason="why"), {})) == ["outcome"]
    assert checks(expect.judged(row(also_ok=["skipped"]), found(outcome="skipped", reason="why"), {})) == []
    assert checks(expect.judged(row(also_ok=["skipped"]), found(outcome="skipped"), {})) == ["outcome"], "no reason"
    assert checks(expect.judged(row(), found(""), {})) == ["outcome"], "no passage"
    assert checks(expect.judged(row(outcome="skipped"), found(outcome="absent", reason="nothing"), {})) == ["outcome"]


def test_an_explained_miss_is_told_apart_by_row_and_check():
    wanted = row(must=["missing"], must_not=["there"])
    result = expect.judged(wanted, found("there"), {("a.md", "must_contain"): "the judge is wrong"})
    assert [miss.reason for miss in result.misses] == ["the judge is wrong", None]


def test_passages_that_overlap_or_leave_a_gap_become_one_text():
    chunks = [
        {"char_start": 4, "char_end": 9, "text": "efghi"},
        {"char_start": 0, "char_end": 6, "text": "abcdef"},
        {"char_start": 12, "char_end": 14, "text": "mn"},
    ]
    assert expect.joined(chunks) == "abcdefghi\nmn"


def test_a_file_in_a_folder_that_was_left_out_has_the_outcome_of_the_folder():
    files = [
        {"path": "a/", "state": "failed", "reason": "closed", "chunks": 0},
        {"path": "b.md", "state": "indexed", "reason": None, "chunks": 1},
    ]
    ran = runs.Ran(Path("x"), files, {"b.md": "text"}, [], 1.0, 1.0, 0, 0)
    assert ran.found("a/deep/in.md") == expect.Found("a/", "error-reported", "closed", "")
    assert ran.found("b.md") == expect.Found("b.md", "indexed", "", "text")
    assert ran.found("c.md").outcome == "absent"


def test_the_table_fits_80_columns_and_is_harmless_on_a_terminal():
    wanted = row(kind="name", must=["x" * 300], must_not=["\u202e"])
    result = expect.judged(wanted, found("\u202e"), {})
    ran = runs.Ran(Path("x"), [], {}, ["fault of a\nfile " + "y" * 200], 1.0, 1.0, 10**9, 10**9)
    lines = list(table.lines(table.Checked("nasty", "root", ran, [result])))
    assert max(map(len, lines)) <= 80
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert "name  " in "\n".join(lines) and "0/1" in "\n".join(lines)


@pytest.mark.reference
@pytest.mark.slow
def test_every_expectation_of_real_and_hostile_files_is_met(checkout, reference_data):
    command = [sys.executable, checkout / "scripts" / "check_files", "--data", reference_data, "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    print(done.stdout)
    wrong = [(one["tree"], one["account"], one["missed"], one["faults"]) for one in told["checks"]]
    assert done.returncode == 0, wrong
    assert {one["tree"] for one in told["checks"]} == {"files", "nasty"}
