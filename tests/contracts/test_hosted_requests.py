"""What is sent to a service, and no more than that: model, width, task, and texts in portions that it takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hermes_lance.core.errors import ConfigError
from hermes_lance.models.load import embedder
from tests.contracts.conftest import HOSTED, KEYS, SECRET, Reply, refusal


def test_openai_is_sent_texts_as_they_are_with_the_key_in_the_header(serve):
    service = serve("openai")
    embedder("openai", {"base_url": service.url}).embed_documents(["tea", " ", "toast"])
    (sent,) = service.sent
    assert sent.path == "/v1/embeddings" and sent.headers["authorization"] == f"Bearer {SECRET}"
    assert sent.body == {"input": ["tea", "toast"], "model": "text-embedding-3-small", "encoding_format": "base64"}


def test_a_server_that_answers_in_written_numbers_is_understood_as_well(serve):
    service = serve("openai")
    made = embedder("openai", {"base_url": service.url})
    packed = made.embed_documents(["tea", "toast"])
    service.writes_numbers = True
    assert np.allclose(made.embed_documents(["tea", "toast"]), packed, atol=1e-6)


@pytest.mark.parametrize("model", ["gemini-embedding-2", "gemini-embedding-001", "text-embedding-004"])
def test_google_is_told_what_is_a_document_and_what_a_question(serve, model):
    service = serve("google")
    made = embedder("google", {"base_url": service.url, "model": model})
    made.embed_documents(["tea"])
    made.embed_query("tea?")
    document, question = service.sent
    assert document.path == f"/v1beta/models/{model}:batchEmbedContents"
    assert document.headers["x-goog-api-key"] == SECRET and SECRET not in document.path
    kinds = [one.body["requests"][0].get("taskType") for one in (document, question)]
    if model == "gemini-embedding-2":
        assert kinds == [None, None]
        assert (document.texts, question.texts) == (
            ["title: none | text: tea"],
            ["task: search result | query: tea?"],
        )
    else:
        assert kinds == ["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]
        assert (document.texts, question.texts) == (["tea"], ["tea?"])
    assert document.body["requests"][0]["outputDimensionality"] == 768


def test_each_text_for_google_is_a_request_of_its_own_and_not_a_part_of_one(serve):
    service = serve("google")
    embedder("google", {"base_url": service.url}).embed_documents(["a", "b", "c"])
    assert len(service.sent[0].body["requests"]) == 3


@pytest.mark.parametrize(
    ("options", "width", "asked"),
    [
        ({}, 1536, None),
        ({"dimensions": 1536}, 1536, None),
        ({"dimensions": 512}, 512, 512),
        ({"model": "text-embedding-3-large"}, 3072, None),
        ({"model": "text-embedding-3-large", "dimensions": 256}, 256, 256),
        ({"model": "openai/text-embedding-3-small", "dimensions": 256}, 256, 256),
        ({"model": "text-embedding-ada-002"}, 1536, None),
        ({"model": "nomic-embed-text", "dimensions": 1536}, 1536, None),
    ],
)
def test_openai_is_asked_for_a_width_only_by_models_that_can_be_shortened(serve, options, width, asked):
    service = serve("openai")
    if width != 1536 and asked is None:
        service.always = Reply(change=lambda vectors: [[1.0] * width for _ in vectors])
    made = embedder("openai", {"base_url": service.url, **options})
    assert made.embed_query("tea").shape == (width,) == (made.dimensions,)
    assert service.sent[0].body.get("dimensions") == asked


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("openai", {"model": "text-embedding-ada-002", "dimensions": 512}, "cannot be shortened"),
        ("openai", {"dimensions": 4096}, "32 to 1536 fit"),
        ("openai", {"dimensions": "many"}, "whole number"),
        ("openai", {"model": "nomic-embed-text"}, "width is not known"),
        ("google", {"dimensions": 64}, "128 to 3072 fit"),
        ("google", {"model": "gemini-embedding-9"}, "width is not known"),
        ("openai", {"base_url": "ftp://example.org"}, "an address like"),
        ("openai", {"batch_size": 0}, "from 1 to 2048"),
        ("google", {"batch_size": 101}, "from 1 to 100"),
        ("openai", {"timeout": "soon"}, "a number"),
        ("openai", {"retries": True}, "a number"),
        ("openai", {"dimension": 512}, "did you mean dimensions"),
    ],
)
def test_an_option_that_cannot_be_is_named_with_what_would_do(name, options, words, monkeypatch):
    monkeypatch.setenv(KEYS[name], SECRET)
    with pytest.raises(ConfigError, match=words) as caught:
        embedder(name, options)
    assert f"knowledgebase.embedders.{name}." in str(caught.value)


def test_a_request_holds_no_more_texts_than_it_may(service, hosted):
    made = hosted(batch_size=3)
    vectors = made.embed_documents([f"text {number}" for number in range(8)])
    assert [len(one.texts) for one in service.sent] == [3, 3, 2]
    assert vectors.any(axis=1).all()


def test_a_request_holds_no_more_tokens_than_it_may(service, hosted, monkeypatch):
    made = hosted()
    monkeypatch.setattr(type(made), "limits", replace(made.limits, tokens=500))
    made.embed_documents(["word " * 80] * 6)  # 400 bytes: 200 tokens at the most
    assert [len(one.texts) for one in service.sent] == [2, 2, 2]


def test_what_is_longer_than_the_window_is_cut_before_it_is_sent(service, hosted):
    made = hosted()
    made.embed_documents(["slow " * 20_000])
    (sent,) = service.texts
    assert 1000 < len(sent) <= 2 * made.window_tokens


def test_what_a_service_finds_too_long_is_sent_once_more_and_surely_short_enough(service, hosted):
    service.replies.append(Reply(400, refusal(service.name, 400, "maximum context length exceeded")))
    made = hosted()
    assert made.embed_documents(["汉字" * 20_000]).any()
    first, second = (one.texts[0] for one in service.sent)
    assert len(second.encode()) <= made.window_tokens < len(first.encode())


def test_a_request_that_is_refused_for_another_reason_is_not_sent_again(service, hosted):
    service.always = Reply(400, refusal(service.name, 400, "no such option"))
    with pytest.raises(Exception, match="no such option"):
        hosted().embed_documents(["tea"])
    assert len(service.sent) == 1


def test_signatures_name_model_and_width_and_neither_address_nor_key(service, hosted):
    made = hosted()
    assert made.signature().startswith(f"{service.name}/{made.model}/{made.dimensions}/")
    assert made.signature() != hosted(dimensions=256).signature()
    assert "127.0.0.1" not in made.signature() and SECRET not in made.signature()
    assert hosted(batch_size=5, timeout=9, retries=1).signature() == made.signature()


@pytest.mark.parametrize("name", HOSTED)
def test_a_server_on_this_machine_needs_no_key_and_nothing_leaves_it(name, serve, monkeypatch):
    service = serve(name)
    monkeypatch.delenv(KEYS[name])
    made = embedder(name, {"base_url": service.url})
    assert made.sends_to is None and made.embed_query("tea").any()  # type: ignore[attr-defined]


def test_a_server_elsewhere_is_named(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    made = embedder("openai", {"base_url": "https://models.example.org/v1"})
    assert made.sends_to == "models.example.org"  # type: ignore[attr-defined]
