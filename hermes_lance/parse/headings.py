"""Chunker: along the headings of Markdown and other markup, neighbours packed to the target.

One heading a chunk loses to plain windows, because most sections are a few lines; packing whole sections to the
target beats both.
"""

from __future__ import annotations

from collections.abc import Sequence

from hermes_lance.core.records import Document, Piece
from hermes_lance.parse.markup import LANGUAGES, whole_blocks
from hermes_lance.parse.packing import Unit, pack
from hermes_lance.parse.window import Cutter


class HeadingsChunker:
    """Passages made of whole sections; fences and HTML blocks stay whole where they fit."""

    name = "headings"
    media_types: Sequence[str] = ("text/markdown", *LANGUAGES)

    def __init__(self, target_tokens: int = 512, overlap_tokens: int = 80) -> None:
        self.target_tokens = target_tokens
        self.overlap_tokens = min(overlap_tokens, target_tokens - 1)

    def signature(self) -> str:
        """Name, version and sizes."""
        return f"headings/1:{self.target_tokens}:{self.overlap_tokens}"

    def chunker_label(self, document: Document) -> str:
        """What is noted beside each passage."""
        return "headings/1"

    def pieces(self, document: Document) -> list[Piece]:
        """Passages that tile the text but for overlaps inside a paragraph that had to be cut."""
        text = document.text
        units = [Unit(part.start, part.end, part.kind, part.trail, part.locator) for part in document.sections]
        if not units:
            units = [Unit(0, len(text), "text")]
        cutter = Cutter(text, self.target_tokens, self.overlap_tokens)
        if not all(cutter.fits(unit.start, unit.end) for unit in units):
            body = next((unit.start for unit in units if unit.kind != "front_matter"), 0)
            cutter.keep_whole(whole_blocks(text, document.media_type, body))
        return pack(cutter, units)
