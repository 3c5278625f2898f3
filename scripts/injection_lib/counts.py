"""Shares with their intervals, as rows of a Markdown table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

_Z = 1.959964
"""Of the normal distribution, for 95 % on both sides."""


@dataclass(slots=True)
class Tally:
    """How many of how many were marked."""

    marked: int = 0
    all: int = 0

    def add(self, marked: bool) -> None:
        """Counts one more."""
        self.marked += marked
        self.all += 1


def wilson(marked: int, everything: int) -> tuple[float, float]:
    """The interval of Wilson (1927) for a share, 95 %; right for shares near 0 and 1, where others are not."""
    if not everything:
        return 0.0, 1.0
    share = marked / everything
    spread = _Z * math.sqrt(share * (1 - share) / everything + _Z * _Z / (4 * everything * everything))
    middle = share + _Z * _Z / (2 * everything)
    scale = 1 + _Z * _Z / everything
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def table(heads: tuple[str, ...], tallies: Mapping[tuple[str, ...], Tally]) -> str:
    """One row for each key, in order."""
    lines = [f"| {' | '.join(heads)} | marked | of | share | 95 % |", f"|{'---|' * len(heads)}---:|---:|---:|---|"]
    for key in sorted(tallies):
        one = tallies[key]
        low, high = wilson(one.marked, one.all)
        share = f"{100 * one.marked / one.all:.1f} %"
        lines.append(f"| {' | '.join(key)} | {one.marked} | {one.all} | {share} | {100 * low:.0f}–{100 * high:.0f} |")
    return "\n".join([*lines, ""])
