"""A worker that dies, hangs or swallows memory costs one answer and says why."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time

import pytest

from hermes_lance.parse import limits
from hermes_lance.parse.isolate import Worker

WORKER = """
import os, sys, time
from hermes_lance.parse import limits
from hermes_lance.parse.isolate import read_message, write_message

if "--no-memory-limit" not in sys.argv:
    limits.limit_this_process()
out = sys.stdout.buffer
while (message := read_message(sys.stdin.buffer)) is not None:
    act = message[0]["act"]
    limits.allow_cpu(0)
    if act == "echo":
        write_message(out, {"event": "text", "pid": os.getpid()}, message[1])
    elif act == "environment":
        write_message(out, {"event": "text"}, " ".join(sorted(os.environ)).encode())
    elif act == "exit":
        os._exit(3)
    elif act == "abort":
        os.abort()
    elif act == "hang":
        write_message(out, {"event": "opened", "seconds": 0.5})
        time.sleep(100)
    elif act == "hoard":
        held = []
        while True:
            held.append(bytearray(os.urandom(1 << 16) * 512))
            time.sleep(0.01)
    elif act == "spin":
        limits.CPU_SECONDS = 0
        limits.allow_cpu(0)
        while True:
            pass
    elif act == "half":
        out.write(b"\\x00\\x00")
        out.flush()
        os._exit(0)
    write_message(out, {"event": "done"})
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    (tmp_path / "trial_worker.py").write_text(textwrap.dedent(WORKER), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    started = []

    def make(**options) -> Worker:
        started.append(Worker("trial_worker", **options))
        return started[-1]

    yield make
    for worker in started:
        worker.close()


def test_an_answer_comes_back_whole(start):
    body = os.urandom(3_000_000)
    answer = start().ask({"act": "echo"}, body, 30)
    assert answer.died is None and answer.messages[0][1] == body


def test_one_process_answers_many_questions(start):
    worker = start()
    pids = {worker.ask({"act": "echo"}, b"", 30).messages[0][0]["pid"] for _ in range(3)}
    assert len(pids) == 1


def test_it_is_replaced_after_many_files(start, monkeypatch):
    monkeypatch.setattr("hermes_lance.parse.isolate._FILES_PER_WORKER", 2)
    worker = start()
    pids = [worker.ask({"act": "echo"}, b"", 30).messages[0][0]["pid"] for _ in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]


@pytest.mark.parametrize(
    ("act", "reason"),
    [("exit", "status 3"), ("abort", "SIGABRT"), ("hang", "longer than"), ("half", "status 0")],
)
def test_a_death_costs_one_answer_and_has_a_reason(start, act, reason):
    worker = start()
    assert reason in (worker.ask({"act": act}, b"x" * 100, 60).died or "")
    assert worker.ask({"act": "echo"}, b"alive", 30).messages[0][1] == b"alive"


@pytest.mark.skipif(not limits.memory_is_enforced(), reason="this system does not limit address space")
def test_memory_is_limited_by_the_system(start, monkeypatch):
    assert start().ask({"act": "hoard"}, b"", 60).died is not None


def test_memory_is_limited_by_polling_where_the_system_does_not(start, monkeypatch):
    answer = start(polled_memory=True, memory_bytes=150 << 20).ask({"act": "hoard"}, b"", 60)
    assert "150 MiB" in (answer.died or "")


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on computing time there")
def test_computing_time_is_limited(start):
    assert "computing time" in (start().ask({"act": "spin"}, b"", 60).died or "")


def test_resident_memory_is_told_without_proc(monkeypatch):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
    try:
        time.sleep(0.2)
        first = limits.resident_bytes(child.pid)
        assert first is not None and first > 1_000_000
    finally:
        child.kill()
        child.wait()
    assert limits.resident_bytes(child.pid) is None


def test_keys_and_tokens_do_not_reach_the_worker(start, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    names = start().ask({"act": "environment"}, b"", 30).messages[0][1].decode().split()
    assert "OPENAI_API_KEY" not in names and "PATH" in names


def test_code_in_the_working_folder_is_not_run(start, tmp_path, monkeypatch):
    folder = tmp_path / "files of the user"
    folder.mkdir()
    (folder / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(folder)
    assert start().ask({"act": "echo"}, b"", 30).died is None
