"""One writer at a time, across threads and processes; a dead one holds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from hermes_lance.core.errors import DatasetBusy
from hermes_lance.store import lock
from hermes_lance.store.lock import writing

HOLD = """
import sys, time
from pathlib import Path
from hermes_lance.store.lock import writing
with writing(Path(sys.argv[1]), 0.0):
    print("holding", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holding(tmp_path):
    """Another process that holds the lock."""
    path = os.pathsep.join(map(str, sys.path))
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "holding\n"
        yield process
        process.kill()


def test_a_second_writer_is_refused_and_told_who_holds_the_lock(tmp_path, holding):
    with pytest.raises(DatasetBusy, match=rf"process {holding.pid} \(since 20.*Z\) is writing"), writing(tmp_path, 0.0):
        pytest.fail("two writers at once")


def test_a_killed_writer_frees_the_lock_at_once(tmp_path, holding):
    holding.kill()
    holding.wait()
    with writing(tmp_path, 5.0):
        assert lock.holder(tmp_path).startswith(f"process {os.getpid()} ")


def test_a_writer_waits_until_the_other_is_done(tmp_path, holding):
    threading.Timer(0.3, holding.kill).start()
    with writing(tmp_path, 30.0):
        assert holding.wait() < 0


def test_two_threads_of_one_process_exclude_each_other(tmp_path):
    inside, order = threading.Event(), []

    def second():
        with writing(tmp_path, 30.0):
            order.append("second")

    with writing(tmp_path, 0.0):
        thread = threading.Thread(target=second)
        thread.start()
        assert not inside.wait(0.2)
        time.sleep(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_the_lock_is_free_after_an_error_and_names_nobody(tmp_path):
    with pytest.raises(KeyError), writing(tmp_path, 0.0):
        raise KeyError
    assert lock.holder(tmp_path) == "another process"
    with writing(tmp_path, 0.0):
        pass


@pytest.mark.parametrize("text", ["", "[]", "{}", "\x00"])
def test_an_unreadable_note_of_the_holder_still_gives_a_sentence(tmp_path, text):
    (tmp_path / lock.HOLDER_FILE).write_text(text)
    assert lock.holder(tmp_path) == "another process"


def test_the_lock_file_is_private_and_stays(tmp_path):
    with writing(tmp_path / "new", 0.0):
        pass
    assert (tmp_path / "new" / lock.LOCK_FILE).stat().st_mode & 0o077 == 0
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0
