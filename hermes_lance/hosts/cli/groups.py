"""Click commands that load late and take the global options in either place.

A group knows the name, the place and one line about each command, so its help imports none of them.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from typing import Any

import click

from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.invocation import Invocation, global_options

MORE = "Global options (--home, --json, --quiet, ...): see `hermes-lance --help`."


class JsonHelp(click.Command):
    """A command whose help is a JSON document when one is asked for."""

    def get_help(self, ctx: click.Context) -> str:
        """The help page, or the document that holds it."""
        page = super().get_help(ctx)
        invocation = ctx.find_object(Invocation)
        if invocation is not None and invocation.json:
            return json.dumps({"success": True, "help": page}, ensure_ascii=False)
        return page


class Command(JsonHelp):
    """A leaf of the command line."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("epilog", MORE)
        super().__init__(*args, **kwargs)
        self.params.extend(global_options(hidden=True))


class LazyGroup(JsonHelp, click.Group):
    """A group whose commands are imported when they are called. `lazy`: name to (`module:attribute`, one line)."""

    command_class = Command

    def __init__(
        self, *args: Any, lazy: Mapping[str, tuple[str, str]] | None = None, top: bool = False, **kwargs: Any
    ) -> None:
        if not top:
            kwargs.setdefault("epilog", MORE)
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy or {})
        self.params.extend(global_options(hidden=not top))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which people meet them."""
        return [*self.lazy, *(name for name in self.commands if name not in self.lazy)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; none when there is no such command."""
        if cmd_name in self.lazy:
            module, _, attribute = self.lazy[cmd_name][0].partition(":")
            found = getattr(importlib.import_module(module), attribute)
            assert isinstance(found, click.Command)
            return found
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the names that look like an unknown one."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            import difflib

            near = difflib.get_close_matches(name, self.list_commands(ctx), 1)
            advice = f"; did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"there is no command {printable(name)[0]!r}{advice}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from their one-line descriptions."""
        rows = []
        for name in self.list_commands(ctx):
            about = self.lazy[name][1] if name in self.lazy else self.commands[name].get_short_help_str(60)
            rows.append((name, about))
        with formatter.section("Commands"):
            formatter.write_dl(rows)
