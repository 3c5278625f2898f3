"""What the benchmark scripts make of given numbers: ratios, verdicts, growth, the text for the document."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

verdicts: Any = pytest.importorskip("bench_lib.verdicts", reason="the scripts are not beside the tests")
builds: Any = pytest.importorskip("bench_lib.builds")
build_table: Any = pytest.importorskip("bench_lib.build_table")
searches: Any = pytest.importorskip("bench_lib.searches")
search_table: Any = pytest.importorskip("bench_lib.search_table")
corpus: Any = pytest.importorskip("bench_lib.corpus")
ours: Any = pytest.importorskip("bench_lib.ours")


def test_a_row_compares_with_floor_and_bar_of_each_corpus():
    row = verdicts.Row("text", {"M": 2.0, "L": 30.0}, {"M": 0.5, "L": 5.0}, {"M": 2.8, "L": 20.0})
    assert row.cells(["M", "L"]) == ["text", "2.00", "30.0", "0.5/5", "4/6", "≤2.8/20", "ok/MISSED"]


def test_a_bar_may_be_a_least_or_be_meant_for_the_ratio():
    least = verdicts.Row("recall", {"M": 0.995}, {}, {"M": 0.99}, at_least=True)
    assert (least.holds("M"), least.cells(["M"])[-2]) == (True, "≥0.99")
    ratio = verdicts.Row("disk", {"M": 130.0}, {"M": 90.0}, {"M": 1.3}, bar_on_ratio=True)
    assert (ratio.holds("M"), ratio.cells(["M"])[-2:]) == (False, ["≤1.3×", "MISSED"])


def test_a_folder_of_another_name_has_figures_and_no_verdict():
    row = verdicts.Row("text", {"notes": 2.0}, {}, {"M": 2.8})
    assert row.holds("notes") is None
    assert row.cells(["notes"])[-1] == verdicts.NONE


def test_growth_is_one_where_the_figure_grows_as_the_bytes():
    assert verdicts.growth({"M": 2.0, "L": 20.0}, {"M": 10, "L": 100}, "M", "L") == 1.0
    assert verdicts.growth({"M": 2.0, "L": 30.0}, {"M": 10, "L": 100}, "M", "L") == 1.5
    assert verdicts.growth({"M": 2.0}, {"M": 10, "L": 100}, "M", "L") is None


def test_a_part_of_the_document_is_exchanged_and_nothing_else():
    text = "# Measurements\n\n## One\n\nkept\n"
    first = verdicts.with_part(text, "Builds", "1")
    both = verdicts.with_part(first, "Questions", "2")
    followed = f"{both}\n## Last\n\nkept too\n"
    again = verdicts.with_part(followed, "Builds", "3")
    assert again == followed.replace("### Builds\n\n1\n", "### Builds\n\n3\n")
    assert again.count(verdicts.SECTION) == 1


def size(parts: dict[str, int], needed: int) -> dict[str, Any]:
    every = {**dict.fromkeys(build_table.sizes.PARTS, 0), **parts}
    total = sum(every.values())
    return {"parts": every, "total": total, "pinned": 0, "needed_total": needed, "ratio": total / needed}


def measured(name: str, factor: float) -> Any:
    found = builds.Measured(name, files=3, bytes=int(1e6 * factor), chunks=9)
    for _, step in build_table.DETAIL:
        for kind in ("cpu", "wall", "largest", "tree"):
            found.values[f"{step} {kind}"] = [factor, 2 * factor, 9 * factor]
    found.values["running walked"] = found.values["running named"] = [0.1]
    found.values["text told"] = [1.0]
    found.sizes = {"fresh": size({"tantivy": 2_000_000}, 1_000_000), "edited": size({"tantivy": 3_000_000}, 1_000_000)}
    return found


def test_the_table_of_builds_has_every_row_and_fits_the_page():
    found = [measured("M", 1.0), measured("L", 10.0)]
    rows = {row.name: row for row in build_table.rows(found)}
    assert {name for name, *_ in build_table.JUDGED} < set(rows)
    assert rows["text searchable, CPU s"].figures == {"M": 2.0, "L": 20.0}
    assert rows["largest process, MB"].figures == {"M": 9.0, "L": 90.0}
    assert rows["disk, MB"].ratio("M") == 2.0
    assert rows["disk after edits, MB"].ratio("M") == 1.5
    assert rows["growth, text (1 = linear)"].figures == {"L": 1.0}
    text = build_table.body(found, list(rows.values()), "scripts/bench_build M L", "builtin_hash")
    assert max(map(len, text.splitlines())) <= 120
    assert max(len(line) for line in text.splitlines() if "≤" in line) <= 100
    assert "does not tell" not in text


def test_a_build_that_does_not_tell_its_moment_is_marked():
    found = measured("M", 1.0)
    found.values["text told"] = [0.0]
    assert "does not tell" in build_table.body([found], build_table.rows([found]), "", "")


def test_the_table_of_questions_compares_hybrid_with_the_sum_of_the_floors():
    found = searches.Asked("M", "minilm", queries=10, vectors=20)
    for what in (*search_table.MODES, *search_table.FLOORS, "floors"):
        for kind in ("p50", "p95", "cpu"):
            found.values[f"{what} {kind}"] = [4.0 if what == "floors" else 5.0]
    for mode in ("lexical", "hybrid"):
        found.values[f"cold {mode} cpu"] = found.values[f"cold {mode} wall"] = [0.1]
    found.values["tail"], found.values["memory"] = [2.0], [300.0]
    found.dense = {"rows": 75_000, "base": 100, "p50": 2.0, "p95": 3.0, "raw": 1.0, "recall": 0.98}
    rows = {row.name: row for row in search_table.rows([found])}
    assert (rows["warm hybrid, p50 ms"].ratio("M"), rows["warm hybrid, p50 ms"].holds("M")) == (1.25, True)
    assert (rows["dense leg, 75,000 rows, ms"].holds("M"), rows["dense leg, recall@10"].holds("M")) == (True, False)
    assert all(row.holds("M") is not False for name, row in rows.items() if "recall" not in name)


def test_text_is_searchable_when_the_build_turns_from_reading_to_something_else():
    moment, told = ours.TextSearchable(), []
    for stage in ("read", "tables", "read", "tables", "embed"):
        moment.progress(stage, 1, 2, "")
        told.append(moment.cpu)
    assert [one is None for one in told] == [True, False, True, False, False]
    assert told[3] == told[4]


def test_edits_go_from_file_to_file_each_with_a_word_of_its_own(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.md").write_text("word " * 300)
    changes = corpus.edits(tmp_path)
    made = [next(changes) for _ in range(3)]
    assert len({edit.path for edit in made}) == len({edit.word for edit in made}) == 3
    assert all(edit.path.read_text().endswith(f"{edit.sentence}\n") for edit in made)
    assert len({corpus.rare_word(number) for number in range(20_000)}) == 20_000
