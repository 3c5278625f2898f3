"""Chunker: by paragraph, within the sections or pages that the parser found."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_lance.core.records import Document, Piece
from hermes_lance.parse.packing import Unit, pack
from hermes_lance.parse.window import Cutter


class ParagraphsChunker:
    """Passages of whole paragraphs up to the target; a paragraph longer than that is cut with overlap."""

    name = "paragraphs"
    media_types: Sequence[str] = ("*",)

    def __init__(self, target_tokens: int = 512, overlap_tokens: int = 80) -> None:
        self.target_tokens = target_tokens
        self.overlap_tokens = min(overlap_tokens, target_tokens - 1)

    def signature(self) -> str:
        """Name, version and sizes."""
        return f"paragraphs/1:{self.target_tokens}:{self.overlap_tokens}"

    def chunker_label(self, document: Document) -> str:
        """What is noted beside each passage."""
        return "paragraphs/1"

    def pieces(self, document: Document) -> list[Piece]:
        """Passages that tile the text but for overlaps inside a paragraph that had to be cut."""
        units = [Unit(part.start, part.end, part.kind, part.trail, part.locator) for part in document.sections]
        if not units:
            units = [Unit(0, len(document.text), "text")]
        return pack(Cutter(document.text, self.target_tokens, self.overlap_tokens), units)
