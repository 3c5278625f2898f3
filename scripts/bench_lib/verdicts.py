"""Figures beside floors and bars: rows, ratios, verdicts, and one table that reads well at 100 columns and as Markdown.

A row has one figure for each corpus. Bars belong to corpora by name (the folder's), so that another folder gets
figures and no verdict.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "docs" / "BENCHMARKS.md"
SECTION = "## Speed and size"
NONE = "–"


@dataclass(slots=True)
class Row:
    """One thing that was measured. The keys of all maps are names of corpora."""

    name: str
    figures: dict[str, float] = field(default_factory=dict)
    floors: dict[str, float] = field(default_factory=dict)
    bars: Mapping[str, float] = field(default_factory=dict)
    at_least: bool = False
    """Whether the bar is the least that will do; else the most."""
    bar_on_ratio: bool = False
    """Whether the bar is for the ratio to the floor; else for the figure."""

    def ratio(self, corpus: str) -> float | None:
        """Figure by floor; none where one is missing or the floor is nothing."""
        figure, floor = self.figures.get(corpus), self.floors.get(corpus)
        return None if figure is None or not floor else figure / floor

    def holds(self, corpus: str) -> bool | None:
        """Whether the bar holds; none where there is no bar or no figure."""
        judged = self.ratio(corpus) if self.bar_on_ratio else self.figures.get(corpus)
        bar = self.bars.get(corpus)
        if judged is None or bar is None:
            return None
        return judged >= bar if self.at_least else judged <= bar

    def cells(self, corpora: Sequence[str]) -> list[str]:
        """Name, a figure for each corpus, floor, ratio, bar, verdict."""
        sign = "≥" if self.at_least else "≤"
        bar = joined([self.bars.get(one) for one in corpora])
        return [
            self.name,
            *(shown(self.figures.get(one)) for one in corpora),
            joined([self.floors.get(one) for one in corpora]),
            joined([self.ratio(one) for one in corpora]),
            NONE if bar == NONE else f"{sign}{bar}{'×' if self.bar_on_ratio else ''}",
            verdict([self.holds(one) for one in corpora]),
        ]


def shown(value: float | None) -> str:
    """Three digits that count, no exponent."""
    if value is None:
        return NONE
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    for digits, least in ((1, 10.0), (2, 1.0), (3, 0.0)):
        if abs(value) >= least:
            return f"{value:.{digits}f}"
    raise AssertionError(value)


def brief(value: float) -> str:
    """As `shown`, without zeros at the end."""
    text = shown(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def joined(values: Sequence[float | None]) -> str:
    """`0.76/5.9`; one value where all are equal."""
    return _each([NONE if value is None else brief(value) for value in values])


def verdict(holds: Sequence[bool | None]) -> str:
    """`ok` or `MISSED` for each corpus that has a bar."""
    return _each([{True: "ok", False: "MISSED", None: NONE}[one] for one in holds])


def _each(texts: Sequence[str]) -> str:
    return texts[0] if len(set(texts)) == 1 else "/".join(texts)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table whose columns line up on a terminal too; the first `left` columns to the left."""
    widths = [max(len(line[at]) for line in [head, *rows]) for at in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [("-" * (width + 2)) if at < left else "-" * (width + 1) + ":" for at, width in enumerate(widths)]
    return "\n".join([line(head), f"|{'|'.join(rule)}|", *map(line, rows)])


def verdict_table(rows: Sequence[Row], corpora: Sequence[str]) -> str:
    """All rows, in their order."""
    head = ["", *corpora, "floor", "ratio", "bar", "verdict"]
    return table(head, [row.cells(corpora) for row in rows])


def growth(figures: Mapping[str, float], sizes: Mapping[str, float], small: str, large: str) -> float | None:
    """How much a figure grows from the small to the large corpus, by how much the bytes do: 1 is linear."""
    if not figures.get(small) or large not in figures:
        return None
    return (figures[large] / figures[small]) / (sizes[large] / sizes[small])


def machine() -> str:
    """Date, system, interpreter, cores and load, without the name of the machine."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{time.strftime('%Y-%m-%d')}, {platform.system()} {platform.machine()}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores{load}"
    )


def write(heading: str, body: str, file: Path = BENCHMARKS) -> None:
    """Puts `### heading` with its text into the section of speed and size, in the place of the one before."""
    file.write_text(with_part(file.read_text(encoding="utf-8"), heading, body), encoding="utf-8")


def with_part(text: str, heading: str, body: str) -> str:
    """`text` with that part exchanged, or added at the end of the section; the section is made where it is missing."""
    part = f"### {heading}\n\n{body.strip()}\n"
    start = text.find(f"{SECTION}\n")
    if start < 0:
        return f"{text.rstrip()}\n\n{SECTION}\n\n{part}"
    end = text.find("\n## ", start)
    end = len(text) if end < 0 else end
    section, rest = text[start:end], text[end:]
    at = section.find(f"### {heading}\n")
    if at < 0:
        section = f"{section.rstrip()}\n\n{part}"
    else:
        after = section.find("\n### ", at)
        section = section[:at] + part + ("" if after < 0 else section[after:])
    return text[:start] + section + rest
