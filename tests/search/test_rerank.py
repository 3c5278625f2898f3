"""The stage that orders the best candidates anew: what it orders, and that no failure of it costs a hit."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import hermes_lance
from hermes_lance.core.contracts import Reranker
from hermes_lance.core.errors import ModelUnavailable, UsageError
from hermes_lance.core.records import Candidate
from hermes_lance.search.rerank import Reranking


class Scorer:
    """Answers with what a function makes of the candidates."""

    name = "scorer"
    timeout_seconds = 20.0

    def __init__(self, made: Callable[[Sequence[Candidate]], Any]) -> None:
        self.made = made
        self.asked: list[Sequence[Candidate]] = []

    def signature(self) -> str:
        return "scorer/1"

    def scores(self, query: str, candidates: Sequence[Candidate], *, timeout: float) -> Any:
        self.asked.append(candidates)
        return self.made(candidates)


def given(*names: str) -> list[Candidate]:
    """Fused scores fall by one from candidate to candidate."""
    return [Candidate(name, f"{name}.md", (), 1.0, None, float(len(names) - at)) for at, name in enumerate(names)]


def order(made: Callable[[Sequence[Candidate]], Any], names: str, tiers: Sequence[int] = ()) -> list[str]:
    found = given(*names)
    stage = Reranking(Scorer(made), 30)
    done = stage.order("question", found, tiers or [0] * len(found))
    assert not done.warning
    return [found[position].text for position, _ in done.places]


def test_a_fake_fits_the_contract():
    assert isinstance(Scorer(len), Reranker)


def test_the_best_score_comes_first_and_equal_ones_keep_the_fused_order():
    assert order(lambda seen: [0.1, 0.9, 0.5, 0.9], "abcd") == ["b", "d", "c", "a"]


def test_what_is_not_scored_follows_in_the_fused_order():
    assert order(lambda seen: [None, 0.2, None, 0.7], "abcd") == ["d", "b", "a", "c"]
    assert order(lambda seen: [None] * 4, "abcd") == ["a", "b", "c", "d"]


def test_passages_that_hold_the_question_word_for_word_stay_first():
    assert order(lambda seen: [0.1, 0.2, 0.9, 0.8], "abcd", [3, 1, 1, 0]) == ["a", "c", "b", "d"]


def test_the_reranker_sees_text_place_and_the_scores_of_the_legs():
    scorer = Scorer(lambda seen: [1, 2])
    Reranking(scorer, 30).order("question", given("a", "b"), [0, 0])
    assert scorer.asked == [[Candidate("a", "a.md", (), 1.0, None, 2.0), Candidate("b", "b.md", (), 1.0, None, 1.0)]]


def test_one_candidate_needs_no_order():
    scorer = Scorer(lambda seen: [1])
    done = Reranking(scorer, 30).order("question", given("a"), [0])
    assert not scorer.asked and list(done.places) == [(0, None)]


def refuse(seen: Sequence[Candidate]) -> Any:
    raise ModelUnavailable("scorer: the service refused the key (401)", hint="Export another one.")


def crash(seen: Sequence[Candidate]) -> Any:
    raise ZeroDivisionError("division by zero")


def leave(seen: Sequence[Candidate]) -> Any:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (refuse, "refused the key (401); the fused order is kept. Export another one."),
        (crash, "ZeroDivisionError: division by zero"),
        (leave, "SystemExit"),
        (lambda seen: [1.0, 2.0], "3 candidates were given, and 2 scores came back"),
        (lambda seen: [1.0] * 4, "3 candidates were given, and 4 scores came back"),
        (lambda seen: [1.0, math.nan, 2.0], "1 of 3 scores are no numbers (nan)"),
        (lambda seen: [math.inf, 1.0, 2.0], "1 of 3 scores are no numbers (inf)"),
        (lambda seen: ["good", "bad", "ugly"], "ValueError"),
        (lambda seen: None, "TypeError"),
    ],
)
def test_whatever_goes_wrong_keeps_the_fused_order_and_is_said(made, said):
    stage = Reranking(Scorer(made), 30)
    done = stage.order("question", given("a", "b", "c"), [0, 0, 0])
    assert list(done.places) == [(0, None), (1, None), (2, None)]
    assert "scorer" in done.warning and said in done.warning and "the fused order is kept" in done.warning
    assert stage.trouble is not None and done.outcome == "failed"
    stage.reranker = Scorer(lambda seen: [1, 2, 3])
    assert not stage.order("question", given("a", "b", "c"), [0, 0, 0]).warning and stage.trouble is None


def test_one_that_hangs_is_waited_for_once_and_used_again_when_it_has_ended():
    go_on = threading.Event()
    slow = Scorer(lambda seen: go_on.wait(60) and [1, 2])
    slow.timeout_seconds = 0.05
    stage = Reranking(slow, 30)
    first = stage.order("question", given("a", "b"), [0, 0])
    assert "no order within 0.05 s" in first.warning and "timeout_seconds" in first.warning
    slow.timeout_seconds = 50.0
    began = time.monotonic()
    second = stage.order("question", given("a", "b"), [0, 0])
    assert "still at work on an earlier question" in second.warning and time.monotonic() - began < 40
    assert len(slow.asked) == 1
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == "hermes-lance-rerank-scorer":
            thread.join(20)
    assert [place for place, _ in stage.order("question", given("a", "b"), [0, 0]).places] == [1, 0]


PLUGIN = """
class Backwards:
    name = "backwards"
    def signature(self):
        return "backwards/1"
    def scores(self, query, candidates, *, timeout):
        assert all(one.path and one.text and one.fused is not None for one in candidates)
        print(len(candidates), query)
        return range(len(candidates))
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Twelve passages, and a plugin that turns every order round."""
    place = tmp_path / "plugins" / "workspace" / "rerankers" / "backwards"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text(PLUGIN)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for number in range(12):
        words = " ".join(["harbour"] * (number + 1))
        (workspace / f"note{number:02}.md").write_text(f"# Note {number}\n\nThe {words} opens at {number}.\n")
    (tmp_path / "config.yaml").write_text(
        "knowledgebase:\n  embedders: {active: builtin_hash}\n  fused_top_k: 5\n  retrieval_mode: always\n"
    )
    hermes_lance.open(tmp_path).index()
    return tmp_path


def configure(home: Path, rerankers: str) -> hermes_lance.library.Library:
    file = home / "config.yaml"
    file.write_text(file.read_text().partition("  rerankers")[0] + f"  rerankers: {rerankers}\n")
    return hermes_lance.open(home)


def paths(answer) -> list[str]:
    return [hit.path for hit in answer]


def test_only_the_best_candidates_are_ordered_and_the_others_follow(home):
    library = hermes_lance.open(home)
    plain = library.search("when does the harbour open", limit=12)
    turned = library.search("when does the harbour open", limit=12, rerank="backwards")
    assert paths(turned) == paths(plain)[:5][::-1] + paths(plain)[5:]
    assert [hit.scores["rerank"] for hit in turned] == [4, 3, 2, 1, 0] + [None] * 7
    assert [hit.scores["fused"] for hit in turned][5:] == [hit.score for hit in plain][5:]
    assert all(hit.scores["rerank"] is None for hit in plain)
    entry = next(one for one in turned.trace if one.stage == "rerank")
    assert entry.outcome == "5 of 5 scored" and entry.detail["by"] == "backwards"


def test_pages_of_a_reordered_answer_follow_one_another(home):
    library = hermes_lance.open(home)
    whole = paths(library.search("harbour opens", limit=12, rerank="backwards"))
    pages = [paths(library.search("harbour opens", limit=3, offset=at, rerank="backwards")) for at in (0, 3, 6, 9)]
    assert [path for page in pages for path in page] == whole


def test_the_configured_reranker_serves_searches_and_turns(home, capsys):
    library = configure(home, "{active: backwards}")
    assert [hit.scores["rerank"] for hit in library.search("harbour opens", limit=2)] == [4, 3]
    assert library.search("harbour opens", rerank="off").hits[0].scores["rerank"] is None
    capsys.readouterr()
    turn = library.context("when does the harbour open today")
    assert turn.injected and any(one.stage == "rerank" and one.detail["by"] == "backwards" for one in turn.trace)
    assert capsys.readouterr().out == "5 when does the harbour open today\n"


def test_the_name_of_a_file_still_finds_that_file_first(home):
    answer = hermes_lance.open(home).search("note07.md", rerank="backwards")
    assert answer.hits[0].path == "note07.md"


def test_a_name_that_there_is_not_is_refused_where_it_is_asked_for(home):
    with pytest.raises(UsageError, match="nonsense") as caught:
        hermes_lance.open(home).search("harbour", rerank="nonsense")
    assert "heuristic" in caught.value.hint and "backwards" in caught.value.hint


def test_a_configured_one_that_cannot_be_had_costs_the_order_and_nothing_else(home):
    expected = paths(hermes_lance.open(home).search("harbour opens"))
    library = configure(home, "{active: nonsense}")
    answer = library.search("harbour opens")
    assert paths(answer) == expected
    assert any("nonsense" in one and "the fused order is kept" in one for one in answer.warnings)
    assert library.context("when does the harbour open").injected
    assert any("nonsense" in one for one in library.status()["warnings"])
    assert any("nonsense" in check.detail and not check.ok and not check.fatal for check in library.doctor())


def test_wrong_options_cost_the_order_and_nothing_else(home):
    library = configure(home, "{active: heuristic, heuristic: {speed: 3}}")
    answer = library.search("harbour opens")
    assert len(answer) == 8 and any("heuristic.speed is not a known key" in one for one in answer.warnings)
    assert any("heuristic.speed" in one for one in library.status()["warnings"])
    assert any("heuristic.speed" in check.detail for check in library.doctor())


def test_what_went_wrong_at_the_last_question_is_in_status_and_doctor(home):
    file = home / "plugins/workspace/rerankers/backwards/__init__.py"
    file.write_text(PLUGIN.replace("range(len(candidates))", "[1.0]"))
    library = configure(home, "{active: backwards}")
    assert not any("backwards" in one for one in library.status()["warnings"])
    assert any("5 candidates were given, and 1 scores" in one for one in library.search("harbour opens").warnings)
    assert any("backwards" in one for one in library.status()["warnings"])
    assert any("backwards" in check.detail and not check.ok for check in library.doctor())


def test_options_of_a_reranker_that_is_not_the_configured_one_hold_where_it_is_asked_for(home):
    library = configure(home, "{active: disabled, heuristic: {timeout_seconds: -1}}")
    assert not library.search("harbour opens").warnings
    assert any("timeout_seconds is -1" in one for one in library.search("harbour opens", rerank="heuristic").warnings)
