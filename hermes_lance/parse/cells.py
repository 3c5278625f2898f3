"""Chunker: notebooks by cells. Neighbouring cells share a passage up to the target: a remark and the code below it
belong together, and most cells are a few lines.
"""

from __future__ import annotations

from collections.abc import Sequence

from hermes_lance.core.records import Document, Piece, Section
from hermes_lance.parse.window import Cutter, without_blank_pieces

_FULL_ENOUGH = 0.5
"""Share of the target from which a passage ends before a heading of its own level or above."""


class CellsChunker:
    """Passages of whole cells, cited as `cell 3` or `cells 3-5`; a cell over the target is cut."""

    name = "cells"
    media_types: Sequence[str] = ("application/x-ipynb+json",)

    def __init__(self, target_tokens: int = 512, overlap_tokens: int = 80) -> None:
        self.target_tokens = target_tokens
        self.overlap_tokens = min(overlap_tokens, target_tokens - 1)

    def signature(self) -> str:
        """Name, version and sizes."""
        return f"cells/1:{self.target_tokens}:{self.overlap_tokens}"

    def chunker_label(self, document: Document) -> str:
        """What is noted beside each passage."""
        return "cells/1"

    def pieces(self, document: Document) -> list[Piece]:
        """Passages of kind `code` where code makes most of them, else `markdown`; the trail is that of the start."""
        cutter = Cutter(document.text, self.target_tokens, self.overlap_tokens)
        sections = document.sections or (Section(0, len(document.text)),)
        tokens = cutter.ruler.tokens
        pieces: list[Piece] = []
        at = 0
        while at < len(sections):
            first = last = at
            while last + 1 < len(sections):
                following = sections[last + 1]
                if tokens(sections[first].start, following.end) > self.target_tokens:
                    break
                begins_chapter = following.trail != sections[last].trail and len(following.trail) <= len(
                    sections[first].trail
                )
                size = tokens(sections[first].start, sections[last].end)
                if begins_chapter and size >= self.target_tokens * _FULL_ENOUGH:
                    break
                last += 1
            group = sections[first : last + 1]
            pieces.extend(_pieces(cutter, group))
            at = last + 1
        return without_blank_pieces(document.text, pieces)


def _pieces(cutter: Cutter, group: Sequence[Section]) -> list[Piece]:
    sizes: dict[str, int] = {}
    for section in group:
        sizes[section.kind] = sizes.get(section.kind, 0) + section.end - section.start
    kind = max(sizes, key=lambda name: sizes[name])
    locator = _range(group[0].locator, group[-1].locator)
    spans = cutter.spans(group[0].start, group[-1].end)
    return [Piece(low, high, kind, group[0].trail, locator=locator) for low, high in spans]


def _range(first: str | None, last: str | None) -> str | None:
    if first is None or last is None or first == last:
        return first
    return f"cells {first.removeprefix('cell ')}-{last.removeprefix('cell ')}"
