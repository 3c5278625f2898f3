"""Chunker: JSON, YAML, TOML, XML and INI along their structure, with the path of keys as trail.

What fits one passage is one; else whole branches are packed to the target, and only a branch that does not fit is
opened. The text stays the file's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hermes_lance.core.records import Document, Piece
from hermes_lance.parse.outline import Outline
from hermes_lance.parse.outline_json import json_outline
from hermes_lance.parse.outline_lines import table_outline, yaml_outline
from hermes_lance.parse.outline_xml import xml_outline
from hermes_lance.parse.window import Cutter, without_blank_pieces

_OUTLINES: Mapping[str, Callable[[str], Outline]] = {
    "json": json_outline,
    "yaml": yaml_outline,
    "toml": table_outline,
    "ini": table_outline,
    "xml": xml_outline,
}
_FULL_ENOUGH = 0.5
"""Share of the target from which a passage ends where the text goes up a level."""
_CRUMB = 0.125
"""Share of the target below which the head of a branch stays with what is below it."""


class KeysChunker:
    """Passages of whole branches; `trail` is the path that all of a passage lies in."""

    name = "keys"
    media_types: Sequence[str] = ("text/json", "text/yaml", "text/toml", "text/ini", "text/xml")

    def __init__(self, target_tokens: int = 512, overlap_tokens: int = 80) -> None:
        self.target_tokens = target_tokens
        self.overlap_tokens = min(overlap_tokens, target_tokens - 1)
        self._last: tuple[Document, str] | None = None

    def signature(self) -> str:
        """Name, version and sizes."""
        return f"keys/1:{self.target_tokens}:{self.overlap_tokens}"

    def chunker_label(self, document: Document) -> str:
        """`keys/1:<format>`; `…:broken` where the structure has a fault, `keys/1:lines` where there is none to follow,
        `keys/1:whole` where it was not asked for."""
        last = self._last
        how = last[1] if last is not None and last[0] is document else self._cut(document)[0]
        return f"keys/1:{how}"

    def pieces(self, document: Document) -> list[Piece]:
        """Passages that tile the text but for overlaps inside a value that had to be cut."""
        how, pieces = self._cut(document)
        # The label is asked for right after the pieces; reading the structure twice would take twice as long.
        self._last = (document, how)
        return pieces

    def _cut(self, document: Document) -> tuple[str, list[Piece]]:
        text = document.text
        cutter = Cutter(text, self.target_tokens, self.overlap_tokens)
        if cutter.fits(0, len(text)):
            return "whole", [Piece(0, len(text), "data")]
        language = document.media_type.partition("/")[2]
        outline = _OUTLINES.get(language, yaml_outline)(text)
        if not outline:
            spans = cutter.spans(0, len(text))
            return "lines", without_blank_pieces(text, [Piece(low, high, "data") for low, high in spans])
        how = f"{language}:broken" if outline.problem else language
        return how, without_blank_pieces(text, _packed(cutter, outline))


def _packed(cutter: Cutter, outline: Outline) -> list[Piece]:
    """Each mark is looked at once or twice, and a branch that fits is passed over as a whole."""
    text, target, tokens = cutter.text, cutter.target, cutter.ruler.tokens
    starts, after, levels = outline.starts, outline.after, outline.levels
    count = len(outline)
    pieces: list[Piece] = []
    filling = _Filling(outline)
    begin = index = 0
    while index < count:
        start = starts[index]
        end = starts[after[index]] if after[index] < count else len(text)
        size = tokens(begin, start)
        fits = tokens(begin, end) <= target
        begun = filling.first >= 0
        higher = begun and levels[index] < levels[filling.first] and size >= target * _FULL_ENOUGH
        if ((begun or not pieces) and not fits and size >= target * _CRUMB) or higher:
            pieces += filling.pieces(cutter, begin, start)
            begin = start
            continue
        leaf = after[index] == index + 1
        if leaf and not fits:
            filling.only(index)
        elif fits or tokens(start, starts[index + 1]) >= target * _CRUMB:
            filling.take(index)
        else:
            # A few characters that only open the branch: what follows inside it says where the passage lies.
            filling.head(index)
        index = after[index] if fits else index + 1
    return pieces + filling.pieces(cutter, begin, len(text))


class _Filling:
    """The marks of the passage that is being filled, as the path that they share."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.first = -1
        self.shared: tuple[str, ...] = ()

    def head(self, number: int) -> None:
        """The opening of a branch, which counts only as long as nothing else is there."""
        if self.first < 0:
            self.shared = self.outline.path(number)

    def only(self, number: int) -> None:
        """A value that has to be cut: its path is that of all its parts, whatever few characters stand before it."""
        self.first, self.shared = number, self.outline.path(number)

    def take(self, number: int) -> None:
        """One more mark. What lies inside the first one does not change the path."""
        if self.first < 0:
            self.first, self.shared = number, self.outline.path(number)
        elif number >= self.outline.after[self.first]:
            path = self.outline.path(number)
            same = 0
            while same < min(len(path), len(self.shared)) and path[same] == self.shared[same]:
                same += 1
            self.shared = path[:same]

    def pieces(self, cutter: Cutter, begin: int, end: int) -> list[Piece]:
        """The passage from `begin` to `end`, in parts where it is too long; the next one is empty again."""
        found = [Piece(low, high, "data", self.shared) for low, high in cutter.spans(begin, end)] if begin < end else []
        self.first, self.shared = -1, ()
        return found
