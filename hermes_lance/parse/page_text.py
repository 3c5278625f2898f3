"""The text of a page in reading order: blanks folded, blocks on lines of their own, rows of tables on one line."""

from __future__ import annotations

import re
from typing import Any

from hermes_lance.core.records import Section

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "li", "main", "menu", "nav", "ol",
    "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
})  # fmt: skip
_SPACED = _HEADINGS.keys() | {
    "article", "blockquote", "details", "dl", "figure", "ol", "p", "pre", "section", "table", "ul",
}  # fmt: skip
_LINK_SIGN = re.compile(r"(?:[\u200b¶§]| #){1,3}$")
_SPECIAL = _HEADINGS.keys() | {"pre", "img", "td", "th"}
_CELL_CHARS = 400
"""A cell up to this long stands on the line of its row; a longer one is a layout, and keeps its blocks."""
_ALT_CHARS = 500
_TITLE_CHARS = 200
_BLANK = " \t\r\n\f"
_BLANKS = re.compile(r"[ \t\r\n\f]{2,}|[\t\r\n\f]")
"""What has to become one blank; a single blank is one already."""
_BREAKS = ("", " ", "\t", "\n", "\n\n")
"""What may stand between two texts. Of several that meet, the strongest stands."""
_LINE_BREAKS = frozenset({"\n", "\n\n"})
_BY_BLANK, _BY_TAB, _BY_LINE, _BY_EMPTY_LINE = range(1, 5)
_BREAK_AT = {**dict.fromkeys(_BLOCKS | {"br"}, _BY_LINE), **dict.fromkeys(_SPACED, _BY_EMPTY_LINE)}


class PageText:
    """Collects text in reading order: blanks folded, blocks on lines of their own, cells apart by tabs."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.headings: list[tuple[int, int, str]] = []
        self._owed = 0
        """The break that is due before the next text, as its place in `_BREAKS`."""
        self._heading_part = 0
        self._cells: list[tuple[int, int, int]] = []
        """Of each open cell: parts and length before it, and the break that was due."""
        self._preformatted = self._pre_end = 0

    def walk(self, root: Any) -> None:
        """Depth first without recursion: nesting is as deep as the page likes."""
        node, end, heading_start = root, root.mem_id, 0
        while True:
            tag = node.tag
            if tag == "-text":
                self._add(node.text_content or "")
            else:
                if tag in _SPECIAL:
                    heading_start = self._open(node, tag, heading_start)
                due = _BREAK_AT.get(tag, 0)
                if due > self._owed:
                    self._owed = due
            child = node.first_child
            if child is not None:
                node = child
                continue
            while True:
                tag = node.tag
                if tag in _SPECIAL:
                    self._close(tag, heading_start)
                due = _BREAK_AT.get(tag, 0)
                if due > self._owed:
                    self._owed = due
                if node.mem_id == end:
                    return
                following = node.next
                if following is not None:
                    node = following
                    break
                node = node.parent

    def _open(self, node: Any, tag: str, heading_start: int) -> int:
        """Begins one of `_SPECIAL`; where the innermost heading begins, which is this one if it is a heading."""
        if tag in _HEADINGS:
            self._break(_BY_EMPTY_LINE)
            self._heading_part = len(self.parts)
            return self.length + (len(_BREAKS[self._owed]) if self.length else 0)
        if tag == "pre":
            self._preformatted += 1
        elif tag == "img":
            self._add_alternative(node.attributes.get("alt"))
        else:
            self._cells.append((len(self.parts), self.length, self._owed))
        return heading_start

    def _close(self, tag: str, heading_start: int) -> None:
        if tag in _HEADINGS:
            title = " ".join("".join(self.parts[self._heading_part :]).split()) if self.length > heading_start else ""
            # The sign of the link to the heading itself, as makers of documentation add it.
            if title := _LINK_SIGN.sub("", title):
                self.headings.append((heading_start, _HEADINGS[tag], title[:_TITLE_CHARS]))
        elif tag == "pre":
            self._preformatted -= 1
        elif tag != "img":
            self._end_cell()

    def _end_cell(self) -> None:
        """A short cell becomes one line, whatever blocks its words stood in."""
        first, before, owed = self._cells.pop()
        heading = self.headings[-1][0] if self.headings else -1
        if self.length - before > _CELL_CHARS or heading >= before or self._pre_end > before:
            self._break(_BY_TAB)
            return
        parts = self.parts
        for index in range(first, len(parts)):
            if parts[index] in _LINE_BREAKS:
                joint = _BREAKS[owed or _BY_BLANK] if index == first else " "
                self.length += len(joint) - len(parts[index])
                parts[index] = joint
        self._owed = max(owed, _BY_TAB) if self.length == before else _BY_TAB

    def _add_alternative(self, words: str | None) -> None:
        """What a picture says to those who do not see it."""
        if words and not words.isspace():
            self._break(_BY_BLANK)
            self._put(" ".join(words[: _ALT_CHARS * 2].split())[:_ALT_CHARS])
            self._break(_BY_BLANK)

    def _break(self, kind: int) -> None:
        if kind > self._owed:
            self._owed = kind

    def _add(self, raw: str) -> None:
        if self._preformatted:
            if raw:
                self._put(raw.replace("\r\n", "\n").replace("\r", "\n"))
                self._pre_end = self.length
            return
        stripped = raw.strip(_BLANK)
        if not stripped:
            self._break(_BY_BLANK if raw else 0)
            return
        if raw[0] in _BLANK:
            self._break(_BY_BLANK)
        self._put(_BLANKS.sub(" ", stripped))
        if raw[-1] in _BLANK:
            self._break(_BY_BLANK)

    def _put(self, text: str) -> None:
        if self.length and self._owed:
            self.parts.append(_BREAKS[self._owed])
            self.length += len(_BREAKS[self._owed])
        self._owed = 0
        self.parts.append(text)
        self.length += len(text)

    def finished(self, title: str) -> tuple[str, tuple[Section, ...]]:
        """The text, headed by the title of the page, and the sections that tile it."""
        body = "".join(self.parts)
        lead = f"{title}\n\n" if title else ""
        above = (title,) if title and all(level > 1 for _, level, _ in self.headings) else ()
        whole = f"{lead}{body}\n"
        starts: list[tuple[int, tuple[str, ...]]] = [(0, above)]
        trail: list[tuple[int, str]] = []
        for offset, level, name in self.headings:
            while trail and trail[-1][0] >= level:
                trail.pop()
            trail.append((level, name))
            place = offset + len(lead) if offset else 0
            if place <= starts[-1][0]:
                starts.pop()
            starts.append((place, above + tuple(part for _, part in trail)))
        ends = [start for start, _ in starts[1:]] + [len(whole)]
        return whole, tuple(
            Section(start, end, names, "text") for (start, names), end in zip(starts, ends, strict=True)
        )
