"""`hermes-lance knowledge …`: whole things that an agent can open, which for a task, and what goes with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hermes_lance.core.errors import ArtifactMissing
from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.groups import LazyGroup
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.cli.report import artifact_words, print_warnings
from hermes_lance.hosts.output import Console, time_words

if TYPE_CHECKING:
    from hermes_lance.core.artifact import Artifact
    from hermes_lance.library import Library
    from hermes_lance.routing import Neighbour
    from hermes_lance.search.route import Routed, RoutePage

SHOWN_TRIGGERS = 12


@click.group("knowledge", cls=LazyGroup)
def knowledge() -> None:
    """What an agent should open first: skills, scripts, runbooks, notes, jobs, servers and tools."""


@knowledge.command("build")
@click.option("--full", is_flag=True, help="Write everything anew.")
@pass_invocation
def build(invocation: Invocation, full: bool) -> None:
    """Collect skills, scripts, notes, jobs, servers and tool notes, and link them.

    Where they are looked for is set by the section `local_knowledge` of config.yaml. Of jobs, servers and scripts only
    names and descriptions are kept; secret-looking values are masked before anything is stored.
    """
    build_and_say(invocation, invocation.library(), full=full)


def build_and_say(invocation: Invocation, library: Library, *, full: bool) -> None:
    """Builds the artifacts and reports it."""
    report = library.index_artifacts(full=full, wait_seconds=invocation.wait)
    if invocation.json:
        invocation.document(
            generation=report.generation,
            artifacts={
                "written": report.written,
                "reused": report.reused,
                "removed": report.removed,
                "total": report.total,
                "by_type": report.by_type,
            },
            edges={"total": report.edges},
            seconds=report.seconds,
            source_root=str(library.config.local_knowledge.root(library.config.home)),
            warnings=report.warnings,
        )
    elif not invocation.quiet:
        console = invocation.console
        console.paragraph(artifact_words(report), hanging="  ")
        if report.by_type:
            console.table(["type", "count"], [[kind, str(count)] for kind, count in report.by_type.items()], right=(1,))
        state = "Generation" if report.published else "Nothing new; generation"
        console.paragraph(f"{state} {report.generation}, {time_words(report.seconds)}.")
        print_warnings(console, report.warnings)


@knowledge.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--type", "kind", metavar="T", help="Only this type, such as skill, script, cron_job or mcp_server.")
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="Artifacts on a page.")
@click.option(
    "--offset", type=click.IntRange(0, 1_000_000), default=0, show_default=True, help="Artifacts to pass over."
)
@pass_invocation
def search(invocation: Invocation, query: tuple[str, ...], kind: str | None, limit: int, offset: int) -> None:
    """Name the artifacts that should be opened first for QUERY, best first."""
    question = " ".join(printable(word)[0] for word in query)
    page = invocation.library().route(question, limit=limit, offset=offset, kind=kind)
    if invocation.json:
        invocation.document(
            query=page.query,
            generation=page.generation,
            count=len(page.rows),
            offset=offset,
            has_more=page.has_more,
            results=[{**record(one.artifact), "score": one.score, "reason": one.reason} for one in page.rows],
            warnings=list(page.warnings),
        )
        return
    invocation.warn(page.warnings)
    print_routes(invocation.console, page, offset)


@knowledge.command("get")
@click.argument("key", metavar="ID")
@click.option("--neighbors", is_flag=True, help="With what it is linked to.")
@pass_invocation
def get(invocation: Invocation, key: str, neighbors: bool) -> int:
    """Show the artifact called ID, such as skill:deploy."""
    library = invocation.library()
    try:
        artifact = library.artifact(printable(key)[0])
        linked = library.neighbours(artifact.id) if neighbors else []
    except ArtifactMissing as error:
        return _missing(invocation, error)
    if invocation.json:
        more = {"neighbors": [neighbour_record(one) for one in linked]} if neighbors else {}
        invocation.document(artifact={**record(artifact), "triggers": list(artifact.triggers)}, **more)
        return 0
    console = invocation.console
    _print_artifact(console, artifact)
    for one in linked:
        console.line()
        _print_neighbour(console, one)
    return 0


def _missing(invocation: Invocation, error: ArtifactMissing) -> int:
    """An id that nothing has is an ordinary answer of a look-up: status 1, as its callers know it."""
    invocation.failure(str(error), error.code, error.hint)
    return 1


@knowledge.command("neighbors")
@click.argument("key", metavar="ID")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Artifacts at most.")
@pass_invocation
def neighbors(invocation: Invocation, key: str, limit: int) -> int:
    """Show what the artifact called ID is linked to: references first, then what shares rare words with it."""
    key = printable(key)[0]
    try:
        linked = invocation.library().neighbours(key, limit)
    except ArtifactMissing as error:
        return _missing(invocation, error)
    if invocation.json:
        invocation.document(id=key, count=len(linked), neighbors=[neighbour_record(one) for one in linked])
        return 0
    console = invocation.console
    if not linked:
        console.paragraph(f"{key} is linked to nothing.")
    for number, one in enumerate(linked):
        if number:
            console.line()
        _print_neighbour(console, one)
    return 0


def record(artifact: Artifact) -> dict[str, Any]:
    """An artifact as results show it: what is empty is left out, and so are the words that only serve the search."""
    shown = {
        "id": artifact.id,
        "type": artifact.type,
        "title": artifact.title,
        "path": artifact.path,
        "summary": artifact.summary,
        "source": artifact.source,
        "updated_at": artifact.updated_at,
        "related": list(artifact.related),
    }
    return {key: value for key, value in shown.items() if value}


def neighbour_record(one: Neighbour) -> dict[str, Any]:
    """The same with the link that led to it."""
    return {
        **record(one.artifact),
        "edge_kind": one.edge.kind,
        "edge_evidence": one.edge.evidence,
        "direction": one.direction,
        "confidence": round(one.edge.confidence, 3),
    }


def print_routes(console: Console, page: RoutePage, offset: int) -> None:
    """A page of artifacts, and how to get the next one."""
    if not page.rows:
        console.paragraph(f"No artifacts{f' from number {offset + 1} on' if offset else ''} for {page.query!r}.")
        return
    for number, one in enumerate(page.rows, start=offset + 1):
        if number > offset + 1:
            console.line()
        _print_route(console, number, one)
    if page.has_more:
        console.line()
        console.line(console.styled(f"More: --offset {offset + len(page.rows)}", "dim"))


def _print_route(console: Console, number: int, one: Routed) -> None:
    artifact = one.artifact
    console.paragraph(f"{number}. {artifact.id} [{artifact.type}] {artifact.title}", hanging="   ")
    _print_details(console, artifact)
    console.paragraph(f"why: {one.reason}", indent="   ", hanging="     ")


def _print_artifact(console: Console, artifact: Artifact) -> None:
    console.paragraph(f"{artifact.id} [{artifact.type}] {artifact.title}", hanging="   ")
    _print_details(console, artifact)
    if artifact.triggers:
        words = ", ".join(artifact.triggers[:SHOWN_TRIGGERS])
        console.paragraph(f"triggers: {words}", indent="   ", hanging="     ")


def _print_details(console: Console, artifact: Artifact) -> None:
    console.paragraph(f"path: {artifact.path}", indent="   ", hanging="     ")
    if artifact.summary:
        console.paragraph(f"summary: {artifact.summary}", indent="   ", hanging="     ")


def _print_neighbour(console: Console, one: Neighbour) -> None:
    console.paragraph(f"{one.artifact.id} [{one.artifact.type}] {one.artifact.title}", hanging="   ")
    _print_details(console, one.artifact)
    how = f"{one.direction}, {one.edge.confidence:.2f}"
    console.paragraph(f"edge: {one.edge.kind} ({one.edge.evidence}), {how}", indent="   ", hanging="     ")
