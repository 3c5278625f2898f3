"""Looking after a dataset: `why`, `doctor`, `generations list|gc`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from hermes_lance.core.config import Setting, chosen_settings
from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.given import absolute, meant_here
from hermes_lance.hosts.cli.groups import Command, LazyGroup
from hermes_lance.hosts.cli.interrupt import interruptible
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.output import Console, amount, shown, size_words, wrapped


@click.command("why", cls=Command)
@click.argument("path")
@click.argument("query", nargs=-1)
@pass_invocation
def why(invocation: Invocation, path: str, query: tuple[str, ...]) -> None:
    """Explain why a file is found, or is not.

    PATH is a path as results show it, an absolute path, or one that begins with `./` or `../`. With a QUERY, also
    where the file stands in the answer.
    """
    question = " ".join(printable(word)[0] for word in query) or None
    library = invocation.library()
    verdict = library.why(absolute(path), question)
    if invocation.json:
        stages = [{"stage": one.stage, "outcome": one.outcome, "detail": dict(one.detail)} for one in verdict.stages]
        invocation.document(path=verdict.path, verdict=verdict.verdict, stages=stages)
        return
    console = invocation.console
    console.paragraph(verdict.path)
    console.paragraph(verdict.verdict, indent="  ")
    console.line()
    rows = [[one.stage, one.outcome, words(one.detail)] for one in verdict.stages]
    console.table(["stage", "outcome", "detail"], rows, wrap=True)
    if any(one.outcome == "not there" for one in verdict.stages) and (hint := meant_here(path)):
        console.note(hint)
    invocation.warn(library.warnings)


def words(detail: Mapping[str, Any]) -> str:
    """The details of a stage on one line."""
    return ", ".join(f"{key}: {shown(str(value))}" for key, value in detail.items() if value is not None)


@click.command("doctor", cls=Command)
@click.option("--fix", is_flag=True, help="Rebuild derived files from the tables where they fail.")
@pass_invocation
def doctor(invocation: Invocation, fix: bool) -> int:
    """Check every part of the dataset, and name the remedy for what is wrong."""
    library = invocation.library()
    with interruptible(invocation):
        checks = library.doctor(fix=fix, wait_seconds=invocation.wait)
    healthy = all(check.ok for check in checks)
    fatal = any(check.fatal and not check.ok for check in checks)
    if invocation.json:
        rows = [
            {"name": one.name, "ok": one.ok, "fatal": one.fatal, "detail": one.detail, "remedy": one.remedy}
            for one in checks
        ]
        from hermes_lance.plugged import health

        plugins = {one.category: one.as_json() for one in health(library)}
        invocation.console.document(
            {
                "success": not fatal,
                "healthy": healthy,
                "checks": rows,
                "plugins": plugins,
                "settings": [asdict(one) for one in chosen_settings(library.config)],
            }
        )
        return int(fatal)
    console = invocation.console
    width = max((len(check.name) for check in checks), default=0)
    for check in checks:
        state, style = ("ok", "green") if check.ok else ("FAIL", "red") if check.fatal else ("note", "yellow")
        label = console.styled(f"{state:<5}", style) + f"{check.name:<{width}}  "
        indent = " " * (width + 7)
        first, *rest = _sentences(check.detail, console.width - len(indent))
        console.line(label + first)
        console.lines(indent + line for line in rest)
        if check.remedy and not check.ok:
            console.paragraph(check.remedy, indent=indent)
    _print_settings(console, chosen_settings(library.config))
    console.line()
    console.line("Healthy." if healthy else "Not healthy." if fatal else "Usable; see the notes.")
    return int(fatal)


def _print_settings(console: Console, chosen: Sequence[Setting]) -> None:
    """The keys that somebody has set, and where: all others have their defaults."""
    console.line()
    if not chosen:
        console.line("All settings have their defaults.")
        return
    for one in chosen:
        console.paragraph(f"{one.key} = {value_words(one.value)}  ({one.origin})", hanging="  ")


def value_words(value: object) -> str:
    """A value of a setting as one would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {value_words(one)}" for key, one in value.items())
    if isinstance(value, tuple):
        return ", ".join(str(getattr(one, "path", one)) for one in value)
    return str(value)


def _sentences(text: str, width: int) -> list[str]:
    return wrapped(shown(text), width) or [""]


@click.group("generations", cls=LazyGroup)
def generations() -> None:
    """Published states of the dataset: the current one and those before it."""


@generations.command("list")
@pass_invocation
def list_generations(invocation: Invocation) -> None:
    """List the generations on disk, newest first."""
    library = invocation.library()
    current = library.manifest().id
    rows = [
        {
            "id": one.id,
            "published_at": one.published_at,
            "tags": list(one.tags),
            "chunks": one.totals.get("chunks", 0),
            "artifacts": one.totals.get("artifacts", 0),
            "files": one.totals.get("indexed", 0),
            "note": one.note,
            "current": one.id == current,
        }
        for one in library.generations()
    ]
    if invocation.json:
        invocation.document(generations=rows)
        return
    table = [
        [
            str(row["id"]),
            str(row["published_at"]),
            f"{row['files']:,}",
            f"{row['chunks']:,}",
            "current" if row["current"] else "",
            str(row["note"]),
        ]
        for row in rows
    ]
    invocation.console.table(["generation", "published", "files", "passages", "", "note"], table, right=(2, 3))
    invocation.warn(library.warnings)


@generations.command("gc")
@click.option("--keep", type=click.IntRange(min=1), default=3, show_default=True, help="Generations that stay.")
@pass_invocation
def collect(invocation: Invocation, keep: int) -> None:
    """Remove old generations and merge small pieces; the current generation is never removed.

    Vectors of embedders that do not answer now go as well; `workspace embedder rollback` needs them.
    """
    library = invocation.library()
    with interruptible(invocation):
        removed = library.collect_garbage(keep=keep, wait_seconds=invocation.wait)
    if invocation.json:
        invocation.document(
            removed={
                "generations": removed.generations,
                "files": removed.files,
                "vector_spaces": removed.spaces,
                "bytes": removed.bytes,
            }
        )
        return
    what = f"{amount(removed.generations, 'generation')} and {amount(removed.files, 'file')}"
    if removed.spaces:
        what += f", and the vectors of {amount(removed.spaces, 'other embedder')}"
    invocation.console.line(f"Removed {what}; {size_words(removed.bytes)} freed.")
