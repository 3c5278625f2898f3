"""From the figures of `bench_search` to its tables."""

from __future__ import annotations

from collections.abc import Sequence

from bench_lib import bars
from bench_lib.legs import FLOORS, MODES
from bench_lib.processes import Spread
from bench_lib.searches import Asked
from bench_lib.verdicts import Row, growth, machine, shown, table, verdict_table

JUDGED = (
    ("cold hybrid, CPU s", "cold hybrid cpu", "cold hybrid"),
    ("cold lexical, CPU s", "cold lexical cpu", "cold lexical"),
    ("cold hybrid, wall s", "cold hybrid wall", None),
    ("cold lexical, wall s", "cold lexical wall", None),
)
"""Name, figure, bar."""


def rows(found: Sequence[Asked]) -> list[Row]:
    """The rows of the table of verdicts."""
    made = [Row(name, medians(found, kind), {}, bars.SEARCH.get(bar or "", {})) for name, kind, bar in JUDGED]
    floors = medians(found, "floors p50")
    made.append(
        Row("warm hybrid, p50 ms", medians(found, "hybrid p50"), floors, bars.SEARCH["warm hybrid"], bar_on_ratio=True)
    )
    tantivy, scan = medians(found, "raw tantivy p50"), medians(found, "raw scan p50")
    model = medians(found, "raw model p50")
    made.append(Row("warm lexical, p50 ms", medians(found, "lexical p50"), tantivy))
    made.append(Row("warm dense, p50 ms", medians(found, "dense p50"), {one: model[one] + scan[one] for one in model}))
    made.append(Row("warm hybrid, p95 by p50", medians(found, "tail"), {}, bars.SEARCH["tail"]))
    made.append(Row("searching process, MB", medians(found, "memory"), {}, bars.SEARCH["memory"]))
    for one in found:
        if one.dense:
            made += _dense(one)
    if len(found) > 1:
        small, large = found[0].name, found[-1].name
        volumes = {small: floors.get(small, 0), large: floors.get(large, 0)}
        if all(volumes.values()):
            value = growth(medians(found, "hybrid p50"), volumes, small, large)
            made.append(Row("growth, hybrid (1 = as floors)", {large: value or 0}, {}, {"L": bars.GROWTH}))
    return [row for row in made if row.figures]


def medians(found: Sequence[Asked], kind: str) -> dict[str, float]:
    """By corpus."""
    return {one.name: Spread.of(one.values[kind]).median for one in found if one.values.get(kind)}


def _dense(one: Asked) -> list[Row]:
    count = f"{one.dense['rows']:,.0f} rows"
    limit, recall = {one.name: bars.DENSE_MS}, {one.name: bars.DENSE_RECALL}
    return [
        Row(f"dense leg, {count}, ms", {one.name: one.dense["p50"]}, {one.name: one.dense["raw"]}, limit),
        Row("dense leg, recall@10", {one.name: one.dense["recall"]}, {}, recall, at_least=True),
    ]


def body(found: Sequence[Asked], judged: Sequence[Row], command: str) -> str:
    """The whole part of docs/BENCHMARKS.md."""
    names = [one.name for one in found]
    lines = [
        f"`{command}`, {machine()}.",
        *(f"{one.name}: {one.vectors:,} vectors by {one.embedder}, {one.queries} known items." for one in found),
        "Floors: the sum of raw model, raw Tantivy query and raw scan for the same questions (hybrid), those of its",
        "leg (lexical, dense), the same scan through numpy (dense leg at size). Medians.",
        "",
        verdict_table(judged, names),
    ]
    for step in sorted({step for one in found for step in one.imported}):
        told = [f"{one.name}: {', '.join(one.imported.get(step, [])) or 'none of the heavy ones'}" for one in found]
        lines += ["", f"Packages imported by a {step} search: {'; '.join(told)}."]
    lines += ["", "Warm, milliseconds a question:", "", _legs(found)]
    return "\n".join(lines) + "\n"


def _legs(found: Sequence[Asked]) -> str:
    made = []
    for what in (*MODES, *FLOORS, "floors"):
        for one in found:
            if one.values.get(f"{what} p50"):
                figures = [Spread.of(one.values[f"{what} {kind}"]) for kind in ("p50", "p95", "cpu")]
                p50 = figures[0]
                made.append([
                    "sum of floors" if what == "floors" else what,
                    one.name,
                    f"{shown(p50.median)} ({shown(p50.least)} – {shown(p50.most)})",
                    *(shown(figure.median) for figure in figures[1:]),
                ])  # fmt: skip
    return table(["", "", "p50 (least – most)", "p95", "CPU"], made, left=2)
