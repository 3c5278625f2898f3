"""`hermes-lance workspace setup`: a few questions, each with the present setting as its answer, and one file written.

Everything is asked before anything is written, so that Ctrl-C changes nothing. What leaves this machine is said in a
line, and a service has a question of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from hermes_lance.core import registry
from hermes_lance.core.errors import UNAVAILABLE, UsageError
from hermes_lance.hosts.cli import consent
from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.cli.setup_answers import KEYS, Answers, asked, proposed, variable_of
from hermes_lance.hosts.cli.setup_choices import EMBEDDERS, EXTRAS, MODES, RERANKERS, Extra, needed

if TYPE_CHECKING:
    from hermes_lance.library import Library
    from hermes_lance.outbound import Amount, Service


@click.command("setup", cls=Command)
@click.option("--yes", is_flag=True, help="Ask nothing: what is set stays, and the mode becomes gated if none was set.")
@click.option("--enable/--disable", "enabled", default=None, help="Whether anything is indexed at all.")
@click.option("--mode", type=click.Choice(list(MODES)), help="When an agent gets passages unasked.")
@click.option("--embedder", metavar="NAME", help="What turns text into vectors.")
@click.option("--reranker", metavar="NAME", help="What orders the best hits anew.")
@click.option("--ocr/--no-ocr", default=None, help="Read the words of pictures and scanned pages.")
@click.option("--install", type=click.Choice(list(EXTRAS)), multiple=True, help="Install this extra with pip.")
@click.option(
    "--send-text-to", "named", metavar="NAME", multiple=True, help="Yes, text may go to this service; --yes is no such."
)
@pass_invocation
def setup(invocation: Invocation, /, yes: bool, install: tuple[str, ...], named: tuple[str, ...], **given: Any) -> int:
    """Set the workspace up: enable, mode, embedder, reranker, extras.

    Asks on a terminal. Nothing is written before the last answer, and what was set before is proposed again.
    With --json alone nothing is asked or changed: the document says what is set and what could be.
    """
    library = invocation.library()
    if library.caller_owned:
        raise UsageError("setup writes the configuration of a home; --dataset names none")
    asking = not yes and consent.can_ask(invocation)
    if not (asking or yes or invocation.json):
        raise UsageError(
            "setup asks questions, and this is no terminal",
            hint="Run it in a terminal, or with --yes and what you want: "
            "--mode, --embedder, --reranker, --ocr, --install. Nothing was changed.",
        )
    answers = asked(invocation, library.config, given) if asking else proposed(library.config, given)
    apply = asking or yes
    answers, found, amount = _with_consent(invocation, library, answers, named, asking=asking, apply=apply)
    wanted = needed(answers.embedder, answers.reranker, ocr=answers.ocr) if answers.enabled else []
    if asking:
        _show(invocation, library, answers, found)
        if not click.confirm("Write this?", default=True):
            invocation.console.line("Nothing was changed.")
            return 0
    changed = _write(library, answers) if apply else False
    if changed and not invocation.json:
        invocation.console.paragraph(f"Written to {library.config.config_file}.", hanging="  ")
    failed = _install(invocation, wanted, install, asking=asking)
    _report(invocation, library, answers, wanted, found, amount, changed=changed, failed=failed)
    return 0


# -- what leaves this machine ----------------------------------------------------------------------------------------


def _with_consent(
    invocation: Invocation, library: Library, answers: Answers, named: Sequence[str], *, asking: bool, apply: bool
) -> tuple[Answers, list[Service], Amount | None]:
    """The answers without the services that were refused, the services of what is left, and what those are sent."""
    from hermes_lance.outbound import services

    config = library.config
    # Where indexing is off as well: what is indexed can be searched, which sends the question.
    chosen = answers.config(config)
    found, before = services(chosen), services(config)
    new = [one for one in found if one not in before]
    amount = consent.amount_of(library, chosen, new)
    if not apply or not new:
        return answers, found, amount
    if asking:
        invocation.console.line()
    if consent.agreed(invocation, new, amount, named):
        return answers, found, amount
    for one in new:
        key = one.category.removesuffix("s")
        answers = replace(answers, **{key: getattr(config, key)})
        invocation.console.line(f"{one.name} is not switched on; {key} stays {getattr(config, key)}.")
    return answers, services(answers.config(config)), None


# -- writing and installing ------------------------------------------------------------------------------------------


def _write(library: Library, answers: Answers) -> bool:
    """Writes what differs from what is set, all at once; whether anything did."""
    config = library.config
    present = {
        "enabled": config.enabled,
        "mode": config.retrieval_mode if KEYS["mode"] in config.origins else None,
        "embedder": config.embedder,
        "reranker": config.reranker,
        "ocr": config.ocr,
    }
    wanted = asdict(answers)
    values = {KEYS[key]: wanted[key] for key in KEYS if wanted[key] != present[key] and not variable_of(config, key)}
    if answers.enabled and not config.workspace.enabled:
        values["workspace.enabled"] = True
    if values:
        library.set_values(values)
    return bool(values)


def _install(invocation: Invocation, wanted: Sequence[Extra], named: Sequence[str], *, asking: bool) -> list[str]:
    """Installs the extras that were named or agreed to; names of those that could not be."""
    failed: list[str] = []
    extras = dict.fromkeys([*(EXTRAS[name] for name in named), *wanted])
    for extra in extras:
        if extra.installed:
            continue
        if extra.name not in named:
            _say_beside(
                invocation, f"The extra `{extra.name}` ({extra.brings}) is not installed. To install it:", extra
            )
            if not (asking and click.confirm("Run that now?", default=False)):
                continue
        # What pip says is shown as it comes; beside a document it goes to the error stream.
        out = sys.stderr if invocation.json else None
        done = subprocess.run(extra.command, stdin=subprocess.DEVNULL, stdout=out, check=False)
        if done.returncode:
            failed.append(extra.name)
            _say_beside(invocation, f"Warning: pip ended with status {done.returncode}. Install it by hand:", extra)
    return failed


def _say_beside(invocation: Invocation, words: str, extra: Extra) -> None:
    """A sentence, and the command on one line of its own, however long, so that it can be copied."""
    invocation.console.note(words)
    if not invocation.console.quiet:
        click.echo(f"  {extra.command_line}", err=True)


# -- what is said ----------------------------------------------------------------------------------------------------


def _show(invocation: Invocation, library: Library, answers: Answers, found: Sequence[Service]) -> None:
    from hermes_lance.outbound import sentence

    console = invocation.console
    console.line()
    for name, value in _rows(answers):
        console.line(console.styled(f"{name:<12}", "bold") + value)
    console.paragraph(sentence(found), hanging="  ")
    if answers.enabled and answers.mode != "off":
        console.paragraph("What an agent is given goes where its own model is.", hanging="  ")


def _rows(answers: Answers) -> list[tuple[str, str]]:
    mode = ("Mode", f"{answers.mode}: {MODES[answers.mode]}")
    if not answers.enabled:
        return [("Indexing", "off"), mode]
    return [
        ("Indexing", "on"),
        mode,
        ("Embedder", answers.embedder),
        ("Reranker", answers.reranker),
        ("Pictures", "read" if answers.ocr else "not read"),
    ]


def _report(
    invocation: Invocation,
    library: Library,
    answers: Answers,
    wanted: Sequence[Extra],
    found: Sequence[Service],
    amount: Amount | None,
    *,
    changed: bool,
    failed: Sequence[str],
) -> None:
    from hermes_lance.outbound import sentence

    warnings = [*library.warnings, *_troubles(library, answers)]
    following = _next(library, answers)
    if invocation.json:
        invocation.document(
            changed=changed,
            config=str(library.config.config_file),
            answers=asdict(answers),
            choices={"mode": MODES, "embedder": EMBEDDERS, "reranker": RERANKERS},
            leaves=sentence(found),
            services=[asdict(one) for one in found],
            amount=asdict(amount) if amount is not None else None,
            extras=[
                {
                    "name": one.name,
                    "brings": one.brings,
                    "installed": one.installed,
                    "needed": one in wanted,
                    "failed": one.name in failed,
                    "command": one.command_line,
                }
                for one in EXTRAS.values()
            ],
            next=following,
            warnings=warnings,
        )
        return
    console = invocation.console
    if not changed:
        console.line("Everything is set as it was.")
    console.paragraph(sentence(found), hanging="  ")
    invocation.warn(warnings)
    if following:
        console.note(following)


def _troubles(library: Library, answers: Answers) -> list[str]:
    """Why the chosen plugins cannot be used yet."""
    from hermes_lance.core import plugins

    config, said = answers.config(library.config), []
    if not answers.enabled:
        return []
    for category, name, options in (
        ("embedders", config.embedder, config.embedder_options),
        ("rerankers", config.reranker, config.reranker_options),
    ):
        if name in registry.WITHOUT_CLASS.get(category, ()):
            continue
        try:
            made = plugins.make(category, name, options, home=config.home)
            made.signature()
        except UNAVAILABLE as error:
            said.append(f"{error}. {error.hint}")
    return said


def _next(library: Library, answers: Answers) -> str:
    if not answers.enabled:
        return ""
    manifest = library.manifest_or_none()
    if manifest is None:
        there = os.fspath(library.config.workspace_root)
        return f"Put files into {there}, or add folders with `hermes-lance build PATH`; then run `hermes-lance build`."
    active = (manifest.space.get("active") or {}).get("embedder")
    if active and active != answers.embedder:
        made = f"it makes the vectors of {answers.embedder}; those of {active} answer until then"
        return f"Run `hermes-lance build`: {made}."
    return ""
