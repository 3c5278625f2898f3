"""How two rankings become one."""

from __future__ import annotations

import random

import pytest

from hermes_lance.search.fuse import averaged, dense_weight, fused, minmax, reciprocal_ranks, zscores


def order(lexical, dense, **settings):
    return [one.serial for one in fused(lexical, dense, **settings)]


def test_z_scores_have_mean_zero_and_deviation_one():
    scores = zscores([(1, 3.0), (2, 1.0)])
    assert scores == {1: pytest.approx(1.0), 2: pytest.approx(-1.0)}


@pytest.mark.parametrize("scale", [zscores, minmax])
def test_equal_or_single_scores_are_neutral(scale):
    neutral = {zscores: 0.0, minmax: 0.5}[scale]
    assert scale([(1, 7.0)]) == {1: neutral}
    assert scale([(1, 7.0), (2, 7.0)]) == {1: neutral, 2: neutral}
    assert scale([]) == {}


def test_reciprocal_ranks_count_from_one():
    assert reciprocal_ranks([(5, 0.1), (6, 0.05)]) == {5: 1 / 61, 6: 1 / 62}


@pytest.mark.parametrize("method", ["zscore", "convex", "rrf"])
def test_a_row_found_by_both_legs_beats_rows_found_by_one(method):
    lexical, dense = [(1, 9.0), (2, 8.9), (3, 1.0)], [(4, 0.9), (2, 0.89), (5, 0.1)]
    assert order(lexical, dense, method=method)[0] == 2


def test_an_exact_match_far_above_the_rest_keeps_its_lead_under_z_scores():
    lexical = [(1, 60.0), *((row, 5.0 - row / 100) for row in range(2, 60))]
    dense = [(2, 0.8), *((row, 0.7 - row / 1000) for row in range(60, 118))]
    assert order(lexical, dense)[0] == 1
    assert order(lexical, dense, method="rrf")[0] == 2


def test_a_row_that_a_leg_lacks_gets_that_legs_minimum():
    lexical, dense = [(1, 2.0), (2, 1.0)], [(1, 0.5), (3, 0.4)]
    scores = {one.serial: one.score for one in fused(lexical, dense, method="convex")}
    assert scores == {1: pytest.approx(1.0), 2: pytest.approx(0.0), 3: pytest.approx(0.0)}


def test_a_leg_that_found_nothing_leaves_the_other_as_it_is():
    lexical = [(7, 3.0), (8, 2.0)]
    assert [(one.serial, one.score) for one in fused(lexical, [])] == [(7, 1.0), (8, -1.0)]


def test_rows_that_hold_the_question_verbatim_come_first_in_fused_order():
    lexical, dense = [(1, 9.0), (2, 5.0), (3, 1.0)], [(1, 0.9), (3, 0.8)]
    assert order(lexical, dense, tiers={3: 1, 2: 1}) == [2, 3, 1]


def test_rows_with_the_very_characters_come_before_rows_with_the_same_words():
    lexical, dense = [(1, 9.0), (2, 5.0), (3, 1.0)], [(1, 0.9), (3, 0.8)]
    assert order(lexical, dense, tiers={3: 2, 2: 1}) == [3, 2, 1]


def test_the_order_of_rows_does_not_depend_on_the_order_of_input():
    rng = random.Random(3)
    lexical = [(row, float(row % 7)) for row in range(40)]
    dense = [(row, float(row % 5)) for row in range(20, 60)]
    wanted = order(lexical, dense)
    for _ in range(5):
        rng.shuffle(lexical)
        rng.shuffle(dense)
        assert order(lexical, dense) == wanted


def test_questions_in_a_foreign_script_trust_the_model_less():
    assert dense_weight(0.5, share_outside=0.9) == 0.1
    assert dense_weight(0.5, share_outside=0.1) == 0.5
    assert dense_weight(0.05, share_outside=0.9) == 0.05


@pytest.mark.parametrize("holder", [500, 99])
def test_the_one_row_that_holds_a_rare_word_comes_first_whatever_the_vectors_say(holder):
    dense = [(row, 0.5 - row / 1000) for row in range(100)]
    assert order([(holder, 11.0)], dense, lexical_complete=True)[0] == holder
    # Of a list that was cut, nobody knows what the others would have got.
    assert order([(holder, 11.0)], dense)[0] == 0


def test_rows_that_share_no_word_count_as_zero_only_where_the_list_is_complete():
    lexical, dense = [(1, 9.0), (2, 8.0), (3, 7.0)], [(4, 0.9), (3, 0.5), (5, 0.1)]
    scores = {one.serial: one.score for one in fused(lexical, dense, lexical_complete=True, weight=0.0)}
    assert scores[4] == scores[5] < scores[3] < scores[1]
    cut = {one.serial: one.score for one in fused(lexical, dense, weight=0.0)}
    assert cut[4] == cut[5] == cut[3]


def test_a_mean_of_two_rankings_takes_what_both_like_first_and_keeps_the_scores_of_the_first():
    first = fused([(1, 9.0), (2, 8.0), (3, 1.0)], [])
    second = fused([(4, 9.0), (2, 8.0), (3, 1.0)], [])
    mean = averaged(first, second)
    assert mean[0].serial == 2 and mean[0].lexical == 8.0
    assert [one.serial for one in mean[1:3]] == [1, 4] and mean[1].score == mean[2].score
    assert averaged(first, []) == first and averaged([], second) == second


def test_a_verbatim_row_of_either_ranking_leads_the_mean():
    first = fused([(1, 9.0), (2, 8.0)], [], tiers={2: 2})
    assert averaged(first, fused([(1, 9.0), (3, 8.0)], []))[0].serial == 2
