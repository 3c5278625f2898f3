"""`hermes-lance verify`: does a cited source still say what was cited?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.given import absolute, meant_here
from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.interrupt import interruptible
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation

if TYPE_CHECKING:
    from hermes_lance.ingest.verify import Verdict

_SENTENCES = {
    "exact": "exact: it stands as it was cited",
    "moved": "moved: the same text is at another place now",
    "changed": "changed: the text is not as it was cited",
    "gone": "gone: the file is no longer there",
}
_NEVER = "gone: there is no such file"
_STYLES = {"exact": "green", "moved": "yellow", "changed": "yellow", "gone": "red"}


@click.command("verify", cls=Command)
@click.argument("citation", nargs=-1, required=True)
@click.option("--sha", metavar="HEX", help="SHA-256 of the file when it was cited, or its beginning.")
@click.option("--as-of", metavar="GEN|TAG|TIME", help="The generation that was asked then.")
@pass_invocation
def verify(invocation: Invocation, citation: tuple[str, ...], sha: str | None, as_of: str | None) -> None:
    """Say whether a cited source still stands: exact, moved, changed or gone.

    CITATION is as results and answers have it: `docs/plan.md:10-42`, `docs/plan.md#L10-L42`, `report.pdf#page=3`,
    `deck.pptx#slide 3`, a whole `[Workspace source: ...]` line, or a path alone; a path that begins with `./` starts
    at the current folder. What was cited is taken from the newest generation that
    knows the file, unless --sha or --as-of names an older state.
    """
    text = printable(absolute(" ".join(citation)))[0]
    with interruptible(invocation):
        found = invocation.library().verify(text, sha256=sha, generation=as_of)
    if invocation.json:
        invocation.document(**document(text, found))
        return
    console = invocation.console
    from hermes_lance.ingest.verify import UNKNOWN

    unknown = found.detail == UNKNOWN
    console.line(console.styled(_NEVER if unknown else _SENTENCES[found.verdict], _STYLES[found.verdict]))
    if found.verdict == "moved":
        console.paragraph(f"Now: {place(found)}", hanging="  ")
    elif found.start is not None and found.verdict == "changed":
        console.paragraph(f"About there now: {place(found)}", hanging="  ")
    if found.detail:
        console.paragraph(f"{found.detail[0].upper()}{found.detail[1:]}.", hanging="  ")
    if unknown and (hint := meant_here(found.citation.path)):
        console.paragraph(hint, hanging="  ")


def place(found: Verdict) -> str:
    """Where the passage is now, as citations write it."""
    if found.start is None:
        return found.path
    last = f"-{found.end}" if found.end not in (None, found.start) else ""
    return f"{found.path}{'#page=' if found.citation.page_start is not None else ':'}{found.start}{last}"


def document(text: str, found: Verdict) -> dict[str, Any]:
    """The verdict as JSON has it; the place is that of today."""
    paged = found.citation.page_start is not None
    return {
        "citation": text,
        "verdict": found.verdict,
        "path": found.path,
        "line_start": None if paged else found.start,
        "line_end": None if paged else found.end,
        "page_start": found.start if paged else None,
        "page_end": found.end if paged else None,
        "detail": found.detail,
        "whitespace_only": found.whitespace_only,
        "generation": found.generation,
        "sha256": found.sha256,
    }
