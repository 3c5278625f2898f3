"""Filling passages: neighbouring units are joined up to the target, a unit that is too long is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hermes_lance.core.records import Piece
from hermes_lance.parse.window import Cutter, without_blank_pieces


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch that belongs together: a section, a definition. Units tile the text in order."""

    start: int
    end: int
    kind: str
    trail: tuple[str, ...] = ()
    locator: str | None = None


_FULL_ENOUGH = 0.5
"""Share of the target from which a passage may end at the end of its chapter."""
_CRUMB = 0.125
"""Share of the target below which a unit is joined even to a neighbour that must be cut."""


def pack(cutter: Cutter, units: Sequence[Unit]) -> list[Piece]:
    """Passages in order, each with the trail of its first unit.

    A unit that fits is never cut. A passage under half the target takes in the next unit if both fit; above that it
    ends where the next unit goes up a level, to a new chapter. Units of different kind are never joined.
    """
    pieces: list[Piece] = []
    tokens = cutter.ruler.tokens
    target = cutter.target
    index = 0
    while index < len(units):
        first = units[index]
        start, end = first.start, first.end
        index += 1
        while index < len(units):
            following = units[index]
            if following.kind != first.kind or following.locator != first.locator:
                break
            size = tokens(start, end)
            fits = tokens(start, following.end) <= target
            if not fits and not (size < target * _CRUMB and tokens(following.start, following.end) > target):
                break
            if fits and size >= target * _FULL_ENOUGH and len(following.trail) < len(units[index - 1].trail):
                break
            end = following.end
            index += 1
        pieces.extend(
            Piece(low, high, first.kind, first.trail, locator=first.locator) for low, high in cutter.spans(start, end)
        )
    return without_blank_pieces(cutter.text, pieces)
