"""Tokens of hosted models, estimated without their tokenizers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_lance.models.token_estimate import about, cut_to


def test_short_plain_words_count_for_a_token_each_and_somewhat_more():
    sentence = "The quick brown fox jumps over the lazy dog near the river bank."
    assert 13 <= about(sentence) <= 18


def test_letters_beyond_ascii_count_for_more():
    assert about("привет") > about("privet") and about("港口") >= 2 and about("") == 0


@given(st.text(), st.integers(1, 50))
def test_a_cut_text_is_a_beginning_that_fits(text, tokens):
    clean = text.encode("utf-8", "replace").decode()
    for bytes_of_a_token in (1, 2):
        cut = cut_to(clean, tokens, bytes_of_a_token)
        assert (clean.startswith(cut) and len(cut.encode()) <= tokens * bytes_of_a_token) or cut == clean
        if cut == clean:
            assert len(clean.encode()) <= max(tokens * bytes_of_a_token, len(clean) * 4)
