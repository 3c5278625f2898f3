"""The report of a run as it grows: counts that add up, and a line for every file that is not indexed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from hermes_lance.core.records import FileChange, IndexReport, KnownFile, Problem, Skipped
from hermes_lance.ingest.plan import Plan, Planned
from hermes_lance.parse.media import remedy_of
from hermes_lance.store.manifest import Manifest

FEW = 3
"""Names in a warning."""


class Tally:
    """Fills one `IndexReport`, and for whoever wants that, a list of what became of each file."""

    def __init__(self, report: IndexReport, shown: Callable[[KnownFile], str] | None = None) -> None:
        """`shown`: how a known file is called; with it, `told` is filled."""
        self.report = report
        self.told: list[FileChange] = []
        """What a publication that is under way changes, in the order of the work."""
        self._shown = shown
        self._undecoded: list[str] = []
        self._partly: list[str] = []

    def plan(self, plan: Plan) -> None:
        """What the plan alone says; files that are read are counted when they are."""
        counts = self.report.files
        counts.unchanged += plan.unchanged
        counts.removed += len(plan.removed)
        self.report.chunks.removed += sum(known.chunks for known in plan.removed)
        if self._shown is not None:
            gone = (known for known in plan.removed if known.chunks)
            self.told += [FileChange("removed", self._shown(known), known.chunks) for known in gone]
        for warning in plan.warnings:
            self.warn(warning)
        for item in plan.items:
            if item.change not in ("touched", "unchanged"):
                continue
            if item.skipped is None and item.known is not None and item.known.state == "indexed":
                counts.unchanged += 1
            else:
                self._unchanged(item)

    def _unchanged(self, item: Planned) -> None:
        known, why = item.known, item.skipped
        assert known is not None
        if why is None:
            code, _, detail = (known.reason or "skipped: ").partition(": ")
            why = Skipped(code, detail, failed=known.state == "failed", remedy=remedy_of(code))
        self.not_indexed(item, why, "walk" if item.skipped else "read")

    def indexed(self, item: Planned, rows: int) -> None:
        """A file was read and its passages made."""
        counts = self.report.files
        before = item.known if item.change != "moved" else None
        if item.change == "moved":
            counts.moved += 1
            if self._shown is not None and item.known is not None:
                self.told.append(FileChange("moved", item.file.display_path, rows, self._shown(item.known)))
            self.report.chunks.removed += item.known.chunks if item.known is not None else 0
        elif before is None or before.state != "indexed":
            counts.added += 1
        else:
            counts.changed += 1
        if self._shown is not None and item.change != "moved":
            self.told.append(FileChange("indexed", item.file.display_path, rows))
        self.report.chunks.written += rows
        if before is not None:
            self.report.chunks.removed += before.chunks

    def not_indexed(self, item: Planned, why: Skipped, stage: str) -> None:
        """A file was left out or failed."""
        if why.failed:
            self.report.files.failed += 1
        else:
            self.report.files.skipped += 1
        if self._shown is not None and item.change != "unchanged":
            kind = "failed" if why.failed else "skipped"
            before = item.known.chunks if item.known is not None else 0
            self.told.append(FileChange(kind, item.file.display_path, before, f"{why.code}: {why.detail}"))
        detail = f"{why.detail} ({why.rule})" if why.rule else why.detail
        self.problem(item, stage, why.code, f"{detail}; see {why.remedy}" if why.remedy else detail)

    def undecoded(self, item: Planned) -> None:
        """A file was indexed with marks in place of bytes that are no text. One warning speaks of all such files:
        `problems` holds only those that are not indexed."""
        if self._undecoded:
            self.report.warnings.remove(_about_undecoded(self._undecoded))
        self._undecoded.append(item.file.display_path)
        self.warn(_about_undecoded(self._undecoded))

    def partly(self, item: Planned) -> None:
        """A file was indexed but for a part, which its row names. One warning speaks of all such files."""
        if self._partly:
            self.report.warnings.remove(_about_partly(self._partly))
        self._partly.append(item.file.display_path)
        self.warn(_about_partly(self._partly))

    def problem(self, item: Planned, stage: str, code: str, detail: str) -> None:
        """A line of the report about one file."""
        file = item.file
        self.report.problems.append(Problem(file.display_path, file.root.label, stage, code, detail))

    def finish(self, base: Manifest | None, started: float) -> None:
        """What the published generation says, at the end of a run that began at a moment of the monotonic clock."""
        report, counts = self.report, self.report.files
        counts.seen = counts.added + counts.changed + counts.moved + counts.unchanged + counts.skipped + counts.failed
        if base is not None:
            report.generation = base.id
            report.chunks.total = base.totals.get("chunks", 0)
            report.chunks.reused = report.chunks.total - report.chunks.written
            report.vectors_pending = base.totals.get("vectors_pending", 0)
            report.embedder = str((base.space.get("active") or {}).get("embedder", ""))
        report.seconds = round(time.monotonic() - started, 3)

    def warn(self, text: str) -> None:
        """A line about the run, once."""
        if text not in self.report.warnings:
            self.report.warnings.append(text)


def _about_undecoded(paths: Sequence[str]) -> str:
    return f"characters that could not be decoded are marked in {len(paths)} of the indexed files: {_few(paths)}"


def _about_partly(paths: Sequence[str]) -> str:
    return f"{len(paths)} of the indexed files have parts without text, which `hermes-lance why` names: {_few(paths)}"


def _few(paths: Sequence[str]) -> str:
    return ", ".join(paths[:FEW]) + (", ..." if len(paths) > FEW else "")
