"""`hermes-lance watch` as a command: a line for each change, one ending, and a dataset that is whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from hermes_lance.core.records import FileChange
from hermes_lance.hosts.cli.watch import sentence

SECONDS = 60


@pytest.fixture
def watch(home):
    """Starts the command; `until(text)` reads its lines up to one that holds a text."""
    running = []

    def start(*options):
        process = subprocess.Popen(
            [sys.executable, "-m", "hermes_lance", "--home", str(home), "watch", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def until(process, text):
    read = []
    for line in process.stdout:
        read.append(line)
        if text in line:
            return line
    raise AssertionError(f"{text!r} never came: {read}")


def test_each_change_is_one_line_and_ctrl_c_ends_it_with_130(home, watch, shell):
    process = watch()
    assert "guide.md (" in until(process, "indexed guide.md")
    until(process, "following workspace")
    (home / "workspace" / "new.md").write_text("The lighthouse keeper sleeps.\n")
    line = until(process, "new.md")
    assert line.startswith("indexed new.md (1 passage, ") and line.endswith(" s)\n")
    assert json.loads(shell("--home", home, "search", "lighthouse keeper", "--json").out)["hits"][0]["path"] == "new.md"
    (home / "workspace" / "new.md").rename(home / "workspace" / "newer.md")
    assert "moved newer.md from new.md" in until(process, "newer.md")
    (home / "workspace" / "newer.md").unlink()
    assert until(process, "newer.md").startswith("removed newer.md")
    process.send_signal(signal.SIGINT)
    assert process.wait(SECONDS) == 130
    rest = process.stdout.read()
    assert "files indexed, 1 removed." in rest and "Traceback" not in rest


def test_with_json_the_only_output_is_a_document_at_the_end(home, watch):
    process = watch("--json", "--poll", "--background")
    manifest = home / "knowledgebase" / "manifests" / "workspace.json"
    while not manifest.exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=SECONDS)
    document = json.loads(out)
    assert process.returncode == 130
    assert (document["success"], document["stopped"], document["indexed"]) == (True, True, 4)


def test_a_watch_beside_another_one_says_so(home, watch):
    first = watch()
    until(first, "following workspace")
    second = watch()
    assert "Another process follows these folders" in until(second, "Another process")
    for process in (first, second):
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 130


def test_changes_in_words():
    assert sentence(FileChange("indexed", "docs/plan.md", 3), 0.21) == "indexed docs/plan.md (3 passages, 0.21 s)"
    assert sentence(FileChange("failed", "a.pdf", 0, "encrypted: it is locked"), 1) == (
        "could not read a.pdf (encrypted: it is locked)"
    )
    assert sentence(FileChange("removed", "a\x1b[2J.md", 1), 0) == "removed a\\e[2J.md (1 passage, 0.00 s)"
