"""From the figures of `bench_build` to its tables: bars, every step with its spread, the size by part."""

from __future__ import annotations

from collections.abc import Sequence

from bench_lib import bars, sizes
from bench_lib.builds import Measured
from bench_lib.processes import Spread
from bench_lib.verdicts import NONE, Row, growth, machine, shown, table, verdict_table

JUDGED = (
    ("text searchable, CPU s", "text cpu", "tantivy cpu", "text"),
    ("with Lance tables, CPU s", "tables cpu", "tantivy cpu", "tables"),
    ("with vectors, CPU s", "vectors cpu", None, None),
    ("nothing changed, CPU s", "unchanged cpu", "walk cpu", "unchanged"),
    ("file changed and found, wall s", "changed wall", None, "changed"),
    ("file new and found, wall s", "new wall", None, "changed"),
    ("file deleted and gone, wall s", "deleted wall", None, "changed"),
    ("running process: changed, s", "running walked", None, "running"),
    ("running process: path given, s", "running named", None, "running"),
)
"""Name, the figure and its floor as `Measured.values` has them, the bar."""
GROWING = (
    ("growth, text", "text cpu", True),
    ("growth, Lance tables", "tables cpu", True),
    ("growth, vectors", "vectors cpu", True),
    ("growth, raw Tantivy", "tantivy cpu", False),
)
DETAIL = (
    ("walk + stat", "walk"), ("read + SHA-256", "read"), ("raw Tantivy", "tantivy"), ("tree-sitter alone", "parse"),
    ("text searchable", "text"), ("with Lance tables", "tables"), ("with vectors", "vectors"),
    ("nothing changed", "unchanged"), ("one file changed", "changed"), ("one new file", "new"),
    ("one file deleted", "deleted"),
)  # fmt: skip


def rows(found: Sequence[Measured]) -> list[Row]:
    """The rows of the table of verdicts."""
    made = [
        Row(name, _medians(found, figure), _medians(found, floor) if floor else {}, bars.BUILD.get(bar or "", {}))
        for name, figure, floor, bar in JUDGED
    ]
    for name, kind in (("largest process, MB", "largest"), ("process tree, MB", "tree")):
        made.append(Row(name, {one.name: _most(one, kind) for one in found if _most(one, kind)}, {}, bars.BUILD[kind]))
    for name, state in (("disk, MB", "fresh"), ("disk after edits, MB", "edited")):
        made.append(_disk(found, name, state))
    if len(found) > 1:
        made += _growth(found[0], found[-1])
    return [row for row in made if row.figures]


def _medians(found: Sequence[Measured], kind: str) -> dict[str, float]:
    return {one.name: Spread.of(one.values[kind]).median for one in found if one.values.get(kind)}


def _most(one: Measured, kind: str) -> float:
    """Over all builds."""
    return max(
        (value for name, values in one.values.items() if name.endswith(f" {kind}") for value in values), default=0
    )


def _disk(found: Sequence[Measured], name: str, state: str) -> Row:
    """Fresh: against what is needed at least. After edits: against the fresh dataset."""
    have = {one.name: one.sizes[state] for one in found if state in one.sizes}
    below = "needed_total" if state == "fresh" else "total"
    floors = {one.name: one.sizes["fresh"][below] / 1e6 for one in found if one.name in have}
    figures = {corpus: size["total"] / 1e6 for corpus, size in have.items()}
    return Row(name, figures, floors, bars.BUILD["size" if state == "fresh" else "edited"], bar_on_ratio=True)


def _growth(small: Measured, large: Measured) -> list[Row]:
    volumes = {one.name: float(one.bytes) for one in (small, large)}
    made = []
    for name, kind, judged in GROWING:
        value = growth(_medians([small, large], kind), volumes, small.name, large.name)
        if value is not None:
            made.append(Row(f"{name} (1 = linear)", {large.name: value}, {}, {"L": bars.GROWTH} if judged else {}))
    return made


def body(found: Sequence[Measured], judged: Sequence[Row], command: str, embedder: str) -> str:
    """The whole part of docs/BENCHMARKS.md."""
    names = [one.name for one in found]
    lines = [
        f"`{command}`, {machine()}; vectors by {embedder}.",
        *(
            f"{one.name}: {one.files:,} files, {one.bytes / 1e6:.1f} MB, {one.chunks:,} passages, {one.edits} edits."
            for one in found
        ),
        "Floors: raw Tantivy for builds; walk + stat where nothing changed; needed bytes for the disk, the fresh",
        "dataset for the disk after edits. A running process finds a change after a walk over everything, and when",
        "told the path. Medians.",
        "",
        verdict_table(judged, names),
    ]
    if not all(value for one in found for value in one.values.get("text told", [1])):
        lines += ["", "The build does not tell when its text can be searched: that row has the tables in it."]
    for step in sorted({step for one in found for step in one.imported}):
        told = [f"{one.name}: {', '.join(one.imported.get(step, [])) or 'none of the heavy packages'}" for one in found]
        lines += ["", f"Imported by the time that {step}: {'; '.join(told)}."]
    lines += ["", "Every step, CPU s (least – most), wall s, largest process and tree in MB:", "", _detail(found)]
    if any(one.sizes for one in found):
        lines += ["", "Disk by part, MB:", "", _parts(found)]
    return "\n".join(lines) + "\n"


def _detail(found: Sequence[Measured]) -> str:
    lines = []
    for name, step in DETAIL:
        for one in found:
            cpu, wall = one.values.get(f"{step} cpu"), one.values.get(f"{step} wall")
            if not cpu or not wall:
                continue
            spread = Spread.of(cpu)
            peaks = [one.values.get(f"{step} {kind}") for kind in ("largest", "tree")]
            lines.append([
                name,
                one.name,
                f"{shown(spread.median)} ({shown(spread.least)} – {shown(spread.most)})",
                shown(Spread.of(wall).median),
                *(shown(max(peak)) if peak else NONE for peak in peaks),
            ])  # fmt: skip
    return table(["step", "", "CPU s", "wall s", "largest", "tree"], lines, left=2)


def _parts(found: Sequence[Measured]) -> str:
    states = [(one, state) for one in found for state in ("fresh", "edited") if state in one.sizes]
    head = ["", *(f"{one.name}{'' if state == 'fresh' else ', edited'}" for one, state in states)]
    lines = [[part, *(shown(one.sizes[state]["parts"][part] / 1e6) for one, state in states)] for part in sizes.PARTS]
    for name, key in (("all", "total"), ("needed", "needed_total"), ("pinned generations", "pinned")):
        lines.append([name, *(shown(one.sizes[state][key] / 1e6) for one, state in states)])
    lines.append(["all / needed", *(f"{one.sizes[state]['ratio']:.2f}" for one, state in states)])
    return table(head, lines)
