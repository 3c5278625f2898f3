"""Passages with a turn, at the door of the Hermes plugin: who gets them, into which request, and for how long."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from hermes_lance.hosts.blocks import MOST_LATE, TURNS_KEPT, Blocks
from hermes_lance.hosts.hermes import shapes
from hermes_lance.hosts.hermes.injection import Injection
from hermes_lance.hosts.tools import Libraries
from hermes_lance.keeping import Keeping
from hermes_lance.library import Library
from hermes_lance.models.rerank_heuristic import HeuristicReranker

QUESTION = "how hot is the water for green tea?"
SETTINGS = "knowledgebase: {retrieval_mode: gated, embedders: {active: builtin_hash}, max_wait_ms: 60000%s}\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / "workspace").mkdir(parents=True)
    (folder / "workspace" / "tea.md").write_text("# Green tea\n\nThe water for green tea is eighty degrees hot.\n")
    (folder / "config.yaml").write_text(SETTINGS % "")
    monkeypatch.setenv("HERMES_HOME", str(folder))
    Library.open(folder).index()
    return folder


@pytest.fixture
def door() -> Injection:
    return Injection(Blocks(Libraries(), Keeping()))


def ask(door: Injection, turn: str = "t1", message: object = QUESTION, **facts: Any) -> dict[str, str] | None:
    given: dict[str, Any] = {"session_id": "s", "task_id": "s", "platform": "cli", "conversation_history": [], **facts}
    return door.before_turn(user_message=message, turn_id=turn, **given)


def sent(door: Injection, turn: str = "t1", content: object = QUESTION) -> dict[str, Any] | None:
    request = {
        "model": "m",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": content}],
    }
    return door.request(request=request, turn_id=turn, api_mode="chat_completions", api_request_id="r")


def test_the_block_goes_with_every_request_of_its_turn_and_with_no_other(home: Path, door: Injection) -> None:
    assert ask(door) is None, "what a hook returns is stored by the host"
    for _ in range(2):
        made = sent(door)
        assert made is not None
        system, person = made["request"]["messages"]
        assert system == {"role": "system", "content": "be brief"}
        assert person["content"].startswith(f"{QUESTION}\n\n[System note: ")
        assert "[Workspace source: tea.md:" in person["content"]
    assert sent(door, turn="t2") is None
    door.after_turn(turn_id="t1")
    assert sent(door) is None
    last = Library.open(home).last_turn("s")
    assert last is not None and [one.path for one in last.sources] == ["tea.md"]


def test_a_message_with_a_picture_gets_a_part_of_text(home: Path, door: Injection) -> None:
    message = [
        {"type": "text", "text": QUESTION},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
    ]
    ask(door, message=message)
    made = sent(door, content=message)
    assert made is not None
    content = made["request"]["messages"][1]["content"]
    assert content[:2] == message and content[2]["type"] == "text" and "tea.md" in content[2]["text"]


def test_on_the_hook_route_the_hook_returns_it_and_requests_stay_as_they_are(home: Path, door: Injection) -> None:
    (home / "config.yaml").write_text(SETTINGS % ", injection_route: hook")
    made = ask(door)
    assert made is not None and "[Workspace source: tea.md:" in made["context"]
    assert len(made["context"]) < 10_000
    assert sent(door) is None


@pytest.mark.parametrize(
    ("platform", "given"),
    [
        *((one, True) for one in ("", "cli", "tui", "acp", "desktop")),
        *((one, False) for one in ("telegram", "discord", "slack", "email", "api_server", "webhook", "irc")),
        *((one, False) for one in ("subagent", "cron", "curator")),
    ],
)
def test_only_a_person_at_their_own_machine_is_given_passages(
    home: Path, door: Injection, platform: str, given: bool
) -> None:
    ask(door, platform=platform)
    assert (sent(door) is not None) is given


@pytest.mark.parametrize("platform", ["telegram", "API_Server", "cron"])
def test_a_platform_that_is_named_is_given_passages(home: Path, door: Injection, platform: str) -> None:
    (home / "config.yaml").write_text(SETTINGS % ", platforms: [telegram, api_server, Cron]")
    ask(door, platform=platform)
    assert sent(door) is not None


def test_the_hosts_own_review_of_a_conversation_is_given_nothing(home: Path, door: Injection) -> None:
    ask(door, message="Review the conversation above and say how hot the water for green tea is.")
    assert sent(door) is None
    thread = threading.Thread(target=ask, args=(door,), name="bg-review")
    thread.start()
    thread.join()
    assert sent(door) is None


@pytest.mark.parametrize("setting", [", injection_route: tool_only", ", enabled: false"])
def test_what_is_switched_off_gives_nothing(home: Path, door: Injection, setting: str) -> None:
    (home / "config.yaml").write_text(SETTINGS % setting)
    assert ask(door) is None
    assert sent(door) is None


def test_mode_off_does_not_even_look(home: Path, door: Injection, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.yaml").write_text((SETTINGS % "").replace("gated", "'off'"))
    monkeypatch.setattr(Library, "context", lambda *_, **__: pytest.fail("asked"))
    ask(door)
    assert sent(door) is None


def test_a_broken_configuration_or_dataset_leaves_the_turn_as_it_is(home: Path, door: Injection) -> None:
    (home / "knowledgebase" / "indexes" / "CURRENT").write_text("no number\n")
    assert ask(door) is None
    (home / "config.yaml").write_text("knowledgebase: {dense_top_k: none at all}\n")
    assert ask(door) is None
    assert sent(door) is None


def test_a_turn_waits_no_longer_than_it_is_allowed_to(
    home: Path, door: Injection, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.yaml").write_text((SETTINGS % "").replace("60000", "20"))
    goes_on = threading.Event()
    monkeypatch.setattr(Library, "context", lambda *_, **__: goes_on.wait(30))
    assert ask(door) is None
    assert sent(door) is None
    goes_on.set()
    last = Library.open(home).last_turn()
    assert last is not None and (last.stage, last.reason) == ("wait", "nothing was ready within 20 ms")


def test_what_hangs_is_begun_a_few_times_and_not_at_every_turn(
    home: Path, door: Injection, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.yaml").write_text((SETTINGS % "").replace("60000", "20"))
    goes_on, begun = threading.Event(), []

    def hang(*_: Any, **__: Any) -> None:
        begun.append(threading.current_thread())
        goes_on.wait(30)

    monkeypatch.setattr(Keeping, "before_question", lambda *_, **__: ())
    monkeypatch.setattr(Library, "context", hang)
    for number in range(MOST_LATE + 3):
        ask(door, turn=f"t{number}")
    last = Library.open(home).last_turn()
    assert last is not None and "still being looked up" in last.reason
    goes_on.set()
    for thread in begun:
        thread.join()
    assert len(begun) <= MOST_LATE
    monkeypatch.undo()
    monkeypatch.setenv("HERMES_HOME", str(home))
    (home / "config.yaml").write_text(SETTINGS % "")
    ask(door)
    assert sent(door) is not None


def test_a_reranker_that_is_slower_than_the_turn_costs_its_order_and_not_the_block(
    home: Path, door: Injection, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "workspace" / "black.md").write_text("# Black tea\n\nThe water for black tea is hotter than for green.\n")
    Library.open(home).index()
    goes_on = threading.Event()

    def scores(self: object, query: str, candidates: list[Any], *, timeout: float) -> list[float]:
        goes_on.wait(30)
        return [0.0] * len(candidates)

    monkeypatch.setattr(HeuristicReranker, "scores", scores)
    settings = (SETTINGS % ", rerankers: {active: heuristic}").replace("60000", "3000")
    (home / "config.yaml").write_text(settings)
    ask(door)
    assert sent(door) is not None
    goes_on.set()


def test_an_embedder_that_is_too_slow_for_a_turn_costs_it_the_vectors_and_not_the_block(
    home: Path, door: Injection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hermes_lance.models.hashing import HashEmbedder
    from hermes_lance.search import turn as turns

    (home / "config.yaml").write_text((SETTINGS % "").replace("60000", "20000"))
    monkeypatch.setattr(turns, "REST_SECONDS", 19.5)  # so that a slow machine has time for the rest
    goes_on = threading.Event()
    real = HashEmbedder.embed_query
    monkeypatch.setattr(HashEmbedder, "embed_query", lambda self, text: goes_on.wait(60) and real(self, text))
    for turn in ("t1", "t2"):
        ask(door, turn=turn)
        made = sent(door, turn=turn)
        assert made is not None and "[Workspace source: tea.md:" in made["request"]["messages"][1]["content"]
    goes_on.set()


def test_turns_that_never_end_do_not_pile_up(home: Path, door: Injection) -> None:
    for number in range(TURNS_KEPT + 3):
        ask(door, turn=f"t{number}")
    assert sent(door, turn="t0") is None
    assert sent(door, turn=f"t{TURNS_KEPT + 2}") is not None


# -- shapes of requests ---------------------------------------------------------------------------------------------


def test_anthropic_results_of_tools_are_no_message_of_a_person() -> None:
    request = {
        "system": "be brief",
        "messages": [
            {"role": "user", "content": "how hot?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "x", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "80"}]},
        ],
    }
    made = shapes.with_block(request, "anthropic_messages", "BLOCK")
    assert made is not None
    assert made["messages"][0]["content"] == "how hot?\n\nBLOCK"
    assert made["messages"][1:] == request["messages"][1:]


def test_codex_input_gets_a_part_of_its_own_kind() -> None:
    request = {
        "instructions": "be brief",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "how hot?"}]},
            {"type": "function_call", "call_id": "1", "name": "x", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "80"},
        ],
    }
    made = shapes.with_block(request, "codex_responses", "BLOCK")
    assert made is not None
    assert made["input"][0]["content"][-1] == {"type": "input_text", "text": "BLOCK"}
    assert request["input"][0]["content"] == [{"type": "input_text", "text": "how hot?"}], "the given one stays"  # type: ignore[index]


@pytest.mark.parametrize(
    ("request_body", "api_mode"),
    [
        ({"messages": [{"role": "user", "content": [{"text": "hi"}]}]}, "bedrock_converse"),
        ({"messages": [{"role": "assistant", "content": "hi"}]}, "chat_completions"),
        ({"messages": []}, "chat_completions"),
        ({"input": "hi"}, "codex_responses"),
        ({"messages": [{"role": "user", "content": None}]}, "chat_completions"),
        ({}, "anthropic_messages"),
    ],
)
def test_a_request_of_another_shape_is_left_as_it_is(request_body: dict[str, Any], api_mode: str) -> None:
    assert shapes.with_block(request_body, api_mode, "BLOCK") is None


def test_an_unknown_kind_of_request_is_told_once(home: Path, door: Injection, caplog: pytest.LogCaptureFixture) -> None:
    ask(door)
    for _ in range(2):
        assert door.request(request={"contents": []}, turn_id="t1", api_mode="gemini_native") is None
    assert [record.message for record in caplog.records if "gemini_native" in record.message] == [
        "hermes-lance: requests of the kind 'gemini_native' cannot be given passages"
    ]
