"""The inside of a worker process: answers the questions of `isolate.Worker` one by one, within the limits.

Each worker module hands its own way of answering to `serve` from its `main`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from hermes_lance.parse import limits
from hermes_lance.parse.isolate import read_message, write_message
from hermes_lance.parse.media import Unreadable

Send = Callable[..., None]
"""Takes the header of a message and, if there is one, its body."""


def serve(answer: Callable[[Send, dict[str, Any], bytes], None]) -> None:
    """Answer until the pipe closes. What `answer` raises as `Unreadable` or `MemoryError` becomes `failed`."""
    questions = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # A library that prints must not print into the answers.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    memory_bytes = _memory_bytes()
    if memory_bytes is not None:
        limits.limit_this_process(memory_bytes)

    def send(header: dict[str, Any], body: bytes = b"") -> None:
        write_message(answers, header, body)

    while (message := read_message(questions)) is not None:
        limits.allow_cpu(0)
        try:
            answer(send, *message)
        except Unreadable as reason:
            send(_failed(reason))
        except MemoryError:
            detail = f"it needs more than {(memory_bytes or limits.MEMORY_BYTES) >> 20} MiB of memory"
            send(_failed(Unreadable("parse_failed", detail, failed=True)))
        except Exception as error:
            # One file that a parser does not expect must not cost the process; the report names the fault.
            send(_failed(Unreadable("parse_failed", f"{type(error).__name__}: {error}", failed=True)))
        send({"event": "done"})


def _memory_bytes() -> int | None:
    """The address space that `isolate.Worker` grants; none where it watches the memory itself."""
    if "--no-memory-limit" in sys.argv:
        return None
    granted = [argument.partition("=")[2] for argument in sys.argv if argument.startswith("--memory-bytes=")]
    return int(granted[0]) if granted else limits.MEMORY_BYTES


def _failed(reason: Unreadable) -> dict[str, Any]:
    return {
        "event": "failed",
        "code": reason.code,
        "detail": reason.detail,
        "failed": reason.failed,
        "remedy": reason.remedy,
    }
