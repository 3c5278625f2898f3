"""The command `hermes-lance`: finds the command, and turns every ending into words, a document and an exit status.

Importing this file imports click and nothing heavy; each command loads when it is called.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Sequence

import click

from hermes_lance.core.errors import HermesLanceError
from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.groups import LazyGroup
from hermes_lance.hosts.cli.invocation import Invocation

STOPPED = 130
BROKEN_PIPE = 141
"""What a shell reports for a program that the end of a pipe stopped."""

_CLI = "hermes_lance.hosts.cli"
COMMANDS = {
    "build": (f"{_CLI}.build:build", "Index new and changed files."),
    "search": (f"{_CLI}.search:search", "Find the passages that answer a question."),
    "context": (f"{_CLI}.context:context", "What an agent would be given with a message."),
    "watch": (f"{_CLI}.watch:watch", "Follow the folders until stopped."),
    "status": (f"{_CLI}.status:status", "What is indexed, and how current it is."),
    "why": (f"{_CLI}.care:why", "Why a file is found, or is not."),
    "verify": (f"{_CLI}.verify:verify", "Whether a cited source still stands."),
    "doctor": (f"{_CLI}.care:doctor", "What is wrong, and the remedy."),
    "forget": (f"{_CLI}.removal:forget", "Drop a document for good; --purge leaves no trace of it."),
    "delete": (f"{_CLI}.removal:delete", "Drop a document from the index until its file changes."),
    "generations": (f"{_CLI}.care:generations", "Published states: list, gc."),
    "export": (f"{_CLI}.export:export", "A whole table as parquet, arrow, csv or jsonl."),
    "evaluate": (f"{_CLI}.evaluate:evaluate", "How good the answers are: beir, known-items."),
    "bench": (f"{_CLI}.bench:bench", "How fast a folder is indexed and asked: index, query."),
    "knowledge": (f"{_CLI}.knowledge:knowledge", "What an agent should open first: skills, scripts, notes, jobs."),
    "workspace": (f"{_CLI}.workspace:workspace", "The folders that are indexed, and their files."),
}

cli = LazyGroup(
    "hermes-lance",
    lazy=COMMANDS,
    top=True,
    help="A local, private memory of files: index folders, then ask.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


def main() -> None:
    """Runs the command line on `sys.argv` and raises `SystemExit` with the status of the run."""
    status = run(sys.argv[1:], own_process=True)
    if status == STOPPED:
        from hermes_lance.hosts.cli.interrupt import end_now_if_threads_linger

        end_now_if_threads_linger(status)
    sys.exit(status)


def process() -> None:
    """The same for a process that was started for it: ends without taking its memory apart piece by piece.

    Of a search that is a seventh of the time. What libraries have registered for the end still runs.
    """
    # numpy's BLAS starts a thread for each core, which then spin while they wait; nothing here gains by them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        main()
    except SystemExit as ending:
        if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
            raise
        status = ending.code if isinstance(ending.code, int) else 1
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError, ValueError):
            _flush()
        os._exit(status)


def run(arguments: Sequence[str], *, own_process: bool = False) -> int:
    """The exit status of one run; everything it had to say is written. `own_process`: this one was started for it."""
    invocation = Invocation(json=_asks_for_json(arguments), own_process=own_process)
    try:
        status = _run(arguments, invocation)
        _flush()
        return status
    except KeyboardInterrupt:  # pressed again while the ending was being said
        return STOPPED
    except BrokenPipeError:
        _abandon_output()
        return BROKEN_PIPE
    except OSError as error:  # the output itself cannot be written: a full disk behind `>`
        with contextlib.suppress(OSError):
            invocation.console.error(f"output: {error.strerror or error}", "Nothing in the dataset is affected.")
        _abandon_output()
        return 1


def _run(arguments: Sequence[str], invocation: Invocation) -> int:
    try:
        # Not `cli.main`, which has its own words for a stop and for a broken pipe.
        with cli.make_context("hermes-lance", list(arguments), obj=invocation) as context:
            result = cli.invoke(context)
        return result if isinstance(result, int) else 0
    except BrokenPipeError:
        raise
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except (KeyboardInterrupt, click.Abort):
        from hermes_lance.hosts.cli.interrupt import stopped

        return stopped(invocation)
    except click.UsageError as error:
        _wrong_use(error, invocation)
        return error.exit_code
    except click.ClickException as error:
        invocation.failure(printable(error.format_message())[0], "error", "")
        return error.exit_code
    except HermesLanceError as error:
        _traceback(invocation)
        invocation.failure(str(error), error.code, error.hint)
        return error.exit_status
    except Exception as error:
        _traceback(invocation)
        hint = "" if invocation.verbose else "Run with --verbose for the traceback."
        invocation.failure(f"{type(error).__name__}: {error}", "unexpected", hint)
        return 1


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """Read ahead of click, so that a wrong use of the command line is reported in the form that was asked for."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _wrong_use(error: click.UsageError, invocation: Invocation) -> None:
    # Click raises this when a group is called without a command; its message is the whole help page.
    no_command = type(error).__name__ == "NoArgsIsHelpError"
    if no_command and not invocation.json:
        click.echo(error.format_message(), err=True)
        return
    message = "no command was given" if no_command else printable(error.format_message())[0]
    where = error.ctx.command_path if error.ctx else "hermes-lance"
    invocation.failure(message, "usage", f"See `{where} --help`.")


def _traceback(invocation: Invocation) -> None:
    if invocation.verbose:
        import traceback

        invocation.console.err.write(traceback.format_exc().encode("ascii", "backslashreplace").decode("ascii"))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _abandon_output() -> None:
    """Lets the interpreter end without trying, and failing, to write what nobody will read."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
