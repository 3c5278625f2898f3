"""Signed feature hashing of words."""

from __future__ import annotations

import numpy as np
import pytest

from hermes_lance.core.contracts import Embedder
from hermes_lance.core.errors import Cancelled, ConfigError
from hermes_lance.models.hashing import HashEmbedder


def likeness(one: str, other: str, dims: int = 1024) -> float:
    embedder = HashEmbedder(dims)
    return float(embedder.embed_query(one) @ embedder.embed_documents([other])[0])


def test_it_fits_the_contract_and_reads_every_script():
    embedder = HashEmbedder()
    assert isinstance(embedder, Embedder)
    assert (embedder.dimensions, embedder.fusion_weight, embedder.scripts) == (1024, 0.2, frozenset())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Parsing", "parsed"),
        ("getUserName", "user_name"),
        ("HTTPServer", "http server"),
        ("Café", "cafe"),
        ("Cafe\u0301", "café"),
        ("utf8", "UTF-8 utf"),
        ("ПРИВЕТ", "привет"),
        ("ﬁle", "file"),
    ],
)
def test_spellings_of_one_word_meet(one, other):
    assert likeness(one, other) > 0.6


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("東京の天気", "今日の東京の天気は晴れです", "猫が好きです"),
        ("สวัสดีครับ", "ผมพูดว่าสวัสดีครับ", "ราคาเท่าไหร่"),
        ("नमस्ते दुनिया", "उसने कहा नमस्ते दुनिया", "कल बारिश होगी"),
        ("مرحبا بالعالم", "قال مرحبا بالعالم", "سيكون الجو باردا"),
    ],
)
def test_scripts_other_than_latin_are_found_by_their_words(question, right, wrong):
    assert likeness(question, right) > likeness(question, wrong) + 0.2


def test_vectors_have_length_one_and_nothing_gives_zero():
    vectors = HashEmbedder().embed_documents(["some words here", "", "!!! ---", "the of and", "😀"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors[0]) == pytest.approx(1.0, abs=1e-6)
    assert not vectors[1:].any()


def test_the_same_text_gives_the_same_vector_whatever_came_before():
    fresh = HashEmbedder().embed_query("alpha beta gamma")
    used = HashEmbedder()
    used.embed_documents(["gamma delta", "beta"])
    assert np.array_equal(fresh, used.embed_query("alpha beta gamma"))
    assert np.array_equal(fresh, used.embed_documents(["alpha beta gamma"])[0])


@pytest.mark.parametrize("dims", [32, 4096])
def test_the_number_of_dimensions_can_be_chosen(dims):
    embedder = HashEmbedder(dims)
    assert embedder.embed_query("word").shape == (dims,)
    assert embedder.signature() != HashEmbedder().signature()


@pytest.mark.parametrize("dims", [31, 4097, 0, -1, "many", 1.5, True])
def test_other_numbers_are_refused_with_the_key(dims):
    with pytest.raises(ConfigError, match="dims"):
        HashEmbedder(dims)


def test_tokens_are_words_and_pairs_of_characters():
    assert HashEmbedder().count_tokens(["", "three little words", "東京都"]) == [0, 3, 2]


def test_stopping_raises():
    with pytest.raises(Cancelled):
        HashEmbedder().embed_documents(["a word"], cancelled=lambda: True)


def test_lone_surrogates_and_control_characters_are_no_fault():
    vectors = HashEmbedder().embed_documents(["\ud800abc", "a\x00bc", "\u202eevil", "\udcff"])
    lengths = (vectors**2).sum(axis=1)
    assert lengths[:3] == pytest.approx(1.0) and lengths[3] == pytest.approx(0.0)
