"""From the figures of `bench_watch` to its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench_lib import bars
from bench_lib.following import LARGE_PASSAGES, Told
from bench_lib.verdicts import Row, machine, verdict_table


def share(values: Sequence[float], part: float) -> float:
    """The least value that so large a part of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(part * 1000) * len(ordered) // 1000) - 1))]


def rows(found: Sequence[Told]) -> list[Row]:
    """The rows of the table of verdicts."""
    made = []
    for name, part in (("p50", 0.5), ("p95", 0.95), ("most", 1.0)):
        figures = {one.name: share(one.found, part) for one in found if one.found}
        bar = dict.fromkeys(figures, bars.SAVED_SECONDS) if name == "p95" else {}
        made.append(Row(f"save to found, {name}, s", figures, {}, bar))
    figures = {one.name: one.stopped for one in found}
    made.append(Row("Ctrl-C to end, s", figures, {}, dict.fromkeys(figures, bars.STOPPED_SECONDS)))
    made.append(Row("differences from a fresh build", {one.name: float(bool(one.same)) for one in found}, {},
                    dict.fromkeys(figures, 0.0)))  # fmt: skip
    disk = {one.name: one.most / 1e6 for one in found}
    made.append(Row("disk at most while watched, MB", disk, {one.name: one.before / 1e6 for one in found},
                    dict.fromkeys(disk, bars.WATCHED_DISK), bar_on_ratio=True))  # fmt: skip
    for embedder, judged in (("minilm", True), ("builtin_hash", False)):
        large = {one.name: one.large[embedder] for one in found if embedder in one.large}
        whole = {name: told["indexed"]["wall"] for name, told in large.items()}
        limit = dict.fromkeys(large, bars.LARGE_SHARE) if judged else {}
        for step in ("one paragraph changed", "deleted"):
            figures = {name: told[step]["wall"] for name, told in large.items()}
            what = f"{LARGE_PASSAGES:,} passages, {embedder}: {step}, s"
            made.append(Row(what, figures, whole, limit, bar_on_ratio=True))
    return [row for row in made if row.figures]


def body(found: Sequence[Told], judged: Sequence[Row], command: str) -> str:
    """The whole part of docs/BENCHMARKS.md."""
    lines = [f"`{command}`, {machine()}; vectors by builtin_hash.", ""]
    for one in found:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(one.kinds.items(), key=lambda each: -each[1]))
        lines += [
            f"{one.name}: {one.files:,} files, {one.chunks:,} passages; {one.changes:,} changes ({kinds}),",
            f"{len(one.found)} of them waited for in a process that only searches, in hybrid mode. The watch took "
            f"{one.watch_cpu:.1f} CPU s and made {one.publications:,} generations; first look {one.first_look:.1f} s; "
            f"{one.memory / 1e6:.0f} MB at most.",
            f"At the end: {one.same or 'files, passages and vectors equal a fresh build of the same tree'}.",
        ]
        for embedder, steps in one.large.items():
            lines += [
                f"- {LARGE_PASSAGES:,} passages, {embedder}, {step}: {_cost(told)}" for step, told in steps.items()
            ]
    lines += [
        "",
        "Floors: of the disk the dataset before the watch, of the large file what indexing it took.",
        "",
        verdict_table(judged, [one.name for one in found]),
    ]
    return "\n".join(lines) + "\n"


def _cost(told: Mapping[str, float]) -> str:
    return (
        f"{told['wall']:.2f} s, {told['cpu']:.2f} CPU s, {told['written']:,} passages written, "
        f"{told['embedded']:,} texts embedded."
    )
