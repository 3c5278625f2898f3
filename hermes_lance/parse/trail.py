"""From headings to sections: each with the whole trail above it, together tiling the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hermes_lance.core.records import Section

TITLE_CHARS = 200
MOST_LEVELS = 16
"""A trail holds no more titles, the outermost first: in some languages sections may be nested without end."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that opens a section: where its first line starts, its level from 1, its text as typed."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Blocks:
    """Headings in order, and spans (code, tables, HTML, comments) that a cut should not enter, in order too."""

    headings: list[Heading]
    whole: list[tuple[int, int]]


def same_length_newlines(text: str) -> str:
    """`text` with every line end as one newline and every offset as before: CRLF becomes blank and newline."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


def one_line(title: str) -> str:
    """A title without line ends and runs of blanks, of at most 200 characters."""
    return " ".join(title.split())[:TITLE_CHARS]


def sections(
    headings: Sequence[Heading], start: int, end: int, *, kind: str, above: tuple[str, ...] = ()
) -> list[Section]:
    """Sections from `start` to `end`; what stands before the first heading is one of its own.

    `above` stands before every trail. A heading ends all sections of its level and below; a level that was skipped
    leaves no hole. A heading without words has no part in a trail, nor has one below sixteen others.
    """
    found = []
    first = headings[0].start if headings else end
    if first > start:
        found.append(Section(start, first, above, kind))
    trail: list[tuple[int, str]] = []
    for index, heading in enumerate(headings):
        stop = headings[index + 1].start if index + 1 < len(headings) else end
        while trail and trail[-1][0] >= heading.level:
            trail.pop()
        if len(trail) < MOST_LEVELS:
            trail.append((heading.level, heading.title))
        found.append(Section(heading.start, stop, above + tuple(name for _, name in trail if name), kind))
    return found
