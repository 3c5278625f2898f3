"""Runs a parser in a process of its own, so that a file that crashes, hangs or swallows memory costs only itself.

The worker is started as `python -m <module>`, never forked: native code that aborts cannot be caught, and threads
cannot be stopped. A message is a length, a JSON header and a body; a question has one message, an answer several.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import sysconfig
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from hermes_lance.parse import limits

_LENGTHS = struct.Struct(">II")
_FILES_PER_WORKER = 200
_MAX_ANSWER_BYTES = 64 << 20
_PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV",
)  # fmt: skip


def write_message(stream: IO[bytes], header: Mapping[str, Any], body: bytes = b"") -> None:
    """Send one message."""
    head = json.dumps(header).encode("ascii")
    stream.write(_LENGTHS.pack(len(head), len(body)) + head)
    stream.write(body)
    stream.flush()


def read_message(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next message, or None when the other side is gone."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_length, body_length = _LENGTHS.unpack(lengths)
    if head_length + body_length > _MAX_ANSWER_BYTES:
        return None
    head, body = stream.read(head_length), stream.read(body_length)
    if len(head) < head_length or len(body) < body_length:
        return None
    return json.loads(head), body


@dataclass(slots=True)
class Answer:
    """The messages of a worker to one question; `died` says why it ended early, if it did."""

    messages: list[tuple[dict[str, Any], bytes]] = field(default_factory=list)
    died: str | None = None


class _Watch:
    """Stops a process at its deadline or when it holds too much memory; runs beside the reading thread."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float, memory_bytes: int | None) -> None:
        self.process = process
        self.deadline = time.monotonic() + seconds
        self.seconds = seconds
        self.memory_bytes = memory_bytes
        self.reason: str | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hermes-lance-parse-watch", daemon=True)
        self._thread.start()

    def allow(self, seconds: float) -> None:
        """A new deadline, counted from now."""
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            pause = self.deadline - time.monotonic()
            if pause <= 0:
                self.reason = f"it took longer than {self.seconds:.0f} seconds"
                self.process.kill()
                return
            # A deadline may be moved while we sleep, hence the short naps.
            if self._ended.wait(min(pause, limits.POLL_SECONDS if self.memory_bytes is not None else 1.0)):
                return
            if self.memory_bytes is not None:
                held = limits.resident_bytes(self.process.pid)
                if held is not None and held > self.memory_bytes:
                    self.reason = f"it needed more than {self.memory_bytes >> 20} MiB of memory"
                    self.process.kill()
                    return


class Worker:
    """A process that answers questions one by one; started on the first, replaced after a death or many files."""

    def __init__(
        self, module: str, *, polled_memory: bool | None = None, memory_bytes: int = limits.MEMORY_BYTES
    ) -> None:
        self.module = module
        self.memory_bytes = memory_bytes
        self.polled_memory = not limits.memory_is_enforced() if polled_memory is None else polled_memory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._answered = 0
        self._finalizer: weakref.finalize[..., Worker] | None = None

    def ask(self, header: Mapping[str, Any], body: bytes, seconds: float) -> Answer:
        """All messages up to the one with `"event": "done"`; a message with `"seconds"` moves the deadline."""
        with self._lock:
            process = self._started()
            watch = _Watch(process, seconds, self.memory_bytes if self.polled_memory else None)
            answer = Answer()
            try:
                complete = _exchange(process, header, body, answer, watch)
            finally:
                watch.end()
            self._answered += 1
            if not complete:
                answer.died = watch.reason or _death(process, self.memory_bytes)
            if not complete or self._answered >= _FILES_PER_WORKER:
                self._stop()
            return answer

    def close(self) -> None:
        """End the process; a later question starts a new one."""
        with self._lock:
            self._stop()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            limit = "--no-memory-limit" if self.polled_memory else f"--memory-bytes={self.memory_bytes}"
            self._process = subprocess.Popen(
                # -P: the working folder may be the user's own files and must not be imported from.
                [sys.executable, "-P", "-m", self.module, limit],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )
            self._answered = 0
            self._finalizer = weakref.finalize(self, _end, self._process)
        return self._process

    def _stop(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._finalizer = None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):  # unsent bytes to a dead process
                stream.close()
    process.wait()


def _exchange(
    process: subprocess.Popen[bytes], header: Mapping[str, Any], body: bytes, answer: Answer, watch: _Watch
) -> bool:
    """Whether the worker answered to the end."""
    assert process.stdin is not None and process.stdout is not None
    try:
        write_message(process.stdin, header, body)
        size = 0
        while (message := read_message(process.stdout)) is not None:
            size += len(message[1])
            if message[0].get("event") == "done":
                return True
            if size > _MAX_ANSWER_BYTES:
                watch.reason = "its answer is too large"
                return False
            answer.messages.append(message)
            if "seconds" in message[0]:
                watch.allow(float(message[0]["seconds"]))
    except (OSError, ValueError):
        # A broken pipe or half a message: the worker died, and its exit status says how.
        return False
    return False


def _death(process: subprocess.Popen[bytes], memory_bytes: int) -> str:
    try:
        status = process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        return "the parser stopped answering"
    if status >= 0:
        return f"the parser ended with status {status}"
    name = signal.Signals(-status).name if -status in signal.valid_signals() else str(-status)
    if name == "SIGXCPU":
        return "it needed too much computing time"
    if name in {"SIGABRT", "SIGTRAP", "SIGILL"}:
        return f"the parser gave up ({name}), as it does when {memory_bytes >> 20} MiB of memory are not enough"
    return f"the parser crashed ({name})"


def _environment() -> dict[str, str]:
    """A few variables only: a parser of hostile files has no business with keys and tokens."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    root = str(Path(__file__).resolve().parents[2])
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    if root not in installed:
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, [root, kept.get("PYTHONPATH")]))
    return kept
