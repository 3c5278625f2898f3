"""In the real Hermes Agent, against a scripted model on the loopback: what is offered, called, sent and printed.

One start of the host costs seconds, so each test is one story.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import hermes_lance
from hermes_lance.hosts import hermes

pytestmark = [pytest.mark.host, pytest.mark.slow]

CONFIG = """\
model: {{default: scripted, provider: custom, base_url: "{url}", api_key: none, context_length: 200000}}
plugins: {{enabled: [hermes-lance]}}
security: {{tirith_enabled: false}}
memory: {{nudge_interval: 0}}
skills: {{creation_nudge_interval: 0}}
knowledgebase:
  embedders: {{active: builtin_hash}}
"""
RUNBOOK = """# Payments

Owner: the payments team.

## Rollback of a release

If the canary fails its health checks, run `ship back payments` and page the owner.

database password: hunter2hunter2
"""


# -- a scripted model ----------------------------------------------------------------------------------------------


class ScriptedModel(ThreadingHTTPServer):
    """Chat completions over HTTP: answers the agent's requests from a script and keeps what it was asked.

    A step is a text, or `(tool name, arguments)`. Requests without tools (titles and the like) get a text.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.script: list[str | tuple[str, dict[str, Any]]] = []
        self.asked: list[dict[str, Any]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def step(self, body: dict[str, Any]) -> str | tuple[str, dict[str, Any]]:
        if not body.get("tools"):
            return "a title"
        self.asked.append(body)
        return self.script.pop(0) if self.script else "nothing left to say"


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedModel

    def log_message(self, *_: object) -> None:
        """Keeps quiet."""

    def do_GET(self) -> None:
        self.send("application/json", json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        step = self.server.step(body)
        message: dict[str, Any] = {"role": "assistant", "content": step}
        if not isinstance(step, str):
            function = {"name": step[0], "arguments": json.dumps(step[1])}
            call = {"index": 0, "id": f"call_{len(self.server.asked)}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        finish = "stop" if isinstance(step, str) else "tool_calls"
        whole = {"id": "1", "created": 1, "model": "scripted"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not body.get("stream"):
            choices = [{"index": 0, "message": message, "finish_reason": finish}]
            self.send(
                "application/json",
                json.dumps({**whole, "object": "chat.completion", "choices": choices, "usage": usage}),
            )
            return
        whole["object"] = "chat.completion.chunk"
        events: list[dict[str, Any]] = [
            {**whole, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**whole, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {**whole, "choices": [], "usage": usage},
        ]
        self.send("text/event-stream", "".join(f"data: {json.dumps(one)}\n\n" for one in events) + "data: [DONE]\n\n")

    def send(self, kind: str, text: str) -> None:
        raw = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    server = ScriptedModel()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


# -- the host ------------------------------------------------------------------------------------------------------


class Host:
    """A throw-away home and the real command."""

    def __init__(self, folder: Path, model: ScriptedModel) -> None:
        self.home, self.cwd, self.extra = folder / "home", folder / "cwd", folder / "extra"
        for one in (self.home, self.cwd, self.extra):
            one.mkdir()
        (self.home / "config.yaml").write_text(CONFIG.format(url=model.url), encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_TOKEN", "_PROXY"))}
        package = Path(hermes_lance.__file__).parent.parent
        self.environment = {
            **kept, "HERMES_HOME": str(self.home), "NO_COLOR": "1", "TERM": "dumb",
            "PYTHONPATH": os.pathsep.join([str(self.extra), str(package)]),
        }  # fmt: skip

    def file(self, name: str, text: str) -> None:
        file = self.home / "workspace" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hermes_cli.main", *words],
            cwd=self.cwd, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180,
        )  # fmt: skip

    def complaints(self) -> list[str]:
        """Warnings and errors of the log that speak of plugins, hooks or us."""
        log = self.home / "logs" / "agent.log"
        lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
        about = ("plugin", "hook", "hermes_lance", "hermes-lance", "workspace", "traceback")
        return [
            line
            for line in lines
            if ("WARNING" in line or "ERROR" in line or line.startswith("Traceback"))
            and any(word in line.lower() for word in about)
        ]

    def hide(self, *, package: bool, entry_point: bool) -> None:
        """From now on the host starts without the package, or without the entry point of the installed one."""
        (self.extra / "sitecustomize.py").write_text(HIDE.format(package=package, entry_point=entry_point))


HIDE = """
import importlib.metadata, sys
if {package}:
    class Hidden:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] == "hermes_lance":
                raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
    sys.meta_path.insert(0, Hidden())
if {entry_point}:
    every = importlib.metadata.entry_points
    def entry_points(**wanted):
        kept = [one for one in every(**wanted) if not one.value.startswith("hermes_lance")]
        return importlib.metadata.EntryPoints(kept)
    importlib.metadata.entry_points = entry_points
"""


@pytest.fixture
def host(tmp_path: Path, model: ScriptedModel) -> Host:
    return Host(tmp_path, model)


def offered(request: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in request["tools"]]


def results(request: dict[str, Any]) -> list[dict[str, Any]]:
    """What the tools gave back, as the model reads it."""
    return [json.loads(one["content"]) for one in request["messages"] if one["role"] == "tool"]


ASK: Sequence[str | tuple[str, dict[str, Any]]] = (
    ("workspace", {"action": "status"}),
    ("workspace", {"action": "retrieve", "query": "what if the canary fails", "limit": "3"}),
    "Run `ship back payments`.",
)


def test_the_installed_package_is_found_enabled_and_used(host: Host, model: ScriptedModel) -> None:
    host.file("runbooks/payments.md", RUNBOOK)
    built = host.run("workspace", "index")
    assert built.returncode == 0 and "1 file" in built.stdout, built.stderr
    model.script = list(ASK)

    chat = host.run("chat", "-q", "what do my notes say about a failing canary?", "-Q")

    assert chat.stdout == "Run `ship back payments`.\n", chat.stderr
    first, second, third = model.asked
    assert offered(first).count("workspace") == 1
    (status,) = results(second)
    assert status["success"] is True and status["files"]["indexed"] == 1
    _, found = results(third)
    assert found["success"] is True and found["generation"] == status["generation"]
    best = found["hits"][0]
    assert best["source"].startswith("runbooks/payments.md:")
    assert best["text"].startswith(f"[Workspace source: {best['source']}]") and "ship back payments" in best["text"]
    lines = RUNBOOK.splitlines()
    start, _, end = best["source"].rpartition(":")[2].partition("-")
    assert any("ship back" in line for line in lines[int(start) - 1 : int(end or start)])
    assert "hunter2" not in json.dumps(model.asked)
    assert host.complaints() == []


def last_of_person(request: dict[str, Any]) -> str:
    """The text of the person's last message, as the model reads it."""
    content = [one["content"] for one in request["messages"] if one["role"] == "user"][-1]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def test_a_turn_is_given_passages_and_the_next_one_is_not_given_them_again(host: Host, model: ScriptedModel) -> None:
    host.file("runbooks/payments.md", RUNBOOK)
    assert host.run("workspace", "index").returncode == 0
    assert host.run("workspace", "mode", "gated").returncode == 0
    model.script = [("workspace", {"action": "status"}), "Run `ship back payments`.", "You are welcome."]

    chat = host.run("chat", "-q", "what do my notes say about a failing canary of payments?", "-Q")
    assert chat.stdout.startswith("Run `ship back payments`."), chat.stderr
    resumed = host.run("chat", "--continue", "-q", "thank you", "-Q")
    assert "You are welcome." in resumed.stdout, resumed.stderr

    first, second, third = model.asked
    for request in (first, second):
        said = last_of_person(request)
        assert said.startswith("what do my notes say about a failing canary of payments?\n\n[System note: ")
        assert "[Workspace source: runbooks/payments.md:" in said and "ship back payments" in said
        assert "hunter2" not in said
    people = [one["content"] for one in third["messages"] if one["role"] == "user"]
    assert people == ["what do my notes say about a failing canary of payments?", "thank you"]
    systems = [[one["content"] for one in request["messages"] if one["role"] == "system"] for request in model.asked]
    assert "Workspace source" not in json.dumps(systems)
    assert b"Workspace source" not in (host.home / "state.db").read_bytes()
    assert host.complaints() == []


def test_its_commands_work_and_their_statuses_come_through(host: Host) -> None:
    listed = host.run("plugins", "list", "--plain", "--no-bundled")
    assert [line.split()[-1] for line in listed.stdout.splitlines() if "enabled" in line] == ["hermes-lance"]
    status = host.run("workspace", "--json", "status")
    assert status.returncode == 0, status.stderr
    assert json.loads(status.stdout)["home"] == str(host.home)
    missing = host.run("workspace", "retrieve", "anything")
    assert missing.returncode == 10 and missing.stdout == "" and missing.stderr.startswith("Error: ")
    assert host.complaints() == []


def test_a_copy_of_the_folder_works_like_the_entry_point(host: Host, model: ScriptedModel) -> None:
    copy_folder(host)
    host.hide(package=False, entry_point=True)
    host.file("tea.txt", "Green tea is brewed at eighty degrees.\n")
    assert host.run("workspace", "index").returncode == 0
    model.script = [("workspace", {"action": "retrieve", "query": "tea"}), "Eighty degrees."]

    chat = host.run("-z", "how hot is green tea?")

    assert chat.stdout == "Eighty degrees.\n", chat.stderr
    (found,) = results(model.asked[-1])
    assert found["hits"][0]["text"].startswith("[Workspace source: tea.txt:1]\n")
    assert host.complaints() == []


def test_folder_and_entry_point_together_are_loaded_once(host: Host, model: ScriptedModel) -> None:
    copy_folder(host)
    model.script = ["Hello."]
    assert host.run("chat", "-q", "hello", "-Q").stdout == "Hello.\n"
    assert offered(model.asked[0]).count("workspace") == 1
    assert host.complaints() == []


def test_a_copy_without_the_package_says_how_to_install_it(host: Host, model: ScriptedModel) -> None:
    copy_folder(host)
    host.hide(package=True, entry_point=True)
    model.script = ["Hello."]
    status = host.run("workspace", "status")
    assert status.returncode == 1 and f"{sys.executable} -m pip install hermes-lance" in status.stderr
    assert host.run("chat", "-q", "hello", "-Q").stdout == "Hello.\n"
    assert "workspace" not in offered(model.asked[0])


def copy_folder(host: Host) -> None:
    """What `hermes plugins install REPOSITORY#hermes_lance/hosts/hermes` leaves in the home."""
    shutil.copytree(
        Path(hermes.__file__).parent,
        host.home / "plugins" / "hermes-lance",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
