"""Collects the text of a document that has no text of its own, with the sections that tile it.

Blocks are set apart by empty lines. A table too long to share a passage becomes a section of its own, whose trail ends
with the table's header, so that every part of it can be understood.
"""

from __future__ import annotations

from collections.abc import Sequence

from hermes_lance.core.records import Section
from hermes_lance.parse.tokens import estimate

MAX_CHARS = 20_000_000
TITLE_CHARS = 200
LONG_TABLE_TOKENS = 300.0
"""Tables up to this stay among the text around them."""


class TooLong(Exception):
    """More text than a document may have."""


class Writer:
    """Text in reading order. `place` and `heading` say to which section the next block belongs."""

    def __init__(self) -> None:
        self.length = 0
        self._parts: list[str] = []
        self._marks: list[Section] = []
        """Sections whose end is not known yet: their start, and what they are."""
        self._next: tuple[tuple[str, ...], str, str | None] | None = None
        self._base: tuple[str, ...] = ()
        self._headings: list[tuple[int, str]] = []
        self._locator: str | None = None

    @property
    def trail(self) -> tuple[str, ...]:
        """The headings above the next block."""
        return self._base + tuple(title for _, title in self._headings)

    def place(self, locator: str | None, base: Sequence[str] = ()) -> None:
        """Begin a slide, chapter or the like; headings of the one before end here."""
        self._locator = locator
        self._base = tuple(base)
        self._headings = []
        self._next = (self.trail, "text", locator)

    def heading(self, level: int, title: str) -> None:
        """A heading in the text and in the trail of all that follows, up to the next of its level."""
        title = title.strip()
        if not title:
            return
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, " ".join(title.split())[:TITLE_CHARS]))
        self._next = (self.trail, "text", self._locator)
        self.block(title)

    def block(self, text: str, *, close: bool = False) -> None:
        """A paragraph or the like; `close` puts it on the line below the block before, not apart from it."""
        if not text or text.isspace():
            return
        if self.length:
            self._put("\n" if close and self._next is None else "\n\n")
        if self._next is not None:
            self._begin(*self._next)
            self._next = None
        self._put(text)

    def table(self, lines: Sequence[str], header: Sequence[str] = ()) -> None:
        """The rows of a table as lines of Markdown; `header` are its column names, where it has some."""
        text = "\n".join(lines)
        if estimate(text) <= LONG_TABLE_TOKENS:
            self.block(text)
            return
        self.passage(text, "table", header_trail(header))
        self._next = (self.trail, "text", self._locator)

    def passage(self, text: str, kind: str, below: Sequence[str] = (), locator: str | None = None) -> None:
        """A block that is a section of its own, below the present trail, at its own place or the present one."""
        self._next = ((*self.trail, *below), kind, locator or self._locator)
        self.block(text)

    def finished(self) -> tuple[str, list[Section]]:
        """The text, ended by a newline, and its sections; none where nothing was said about any."""
        if not self._parts:
            return "", []
        self._put("\n")
        if not self._marks:
            return "".join(self._parts), []
        ends = [mark.start for mark in self._marks[1:]] + [self.length]
        sections = [
            Section(mark.start, end, mark.trail, mark.kind, mark.locator)
            for mark, end in zip(self._marks, ends, strict=True)
        ]
        return "".join(self._parts), sections

    def _begin(self, trail: tuple[str, ...], kind: str, locator: str | None) -> None:
        if not self._marks and self.length:
            self._marks.append(Section(0, 0))
        last = self._marks[-1] if self._marks else None
        if last is None or (last.trail, last.kind, last.locator) != (trail, kind, locator) or kind == "table":
            self._marks.append(Section(self.length, self.length, trail, kind, locator))

    def _put(self, text: str) -> None:
        self.length += len(text)
        if self.length > MAX_CHARS:
            raise TooLong
        self._parts.append(text)


def header_trail(header: Sequence[str]) -> tuple[str, ...]:
    """The last member of the trail of a table's passages: its column names in one line, or nothing."""
    names = " | ".join(" ".join(name.split()) for name in header if name.strip())
    return (names[:TITLE_CHARS],) if names else ()


def row_line(cells: Sequence[str]) -> str:
    """One row of a Markdown table: a cell is one line, and its bars are escaped."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def rule_line(columns: int) -> str:
    """The line below the header of a Markdown table."""
    return "| " + " | ".join(["---"] * columns) + " |"
