"""What goes wrong between here and a service: each fault has its message and its remedy, and costs nothing that was
finished."""

from __future__ import annotations

import importlib.util
import logging
import socket
import sys
import threading
from typing import Any

import pytest

import hermes_lance
from hermes_lance.core.errors import (
    Cancelled,
    ConfigError,
    HermesLanceError,
    ModelUnavailable,
    PluginFailed,
    PluginMissing,
)
from hermes_lance.models import service_call
from hermes_lance.models.load import embedder
from tests.contracts.conftest import HOSTED, KEYS, SECRET, Reply, refusal, until


def trouble(model: Any, text: str = "tea") -> HermesLanceError:
    with pytest.raises(HermesLanceError) as caught:
        model.embed_documents([text])
    return caught.value


@pytest.mark.parametrize("name", HOSTED)
def test_without_a_key_the_variable_is_named_and_nobody_is_asked(name):
    with pytest.raises(ModelUnavailable) as caught:
        embedder(name)
    assert KEYS[name] in str(caught.value) and KEYS[name] in caught.value.hint


def test_google_takes_either_of_two_variables(monkeypatch, serve):
    service = serve("google")
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("GEMINI_API_KEY", "the-other-one")
    embedder("google", {"base_url": service.url}).embed_query("tea")
    assert service.sent[0].headers["x-goog-api-key"] == "the-other-one"


@pytest.mark.parametrize("name", HOSTED)
def test_a_key_that_cannot_be_one_is_refused_before_any_library_quotes_it(name, monkeypatch):
    monkeypatch.setenv(KEYS[name], "sk-abc\ndef")
    with pytest.raises(ModelUnavailable) as caught:
        embedder(name)
    assert KEYS[name] in str(caught.value) and "sk-abc" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("name", HOSTED)
def test_without_the_sdk_the_install_line_is_said(name, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    with pytest.raises(PluginMissing) as caught:
        embedder(name)
    assert f'`pip install "hermes-lance[{name}]"`' in caught.value.hint


@pytest.mark.parametrize("name", HOSTED)
def test_an_sdk_that_is_broken_is_told_with_the_install_line(name, monkeypatch):
    monkeypatch.setenv(KEYS[name], SECRET)
    made = embedder(name)
    monkeypatch.setitem(sys.modules, type(made).package, None)  # type: ignore[attr-defined]
    with pytest.raises(PluginFailed) as caught:
        made.embed_query("tea")
    assert f'"hermes-lance[{name}]"' in caught.value.hint


@pytest.mark.parametrize(("status", "message"), [(401, "Incorrect API key"), (403, "not allowed")])
def test_a_refused_key_is_not_tried_again(service, hosted, status, message):
    service.always = Reply(status, refusal(service.name, status, f"{message} provided: {SECRET}"))
    error = trouble(hosted())
    assert KEYS[service.name] in str(error) and "refused the key" in str(error) and str(status) in str(error)
    assert KEYS[service.name] in error.hint and len(service.sent) == 1


def test_google_says_400_to_a_wrong_key(serve):
    service = serve("google")
    service.always = Reply(400, refusal("google", 400, "API key not valid. Please pass a valid API key."))
    assert "refused the key in GOOGLE_API_KEY" in str(trouble(embedder("google", {"base_url": service.url})))


def test_too_many_requests_are_tried_again_and_then_told(service, hosted):
    service.always = Reply(429, refusal(service.name, 429, "slow down"))
    error = trouble(hosted(retries=2))
    assert "fewer requests" in str(error) and "3 tries" in str(error) and len(service.sent) == 3
    assert "continues where it stopped" in error.hint


@pytest.fixture
def waits(monkeypatch):
    """Seconds that were to be waited between tries; nobody waits."""
    found: list[float] = []
    monkeypatch.setattr(service_call.Service, "_wait", lambda self, seconds, patience: found.append(seconds))
    return found


def test_the_wait_that_a_service_asks_for_is_kept(service, hosted, waits):
    service.replies.append(Reply(429, refusal(service.name, 429, "slow down"), {"Retry-After": "17"}))
    assert hosted().embed_documents(["tea"]).any()
    assert 17.0 in waits and len(service.sent) == 2


def test_a_wait_of_hours_is_not_kept(service, hosted):
    service.always = Reply(429, refusal(service.name, 429, "come back tomorrow"), {"Retry-After": "86400"})
    assert "come back tomorrow" in str(trouble(hosted()))
    assert len(service.sent) == 1


def test_google_tells_its_wait_in_the_body(serve, waits):
    service = serve("google")
    body = refusal("google", 429, "quota of this minute", "RESOURCE_EXHAUSTED")
    body["error"]["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}]
    service.replies.append(Reply(429, body))
    assert embedder("google", {"base_url": service.url}).embed_documents(["tea"]).any()
    assert 17.5 in waits


def test_an_empty_account_is_not_asked_again(serve):
    service = serve("openai")
    service.always = Reply(429, refusal("openai", 429, "You exceeded your current quota", "insufficient_quota"))
    error = trouble(embedder("openai", {"base_url": service.url}))
    assert "no quota left" in str(error) and "billing" in error.hint and len(service.sent) == 1


def test_a_fault_of_the_service_is_tried_again_and_passes(service, hosted):
    service.replies += [Reply(500, refusal(service.name, 500, "oops")), Reply(503, "<html>busy</html>")]
    assert hosted().embed_documents(["tea"]).any()
    assert len(service.sent) == 3


def test_a_fault_that_lasts_is_told(service, hosted):
    service.always = Reply(502, "<html>bad gateway</html>")
    error = trouble(hosted(retries=1))
    assert "a fault of its own (502" in str(error) and "2 tries" in str(error)


def test_no_answer_in_time_is_told_with_the_option_that_changes_it(service, hosted):
    service.always = Reply(hold=30)
    error = trouble(hosted(timeout=0.2, retries=1))
    assert "no answer within 0.2 s" in str(error) and "`timeout`" in error.hint


def test_a_service_that_is_not_there_is_told_with_its_address(service, hosted):
    model = hosted(retries=5)
    service.close()
    error = trouble(model)
    assert "127.0.0.1" in str(error) and "cannot be reached" in str(error) and "2 tries" in str(error)
    assert "network" in error.hint


@pytest.mark.parametrize("name", HOSTED)
def test_text_goes_to_the_host_that_was_named_whatever_else_the_environment_says(name, monkeypatch):
    asked: list[str] = []

    def nobody(host: Any, *_: Any, **__: Any) -> Any:
        asked.append(host.decode() if isinstance(host, bytes) else host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    monkeypatch.setenv(KEYS[name], SECRET)
    for variable, value in {
        "OPENAI_BASE_URL": "https://elsewhere.invalid/v1", "GOOGLE_GEMINI_BASE_URL": "https://elsewhere.invalid",
        "GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "mine", "GOOGLE_CLOUD_LOCATION": "europe-west1",
    }.items():  # fmt: skip
        monkeypatch.setenv(variable, value)
    model: Any = embedder(name)
    error = trouble(model)
    assert set(asked) == {model.sends_to} == {type(model).sends_to}
    assert f"{model.sends_to} cannot be reached" in str(error) and "not known" in str(error)


def test_a_service_that_hangs_up_is_asked_again(service, hosted):
    service.replies.append(Reply(hang_up=True))
    assert hosted().embed_documents(["tea"]).any()


def test_vectors_of_another_width_are_refused(service, hosted):
    service.always = Reply(change=lambda vectors: [vector[:8] for vector in vectors])
    error = trouble(hosted())
    assert "have 8 numbers, not" in str(error) and ".dimensions" in error.hint and len(service.sent) == 1


def test_half_an_answer_is_refused_whole(service, hosted):
    service.always = Reply(change=lambda vectors: vectors[: len(vectors) // 2])
    with pytest.raises(ModelUnavailable, match="4 texts with 2 vectors"):
        hosted().embed_documents(["a", "b", "c", "d"])


def test_numbers_that_are_none_are_refused(service, hosted):
    service.always = Reply(change=lambda vectors: [[float("nan")] * len(vector) for vector in vectors])
    assert "NaN" in str(trouble(hosted()))


@pytest.mark.parametrize("body", ["<html>Please log in to this network</html>", {"answer": "yes"}, []])
def test_an_answer_of_something_else_is_told(service, hosted, body):
    service.always = Reply(body=body)
    error = trouble(hosted())
    assert "not that of an embedding service" in str(error) or "with 0 vectors" in str(error)


def test_a_model_that_is_gone_is_told_with_its_key(service, hosted):
    service.always = Reply(404, refusal(service.name, 404, "model not found"))
    error = trouble(hosted())
    assert "has no model" in str(error) and f"knowledgebase.embedders.{service.name}.model" in error.hint


def test_the_key_is_in_no_error_no_log_no_signature_and_no_name(service, hosted, caplog):
    caplog.set_level(logging.DEBUG)
    model = hosted(retries=0)
    shown = [repr(model), str(vars(model).get("_errors")), model.signature()]
    for status in (400, 401, 404, 429, 500):
        service.replies.append(Reply(status, refusal(service.name, status, f"you sent {SECRET}")))
        with pytest.raises(HermesLanceError) as caught:
            model.embed_documents(["tea"])
        shown += [str(caught.value), caught.value.hint, repr(caught.value)]
        assert caught.value.__cause__ is None and caught.value.__suppress_context__
    # The SDKs log what they send, headers without the key; what they log of an answer is the service's own.
    shown += [record.getMessage() for record in caplog.records if "you sent" not in record.getMessage()]
    assert not [text for text in shown if SECRET in text]


@pytest.mark.parametrize("option", ["api_key", "api-key", "token"])
def test_a_key_in_the_configuration_is_refused_without_being_shown(tmp_path, option):
    (tmp_path / "config.yaml").write_text(
        f"knowledgebase:\n  embedders:\n    active: openai\n    openai: {{{option}: {SECRET}}}\n"
    )
    with pytest.raises(ConfigError) as caught:
        hermes_lance.open(tmp_path)
    assert f"openai.{option}" in str(caught.value) and "OPENAI_API_KEY" in caught.value.hint
    assert SECRET not in f"{caught.value} {caught.value.hint}"


def test_a_value_that_looks_like_a_key_is_refused_under_any_name(tmp_path):
    (tmp_path / "config.yaml").write_text(
        f"knowledgebase: {{embedders: {{active: openai, openai: {{model: {SECRET}}}}}}}\n"
    )
    with pytest.raises(ConfigError, match="not read from the configuration"):
        hermes_lance.open(tmp_path)


@pytest.mark.parametrize("where", ["https://user:pass@example.org/v1", "https://example.org/v1?key=abc"])
def test_a_key_in_the_address_is_refused(where, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with pytest.raises(ConfigError) as caught:
        embedder("openai", {"base_url": where})
    assert "pass" not in str(caught.value) and "abc" not in str(caught.value)


def test_a_wish_to_stop_is_heard_while_an_answer_is_waited_for(service, hosted):
    service.always = Reply(hold=30)
    stop = threading.Event()

    def wish() -> None:
        until(lambda: service.at_work == 1)
        stop.set()

    threading.Thread(target=wish).start()
    with pytest.raises(Cancelled):
        hosted().embed_documents(["tea"], cancelled=stop.is_set)
    assert service.at_work == 1, "the service has not answered yet"


def test_a_wish_to_stop_is_heard_between_two_tries(service, hosted):
    service.always = Reply(429, refusal(service.name, 429, "slow down"), {"Retry-After": "60"})
    stop = threading.Event()
    model = hosted()
    found: list[BaseException] = []

    def work() -> None:
        try:
            model.embed_documents(["tea"], cancelled=stop.is_set)
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: bool(service.sent))
    stop.set()
    thread.join(10)
    assert [type(one) for one in found] == [Cancelled]
