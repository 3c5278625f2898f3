"""Before text goes to a service: where to, how much, for roughly what, and a question whose answer is no by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from hermes_lance.core import registry
from hermes_lance.core.errors import UsageError
from hermes_lance.hosts.cli.invocation import Invocation
from hermes_lance.hosts.output import is_terminal

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.library import Library
    from hermes_lance.outbound import Amount, Service


def said(found: Sequence[Service], amount: Amount | None) -> list[str]:
    """What a person is told before anything is sent."""
    from hermes_lance.outbound import sentence

    lines = [sentence(found)]
    if amount is not None:
        lines.append(f"To embed now: {amount.words}. Every question is sent as well.")
    return lines


def amount_of(library: Library, config: Config, found: Sequence[Service], *, beside: int = 0) -> Amount | None:
    """What the embedder among these services would be sent; none where they have none."""
    from hermes_lance.outbound import amount_to_embed

    if not any(one.category == "embedders" for one in found):
        return None
    return amount_to_embed(library, config, beside=beside)


def agreed(invocation: Invocation, found: Sequence[Service], amount: Amount | None, named: Sequence[str]) -> bool:
    """Whether the person wants that. `named`: services that they have named on the command line, by name or host.

    `UsageError` where nobody can be asked: a general yes is none to this.
    """
    if not found:
        return True
    console = invocation.console
    for line in said(found, amount):
        if invocation.json:
            console.note(line)
        else:
            console.paragraph(line, hanging="  ")
    wanted = {registry.normal("", name) for name in named}
    open_ones = [one for one in found if not {one.name, registry.normal("", one.host)} & wanted]
    if not open_ones:
        return True
    if not can_ask(invocation):
        flags = " ".join(f"--send-text-to {one.name}" for one in open_ones)
        raise UsageError(
            f"text would be sent to {', '.join(one.host for one in open_ones)}, which needs a yes of its own",
            hint=f"Nothing was changed. Say so with {flags}.",
        )
    return click.confirm("Send it?", default=False)


def can_ask(invocation: Invocation) -> bool:
    """A person sits there: input and output are a terminal, and no document was asked for."""
    import sys

    return not invocation.json and is_terminal(sys.stdin) and is_terminal(invocation.console.out)
