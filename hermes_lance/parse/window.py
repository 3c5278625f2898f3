"""Cutting a stretch that is longer than one passage may be, and the chunker that does nothing else.

A cut goes to the best place in reach: an empty line or a new page, a line that ends a sentence or begins an item,
any line end, a sentence end, a blank, and only then anywhere. The next window overlaps only where the cut went
through a paragraph, because nothing is lost at a border that the author drew.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from hermes_lance.core.records import Document, Piece
from hermes_lance.parse.tokens import ruler_of

Span = tuple[int, int]

_ITEM = re.compile(r"[ \t]*(?:[-*+•] |\d{1,9}[.)] |\|)")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=[ \t\n])|[。！？｡]")
_LOOK_BACK_LINES = 24
_LOOK_BACK_CHARS = 1_500
_JOINERS = "\u200d\ufe0e\ufe0f"


class Cutter:
    """Cuts stretches of one text into spans of at most `target` estimated tokens."""

    def __init__(self, text: str, target: int, overlap: int) -> None:
        self.text = text
        self.ruler = ruler_of(text)
        self.target = target
        self.overlap = overlap
        self._whole: Sequence[Span] = ()
        self._whole_starts: list[int] = []
        self._empty_line = "\r\n\r\n" if "\r" in text and "\r\n" in text else "\n\n" if "\n" in text else "\r\r"
        self._line = "\n" if "\n" in text else "\r"
        self._pages = "\f" in text

    def keep_whole(self, blocks: Sequence[Span]) -> None:
        """Name the blocks, in order, that no cut should enter as long as they fit one passage."""
        self._whole = blocks
        self._whole_starts = [start for start, _ in blocks]

    def fits(self, start: int, end: int) -> bool:
        """Whether one passage can hold all of it."""
        return self.ruler.tokens(start, end) <= self.target

    def spans(self, start: int, end: int) -> list[Span]:
        """Spans in order that cover `start` to `end`; consecutive ones share text only after a cut in a paragraph."""
        found: list[Span] = []
        position = start
        while True:
            rest = self.ruler.tokens(position, end)
            if rest <= self.target:
                found.append((position, end))
                return found
            # Two even windows rather than a full one and a crumb.
            budget = self.target if rest > 2 * self.target else max(rest * 0.55, self.target * 0.5)
            limit = min(end, self.ruler.reach(position, self.target))
            aim = min(limit, self.ruler.reach(position, budget))
            done = found[-1][1] if found else start
            cut, clean = self._cut(position, aim, limit, done)
            found.append((position, cut))
            position = cut if clean else self._overlapped(position, cut)

    def _cut(self, position: int, aim: int, limit: int, done: int) -> tuple[int, bool]:
        """Where the window that begins at `position` ends, and whether that is a border of the text's own.

        Always beyond `done`, where the window before ended.
        """
        aim = max(aim, min(limit, done + 1))
        low = max(position + (aim - position) // 3, done)
        cut = self._border(low, aim)
        if cut is None and aim < limit:
            cut = self._border(aim, limit)
        if cut is None:
            cut = self._block_start(low, limit)
        if cut is not None:
            return cut, True
        middle = max(position + (aim - position) // 2, done)
        for finder, clean in ((self._item_line, True), (self._any_line, False), (self._sentence, False)):
            cut = finder(middle, aim)
            if cut is not None:
                return cut, clean
        blank = self.text.rfind(" ", middle, aim)
        return (blank + 1, False) if blank >= middle else (self.unbroken(max(position, done), aim), False)

    def _border(self, low: int, high: int) -> int | None:
        """The last empty line or page start in the range that lies in no block to keep whole."""
        place = high
        while place > low:
            empty = self.text.rfind(self._empty_line, low, place)
            cut = empty + len(self._empty_line) if empty >= 0 else -1
            if self._pages:
                # A page ends anywhere, so it is worth a cut only where the passage is well filled.
                cut = max(cut, self.text.rfind("\f", low + (high - low) // 3, place) + 1)
            if cut <= low:
                return None
            block = self._block_at(cut)
            if block is None:
                return cut
            if block[0] > low:
                return block[0]
            if not self.fits(*block):
                return cut
            place = min(place - 1, cut - 1)
        return None

    def _block_at(self, position: int) -> Span | None:
        if not self._whole_starts:
            return None
        index = bisect_right(self._whole_starts, position - 1) - 1
        block = self._whole[index] if index >= 0 else None
        return block if block is not None and block[0] < position < block[1] else None

    def _block_start(self, low: int, limit: int) -> int | None:
        """Start of a block that would fit one passage but crosses the limit."""
        block = self._block_at(limit)
        return block[0] if block is not None and block[0] > low and self.fits(*block) else None

    def _lines_back(self, low: int, high: int) -> list[int]:
        starts: list[int] = []
        place = high
        while len(starts) < _LOOK_BACK_LINES:
            place = self.text.rfind(self._line, low, place)
            if place < low:
                break
            starts.append(place + 1)
        return starts

    def _item_line(self, low: int, high: int) -> int | None:
        for start in self._lines_back(low, high):
            if _ITEM.match(self.text, start, start + 40):
                return start
        return None

    def _any_line(self, low: int, high: int) -> int | None:
        starts = self._lines_back(low, high)
        for start in starts:
            before = self.text[max(low, start - 4) : start].rstrip()
            if before and before[-1] in ".!?:;。！？}":
                return start
        return starts[0] if starts else None

    def _sentence(self, low: int, high: int) -> int | None:
        ends = list(_SENTENCE_END.finditer(self.text, max(low, high - _LOOK_BACK_CHARS), high))
        if not ends:
            return None
        last = ends[-1]
        return last.end() + 1 if self.text[last.end() : last.end() + 1] in {" ", "\t", "\n"} else last.end()

    def unbroken(self, position: int, cut: int) -> int:
        """`cut`, moved back so that no letter loses its accents and no emoji its parts."""
        text = self.text
        for place in range(cut, max(position + 1, cut - 32), -1):
            if place >= len(text):
                return cut
            here = text[place]
            joined = here in _JOINERS or text[place - 1] == "\u200d" or unicodedata.combining(here)
            if not joined and text[place - 1 : place + 1] != "\r\n" and not 0x1F3FB <= ord(here) <= 0x1F3FF:
                return place
        return cut

    def _overlapped(self, start: int, cut: int) -> int:
        """Where the next window begins: `overlap` tokens before the cut, at the start of a line, sentence or word."""
        if self.overlap <= 0:
            return cut
        earliest = max(start + (cut - start) // 2, self.ruler.back(cut, self.overlap))
        line = self.text.find(self._line, earliest, cut - 1)
        blank = line if line >= 0 else self.text.find(" ", earliest, cut - 1)
        begin = blank + 1 if blank >= 0 else self.unbroken(start, earliest)
        # Where the overlap is denser than what follows, there would be nothing new in the next window.
        return begin if self.ruler.reach(begin, self.target / 2) > cut else cut


class FixedChunker:
    """Windows of one size over the whole text, each beginning `overlap_tokens` before the end of the last."""

    name = "fixed"
    media_types: Sequence[str] = ("*",)

    def __init__(self, target_tokens: int = 512, overlap_tokens: int = 80) -> None:
        self.target_tokens = target_tokens
        self.overlap_tokens = min(overlap_tokens, target_tokens - 1)

    def signature(self) -> str:
        """Name, version and sizes."""
        return f"fixed/1:{self.target_tokens}:{self.overlap_tokens}"

    def chunker_label(self, document: Document) -> str:
        """What is noted beside each passage."""
        return "fixed/1"

    def pieces(self, document: Document) -> list[Piece]:
        """Windows that end at an empty line in their last tenth, else at a line end in their last twentieth."""
        text = document.text
        ruler = ruler_of(text)
        cutter = Cutter(text, self.target_tokens, self.overlap_tokens)
        spans: list[Span] = []
        position = done = 0
        while done < len(text):
            limit = ruler.reach(position, self.target_tokens)
            cut = limit
            if limit < len(text):
                size = limit - position
                empty = text.rfind("\n\n", limit - size // 10, limit)
                line = text.rfind("\n", limit - size // 20, limit)
                cut = empty + 2 if empty >= 0 else line + 1 if line >= 0 else cutter.unbroken(position, limit)
            cut = max(cut, done + 1)
            spans.append((position, cut))
            # At least half of each window is new, whatever overlap was asked for.
            back = max(ruler.back(cut, self.overlap_tokens), position + (cut - position + 1) // 2)
            position = cutter.unbroken(position, back) if self.overlap_tokens > 0 and back < cut else cut
            done = cut
        kind = "code" if document.lang else "text"
        return without_blank_pieces(text, [Piece(start, end, kind, trail_at(document, start)) for start, end in spans])


def trail_at(document: Document, position: int) -> tuple[str, ...]:
    """The trail of the section that holds this character."""
    sections = document.sections
    if not sections:
        return ()
    index = bisect_right(sections, position, key=lambda section: section.start) - 1
    return sections[max(index, 0)].trail


def without_blank_pieces(text: str, pieces: list[Piece]) -> list[Piece]:
    """The pieces, each that holds only blanks joined to the one before it (the first ones to the one after)."""
    kept: list[Piece] = []
    lead: int | None = None
    for piece in pieces:
        if text[piece.start : piece.end].isspace() or piece.start == piece.end:
            if kept:
                kept[-1] = _moved(kept[-1], kept[-1].start, max(kept[-1].end, piece.end))
            elif lead is None:
                lead = piece.start
            continue
        if lead is not None:
            piece = _moved(piece, lead, piece.end)
            lead = None
        kept.append(piece)
    return kept


def _moved(piece: Piece, start: int, end: int) -> Piece:
    return Piece(start, end, piece.kind, piece.trail, piece.symbol, piece.locator, piece.parent)
