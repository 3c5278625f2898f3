"""The ruler measures consistently, and close enough to a real tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_lance.parse.tokens import TokenRuler, estimate

# Token counts of all-MiniLM-L6-v2, without its two special tokens.
COUNTED = [
    ("The quick brown fox jumps over the lazy dog, again and again, until the evening comes.", 19),
    ("for index in range(len(values)):\n    total += values[index] * weights[index]\n", 23),
    ("今天天气很好，我们去公园散步。数据库索引测试。", 23),
    ("Съешь ещё этих мягких французских булок да выпей чаю", 43),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_estimates_are_within_a_quarter_of_the_truth(text, tokens):
    assert tokens * 0.75 <= estimate(text) <= tokens * 1.25


@given(st.text(max_size=3000), st.data())
def test_distances_add_up(text, data):
    ruler = TokenRuler(text)
    middle = data.draw(st.integers(0, len(text)))
    whole = ruler.tokens(0, len(text))
    assert ruler.tokens(0, middle) + ruler.tokens(middle, len(text)) == pytest.approx(whole)
    assert whole == pytest.approx(sum(estimate(text[i : i + 512]) for i in range(0, len(text), 512)), abs=0.01)


@given(st.text(min_size=1, max_size=3000), st.integers(1, 100))
def test_reach_stays_in_the_budget_and_moves_on(text, budget):
    ruler = TokenRuler(text)
    end = ruler.reach(0, budget)
    assert 0 < end <= len(text)
    assert end == 1 or ruler.tokens(0, end) <= budget + 1e-6
    back = ruler.back(len(text), budget)
    assert ruler.tokens(back, len(text)) <= budget + 6  # one letter of the heaviest kind


@given(st.text(max_size=60), st.integers(0, 200), st.data())
def test_the_ruler_knows_the_estimate_of_any_stretch_exactly(text, times, data):
    text *= times
    ruler = TokenRuler(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert ruler.estimate(start, end) == estimate(text[start:end])


@pytest.mark.parametrize("length", [4095, 4096, 4097, 4607, 4608, 4609])
def test_a_long_text_is_measured_by_the_same_blocks_as_a_short_one(length):
    text = ("word 12, a.b\n" * 400)[:length]
    ruler = TokenRuler(text)
    whole = sum(estimate(text[at : at + 512]) + 1e-6 for at in range(0, length, 512))
    assert ruler.tokens(0, length) == pytest.approx(whole, abs=1e-9)
