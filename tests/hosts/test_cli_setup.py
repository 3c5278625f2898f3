"""`workspace setup`: asked on a terminal, answered by flags elsewhere; nothing is sent or changed without a yes."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest
import yaml

from hermes_lance.hosts.cli import setup_choices

COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
CONFIG = "# mine\nmodel: x  # the host's\nknowledgebase:\n  # vectors\n  embedders: {active: builtin_hash}\n"
PATIENCE_SECONDS = 60


class Dialogue:
    """A setup on a terminal of 80 columns, answered line by line."""

    def __init__(self, home, *words):
        self.master, slave = pty.openpty()
        import fcntl
        import struct
        import termios

        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hermes_lance", "--home", str(home), "workspace", "setup", *words],
            stdin=slave, stdout=slave, stderr=slave,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", "NO_COLOR": "1"},
        )  # fmt: skip
        os.close(slave)
        self.text = ""

    def until(self, prompt):
        """Reads until the prompt stands at the end; what was said since the last one."""
        before, end = len(self.text), time.monotonic() + PATIENCE_SECONDS
        while not COLOURS.sub("", self.text[before:]).rstrip().endswith(prompt):
            assert time.monotonic() < end, self.text
            if select.select([self.master], [], [], 0.2)[0]:
                self.text += os.read(self.master, 4096).decode("utf-8")
        return self.text[before:]

    def answer(self, text):
        os.write(self.master, f"{text}\n".encode())

    def interrupt(self):
        """Ctrl-C as often as it takes: one that comes just before Python waits for a line is not heard at once."""
        while self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.5)

    def finish(self):
        """The exit status, and everything that was said."""
        while True:
            try:
                data = os.read(self.master, 4096)
            except OSError:
                break
            if not data:
                break
            self.text += data.decode("utf-8")
        os.close(self.master)
        return self.process.wait(PATIENCE_SECONDS), self.text.replace("\r\n", "\n")


@pytest.fixture
def setup(cli, home):
    (home / "config.yaml").write_text(CONFIG, encoding="utf-8")
    return lambda *words: cli("--home", home, "workspace", "setup", *words)


@pytest.fixture
def no_extras(monkeypatch):
    monkeypatch.setattr(setup_choices.Extra, "installed", property(lambda self: False))


def knowledgebase(home):
    return yaml.safe_load((home / "config.yaml").read_text(encoding="utf-8"))["knowledgebase"]


def test_a_dialogue_of_enters_keeps_what_is_set_and_switches_on_the_proposed_mode(home):
    (home / "config.yaml").write_text(CONFIG, encoding="utf-8")
    talk = Dialogue(home)
    assert "Nothing is written" in talk.until("Index your files? [Y/n]:")
    for prompt in ("Mode [gated]:", "Embedder [builtin_hash]:", "Reranker [disabled]:", "`ocr`)? [y/N]:"):
        talk.answer("")
        talk.until(prompt)
    talk.answer("")
    assert "Nothing leaves this machine." in talk.until("Write this? [Y/n]:")
    talk.answer("")
    status, said = talk.finish()
    assert status == 0 and max(len(line) for line in said.splitlines()) <= 80
    assert knowledgebase(home) == {"embedders": {"active": "builtin_hash"}, "retrieval_mode": "gated"}
    text = (home / "config.yaml").read_text(encoding="utf-8")
    assert all(part in text for part in ("# mine", "# the host's", "  # vectors"))


def test_a_service_is_refused_by_enter_and_the_rest_is_kept(home):
    (home / "config.yaml").write_text(CONFIG, encoding="utf-8")
    talk = Dialogue(home, "--enable", "--mode", "always", "--no-ocr", "--reranker", "off")
    talk.until("Embedder [builtin_hash]:")
    talk.answer("nothing-like-this")
    talk.until("Embedder [builtin_hash]:")
    talk.answer("openai")
    said = " ".join(talk.until("Send it? [y/N]:").split())
    assert "passages and questions to api.openai.com" in said and "tokens" in said
    talk.answer("")
    assert "embedder stays builtin_hash" in talk.until("Write this? [Y/n]:")
    talk.answer("y")
    assert talk.finish()[0] == 0
    assert knowledgebase(home) == {"embedders": {"active": "builtin_hash"}, "retrieval_mode": "always"}


@pytest.mark.parametrize("how", ["interrupt", "no"])
def test_stopped_or_refused_at_the_last_question_it_changes_nothing(home, how):
    (home / "config.yaml").write_text(CONFIG, encoding="utf-8")
    talk = Dialogue(home, "--enable", "--mode", "always", "--no-ocr", "--reranker", "heuristic", "--embedder", "minilm")
    talk.until("Write this? [Y/n]:")
    if how == "interrupt":
        talk.interrupt()
    else:
        talk.answer("n")
    status, said = talk.finish()
    assert status == (130 if how == "interrupt" else 0), said
    assert (home / "config.yaml").read_text(encoding="utf-8") == CONFIG


def test_without_a_terminal_it_says_what_to_do_and_changes_nothing(shell, home):
    ending = shell("--home", home, "workspace", "setup", stdin=subprocess.DEVNULL)
    assert (ending.status, "no terminal" in ending.err, "--yes" in ending.err) == (2, True, True)
    assert "retrieval_mode" not in (home / "config.yaml").read_text(encoding="utf-8")


def test_yes_takes_the_defaults_and_a_second_time_changes_no_byte(setup, home):
    assert setup("--yes").status == 0
    assert knowledgebase(home) == {"embedders": {"active": "builtin_hash"}, "retrieval_mode": "gated"}
    text = (home / "config.yaml").read_bytes()
    again = setup("--yes")
    assert (again.status, "as it was" in again.out) == (0, True)
    assert (home / "config.yaml").read_bytes() == text


def test_what_was_set_is_proposed_again(setup, home):
    setup("--yes", "--mode", "off", "--reranker", "heuristic", "--embedder", "minilm", "--ocr")
    found = setup("--json").json
    assert found["answers"] == {
        "enabled": True, "mode": "off", "embedder": "minilm", "reranker": "heuristic", "ocr": True,
    }  # fmt: skip
    assert setup("--yes", "--json").json["changed"] is False


def test_a_document_asks_and_changes_nothing(setup, home, no_extras):
    found = setup("--json", "--embedder", "openai").json
    assert (found["success"], found["changed"]) == (True, False)
    assert found["services"] == [{"category": "embedders", "name": "openai", "host": "api.openai.com"}]
    assert found["amount"]["texts"] > 0 and found["amount"]["tokens"] > 0 and found["amount"]["usd"] is not None
    (extra,) = [one for one in found["extras"] if one["needed"]]
    assert (extra["name"], extra["command"]) == (
        "openai",
        f'{sys.executable} -m pip install "hermes-lance[openai]"',
    )
    assert (home / "config.yaml").read_text(encoding="utf-8") == CONFIG


def test_yes_is_no_consent_to_a_service(setup, home):
    ending = setup("--yes", "--embedder", "openai", "--reranker", "cohere", "--send-text-to", "openai")
    assert (ending.status, "--send-text-to cohere" in ending.err) == (2, True)
    assert (home / "config.yaml").read_text(encoding="utf-8") == CONFIG
    words = ("--yes", "--embedder", "openai", "--send-text-to", "api.openai.com")
    assert setup(*words).status == 0
    assert knowledgebase(home)["embedders"]["active"] == "openai"
    assert setup("--yes").status == 0, "what is switched on already needs no second yes"


def test_what_is_indexed_is_counted_and_what_is_not_is_guessed(setup, cli, home):
    assert setup("--json", "--embedder", "openai").json["amount"]["counted"] == "discovered"
    cli("--home", home, "build", "--quiet")
    amount = setup("--json", "--embedder", "openai").json["amount"]
    vectors = cli("--home", home, "workspace", "embedder", "show", "--json").json["active"]["vectors"]
    assert (amount["counted"], amount["texts"]) == ("indexed", vectors)


def test_switching_off_sets_the_mode_off_and_switching_on_turns_both_switches(setup, home):
    setup("--yes", "--disable")
    assert (knowledgebase(home)["enabled"], knowledgebase(home)["retrieval_mode"]) == (False, "off")
    (home / "config.yaml").write_text("workspace: {enabled: false}\n", encoding="utf-8")
    setup("--yes", "--enable")
    written = yaml.safe_load((home / "config.yaml").read_text(encoding="utf-8"))
    assert written == {"workspace": {"enabled": True}, "knowledgebase": {"retrieval_mode": "gated"}}


def test_a_service_needs_its_yes_where_indexing_is_off_as_well_since_questions_are_sent(setup, home):
    assert setup("--yes", "--disable", "--embedder", "openai").status == 2
    assert (home / "config.yaml").read_text(encoding="utf-8") == CONFIG
    assert setup("--yes", "--disable", "--embedder", "openai", "--send-text-to", "openai").status == 0
    assert "api.openai.com" in setup("--json").json["leaves"]


@pytest.mark.parametrize(
    "words", [["--embedder", "minillm"], ["--reranker", "coher"], ["--mode", "sometimes"], ["--install", "everything"]]
)
def test_a_name_that_there_is_not_is_refused(setup, home, words):
    assert setup("--yes", *words).status == 2
    assert (home / "config.yaml").read_text(encoding="utf-8") == CONFIG


def test_a_variable_that_counts_more_is_named(setup, monkeypatch):
    monkeypatch.setenv("HERMES_LANCE_EMBEDDER", "builtin_hash")
    ending = setup("--yes", "--embedder", "minilm")
    assert (ending.status, "HERMES_LANCE_EMBEDDER" in ending.err) == (2, True)
    assert setup("--yes").status == 0


def test_an_extra_that_is_named_is_installed_with_this_python_and_a_failure_gives_the_command(
    setup, home, no_extras, monkeypatch
):
    ran = []

    def run(command, **how):
        ran.append(command)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(subprocess, "run", run)
    ending = setup("--yes", "--ocr", "--install", "ocr")
    assert ran == [[sys.executable, "-m", "pip", "install", "hermes-lance[ocr]"]]
    said = " ".join(ending.err.split())
    assert ending.status == 0 and f'Install it by hand: {sys.executable} -m pip install "hermes-lance[ocr]"' in said
    ran.clear()
    assert "pip install" in setup("--yes", "--reranker", "local_cross_encoder").err and ran == []


def test_a_dataset_outside_any_home_is_not_set_up(cli, home):
    assert cli("--home", home, "--dataset", home, "workspace", "setup", "--yes").status == 2
