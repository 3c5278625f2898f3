"""The figures are those that a person gets with pencil and paper from the definitions of trec_eval."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from hermes_lance.learn import metrics


def log2(number: int) -> float:
    return math.log2(number)


def test_ndcg_uses_linear_gain_and_the_ideal_order_of_all_judged_documents() -> None:
    qrels = {"q": {"a": 2, "b": 1, "c": 1, "d": 0}}
    got = metrics.evaluated({"q": ["b", "x", "a"]}, qrels)
    dcg = 1 / log2(2) + 2 / log2(4)
    ideal = 2 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert got["ndcg@10"] == pytest.approx(dcg / ideal)
    assert got["recall@10"] == pytest.approx(2 / 3)
    assert (got["mrr@10"], got["hit@10"], got["hit@1"]) == (1.0, 1.0, 1.0)


def test_ranks_below_k_count_nowhere_and_the_ideal_is_cut_too() -> None:
    got = metrics.evaluated({"q": ["x", "a", "b"]}, {"q": {"a": 1, "b": 1, "c": 1}}, k=2)
    assert got["ndcg@2"] == pytest.approx((1 / log2(3)) / (1 / log2(2) + 1 / log2(3)))
    assert got["recall@2"] == pytest.approx(1 / 3)
    assert (got["mrr@2"], got["hit@2"], got["hit@1"]) == (0.5, 1.0, 0.0)


def test_a_query_without_results_is_zero_and_one_without_judgement_is_not_scored() -> None:
    got = metrics.evaluated(
        {"found": ["a"], "unjudged": ["a"], "only-zero": ["z"]},
        {"found": {"a": 1}, "lost": {"a": 1}, "only-zero": {"z": 0}},
    )
    assert got == {"ndcg@10": 0.5, "recall@10": 0.5, "mrr@10": 0.5, "hit@10": 0.5, "hit@1": 0.5}


def test_judged_but_not_relevant_is_worth_nothing() -> None:
    assert metrics.evaluated({"q": ["z", "a"]}, {"q": {"z": 0, "a": 1}})["mrr@10"] == 0.5
    assert metrics.evaluated({"q": ["z", "a"]}, {"q": {"z": -1, "a": 1}})["ndcg@10"] == pytest.approx(1 / log2(3))


def test_nothing_to_score_gives_zeros_not_an_error() -> None:
    assert set(metrics.evaluated({}, {}).values()) == {0.0}
    assert set(metrics.evaluated({"q": []}, {"q": {"a": 1}}).values()) == {0.0}


def test_the_frame_has_one_row_for_each_query_with_a_relevant_document() -> None:
    scores = metrics.per_query(metrics.run_frame({"b": ["x"]}), metrics.qrels_frame({"a": {"x": 1}, "b": {"x": 3}}))
    assert dict(zip(scores["query_id"], scores["ndcg"], strict=True)) == {"a": 0.0, "b": 1.0}
    assert scores.columns == ["query_id", "ndcg", "recall", "mrr", "hit", "hit_1"]


def test_a_document_stands_where_its_best_passage_stands() -> None:
    passages = metrics.run_frame({"q": ["a", "b", "a", "b", "c"], "r": ["c"]})
    documents = metrics.best_passages(passages)
    assert documents.rows() == [("q", "a", 1), ("q", "b", 2), ("q", "c", 3), ("r", "c", 1)]


def test_a_clear_loss_is_beyond_noise_and_a_small_mixed_one_is_not() -> None:
    second = [0.5 + 0.01 * (number % 7) for number in range(200)]
    clear = metrics.compared([score - 0.1 for score in second], second)
    assert clear.below and clear.p_value == 0.0 and clear.difference == pytest.approx(-0.1)
    mixed = metrics.compared([score + (0.2 if number % 2 else -0.21) for number, score in enumerate(second)], second)
    assert not mixed.below and mixed.difference < 0
    better = metrics.compared([score + 0.1 for score in second], second)
    assert not better.below and better.p_value == 1.0


def test_equal_systems_are_never_below() -> None:
    assert metrics.compared([0.3] * 50, [0.3] * 50) == metrics.Comparison(0.0, 1.0, False)
    assert metrics.compared([], []) == metrics.Comparison(0.0, 1.0, False)


def test_the_share_of_resamples_is_that_of_the_binomial() -> None:
    # One loss among four queries: a resample misses it with probability (3/4)^4.
    got = metrics.compared([0.0, 1.0, 1.0, 1.0], [1.0] * 4)
    assert got.p_value == pytest.approx(0.75**4, abs=0.02)


def test_the_same_input_gives_the_same_verdict() -> None:
    first, second = [number % 5 / 5 for number in range(60)], [number % 7 / 7 for number in range(60)]
    assert metrics.compared(first, second) == metrics.compared(first, second)


def test_scores_of_other_queries_are_not_paired() -> None:
    with pytest.raises(ValueError, match="cannot be paired"):
        metrics.compared([1.0], [1.0, 2.0])
    qrels = metrics.qrels_frame({"a": {"x": 1}, "b": {"x": 1}})
    one = metrics.per_query(metrics.run_frame({"a": ["x"]}), qrels)
    assert metrics.compared_queries(one, one).difference == 0.0
    with pytest.raises(ValueError, match="same queries"):
        metrics.compared_queries(one, one.head(1))


def test_polars_and_numpy_wait_until_they_are_needed() -> None:
    code = (
        "import sys, hermes_lance.learn.metrics, hermes_lance.learn.beir, hermes_lance.learn.known_items\n"
        "print([name for name in ('polars', 'numpy', 'pyarrow') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
