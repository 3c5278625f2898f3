"""`hermes-lance context`: the block that an agent would be given for a message, or the stage that ends it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from hermes_lance.core.errors import FileMissing, UsageError
from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation


@click.command("context", cls=Command)
@click.argument("message", nargs=-1, required=True)
@click.option("--history", metavar="FILE", help="Earlier messages: a JSON list of {role, content}, oldest first.")
@click.option("--mode", type=click.Choice(["gated", "always"]), help="Instead of the configured mode.")
@pass_invocation
def context(invocation: Invocation, message: tuple[str, ...], history: str | None, mode: str | None) -> None:
    """Print exactly the block that an agent would be given with MESSAGE, or say which stage ends it.

    Nothing is recorded. The stages are: mode, message, gate, index, candidates, evidence, selection, error.
    """
    earlier = [] if history is None else read_history(history)
    made = invocation.library().context(" ".join(printable(word)[0] for word in message), earlier, mode)
    for warning in made.warnings:
        invocation.console.warn(warning)  # beside a document too, whose keys are agreed
    if invocation.json:
        invocation.document(
            injected=made.injected,
            stage=made.stage,
            reason=made.reason,
            block=made.block,
            tokens=made.tokens,
            sources=[source_document(one) for one in made.sources],
        )
    elif made.injected:
        invocation.console.verbatim(made.block)
    else:
        invocation.console.paragraph(f"No context. Ended by {made.stage}: {made.reason}.", hanging="  ")


def source_document(source: Any) -> dict[str, Any]:
    """A source as JSON has it."""
    keys = ("path", "line_start", "line_end", "page_start", "generation", "sha256")
    return {key: getattr(source, key) for key in keys}


def read_history(file: str) -> list[Any]:
    """The messages of a file. Raises `FileMissing`, `UsageError`."""
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FileMissing(f"{file}: cannot be read ({error.strerror})", hint="Check --history.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: not UTF-8", hint="Save it as UTF-8.") from error
    shape = 'It is a JSON list of {"role": "user", "content": "…"}, oldest first.'
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{file}: not JSON ({error})", hint=shape) from error
    if not isinstance(found, list) or not all(isinstance(one, str | dict) for one in found):
        raise UsageError(f"{file}: not a list of messages", hint=shape)
    return found
