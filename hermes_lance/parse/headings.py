"""Chunker: along the headings of Markdown and other markup, neighbours packed to the target.

One heading a chunk loses to plain windows, because most sections are a few lines; packing whole sections to the
target beats both.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from hermes_lance.core.records import Document, Piece
from hermes_lance.parse.markdown_parts import Table, items, tables
from hermes_lance.parse.markup import LANGUAGES, whole_blocks
from hermes_lance.parse.packing import Unit, pack
from hermes_lance.parse.window import Cutter


class HeadingsChunker:
    """Passages made of whole sections; code, HTML, list items and tables stay whole where they fit."""

    name = "headings"
    media_types: Sequence[str] = ("text/markdown", *LANGUAGES)

    def __init__(self, target_tokens: int = 512, overlap_tokens: int = 80) -> None:
        self.target_tokens = target_tokens
        self.overlap_tokens = min(overlap_tokens, target_tokens - 1)

    def signature(self) -> str:
        """Name, version and sizes."""
        return f"headings/2:{self.target_tokens}:{self.overlap_tokens}"

    def chunker_label(self, document: Document) -> str:
        """What is noted beside each passage."""
        return "headings/2"

    def pieces(self, document: Document) -> list[Piece]:
        """Passages that tile the text but for overlaps inside a paragraph that had to be cut."""
        text = document.text
        units = [Unit(part.start, part.end, part.kind, part.trail, part.locator) for part in document.sections]
        if not units:
            units = [Unit(0, len(text), "text")]
        cutter = Cutter(text, self.target_tokens, self.overlap_tokens)
        if all(cutter.fits(unit.start, unit.end) for unit in units):
            return pack(cutter, units)
        body = next((unit.start for unit in units if unit.kind != "front_matter"), 0)
        blocks = whole_blocks(text, document.media_type, body)
        if document.media_type != "text/markdown":
            cutter.keep_whole(blocks)
            return pack(cutter, units)
        found = tables(text, blocks)
        spans = [*blocks, *items(text, blocks), *((table.start, table.end) for table in found)]
        cutter.keep_whole(_outermost_that_fit(cutter, spans))
        return [_with_header(piece, found) for piece in pack(cutter, units)]


def _outermost_that_fit(cutter: Cutter, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Blocks in order that do not overlap: of nested ones the outermost that one passage can hold."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if (not kept or start >= kept[-1][1]) and cutter.fits(start, end):
            kept.append((start, end))
    return kept


def _with_header(piece: Piece, found: list[Table]) -> Piece:
    """A passage that begins among the rows of a table has the names of its columns at the end of its trail."""
    index = bisect_right(found, piece.start, key=lambda table: table.body) - 1
    if index < 0 or piece.start >= found[index].end or not found[index].header:
        return piece
    return replace(piece, trail=(*piece.trail, found[index].header))
