"""`hermes-lance workspace embedder …`: which vectors answer, making others beside them, and going back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hermes_lance.core.errors import FileMissing, UsageError
from hermes_lance.hosts.cli.groups import LazyGroup
from hermes_lance.hosts.cli.interrupt import interruptible
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.cli.progress import Bar
from hermes_lance.hosts.output import Console, amount, shown, size_words, time_words, wrapped

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.library import Library
    from hermes_lance.switching import Switched

_send = click.option(
    "--send-text-to",
    "named",
    metavar="NAME",
    multiple=True,
    help="Yes, text may go to this service (openai, google, ... or its host).",
)
_yes = click.option("--yes", is_flag=True, help="Ask nothing. No consent to a service: see --send-text-to.")


@click.group("embedder", cls=LazyGroup)
def embedder() -> None:
    """What turns text into vectors: see it, change it without a pause, go back."""


@embedder.command("show")
@pass_invocation
def show(invocation: Invocation) -> None:
    """Show which vectors answer, which are being made, and which are kept."""
    from hermes_lance.outbound import sentence, services
    from hermes_lance.switching import spaces

    library = invocation.library()
    found = spaces(library)
    leaves = sentence(services(library.config))
    if invocation.json:
        invocation.document(**found, leaves=leaves, warnings=library.warnings)
        return
    console = invocation.console
    configured, active, building = found["configured"], found["active"], found["building"]
    _row(console, "Configured", _called(configured))
    _row(console, "Answers", _described(active) if active else "nothing yet: run `hermes-lance build`")
    if building:
        done = f"{building['vectors']:,} of {building['vectors_in_all']:,} vectors; `hermes-lance build` goes on"
        _row(console, "Being made", f"{_called(building)}, {done}")
    for one in found["earlier"]:
        until = f"answered until {one['until']}" if one["until"] else "never answered"
        _row(console, "Kept", f"{_described(one)}, {until}")
    if found["rollback"]:
        _row(console, "", "`workspace embedder rollback` goes back, `generations gc` drops what is kept.")
    console.paragraph(leaves, hanging="  ")
    invocation.warn(library.warnings)


def _row(console: Console, name: str, value: str) -> None:
    first, *rest = wrapped(shown(value), console.width - 12) or [""]
    console.line(console.styled(f"{name:<12}", "bold") + first)
    console.lines(" " * 12 + line for line in rest)


def _called(one: Mapping[str, Any]) -> str:
    options = ", ".join(f"{key}={value}" for key, value in (one.get("options") or {}).items())
    return f"{one['embedder']} ({options})" if options else str(one["embedder"])


def _described(one: Mapping[str, Any]) -> str:
    what = f"{one['dimensions']:,} dimensions, {amount(one['vectors'], 'vector')}"
    return f"{_called(one)}, {what}, {size_words(one['bytes'])}"


@embedder.command("use")
@click.argument("name")
@click.option("--set", "pairs", metavar="KEY=VALUE", multiple=True, help="An option of the embedder, such as model=...")
@click.option(
    "--unless-worse",
    metavar="DATA",
    help="Keep the old one if the new one is worse beyond noise on a BEIR folder, or on a JSONL file of "
    '{"query": ..., "expected": path or paths} about your files.',
)
@_yes
@_send
@pass_invocation
def use(
    invocation: Invocation,
    name: str,
    pairs: tuple[str, ...],
    unless_worse: str | None,
    yes: bool,
    named: tuple[str, ...],
) -> int:
    """Make NAME the embedder. Its vectors are made beside the old ones, which answer until all of them are there."""
    from hermes_lance import switching

    library = invocation.library()
    options = _options(library, name, pairs)
    data = _data(unless_worse)
    config = switching.chosen(library, name, options)
    if not _may(invocation, library, config, yes, named, data):
        return 1
    with interruptible(invocation) as cancelled, Bar(invocation.console, wanted=not invocation.json) as bar:
        found = switching.switch(
            library, name, config.embedder_options, unless_worse=data,
            progress=bar.progress, cancelled=cancelled, wait_seconds=invocation.wait,
        )  # fmt: skip
    return _report(invocation, library, found)


@embedder.command("rollback")
@_yes
@_send
@pass_invocation
def rollback(invocation: Invocation, yes: bool, named: tuple[str, ...]) -> int:
    """Go back to the vectors that answered before. Only texts that came since are embedded."""
    from hermes_lance import switching

    library = invocation.library()
    back = switching.previous(library)
    config = switching.chosen(library, back["embedder"], back.get("options") or {})
    if not _may(invocation, library, config, yes, named, None):
        return 1
    with interruptible(invocation) as cancelled, Bar(invocation.console, wanted=not invocation.json) as bar:
        found = switching.rollback(library, progress=bar.progress, cancelled=cancelled, wait_seconds=invocation.wait)
    return _report(invocation, library, found)


def _options(library: Library, name: str, pairs: tuple[str, ...]) -> dict[str, Any] | None:
    """The written options of that embedder with those of the command line; none where it says nothing."""
    import yaml

    from hermes_lance.core import registry

    if not pairs:
        return None
    config, name = library.config, registry.normal("embedders", name)
    found = dict(config.embedder_options if name == config.embedder else config.embedder_blocks.get(name, {}))
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            raise UsageError(f"--set {pair}: not of the form KEY=VALUE")
        try:
            found[key.strip()] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UsageError(f"--set {pair}: the value cannot be read", hint="Put it in quotes.") from error
        if found[key.strip()] is None:
            del found[key.strip()]  # an empty value means the default
    return found


def _data(given: str | None) -> Path | None:
    if given is None:
        return None
    path = Path(given).expanduser().absolute()
    if not path.exists():
        raise FileMissing(f"{path}: no such file or folder")
    return path


def _may(
    invocation: Invocation, library: Library, config: Config, yes: bool, named: tuple[str, ...], data: Path | None
) -> bool:
    """Whether the person agrees to what leaves this machine by the change; says so where not."""
    from hermes_lance.hosts.cli.consent import agreed, amount_of
    from hermes_lance.outbound import services

    found = [one for one in services(config) if one.category == "embedders"]
    beside = sum(file.stat().st_size for file in data.rglob("*") if file.is_file()) if data and data.is_dir() else 0
    if agreed(invocation, found, amount_of(library, config, found, beside=beside), named):
        return True
    invocation.console.line("Nothing was sent and nothing was changed.")
    return False


def _report(invocation: Invocation, library: Library, found: Switched) -> int:
    from hermes_lance.switching import judgement_document

    judged = judgement_document(found.judgement) if found.judgement is not None else None
    document: dict[str, Any] = {
        "switched": found.switched,
        "embedder": found.embedder,
        "before": found.before,
        "now": found.now,
        "vectors_written": found.report.vectors_written if found.report else 0,
        "generation": found.report.generation if found.report else None,
        "seconds": found.report.seconds if found.report else 0.0,
        "judgement": judged,
        "warnings": found.report.warnings if found.report else library.warnings,
    }
    if found.refused:
        assert found.judgement is not None and found.before is not None
        kept = found.before["embedder"]
        error = (
            f"{found.embedder} is worse than {kept} on {found.judgement.data} beyond noise; {kept} goes on answering"
        )
        hint = (
            f"The configuration is as it was. The new vectors are kept: `use {found.embedder}` without --unless-worse "
            "takes them."
        )
        if judged is not None and not invocation.json:
            _print_judgement(invocation.console, judged, found)
        invocation.failure(error, "worse", hint, **document)
        return 1
    if invocation.json:
        invocation.document(**document)
        return 0
    console = invocation.console
    if judged is not None:
        _print_judgement(console, judged, found)
    if found.now is None:
        console.paragraph(f"{found.embedder} is configured. Nothing is indexed yet: run `hermes-lance build`.")
    elif found.switched:
        assert found.report is not None
        made = f"{amount(found.report.vectors_written, 'vector')} made in {time_words(found.report.seconds)}"
        console.paragraph(f"{_called(found.now)} answers from now on ({made}).")
        console.note("`hermes-lance workspace embedder rollback` goes back.")
    else:
        console.paragraph(f"{_called(found.now)} answers already.")
    invocation.warn(found.report.warnings if found.report else library.warnings)
    return 0


def _print_judgement(console: Console, judged: Mapping[str, Any], found: Switched) -> None:
    assert found.before is not None
    names = list(judged["new"])
    rows = [
        [label, *(f"{figures[name]:.4f}" for name in names)]
        for label, figures in ((found.before["embedder"], judged["old"]), (found.embedder, judged["new"]))
    ]
    if rows[0][0] == rows[1][0]:
        rows[0][0], rows[1][0] = f"{rows[0][0]} (old)", f"{rows[1][0]} (new)"
    console.line(f"{shown(judged['data'])}: {amount(judged['queries'], 'query', 'queries')}, hybrid")
    console.table(["", *names], rows, right=range(1, len(names) + 1))
    verdict = "worse beyond noise" if judged["worse"] else "not worse beyond noise"
    left = (
        f" {amount(judged['left_out'], 'question')} left out: no expected file is indexed."
        if judged["left_out"]
        else ""
    )
    console.paragraph(f"Difference {judged['difference']:+.4f} nDCG@10, p {judged['p_value']:.4f}: {verdict}.{left}")
    console.line()
