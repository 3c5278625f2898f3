"""One writer at a time, across processes. The lock is the operating system's, so a killed writer frees it."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import filelock

from hermes_lance.core.errors import DatasetBusy
from hermes_lance.store.durable import disk_errors, make_private

LOCK_FILE = "writer.lock"
HOLDER_FILE = "writer.json"


@contextlib.contextmanager
def writing(dataset: Path, wait_seconds: float) -> Iterator[None]:
    """Holds the writer lock of a dataset for the length of the block.

    Raises `DatasetBusy`, naming the process that holds it, after `wait_seconds`; `DatasetReadOnly` when the folder
    may not be written.
    """
    make_private(dataset)
    lock = filelock.FileLock(dataset / LOCK_FILE, mode=0o600)
    with disk_errors(str(dataset)):
        try:
            lock.acquire(timeout=wait_seconds, poll_interval=0.05)
        except filelock.Timeout:
            raise DatasetBusy(f"{dataset}: {holder(dataset)} is writing to it") from None
    try:
        _note_holder(dataset)
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(dataset / HOLDER_FILE)
        lock.release()


def _note_holder(dataset: Path) -> None:
    text = json.dumps({"pid": os.getpid(), "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
    with disk_errors(str(dataset)):
        descriptor = os.open(dataset / HOLDER_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)


def holder(dataset: Path) -> str:
    """Who holds the lock, in words."""
    try:
        noted = json.loads((dataset / HOLDER_FILE).read_text(encoding="utf-8"))
        return f"process {noted['pid']} (since {noted['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
