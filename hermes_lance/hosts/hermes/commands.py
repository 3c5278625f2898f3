"""`hermes workspace …` and `/workspace …`: the words of `hermes-lance workspace …`, handed on as they are."""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import absence
from .home import hermes_home

WORDS = "workspace_words"
"""Where argparse keeps the words; the host's own options share the same namespace."""
TOP_LEVEL = frozenset({"why", "doctor", "forget", "generations", "export", "verify"})
"""Commands that stand beside `workspace` on our own command line and below it here."""
LONGEST_REPLY_CHARS = 20_000


def command_words(words: Sequence[str]) -> list[str]:
    """The arguments of `hermes-lance` for what was typed after `workspace`; nothing typed means status."""
    first = next((word for word in words if not word.startswith("-")), None)
    if first is None and not {"-h", "--help"} & set(words):
        return ["workspace", "status", *words]
    return list(words) if first in TOP_LEVEL else ["workspace", *words]


def giving_way(command: Sequence[str]) -> list[str]:
    """The same command; a build gives way to the conversations that go on beside it."""
    words = [number for number, word in enumerate(command) if not word.startswith("-")]
    if [command[number] for number in words[:2]] == ["workspace", "index"]:
        return [*command[: words[1] + 1], "--background", *command[words[1] + 1 :]]
    return list(command)


def set_up(parser: argparse.ArgumentParser) -> None:
    """Takes every word after `hermes workspace`, options too, so that our own command line reads them all."""
    parser.add_argument(WORDS, nargs=argparse.REMAINDER, help="see `hermes workspace --help`")
    parse_known_args = parser.parse_known_args

    def take_all(args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        # argparse itself would answer --help and refuse an option that comes before the first word.
        taken, _ = parse_known_args([], namespace)
        setattr(taken, WORDS, list(sys.argv[1:] if args is None else args))
        return taken, []

    parser.parse_known_args = take_all  # type: ignore[method-assign]


def run_in_terminal(arguments: argparse.Namespace) -> None:
    """Runs the command in this process and ends it with its status; the host ignores what a handler returns."""
    problem = absence.problem(absence.COMMANDS)
    if problem is not None:
        print(f"Error: {problem}", file=sys.stderr)
        sys.exit(1)
    from hermes_lance.hosts.cli.main import run

    status = run(["--home", str(hermes_home()), *command_words(getattr(arguments, WORDS, []))])
    if status == 130:
        from hermes_lance.hosts.cli.interrupt import end_now_if_threads_linger

        end_now_if_threads_linger(status)
    sys.exit(status)


async def run_in_chat(raw_arguments: str = "") -> str:
    """The reply to `/workspace …`. The work is done in another process, so that no chat waits for it."""
    problem = absence.problem(absence.COMMANDS)
    if problem is not None:
        return f"Error: {problem}"
    return await asyncio.to_thread(reply, raw_arguments, hermes_home())


def reply(raw_arguments: str, home: Path) -> str:
    """What the command printed, and its exit status where that is not 0.

    A process of its own because output can only be caught for a whole process: other chats print at the same time.
    """
    try:
        words = shlex.split(raw_arguments or "")
    except ValueError:
        # An apostrophe in a question, most often.
        words = raw_arguments.split()
    environment = {**os.environ, "HERMES_HOME": str(home), "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "hermes_lance", "--home", str(home), *giving_way(command_words(words))],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    said = done.stdout.strip()
    if len(said) > LONGEST_REPLY_CHARS:
        said = f"{said[:LONGEST_REPLY_CHARS]}\n… {len(said) - LONGEST_REPLY_CHARS:,} more characters; use a terminal."
    if done.returncode:
        said = f"{said}\n(exit status {done.returncode})".strip()
    return said or "Done."
