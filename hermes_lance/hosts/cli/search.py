"""`hermes-lance search`: one question, one page of passages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.cli.plugin_names import PluginName
from hermes_lance.hosts.output import Console, shown

if TYPE_CHECKING:
    from hermes_lance.library import Library
    from hermes_lance.search.page import Answer
    from hermes_lance.search.route import RoutePage


@click.command("search", cls=Command)
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--in",
    "group",
    type=click.Choice(["chunks", "artifacts", "all"]),
    default="chunks",
    show_default=True,
    help="Passages of documents, artifacts, or both in two groups.",
)
@click.option("--type", "kind", metavar="T", help="Of artifacts only this type, such as skill or script.")
@click.option("--path", metavar="P", help="Only this file or folder.")
@click.option("--file-glob", metavar="G", help="Only files whose name fits, such as '*.md'.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=8, show_default=True, help="Hits on a page.")
@click.option("--offset", type=click.IntRange(0, 1_000_000), default=0, show_default=True, help="Hits to pass over.")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "lexical", "dense"]),
    default="hybrid",
    show_default=True,
    help="Words and meaning, words only, meaning only.",
)
@click.option("--fusion", type=click.Choice(["zscore", "convex", "rrf"]), help="How both rankings become one.")
@click.option("--rerank", type=PluginName("rerankers"), help="Order the best hits anew, instead of as configured.")
@click.option("--as-of", metavar="GEN|TAG|TIME", help="Ask an older generation (see `generations list`).")
@click.option("--exact", is_flag=True, help="Compare with every vector instead of a shortlist.")
@click.option("--explain", is_flag=True, help="Show what each stage did.")
@pass_invocation
def search(
    invocation: Invocation,
    query: tuple[str, ...],
    group: str,
    kind: str | None,
    path: str | None,
    file_glob: str | None,
    limit: int,
    offset: int,
    mode: str,
    fusion: str | None,
    rerank: str | None,
    as_of: str | None,
    exact: bool,
    explain: bool,
) -> None:
    """Find the passages that answer QUERY, best first; or the artifacts to open for it.

    Words and meaning are both compared. Every hit is checked against the disk: what is gone is not shown, what has
    changed is marked.
    """
    library = invocation.library()
    question = " ".join(printable(word)[0] for word in query)
    generation = None if as_of is None else printable(as_of)[0]
    answer = routes = None
    if group != "artifacts":
        answer = library.search(
            question,
            limit=limit,
            offset=offset,
            mode=mode,
            path=None if path is None else shown_path(library, path),
            file_glob=None if file_glob is None else printable(file_glob)[0],
            fusion=fusion,
            generation=generation,
            exact=exact,
            rerank=rerank,
        )
    if group != "chunks":
        routes = library.route(question, limit=limit, offset=offset, kind=kind, generation=generation)
    warnings = [*(answer.warnings if answer is not None else ()), *(routes.warnings if routes is not None else ())]
    if invocation.json:
        invocation.document(**found_document(answer, routes, warnings, offset=offset, explain=explain))
        return
    invocation.warn(warnings)
    print_groups(invocation.console, answer, routes, offset, titled=group == "all")
    if explain and answer is not None:
        _print_trace(invocation.console, answer)


def print_groups(
    console: Console, answer: Answer | None, routes: RoutePage | None, offset: int, *, titled: bool
) -> None:
    """Passages, artifacts, or both under their titles."""
    from hermes_lance.hosts.cli.knowledge import print_routes

    if answer is not None:
        if titled:
            console.line(console.styled("Passages", "bold"))
        print_page(console, answer)
    if routes is not None:
        if titled:
            console.line()
            console.line(console.styled("Artifacts", "bold"))
        print_routes(console, routes, offset)


def shown_path(library: Library, given: str) -> str:
    """A path as results show it, for one given so, absolute, or as the shell completes it (`./`, `../`, `~`)."""
    if not given.startswith(("/", "./", "../", "~")):
        return printable(given)[0]
    from hermes_lance.ingest.roots import located

    return located(os.path.abspath(os.path.expanduser(given)), library.roots()).display_path


def found_document(
    answer: Answer | None, routes: RoutePage | None, warnings: list[str], *, offset: int, explain: bool
) -> dict[str, Any]:
    """The page as JSON: the hits of both groups one after the other, and for each group how many there are."""
    hits = [*(answer.records() if answer is not None else ()), *(route_records(routes) if routes is not None else ())]
    groups = {}
    if answer is not None:
        groups["chunks"] = {"count": len(answer.hits), "has_more": answer.has_more}
    if routes is not None:
        groups["artifacts"] = {"count": len(routes.rows), "has_more": routes.has_more}
    body: dict[str, Any] = {
        "query": answer.query.text if answer is not None else routes.query if routes is not None else "",
        "generation": answer.generation if answer is not None else routes.generation if routes is not None else None,
        "mode": answer.mode if answer is not None else "lexical",
        "count": len(hits),
        "offset": offset,
        "has_more": any(one["has_more"] for one in groups.values()),
        "hits": hits,
        "warnings": warnings,
    }
    if routes is not None:
        body["groups"] = groups
    if explain and answer is not None:
        body["trace"] = [
            {"stage": one.stage, "outcome": one.outcome, "detail": dict(one.detail)} for one in answer.trace
        ]
    return body


def route_records(routes: RoutePage) -> list[dict[str, Any]]:
    """Artifacts with the keys of hits; those that only passages have are null."""
    from hermes_lance.search.page import RECORD_KEYS

    made = []
    for one in routes.rows:
        row = dict.fromkeys(RECORD_KEYS)
        row.update(
            kind="artifact", id=one.artifact.id, path=one.artifact.path, type=one.artifact.type,
            title=one.artifact.title, summary=one.artifact.summary, score=one.score, section=[], flags=[],
            scores={"lexical": one.lexical, "dense": one.dense, "fused": one.score, "rerank": None},
            ranks={"lexical": None, "dense": None}, reason=one.reason,
        )  # fmt: skip
        made.append(row)
    return made


def print_page(console: Console, answer: Answer) -> None:
    """The hits, and how to get the next ones."""
    from hermes_lance.hosts.passages import print_hits

    query = answer.query
    if not answer.hits:
        if query.offset:
            console.line(f"No hits from number {query.offset + 1} on.")
        else:
            console.paragraph(f"No hits for {query.text!r}.")
            console.note("`hermes-lance why PATH QUERY` tells why a certain file is not found.")
        return
    print_hits(console, answer.hits, query.text, first=query.offset + 1)
    if answer.has_more:
        console.line()
        console.line(console.styled(f"More: --offset {query.offset + query.limit}", "dim"))


def _print_trace(console: Console, answer: Answer) -> None:
    console.line()
    rows = []
    for number, hit in enumerate(answer.hits, start=answer.query.offset + 1):
        scores, ranks = hit.scores, hit.ranks
        rows.append([
            str(number), hit.path, _rank(ranks.get("lexical")), _number(scores.get("lexical")),
            _rank(ranks.get("dense")), _number(scores.get("dense")), _number(scores.get("fused")),
            _number(scores.get("rerank")),
        ])  # fmt: skip
    heads = ["hit", "path", "lex #", "lexical", "dense #", "dense", "fused", "rerank"]
    if rows and all(row[-1] == "-" for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    if rows:
        console.table(heads, rows, right=(0, *range(2, len(heads))))
        console.line()
    stages = [
        [one.stage, one.outcome, ", ".join(f"{key}: {_detail(value)}" for key, value in one.detail.items())]
        for one in answer.trace
    ]
    console.table(["stage", "outcome", "detail"], stages, wrap=True)


def _detail(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return shown(" ".join(map(str, value))) if isinstance(value, list | tuple) else shown(str(value))


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)


def _number(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"
