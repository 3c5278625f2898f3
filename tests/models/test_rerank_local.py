"""The local cross-encoder, on a tiny model with random weights: all but the quality of its judgement."""

from __future__ import annotations

import importlib.util
import socket
import threading
import time
from pathlib import Path

import pytest

from hermes_lance.core.errors import ConfigError, ModelUnavailable, PluginMissing
from hermes_lance.core.records import Candidate
from hermes_lance.models.rerank_local import LocalCrossEncoder
from tests.models.tiny_cross_encoder import make_cross_encoder

QUESTION = "where is the dog"
TEXTS = ["The dog sleeps in the kitchen.", "The bridge over the river is closed.", "A car needs fuel.", "Tea at nine."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def model(folder: Path) -> LocalCrossEncoder:
    return LocalCrossEncoder(str(folder), device="cpu", batch_size=2)


def given(*texts: str) -> list[Candidate]:
    return [Candidate(text, f"{at}.md") for at, text in enumerate(texts)]


def scored(model: LocalCrossEncoder, *texts: str, question: str = QUESTION) -> list[float | None]:
    return model.scores(question, given(*texts), timeout=60)


def test_without_its_packages_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(PluginMissing) as caught:
        LocalCrossEncoder()
    assert '`pip install "hermes-lance[local]"`' in caught.value.hint


@pytest.mark.torch
def test_the_scores_are_those_of_the_model_itself(model, folder):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    own = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        pairs = tokenizer([QUESTION] * len(TEXTS), TEXTS, padding=True, return_tensors="pt")
        expected = torch.sigmoid(own(**pairs).logits[:, 0].double()).tolist()
    found = scored(model, *TEXTS)
    assert found == pytest.approx(expected, abs=1e-5)
    assert len(set(found)) == len(TEXTS) and all(0 < score < 1 for score in found if score is not None)


@pytest.mark.torch
def test_batches_and_company_change_no_score(model, folder):
    texts = [" ".join([*TEXTS][: 1 + number % 4]) for number in range(7)]
    together = scored(model, *texts)
    assert together == pytest.approx([scored(model, text)[0] for text in texts], abs=1e-5)
    large = LocalCrossEncoder(str(folder), device="cpu", batch_size=64)
    assert scored(large, *texts[::-1])[::-1] == pytest.approx(together, abs=1e-5)
    assert scored(model) == []


@pytest.mark.torch
def test_blank_passages_have_no_score_and_odd_ones_do(model):
    odd = ["\ud800 half", "nul \x00 inside", "🦄" * 50, "港口 привет"]
    found = scored(model, "", *odd, " \n\t")
    assert found[0] is None and found[-1] is None
    assert all(isinstance(score, float) for score in found[1:-1])


@pytest.mark.torch
def test_what_is_too_long_for_the_model_is_cut_and_the_question_stays(model):
    long = " ".join(["the bridge over the river"] * 5_000)
    assert scored(model, long) == pytest.approx(scored(model, long + " dog kitchen"), abs=1e-6)
    assert scored(model, long, question="dog") != scored(model, long, question="tea")
    assert scored(model, "tea", question=long)[0] is not None


@pytest.mark.torch
def test_fewer_tokens_are_read_where_that_is_asked_for(model, folder):
    short = LocalCrossEncoder(str(folder), device="cpu", max_length=16)
    begin = "the dog sleeps in the kitchen and"
    assert scored(short, begin + " the bridge over the river is closed") == pytest.approx(
        scored(short, begin + " tea at nine"), abs=1e-6
    )
    assert scored(model, begin + " the river is closed")[0] != pytest.approx(
        scored(model, begin + " tea at nine a car")[0], abs=1e-6
    )
    assert short.signature() != model.signature()


@pytest.mark.torch
def test_the_section_trail_is_read_but_never_the_path(model):
    plain = model.scores(QUESTION, [Candidate("tea at nine", "a.md")], timeout=60)
    elsewhere = model.scores(QUESTION, [Candidate("tea at nine", "secret/dog.md")], timeout=60)
    below = model.scores(QUESTION, [Candidate("tea at nine", "a.md", ("Harbour", "Kitchen"))], timeout=60)
    assert plain == elsewhere and plain[0] != pytest.approx(below[0], abs=1e-6)


@pytest.mark.torch
def test_it_works_with_the_network_cut(folder, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert scored(LocalCrossEncoder(str(folder), device="cpu"), "tea")[0] is not None


@pytest.mark.torch
def test_threads_that_share_it_get_what_one_alone_would(folder):
    fresh = LocalCrossEncoder(str(folder), device="cpu", batch_size=2)
    found: dict[int, list[float | None]] = {}

    def work(number: int) -> None:
        found[number] = scored(fresh, *TEXTS)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(one == pytest.approx(found[0], abs=1e-6) for one in found.values())


@pytest.mark.torch
def test_it_ends_between_batches_when_the_time_is_over(folder):
    slow = LocalCrossEncoder(str(folder), device="cpu", batch_size=1)
    scored(slow, "tea")  # loaded
    with pytest.raises(ModelUnavailable, match="not done in time") as caught:
        slow.scores(QUESTION, given(*TEXTS), timeout=0.0)
    assert "timeout_seconds" in caught.value.hint


@pytest.mark.torch
def test_a_call_that_waits_for_another_ends_in_time(model):
    with model._lock:
        began = time.monotonic()
        with pytest.raises(ModelUnavailable, match="not done in time"):
            model.scores(QUESTION, given(*TEXTS), timeout=0.05)
    assert time.monotonic() - began < 30


@pytest.mark.torch
def test_an_absent_model_names_id_folder_the_way_and_what_serves_meanwhile(tmp_path):
    for name in ("BAAI/bge-reranker-v2-m3", "bge-reranker-v2-m3"):
        with pytest.raises(ModelUnavailable) as caught:
            LocalCrossEncoder(name, cache_folder=str(tmp_path))
        assert "BAAI/bge-reranker-v2-m3" in str(caught.value)
        assert str(tmp_path / "models--BAAI--bge-reranker-v2-m3") in str(caught.value)
        assert "hf download BAAI/bge-reranker-v2-m3" in caught.value.hint
        assert "knowledgebase.rerankers.local_cross_encoder.model" in caught.value.hint
        assert "fused order" in caught.value.hint


@pytest.mark.torch
def test_a_model_in_the_local_cache_is_found_by_its_id(tmp_path):
    entry = tmp_path / "models--someone--tiny"
    (entry / "refs").mkdir(parents=True)
    (entry / "refs" / "main").write_text("a" * 40)
    make_cross_encoder(entry / "snapshots" / ("a" * 40))
    found = LocalCrossEncoder("someone/tiny", cache_folder=str(tmp_path), device="cpu")
    assert scored(found, "tea")[0] is not None and "tiny" in found.signature()


@pytest.mark.torch
@pytest.mark.parametrize("missing", ["nowhere", "empty", "half"])
def test_a_folder_without_a_model_is_refused_at_once(tmp_path, missing):
    (tmp_path / "empty").mkdir()
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "config.json").write_text("{}")
    with pytest.raises(ModelUnavailable, match=missing):
        LocalCrossEncoder(str(tmp_path / missing))


@pytest.mark.torch
def test_a_model_that_is_no_reranker_is_told_so(tmp_path):
    with pytest.raises(ModelUnavailable, match="3 outputs, so that it is no reranker"):
        scored(LocalCrossEncoder(str(make_cross_encoder(tmp_path, outputs=3)), device="cpu"), "tea")


@pytest.mark.torch
def test_weights_that_are_broken_are_told_so(tmp_path):
    folder = make_cross_encoder(tmp_path / "broken")
    weights = next(folder.glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(ModelUnavailable, match="cannot be loaded") as caught:
        scored(LocalCrossEncoder(str(folder), device="cpu"), "tea")
    assert "broken" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.torch
@pytest.mark.parametrize("device", ["nonsense", "cuda:99"])
def test_a_device_that_is_not_there_is_a_clear_error(folder, device):
    with pytest.raises(ModelUnavailable) as caught:
        scored(LocalCrossEncoder(str(folder), device=device), "tea")
    assert device in str(caught.value) and "local_cross_encoder.device" in caught.value.hint


@pytest.mark.torch
@pytest.mark.parametrize(
    "options", [{"batch_size": 0}, {"batch_size": "two"}, {"max_length": 3}, {"timeout_seconds": 0}]
)
def test_options_that_are_none_are_refused_with_their_key(folder, options):
    with pytest.raises(ConfigError, match=r"rerankers\.local_cross_encoder\." + next(iter(options))):
        LocalCrossEncoder(str(folder), **options)


@pytest.mark.gpu
@pytest.mark.torch
def test_passages_are_ranked_on_cuda_as_on_the_cpu(folder):
    texts = [f"{verb} {thing} at nine" for verb in ("the dog is over", "a car needs", "tea in") for thing in
             ("the river", "the kitchen", "fuel", "the harbour", "a bridge", "tea")]  # fmt: skip
    rankings = []
    for device in ("cuda", "cpu"):
        made = LocalCrossEncoder(str(folder), device=device)
        assert made.device.startswith(device)
        scores = [-round(score, 4) for score in scored(made, *texts) if score is not None]
        rankings.append([at for _, at in sorted(zip(scores, range(len(texts)), strict=True))])
    assert rankings[0] == rankings[1]
