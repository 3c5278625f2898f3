"""`hermes-lance workspace sources`: what the last turn was given unasked, and whether an answer cites just that."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hermes_lance.core.errors import FileMissing, UsageError
from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.output import amount, shown

if TYPE_CHECKING:
    from hermes_lance.learn.injections import Injection
    from hermes_lance.search.citations import Checked

LONGEST_MESSAGE = 200


@click.command("sources", cls=Command)
@click.option("--check", metavar="FILE", help="Check the citations of an answer in FILE (`-`: standard input).")
@click.option("--session", metavar="ID", help="The last turn of this session of the host.")
@pass_invocation
def sources(invocation: Invocation, check: str | None, session: str | None) -> None:
    """Show which passages the last automatic retrieval gave to an agent, or the stage that ended it.

    With --check, each `[Source: ...]` of an answer is compared with them: exact, wrong lines, unknown source; and what
    was given and is not cited. Exit status 1 when a citation is not exact.
    """
    library = invocation.library()
    last = library.last_turn(session)
    if check is not None:
        if last is None:
            hint = "A host records the turns that it serves."
            raise UsageError(f"no turn {_of(session)}has been recorded", hint=hint)
        found = library.check_citations(_read(check), last.sources)
        _show_checked(invocation, found)
        if not found.sound:
            raise click.exceptions.Exit(1)
        return
    if invocation.json:
        invocation.document(recorded=last is not None, turn=None if last is None else _document(last))
    elif last is None:
        invocation.console.paragraph(f"No turn {_of(session)}has been recorded yet.", hanging="  ")
        invocation.console.note("`hermes-lance context MESSAGE` shows what a message would be given.")
    else:
        _show(invocation, last)


def _of(session: str | None) -> str:
    return f"of the session {session} " if session else ""


def _document(turn: Injection) -> dict[str, Any]:
    whole = asdict(turn)
    made = {key: whole[key] for key in ("at", "session_id", "turn_id", "query", "mode", "stage", "reason")}
    made.update(injected=turn.stage == "injected", tokens=turn.tokens, generation=turn.generation)
    return {**made, "sources": whole["sources"]}


def _show(invocation: Invocation, turn: Injection) -> None:
    console = invocation.console
    message = " ".join(turn.query.split())
    message = message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 3]}..."
    console.paragraph(f"{turn.at}, {turn.mode}: {message}", hanging="  ")
    if not turn.sources:
        console.paragraph(f"No context. Ended by {turn.stage}: {turn.reason}.", hanging="  ")
        return
    console.line(
        f"{amount(len(turn.sources), 'passage')}, {turn.tokens:,} tokens, generation {shown(str(turn.generation))}:"
    )
    for number, one in enumerate(turn.sources, start=1):
        console.paragraph(f"{number}. {one.citation}", hanging="   ")


def _read(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).expanduser().read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise FileMissing(f"{file}: cannot be read ({error.strerror})", hint="Check --check.") from error


def _show_checked(invocation: Invocation, found: Checked) -> None:
    if invocation.json:
        citations = [asdict(one) for one in found.citations]
        invocation.document(sound=found.sound, citations=citations, uncited=list(found.uncited))
        return
    console = invocation.console
    if not found.citations:
        console.line("The answer cites nothing.")
    for one in found.citations:
        given = f" (given: {', '.join(one.given)})" if one.given and one.verdict != "exact" else ""
        console.paragraph(f"{one.verdict}: {one.text}{given}", hanging="  ")
    for citation in found.uncited:
        console.paragraph(f"uncited: {citation}", hanging="  ")
