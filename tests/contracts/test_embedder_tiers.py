"""What every embedder tier promises, whether it computes here or asks a service."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import hermes_lance
from hermes_lance.core.contracts import Embedder
from hermes_lance.core.errors import Cancelled
from hermes_lance.core.yaml_file import read_yaml
from hermes_lance.models.load import embedder
from hermes_lance.testing import check_embedder
from tests.contracts.conftest import HOSTED, Service, packaged_weights

TIERS = [
    "minilm",
    "builtin_hash",
    pytest.param("local_sentence_transformers", marks=pytest.mark.torch),
    *HOSTED,
]
TEXTS = ["The dog sleeps in the kitchen.", "", "A car needs fuel.", " \n\t", "Überall Brücken, 港口 and привет."]


@pytest.fixture(params=TIERS)
def options(request: pytest.FixtureRequest, serve: Callable[[str], Service]) -> tuple[str, dict[str, Any]]:
    """Name and options of each tier."""
    name = request.param
    if name in HOSTED:
        return name, {"base_url": serve(name).url, "query_timeout": 60}
    if name == "local_sentence_transformers":
        return name, {"model": str(packaged_weights()), "device": "cpu"}
    return name, {}


@pytest.fixture
def tier(options: tuple[str, Mapping[str, Any]]) -> Embedder:
    return embedder(*options)


def test_it_says_what_the_library_has_to_know_before_the_first_text(tier):
    assert isinstance(tier, Embedder)
    assert tier.name and tier.signature().isprintable() and "/" in tier.signature()
    assert tier.dimensions > 0 and tier.window_tokens >= 128
    assert isinstance(tier.scripts, frozenset) and 0 < tier.fusion_weight <= 1
    assert getattr(tier, "sends_to", None) is None, "this machine is nobody else"


def test_it_passes_the_checks_that_plugins_have_to_pass(tier):
    check_embedder(tier)


def test_a_vector_for_each_text_in_order_of_length_one_and_zero_for_blank_ones(tier):
    vectors = tier.embed_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), tier.dimensions) and vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.allclose(lengths, [1, 0, 1, 0, 1], atol=1e-5)
    assert tier.embed_documents([]).shape == (0, tier.dimensions)
    assert tier.embed_documents(["", " "]).any() == np.False_


def test_a_text_has_the_same_vector_in_any_company(tier):
    alone = [tier.embed_documents([text])[0] for text in TEXTS]
    together = tier.embed_documents([*TEXTS[::-1], *TEXTS])
    assert np.allclose(together[: len(TEXTS)][::-1], alone, atol=1e-4)
    assert np.allclose(together[len(TEXTS) :], alone, atol=1e-4)


def test_a_question_is_nearest_to_the_text_that_answers_it(tier):
    documents = tier.embed_documents(["the dog sleeps in the kitchen", "the bridge over the river is closed"])
    question = tier.embed_query("where does the dog sleep in the kitchen")
    assert question.shape == (tier.dimensions,) and question.dtype == np.float32
    assert np.linalg.norm(question) == pytest.approx(1.0, abs=1e-5)
    near, far = documents @ question
    assert near > far
    assert not tier.embed_query("").any() and not tier.embed_query(" \n").any()


def test_what_a_caller_does_to_a_vector_does_not_come_back(tier):
    first = tier.embed_query("tea")
    kept = first.copy()
    first[:] = 7
    assert np.allclose(tier.embed_query("tea"), kept, atol=1e-6)


def test_two_of_one_kind_share_a_space(tier, options):
    other = embedder(*options)
    assert other.signature() == tier.signature()
    assert np.allclose(other.embed_documents(["tea"]), tier.embed_documents(["tea"]), atol=1e-5)


@pytest.mark.parametrize("odd", ["\ud800 half a pair", "nul \x00 inside", "🦄" * 50, "x" * 200_000, "a\u202eb\ufeff"])
def test_no_text_is_too_odd_or_too_long(tier, odd):
    vectors = tier.embed_documents([odd, "tea"])
    assert np.isfinite(vectors).all() and np.linalg.norm(vectors[1]) == pytest.approx(1.0, abs=1e-5)
    assert np.isfinite(tier.embed_query(odd)).all()
    assert tier.count_tokens([odd])[0] >= 0


def test_tokens_are_counted_and_more_text_has_more(tier):
    short, long = tier.count_tokens(["tea and toast", "tea and toast " * 400])
    assert 0 < short < long and long >= 400
    assert tier.count_tokens([]) == []


def test_the_callers_wish_to_stop_ends_it(tier):
    with pytest.raises(Cancelled):
        tier.embed_documents(["tea", "toast"] * 200, cancelled=lambda: True)


def test_threads_that_share_it_get_what_one_alone_would(tier):
    texts = [f"text number {number} about {word}" for number, word in enumerate(["tea", "dogs", "cars", "rain"] * 3)]
    expected = tier.embed_documents(texts)
    found: dict[int, Any] = {}

    def work(number: int) -> None:
        found[number] = tier.embed_documents(texts[number::3])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0, 1, 2]
    for number, vectors in found.items():
        assert np.allclose(vectors, expected[number::3], atol=1e-4)


def test_a_home_is_built_and_asked_with_it(tmp_path, options):
    name, how = options
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "pets.md").write_text("# Pets\n\nThe dog sleeps in the kitchen.\n")
    (tmp_path / "workspace" / "roads.md").write_text("# Roads\n\nThe bridge over the river is closed.\n")
    lines = "".join(f"      {key}: {value}\n" for key, value in how.items())
    (tmp_path / "config.yaml").write_text(
        f"knowledgebase:\n  embedders:\n    active: {name}\n" + (f"    {name}:\n{lines}" if lines else "")
    )
    assert read_yaml(tmp_path / "config.yaml")["knowledgebase"]["embedders"]["active"] == name
    library = hermes_lance.open(tmp_path)
    report = library.index()
    assert report.vectors_written == 2 and report.vectors_pending == 0
    answer = library.search("the dog in the kitchen", mode="dense")
    assert answer.hits[0].path == "pets.md" and not answer.warnings
    manifest = library.manifest()
    assert manifest.space["active"]["embedder"] == name
    assert hermes_lance.open(tmp_path).index().vectors_written == 0
