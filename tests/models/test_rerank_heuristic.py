"""The heuristic reranker: shares of words, whatever form and script they come in."""

from __future__ import annotations

import pytest

from hermes_lance.core.errors import ConfigError
from hermes_lance.core.records import Candidate
from hermes_lance.models.rerank_heuristic import HeuristicReranker


def shares(question: str, *texts: str) -> list[float]:
    candidates = [Candidate(text, "notes.md") for text in texts]
    return [round(score, 3) for score in HeuristicReranker().scores(question, candidates, timeout=30)]


def test_the_score_is_the_share_of_the_words_and_a_tenth_of_the_cosine():
    given = [Candidate("roll the canary back", "a.md", dense=0.5), Candidate("the canary sings", "b.md", dense=-0.2)]
    found = HeuristicReranker().scores("roll back canary", given, timeout=30)
    assert found == pytest.approx([1.05, 1 / 3 - 0.02])


def test_stop_words_count_for_nothing():
    assert shares("what is the canary", "the what is of it", "a canary") == [0.0, 1.0]
    assert shares("what is it", "what it is", "nothing") == [0.0, 0.0]


def test_words_are_compared_by_their_stems_and_as_whole_words():
    assert shares("canaries deployed", "the canary deployment", "decanarying redeployments") == [1.0, 0.0]
    assert shares("hoping for studies", "I hope", "he studied", "shop and study") == [0.5, 0.5, 0.5]


def test_words_inside_names_of_code_count():
    assert shares("open session", "def open_session(user):", "openSession(user)", "reopen sessions") == [1.0, 1.0, 0.5]


def test_headings_above_the_passage_count():
    given = [Candidate("Call the database group.", "a.md", ("Deployment", "Rolling back")), Candidate("Back.", "b.md")]
    found = HeuristicReranker().scores("rolling back", given, timeout=30)
    assert found == [1.0, 0.5]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("数据库迁移", "数据库迁移在周五进行。"),
        ("Überall Brücken", "überall stehen brücken"),
        ("резервные копии", "Резервные копии хранятся отдельно."),
        ("데이터베이스 이전", "데이터베이스 이전은 금요일이다."),
        ("قاعدة البيانات", "نقل قاعدة البيانات يوم الجمعة"),
    ],
)
def test_every_script_is_compared(question, text):
    found, other = shares(question, text, "nothing of the kind")
    assert found > 0.8 and other == 0


def test_no_text_is_too_odd_or_too_long():
    odd = ["", " \n", "\ud800 half", "nul \x00 inside", "x" * 200_000, "canary " * 50_000]
    assert shares("canary \ud800", *odd)[-1] > 0
    assert shares("", *odd) == [0.0] * 6 and shares("canary") == []


@pytest.mark.parametrize("seconds", [0, -1, True, "soon", 1e9])
def test_a_limit_that_is_none_is_refused_with_its_key(seconds):
    with pytest.raises(ConfigError, match=r"rerankers\.heuristic\.timeout_seconds"):
        HeuristicReranker(timeout_seconds=seconds)
