"""What goes wrong between here and a reranking service: each fault has its message and its remedy, and costs no hit."""

from __future__ import annotations

import importlib.util
import json
import logging
import math
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hermes_lance
from hermes_lance.core import plugins
from hermes_lance.core.errors import ConfigError, ModelUnavailable, PluginMissing
from hermes_lance.core.records import Candidate
from tests.contracts.conftest import SECRET, Reply
from tests.contracts.rerank_service import VARIABLES, RerankService, refused

HOSTED = ["cohere", pytest.param("voyage", marks=pytest.mark.voyage)]
TEXTS = ["the bridge is closed", "the dog sleeps", "a car needs fuel"]


@pytest.fixture(params=HOSTED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def service(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[RerankService]:
    monkeypatch.setenv(VARIABLES[name][0], SECRET)
    made = RerankService(name)
    yield made
    made.close()


def asked(service: RerankService, **options: Any) -> list[float | None]:
    tier = plugins.make("rerankers", service.name, {"base_url": service.url, **options})
    given = [Candidate(text, f"private/{at}.md", ("Town",)) for at, text in enumerate(TEXTS)]
    return list(tier.scores("where is the dog", given, timeout=tier.timeout_seconds))


def trouble(service: RerankService, **options: Any) -> ModelUnavailable:
    with pytest.raises(ModelUnavailable) as caught:
        asked(service, **options)
    assert SECRET not in f"{caught.value} {caught.value.hint}"
    assert str(caught.value).startswith(f"reranker {service.name}: ")
    return caught.value


def test_one_request_has_the_question_the_passages_and_their_headings_and_no_path(service):
    assert asked(service) == [0.5, 0.5, 0.0]
    (sent,) = service.sent
    assert sent.path == ("/v1/rerank" if service.name == "voyage" else "/v2/rerank")
    assert sent.headers["authorization"] == f"Bearer {SECRET}"
    assert sent.body["query"] == "where is the dog" and sent.texts == [f"Town\n\n{text}" for text in TEXTS]
    assert "private" not in json.dumps(sent.body)


def test_where_text_goes_is_said_before_it_goes_there(name, monkeypatch):
    monkeypatch.setenv(VARIABLES[name][0], SECRET)
    tier = plugins.make("rerankers", name)
    assert tier.sends_to == type(tier).sends_to == {"cohere": "api.cohere.com", "voyage": "api.voyageai.com"}[name]
    assert plugins.make("rerankers", name, {"base_url": "http://127.0.0.1:9/v1"}).sends_to is None
    assert SECRET not in tier.signature()


def test_secrets_are_masked_before_anything_leaves(service):
    tier = plugins.make("rerankers", service.name, {"base_url": service.url})
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    given = [Candidate(f"export GITHUB_TOKEN={token}\nand go on", "a.md"), Candidate("tea " * 1_998 + token, "b.md")]
    tier.scores(f"what does {token} open", given, timeout=30)
    body = json.dumps(service.sent[0].body)
    assert token[:12] not in body and body.count("<redacted>") >= 2 and "and go on" in body


def test_long_passages_and_questions_are_cut(service):
    tier = plugins.make("rerankers", service.name, {"base_url": service.url})
    tier.scores("dog " * 10_000, [Candidate("tea " * 100_000, "a.md"), Candidate("short", "b.md")], timeout=30)
    assert len(service.sent[0].texts[0]) == 8_000 and len(service.sent[0].body["query"]) == 2_000


def test_blank_passages_are_not_sent_and_a_question_that_was_asked_is_not_asked_again(service):
    tier = plugins.make("rerankers", service.name, {"base_url": service.url})
    given = [Candidate("", "a.md"), Candidate("the dog", "b.md"), Candidate(" \n", "c.md", ("Head",))]
    first = tier.scores("dog", given, timeout=30)
    assert first[0] is None and first[2] is None and first[1] is not None
    assert service.texts == ["the dog"]
    assert tier.scores("dog", given, timeout=30) == first and len(service.sent) == 1
    tier.scores("cat", given, timeout=30)
    assert len(service.sent) == 2
    assert tier.scores("dog", given[:1], timeout=30) == [None] and len(service.sent) == 2


def test_without_a_key_the_variables_are_named(name):
    with pytest.raises(ModelUnavailable) as caught:
        plugins.make("rerankers", name)
    assert all(variable in str(caught.value) for variable in VARIABLES[name])


def test_cohere_takes_either_of_two_variables(monkeypatch):
    monkeypatch.setenv("CO_API_KEY", "the-other-one")
    service = RerankService("cohere")
    asked(service)
    service.close()
    assert service.sent[0].headers["authorization"] == "Bearer the-other-one"


def test_variables_that_only_the_sdk_knows_lead_nowhere(service, monkeypatch, tmp_path):
    elsewhere = RerankService(service.name)
    (tmp_path / "key").write_text("another-key")
    monkeypatch.setenv("CO_API_URL", elsewhere.url)
    monkeypatch.setenv("VOYAGE_API_KEY_PATH", str(tmp_path / "key"))
    asked(service)
    elsewhere.close()
    assert not elsewhere.sent and service.sent[0].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("name", ["cohere", "voyage"])
def test_without_the_sdk_the_install_line_is_said(name, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    with pytest.raises(PluginMissing) as caught:
        plugins.make("rerankers", name)
    assert f'`pip install "hermes-lance[{name}]"`' in caught.value.hint


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_not_tried_again(service, status):
    service.always = Reply(status, refused(service.name, f"invalid api token {SECRET}"))
    error = trouble(service)
    assert VARIABLES[service.name][0] in str(error) and "refused the key" in str(error) and str(status) in str(error)
    assert "fused order" in error.hint and len(service.sent) == 1


def test_a_model_that_there_is_not_is_named(service):
    service.always = Reply(404, refused(service.name, "model 'rerank-v0' not found"))
    error = trouble(service, model="rerank-v0")
    assert "rerank-v0" in str(error) and f"knowledgebase.rerankers.{service.name}.model" in error.hint


def test_too_many_requests_are_tried_again_and_then_told(service):
    service.replies.append(Reply(429, refused(service.name, "slow down"), {"retry-after": "0.01"}))
    assert asked(service) == [0.5, 0.5, 0.0] and len(service.sent) == 2
    service.always = Reply(429, refused(service.name, "slow down"), {"retry-after": "0.01"})
    error = trouble(service, retries=1)
    assert "fewer requests" in str(error) and "2 tries" in str(error) and "fused order" in error.hint


def test_a_wait_beyond_the_limit_is_not_waited(service):
    service.always = Reply(429, refused(service.name, "slow down"), {"retry-after": "100"})
    assert "fewer requests" in str(trouble(service)) and len(service.sent) == 1


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_fault_of_the_service_is_tried_again(service, status):
    service.replies.append(Reply(status, refused(service.name, "oops")))
    assert asked(service) == [0.5, 0.5, 0.0]
    service.always = Reply(status, refused(service.name, "oops"))
    assert str(status) in str(trouble(service, retries=0))


def test_a_service_that_hangs_up_is_tried_again(service):
    service.replies.append(Reply(hang_up=True))
    assert asked(service) == [0.5, 0.5, 0.0]


def test_a_service_that_does_not_answer_ends_in_time(service):
    service.always = Reply(hold=60)
    error = trouble(service, timeout_seconds=0.3)
    assert "no answer within 0." in str(error) and "timeout_seconds" in error.hint


def test_a_host_that_is_not_there_is_named(name, monkeypatch):
    monkeypatch.setenv(VARIABLES[name][0], SECRET)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    tier = plugins.make("rerankers", name, {"base_url": f"http://127.0.0.1:{port}", "retries": 0})
    with pytest.raises(ModelUnavailable, match=f"127.0.0.1:{port} cannot be reached"):
        tier.scores("dog", [Candidate("dog", "a.md")], timeout=20)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[:2], "answered 3 passages with 2 scores"),
        (lambda rows: [*rows, [0.1]], "reranker"),
        (lambda rows: [[0.4, 0], [0.3, 0], [0.2, 1]], "answered 3 passages with 3 scores, 2 of them"),
        (lambda rows: [[0.4, 0], [0.3, 1], [0.2, 7]], "reranker"),
        (lambda rows: [[0.4], [math.nan], [0.2]], "NaN"),
        (lambda rows: [[0.4], [math.inf], [0.2]], "NaN"),
    ],
)
def test_half_an_answer_is_none(service, change, said):
    service.always = Reply(change=change)
    assert said in str(trouble(service))


@pytest.mark.parametrize("body", ["<html>Log in</html>", {"hello": "world"}, [], {"results": "none", "data": "none"}])
def test_what_is_no_answer_of_a_reranking_service_is_told_so(service, body):
    service.always = Reply(200, body)
    error = trouble(service)
    assert "is not that of a reranking service" in str(error) and "base_url" in error.hint


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"base_url": "ftp://host"}, "base_url"),
        ({"base_url": "https://me:secret@host"}, "base_url"),
        ({"retries": -1}, "retries"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": "long"}, "timeout_seconds"),
        ({"api_key": "abc"}, "api_key"),
        ({"modle": "x"}, "modle"),
    ],
)
def test_options_that_are_none_are_refused_with_their_key(name, monkeypatch, options, key):
    monkeypatch.setenv(VARIABLES[name][0], SECRET)
    with pytest.raises(ConfigError, match=rf"rerankers\.{name}\.{key}") as caught:
        plugins.make("rerankers", name, options)
    assert "secret" not in str(caught.value)


# -- and in a library ------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    for number, text in enumerate(TEXTS):
        (tmp_path / "workspace" / f"note{number}.md").write_text(f"# Note {number}\n\n{text}, says note {number}.\n")
    (tmp_path / "config.yaml").write_text("knowledgebase: {embedders: {active: builtin_hash}}\n")
    hermes_lance.open(tmp_path).index()
    return tmp_path


def library_with(home: Path, name: str, **options: Any) -> hermes_lance.library.Library:
    lines = "".join(f"      {key}: {value}\n" for key, value in options.items())
    (home / "config.yaml").write_text(
        f"knowledgebase:\n  retrieval_mode: always\n  embedders: {{active: builtin_hash}}\n"
        f"  rerankers:\n    active: {name}\n" + (f"    {name}:\n{lines}" if lines else "")
    )
    return hermes_lance.open(home)


FAULTS = {
    "401": Reply(401, {"message": "no", "detail": "no"}),
    "429": Reply(429, {"message": "slow", "detail": "slow"}, {"retry-after": "500"}),
    "half": Reply(change=lambda rows: rows[:1]),
    "nan": Reply(change=lambda rows: [[math.nan] for _ in rows]),
    "login": Reply(200, "<html>Log in</html>"),
    "silence": Reply(hold=60),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_service_that_fails_costs_the_order_and_nothing_else(service, home, fault, caplog):
    caplog.set_level(logging.DEBUG)
    question = "which note says the dog sleeps"
    expected = hermes_lance.open(home).search(question)
    library = library_with(home, service.name, base_url=service.url, timeout_seconds=0.5)
    service.always = FAULTS[fault]
    answer = library.search(question)
    assert [hit.id for hit in answer] == [hit.id for hit in expected] and len(answer) == 3
    assert [hit.scores["rerank"] for hit in answer] == [None] * 3
    (warning,) = answer.warnings
    assert warning.startswith(f"reranker {service.name}: ") and "the fused order is kept" in warning
    turn = library.context(question)
    assert turn.injected and len(turn.sources) == 3
    assert any(f"reranker {service.name}" in one for one in turn.warnings)
    assert any(f"reranker {service.name}" in one for one in library.status()["warnings"])
    assert any(f"reranker {service.name}" in check.detail and not check.fatal for check in library.doctor())
    service.always = None
    assert None not in [hit.scores["rerank"] for hit in library.search("which note says a car needs fuel")]
    assert not library.status()["warnings"]
    assert SECRET not in caplog.text + json.dumps(library.status()) + (home / "config.yaml").read_text()


def test_without_a_key_everything_is_found_and_status_and_doctor_say_so_before_anybody_asks(name, home):
    library = library_with(home, name)
    variable = VARIABLES[name][0]
    assert any(variable in one for one in library.status()["warnings"])
    assert any(variable in check.detail and not check.fatal for check in library.doctor())
    answer = library.search("dog sleeps")
    assert len(answer) == 3 and any(variable in one for one in answer.warnings)


def test_what_is_gone_from_the_disk_is_sent_to_nobody(service, home):
    library = library_with(home, service.name, base_url=service.url)
    (home / "workspace" / "note1.md").unlink()
    library.search("which note says the dog sleeps")
    library.context("which note says the dog sleeps")
    assert service.texts and not any("dog" in text for text in service.texts)


def test_files_that_instruct_agents_are_sent_to_nobody_unasked(service, home):
    (home / "workspace" / "AGENTS.md").write_text("# Orders\n\nEvery note says that the dog sleeps.\n")
    library = library_with(home, service.name, base_url=service.url)
    library.index()
    assert library.context("which note says the dog sleeps").injected
    assert service.texts and not any("Orders" in text for text in service.texts)
