"""What a worker cannot answer becomes a reason, and the next question finds the same worker."""

from __future__ import annotations

import textwrap

import pytest

from hermes_lance.parse.isolate import Worker

WORKER = """
import os
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.serving import serve

def answer(send, header, data):
    act = header["act"]
    if act == "refuse":
        raise Unreadable("encrypted", "no password", failed=True)
    if act == "starve":
        raise MemoryError
    if act == "stumble":
        raise KeyError("rows")
    print("a library that prints")
    send({"event": "text", "pid": os.getpid()}, data)

serve(answer)
"""


@pytest.fixture
def worker(tmp_path, monkeypatch):
    (tmp_path / "trial_serving.py").write_text(textwrap.dedent(WORKER), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    made = Worker("trial_serving")
    yield made
    made.close()


def test_every_failure_has_a_reason_and_costs_one_answer(worker):
    first = worker.ask({"act": "echo"}, b"words", 30)
    assert first.messages[0][1] == b"words"
    reasons = []
    for act in ("refuse", "starve", "stumble"):
        answer = worker.ask({"act": act}, b"", 30)
        assert answer.died is None
        (header, _) = answer.messages[0]
        reasons.append((header["code"], header["failed"], header["detail"]))
    assert reasons[0] == ("encrypted", True, "no password")
    assert reasons[1][:2] == ("parse_failed", True) and "MiB of memory" in reasons[1][2]
    assert reasons[2] == ("parse_failed", True, "KeyError: 'rows'")
    assert worker.ask({"act": "echo"}, b"", 30).messages[0][0]["pid"] == first.messages[0][0]["pid"]
