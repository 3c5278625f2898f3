"""The report of a build as text and as JSON: what was done, what was left out, and the key that would change it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hermes_lance.core.records import FileCounts, IndexReport, Problem
from hermes_lance.hosts.output import Console, amount, shown, time_words

FEW = 3
"""Names shown for each reason."""


def report_document(report: IndexReport) -> dict[str, Any]:
    """The report as JSON has it."""
    nothing = {"written": 0, "reused": 0, "removed": 0, "total": 0}
    return {
        "generation": report.generation,
        "files": asdict(report.files),
        "chunks": asdict(report.chunks),
        "artifacts": nothing,
        "edges": {"total": 0},
        "vectors": {"written": report.vectors_written, "pending": report.vectors_pending},
        "seconds": report.seconds,
        "embedder": report.embedder,
        "warnings": list(report.warnings),
        "problems": [asdict(problem) for problem in report.problems],
    }


def print_report(console: Console, report: IndexReport) -> None:
    """What a run did, what it left out, and the key that would change that."""
    files, chunks = report.files, report.chunks
    console.paragraph(f"{amount(files.seen, 'file')} seen: {file_counts(files)}.", hanging="  ")
    vectors = f"{amount(report.vectors_written, 'vector')} made" if report.vectors_written else ""
    if report.vectors_pending:
        vectors += f"{', ' if vectors else ''}{report.vectors_pending:,} still to be made"
    passages = f"{amount(chunks.total, 'passage')} indexed, {chunks.written:,} of them new"
    console.paragraph(f"{passages}{f'; {vectors} ({report.embedder})' if vectors else ''}.", hanging="  ")
    state = f"Generation {report.generation}" if report.published else f"Nothing new; generation {report.generation}"
    console.paragraph(f"{state}, {time_words(report.seconds)}.")
    print_warnings(console, report.warnings)
    print_problems(console, report.problems)


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
