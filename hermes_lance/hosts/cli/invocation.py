"""What every command is given: the global options, the console, and the library they open.

The options are accepted before and after the command; both places write into one `Invocation`, the later one wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hermes_lance.hosts.output import Console

if TYPE_CHECKING:
    from hermes_lance.library import Library

WAIT_SECONDS = 30.0


@dataclass
class Invocation:
    """One run of the command line."""

    home: str | None = None
    config: str | None = None
    dataset: str | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    wait: float = WAIT_SECONDS
    own_process: bool = False
    """Nothing else goes on in this process; false inside a host."""
    _console: Console | None = field(default=None, repr=False)

    @property
    def console(self) -> Console:
        """Where results and notes go; made when the options are known."""
        if self._console is None:
            self._console = Console(quiet=self.quiet, colour=not self.no_color)
        return self._console

    def library(self) -> Library:
        """The library that the options name. Raises `ConfigError`, `FileMissing`."""
        from hermes_lance.library import Library

        return Library.open(self.home, config=self.config, dataset=self.dataset)

    def document(self, **keys: Any) -> None:
        """The JSON document of a run that went well."""
        self.console.document({"success": True, **keys})

    def failure(self, error: str, code: str, hint: str, **more: Any) -> None:
        """What went wrong, as a document on the output or a line on the error stream."""
        if self.json:
            document: Mapping[str, Any] = {"success": False, "error": error, "code": code, "hint": hint, **more}
            self.console.document(document)
        else:
            self.console.error(error, hint)

    def warn(self, warnings: Any) -> None:
        """Warnings beside the result of a text run; a JSON run has them in its document."""
        if not self.json:
            for warning in warnings:
                self.console.warn(str(warning))


pass_invocation = click.make_pass_decorator(Invocation, ensure=True)


def _remember(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    name = parameter.name
    if name is not None and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
        setattr(context.ensure_object(Invocation), name, value)


def _print_version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value or context.resilient_parsing:
        return
    from hermes_lance import __version__

    invocation = context.ensure_object(Invocation)
    if invocation.json:
        invocation.document(version=__version__)
    else:
        invocation.console.line(f"hermes-lance {__version__}")
    context.exit()


def global_options(*, hidden: bool) -> list[click.Parameter]:
    """The options that every command takes; shown in the help of the command line itself only."""

    def option(*names: str, **more: Any) -> click.Option:
        return click.Option(names, expose_value=False, hidden=hidden, callback=_remember, **more)

    return [
        option("--home", metavar="DIR", help="Home folder (default: $HERMES_HOME, else ~/.hermes)."),
        option("--config", metavar="FILE", help="Configuration file (default: config.yaml of the home)."),
        option("--dataset", metavar="DIR", help="A dataset outside any home; it is read as it is."),
        option("--json", is_flag=True, help="Print one JSON document and nothing else."),
        option("--quiet", is_flag=True, help="No notes, no warnings."),
        option("--verbose", is_flag=True, help="More detail; a traceback when something breaks."),
        option("--no-color", is_flag=True, help="Plain text (also: NO_COLOR)."),
        option(
            "--wait",
            type=click.FloatRange(min=0),
            default=WAIT_SECONDS,
            metavar="SECONDS",
            help="How long to wait for another writer (default 30).",
        ),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            hidden=hidden,
            callback=_print_version,
            help="Print the version.",
        ),
    ]
