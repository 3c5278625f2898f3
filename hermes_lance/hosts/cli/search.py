"""`hermes-lance search`: one question, one page of passages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.cli.plugin_names import PluginName
from hermes_lance.hosts.output import Console, shown

if TYPE_CHECKING:
    from hermes_lance.library import Library
    from hermes_lance.search.page import Answer

NO_ARTIFACTS = "artifacts: this release indexes documents only, so there are none to search"


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
    """Find the passages that answer QUERY, best first.

    Words and meaning are both compared. Every hit is checked against the disk: what is gone is not shown, what has
    changed is marked.
    """
    library = invocation.library()
    question = " ".join(printable(word)[0] for word in query)
    answer = library.search(
        question,
        limit=limit,
        offset=offset,
        mode=mode,
        path=None if path is None else shown_path(library, path),
        file_glob=None if file_glob is None else printable(file_glob)[0],
        fusion=fusion,
        generation=None if as_of is None else printable(as_of)[0],
        exact=exact,
        rerank=rerank,
    )
    warnings = list(answer.warnings)
    if group == "artifacts":
        _no_hits(invocation, answer, warnings)
        return
    if group == "all":
        warnings.append(NO_ARTIFACTS)
    if invocation.json:
        _document(invocation, answer, warnings, explain)
        return
    invocation.warn(warnings)
    if group == "all":
        invocation.console.line(invocation.console.styled("Passages", "bold"))
    print_page(invocation.console, answer)
    if explain:
        _print_trace(invocation.console, answer)


def shown_path(library: Library, given: str) -> str:
    """A path as results show it, for one given so, absolute, or as the shell completes it (`./`, `../`, `~`)."""
    if not given.startswith(("/", "./", "../", "~")):
        return printable(given)[0]
    from hermes_lance.ingest.roots import located

    return located(os.path.abspath(os.path.expanduser(given)), library.roots()).display_path


def _no_hits(invocation: Invocation, answer: Answer, warnings: list[str]) -> None:
    """The page of artifacts."""
    if invocation.json:
        invocation.document(
            query=answer.query.text,
            generation=answer.generation,
            mode=answer.mode,
            count=0,
            offset=answer.query.offset,
            has_more=False,
            hits=[],
            warnings=[*warnings, NO_ARTIFACTS],
        )
    else:
        invocation.warn(warnings)
        invocation.console.line(f"No hits. {NO_ARTIFACTS[0].upper()}{NO_ARTIFACTS[1:]}.")


def _document(invocation: Invocation, answer: Answer, warnings: list[str], explain: bool) -> None:
    trace = [{"stage": one.stage, "outcome": one.outcome, "detail": dict(one.detail)} for one in answer.trace]
    invocation.document(
        query=answer.query.text,
        generation=answer.generation,
        mode=answer.mode,
        count=len(answer.hits),
        offset=answer.query.offset,
        has_more=answer.has_more,
        hits=answer.records(),
        warnings=warnings,
        **({"trace": trace} if explain else {}),
    )


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
