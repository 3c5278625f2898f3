"""The report of a build as text and as JSON: what was done, what was left out, and the key that would change it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hermes_lance.core.artifact import ArtifactReport
from hermes_lance.core.records import FileCounts, IndexReport, Problem
from hermes_lance.hosts.output import Console, amount, shown, time_words

FEW = 3
"""Names shown for each reason."""


def report_document(report: IndexReport, routed: ArtifactReport | None = None) -> dict[str, Any]:
    """The report as JSON has it; `routed` is what the run has done with artifacts, where it has looked at them."""
    routed = routed or ArtifactReport(generation=report.generation or "")
    return {
        "generation": routed.generation or report.generation,
        "files": asdict(report.files),
        "chunks": asdict(report.chunks),
        "artifacts": {
            "written": routed.written,
            "reused": routed.reused,
            "removed": routed.removed,
            "total": routed.total,
        },
        "edges": {"total": routed.edges},
        "vectors": {"written": report.vectors_written, "pending": report.vectors_pending},
        "seconds": round(report.seconds + routed.seconds, 3),
        "embedder": report.embedder,
        "warnings": list(dict.fromkeys([*report.warnings, *routed.warnings])),
        "problems": [asdict(problem) for problem in report.problems],
    }


def print_report(console: Console, report: IndexReport, routed: ArtifactReport | None = None) -> None:
    """What a run did, what it left out, and the key that would change that."""
    files, chunks = report.files, report.chunks
    console.paragraph(f"{amount(files.seen, 'file')} seen: {file_counts(files)}.", hanging="  ")
    vectors = f"{amount(report.vectors_written, 'vector')} made" if report.vectors_written else ""
    if report.vectors_pending:
        vectors += f"{', ' if vectors else ''}{report.vectors_pending:,} still to be made"
    passages = f"{amount(chunks.total, 'passage')} indexed, {chunks.written:,} of them new"
    console.paragraph(f"{passages}{f'; {vectors} ({report.embedder})' if vectors else ''}.", hanging="  ")
    routed = routed or ArtifactReport(generation=report.generation or "")
    if routed.total or routed.removed:
        console.paragraph(artifact_words(routed), hanging="  ")
    published = report.published or routed.published
    state = f"Generation {routed.generation}" if published else f"Nothing new; generation {routed.generation}"
    console.paragraph(f"{state}, {time_words(report.seconds + routed.seconds)}.")
    print_warnings(console, list(dict.fromkeys([*report.warnings, *routed.warnings])))
    print_problems(console, report.problems)


def artifact_words(routed: ArtifactReport) -> str:
    """How many artifacts there are, and what has changed."""
    changes = f", {routed.written:,} of them new or changed" if routed.written else ""
    gone = f", {routed.removed:,} removed" if routed.removed else ""
    return f"{amount(routed.total, 'artifact')} and {amount(routed.edges, 'link')}{changes}{gone}."


def print_warnings(console: Console, warnings: Sequence[str]) -> None:
    """Warnings of a run are part of its report: what was left out must not be overlooked."""
    for warning in warnings:
        console.paragraph(f"Warning: {warning}", hanging="  ")


def file_counts(files: FileCounts) -> str:
    """The counts that are not zero, in words."""
    counts = (
        (files.added, "new"),
        (files.changed, "changed"),
        (files.moved, "moved"),
        (files.unchanged, "unchanged"),
        (files.removed, "removed"),
        (files.skipped, "skipped"),
        (files.failed, "failed"),
    )
    return ", ".join(f"{number:,} {word}" for number, word in counts if number) or "nothing to index"


def print_problems(console: Console, problems: Sequence[Problem]) -> None:
    """One line for each reason: how many files, which, and what would change it; failures first."""
    groups: dict[tuple[bool, str, str], list[Problem]] = defaultdict(list)
    for problem in problems:
        reason, _, remedy = problem.detail.partition("; see ")
        kind = problem.code if remedy or problem.code == "ignored" else f"{problem.code}: {reason}"
        groups[problem.stage != "walk", kind, remedy].append(problem)
    if not groups:
        return
    console.line()
    console.line(console.styled("Not indexed", "bold"))
    for (_, kind, remedy), found in sorted(groups.items(), key=lambda one: (not one[0][0], -len(one[1]))):
        names = ", ".join(shown(problem.path) for problem in found[:FEW]) + (", ..." if len(found) > FEW else "")
        number = f"{len(found):>5,}  "
        console.paragraph(f"{kind}: {names}", indent=number, hanging=" " * len(number))
        if remedy:
            console.paragraph(f"to change that: {remedy}", indent=" " * len(number))
