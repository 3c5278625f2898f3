"""`hermes-lance watch`: follows the roots until it is stopped, and says what it did with each file that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.interrupt import STATUS, interruptible
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.output import amount, shown

if TYPE_CHECKING:
    from hermes_lance.core.records import FileChange
    from hermes_lance.hosts.output import Console

UNTOLD = ("hidden: ", "ignored: ", "ignore-file: ")
"""Files that are left out for such a reason come and go all the time."""


@click.command("watch", cls=Command)
@click.option("--poll", is_flag=True, help="Look at the folders from time to time, without events of the system.")
@click.option("--background", is_flag=True, help="Give way to all other work: lowest priority, one worker.")
@pass_invocation
def watch(invocation: Invocation, poll: bool, background: bool) -> int:
    """Follow the workspace and every root until stopped (Ctrl-C).

    What changed since the last build is indexed first. A saved file can be searched within a second; its vectors follow
    when nothing else is to be done. Each change is one line.
    """
    library = invocation.library()
    lines = _Lines(invocation)
    with interruptible(invocation) as cancelled:
        from hermes_lance.following import watch_in_background
        from hermes_lance.keeping import watching

        follow = watch_in_background if background else type(library).watch
        with watching(library.config) as alone:
            if not alone:
                lines.say("Another process follows these folders already; both of them will.")
            done = follow(library, cancelled=cancelled, changed=lines.changed, say=lines.say, poll=poll, warm=True)
    if invocation.json:
        counts = {"indexed": done.indexed, "removed": done.removed, "publications": done.published}
        invocation.document(stopped=True, seconds=done.seconds, **counts)
    elif not invocation.quiet:
        lines.say(f"Stopped. {amount(done.indexed, 'file')} indexed, {done.removed:,} removed.")
    return STATUS if cancelled() else 0


class _Lines:
    """Writes each line at once, also into a pipe; with --json and --quiet nothing but the end is said."""

    def __init__(self, invocation: Invocation) -> None:
        self._console: Console = invocation.console
        self._silent = invocation.json or invocation.quiet

    def changed(self, change: FileChange, seconds: float) -> None:
        """`indexed docs/plan.md (3 passages, 0.21 s)`."""
        if not self._silent and not (change.kind == "skipped" and change.detail.startswith(UNTOLD)):
            self._console.line(sentence(change, seconds))
            self._console.out.flush()

    def say(self, words: str) -> None:
        """A note about the watch."""
        if not self._silent:
            self._console.note(shown(words))
            self._console.err.flush()


def sentence(change: FileChange, seconds: float) -> str:
    """One change in words."""
    path = shown(change.path)
    if change.kind in ("skipped", "failed"):
        left = "left out" if change.kind == "skipped" else "could not read"
        return f"{left} {path} ({shown(change.detail)})"
    passages = f"{change.passages:,} passage{'' if change.passages == 1 else 's'}"
    source = f" from {shown(change.detail)}" if change.kind == "moved" else ""
    return f"{change.kind} {path}{source} ({passages}, {seconds:.2f} s)"
