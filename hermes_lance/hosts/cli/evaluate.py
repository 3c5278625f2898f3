"""`hermes-lance evaluate …`: how good the answers are, on judged sets and on items that are certainly there."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict

import click

from hermes_lance.hosts.cli.groups import LazyGroup
from hermes_lance.hosts.cli.interrupt import interruptible
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.cli.progress import Bar
from hermes_lance.hosts.cli.throwaway import existing_folder, throwaway
from hermes_lance.hosts.output import Console, amount, shown, time_words

MODES = ("lexical", "dense", "hybrid")
_mode = click.option(
    "--mode",
    "modes",
    type=click.Choice(MODES),
    multiple=True,
    help="May be given several times; all three when it is not given.",
)
_fusion = click.option("--fusion", type=click.Choice(["zscore", "convex", "rrf"]), help="How both legs are fused.")


@click.group("evaluate", cls=LazyGroup)
def evaluate() -> None:
    """Measure how good the answers are. The index of the home is not touched."""


@evaluate.command("beir")
@click.argument("folder", metavar="DIR")
@_mode
@click.option("--k", type=click.IntRange(1, 100), default=10, show_default=True, help="Documents that count.")
@_fusion
@pass_invocation
def beir(invocation: Invocation, folder: str, modes: tuple[str, ...], k: int, fusion: str | None) -> None:
    """Ask the queries of a judged set in BEIR layout.

    DIR holds corpus.jsonl (or .gz), queries.jsonl and qrels/test.tsv. Each document is indexed as a file with a neutral
    name, with the settings of the home; a document counts where its best passage stands.
    """
    from hermes_lance.learn import beir as sets
    from hermes_lance.learn.run_beir import run

    place = existing_folder(folder)
    with (
        interruptible(invocation),
        Bar(invocation.console, wanted=not invocation.json) as bar,
        throwaway(invocation) as temporary,
    ):
        found = run(
            sets.read(place),
            temporary.library,
            temporary.folder,
            modes=modes or MODES,
            fusion=fusion,
            k=k,
            progress=bar.progress,
        )
    if invocation.json:
        invocation.document(**asdict(found))
        return
    console = invocation.console
    documents = amount(found.documents, "document")
    console.line(
        f"{shown(found.dataset)}: {documents}, {amount(found.queries, 'query', 'queries')}, {time_words(found.seconds)}"
    )
    console.line()
    print_metrics(console, {"": found.metrics, **found.languages})
    best = found.hybrid_and_best_leg
    if best is not None:
        console.line()
        verdict = "below beyond noise" if best["below"] else "not below beyond noise"
        console.paragraph(f"Hybrid against {best['leg']}: {best['difference']:+.4f} nDCG@{k}, {verdict}.")


@evaluate.command("known-items")
@click.argument("folder", metavar="DIR")
@_mode
@_fusion
@click.option("--count", type=click.IntRange(1), default=500, show_default=True, help="Names, and sentences, to draw.")
@click.option("--seed", type=int, default=7, show_default=True)
@pass_invocation
def known_items(
    invocation: Invocation, folder: str, modes: tuple[str, ...], fusion: str | None, count: int, seed: int
) -> None:
    """Ask for file names and sentences drawn from DIR.

    Right is any file that holds the item; the figures are the shares found first and among the first ten passages.
    """
    from hermes_lance.learn import known_items as items
    from hermes_lance.learn.run_known_items import shares

    place = existing_folder(folder)
    began = time.monotonic()
    metrics: dict[str, Mapping[str, float]] = {}
    with (
        interruptible(invocation),
        Bar(invocation.console, wanted=not invocation.json) as bar,
        throwaway(invocation) as temporary,
    ):
        library = temporary.library(place)
        library.index(progress=bar.progress)
        drawn = items.draw(place, count=count, seed=seed)
        for mode in modes or MODES:
            metrics[mode] = shares(drawn, library, mode=mode, fusion=fusion, progress=bar.progress)
    seconds = round(time.monotonic() - began, 1)
    if invocation.json:
        invocation.document(dataset=place.name, queries=len(drawn), k=10, metrics=metrics, seconds=seconds)
        return
    invocation.console.line(f"{shown(place.name)}: {amount(len(drawn), 'item')}, {time_words(seconds)}")
    invocation.console.line()
    print_metrics(invocation.console, {"": metrics})


def print_metrics(console: Console, groups: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """One row for each group and mode."""
    names = list(dict.fromkeys(name for modes in groups.values() for found in modes.values() for name in found))
    rows = [
        [group, mode, *(f"{found.get(name, 0.0):.4f}" for name in names)]
        for group, modes in groups.items()
        for mode, found in modes.items()
    ]
    head = ["", "mode", *names]
    if not any(row[0] for row in rows):
        head, rows = head[1:], [row[1:] for row in rows]
    console.table(head, rows, right=range(len(head) - len(names), len(head)))
