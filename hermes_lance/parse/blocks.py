"""The block structure of Markdown, as far as cutting needs it: top-level headings and blocks to keep whole.

A line scanner: one regular expression finds only the lines that can matter, a block that hides others (fence, HTML,
comment) is jumped over. It agrees with CommonMark (judged against markdown-it-py in the tests) but for rare corners
of nested lists. Block rules: CommonMark 0.31, sections 4 and 5.
"""

from __future__ import annotations

import re

from hermes_lance.parse.trail import Blocks, Heading, same_length_newlines

_CANDIDATE = re.compile(
    r"\n( {0,3})(?:"
    r"(?P<atx>\#{1,6})(?=[ \t\n]|\Z)"
    r"|(?P<fence>`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})"
    r"|(?P<setext>=+|-+)[ \t]*(?=\n|\Z)"
    r"|(?P<html><(?=[A-Za-z/!?]))"
    r")"
)
_FENCE_END = {
    mark: re.compile(rf"\n[ \t]*({re.escape(mark)}{{3,}})[ \t]*(?=\n|\Z)") for mark in "`~"
}  # the longer-or-equal rule is checked by length
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n|\Z)")
_CLOSING_HASHES = re.compile(r"(?:^|(?<![ \t])[ \t]++)#++$")
_LIST_MARKER = re.compile(r"( {0,3})(?:[-+*]|\d{1,9}[.)])(?:[ \t]+(?=\S)|[ \t]*(?=\n|\Z))")
_NO_PARAGRAPH = re.compile(
    r" {0,3}(?:#{1,6}(?:[ \t]|$)|>|`{3,}[^`]*$|~{3,}|(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$)"
)
_TABLE_RULE = re.compile(r" {0,3}\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$")
_DEFINITION = re.compile(r" {0,3}\[[^\]\n]+\]:[ \t]*\S")

_PARAGRAPH_LINES = 500
"""No heading is longer; the bound keeps a walk upwards from every underline of a huge paragraph cheap."""

_RAW = re.compile(r"<(script|pre|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE)
_RAW_END = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
_SPECIAL_ENDS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"))
_DECLARATION = re.compile(r"<![A-Za-z]")
_BLOCK_TAG = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div"
    r"|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link"
    r"|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|source|summary|table|tbody|td|tfoot"
    r"|th|thead|title|tr|track|ul)(?=[ \t\n>]|/>|\Z)",
    re.IGNORECASE,
)
_ANY_TAG = re.compile(
    r"(?:<[A-Za-z][A-Za-z0-9-]*(?:[ \t]+[A-Za-z_:][\w.:-]*(?:[ \t]*=[ \t]*(?:[^\s\"'=<>`]+|'[^'\n]*'|\"[^\"\n]*\"))?)*"
    r"[ \t]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \t]*>)[ \t]*(?=\n|\Z)"
)


def scan(text: str, start: int = 0) -> Blocks:
    """Headings and whole blocks of the Markdown from `start` on, in offsets of `text`."""
    return _Scanner(same_length_newlines(text), start).run()


class _Scanner:
    """`lines` is "\\n" + text, so that a match of "\\n" at index i means: a line of the text starts at i."""

    def __init__(self, text: str, start: int) -> None:
        self.lines = "\n" + text
        self.start = start
        self.headings: list[Heading] = []
        self.whole: list[tuple[int, int]] = []
        self.block_end = start
        """Start of the line after the last block that is no paragraph."""
        self.offsets: dict[tuple[int, int], tuple[int, int]] = {}
        """What the last walk upwards found, and from where on: by the indentation that it asked for and the least that
        it had met. A later walk that comes there ends there, so that many indented lines cost no more than one walk."""
        self.refused = -1
        """An underline whose lines above belong to a list or a quote: what reaches down to it belongs there too."""

    def run(self) -> Blocks:
        position = self.start
        find = _CANDIDATE.search
        while (found := find(self.lines, position)) is not None:
            kind = found.lastgroup
            line = found.start()
            indent = len(found[1])
            if kind == "atx":
                position = self._atx(found, line, indent)
            elif kind == "fence":
                position = self._fence(found, line, indent)
            elif kind == "setext":
                position = self._setext(found, line, indent)
            else:
                position = self._html(found, line)
        return Blocks(self.headings, self.whole)

    def _atx(self, found: re.Match[str], line: int, indent: int) -> int:
        end = self.lines.find("\n", found.end())
        end = len(self.lines) if end < 0 else end
        if not (indent and self._list_offset(line, indent)):
            title = _CLOSING_HASHES.sub("", self.lines[found.end() : end].strip(" \t"))
            self.headings.append(Heading(line, len(found["atx"]), title.strip(" \t")))
            self.block_end = end
        return end

    def _fence(self, found: re.Match[str], line: int, indent: int) -> int:
        mark = found["fence"]
        offset = self._list_offset(line, indent) if indent else 0
        body = self.lines.find("\n", found.end())
        if body < 0:
            body = len(self.lines)
        limit = self._dedent(body, offset) if offset else len(self.lines)
        end = limit
        for closing in _FENCE_END[mark[0]].finditer(self.lines, body, limit):
            deep = closing.start(1) - closing.start() - 1
            if len(closing[1]) >= len(mark) and deep <= offset + 3:
                end = closing.end()
                break
        self.whole.append((line, min(end, len(self.lines) - 1)))
        self.block_end = end
        return max(end, body)

    def _dedent(self, position: int, offset: int) -> int:
        """Where the list item that holds a fence ends: the first line that is not blank and indented less."""
        found = re.compile(rf"\n {{0,{offset - 1}}}(?=[^ \n])").search(self.lines, position)
        return found.start() if found else len(self.lines)

    def _list_offset(self, line: int, indent: int) -> int:
        """Content offset of the list item that a line of this indentation belongs to; 0 when it is top level."""
        below = indent
        position = line
        passed = [(below, line)]
        offset = 0
        for _ in range(200):
            if position <= self.start:
                break
            position = self.lines.rfind("\n", 0, position)
            if (known := self.offsets.get((indent, below))) is not None and known[0] == position:
                offset = known[1]
                break
            content = self.lines[position + 1 : self.lines.find("\n", position + 1)]
            stripped = content.lstrip(" ")
            here = len(content) - len(stripped)
            if not stripped.strip() or here >= below:
                continue
            marker = _LIST_MARKER.match(content)
            if marker is not None:
                width = len(marker[0]) if marker.end() < len(content) and len(marker[0]) - here <= 6 else here + 2
                if width <= indent:
                    offset = width
                    break
            below = here
            if below == 0:
                break
            passed.append((below, position))
        for bound, place in passed:
            self.offsets[indent, bound] = place, offset
        return offset

    def _setext(self, found: re.Match[str], line: int, indent: int) -> int:
        end = found.end()
        first = self._paragraph_start(line)
        if first is None or (indent and self._list_offset(line, indent)):
            if found["setext"][0] == "-":
                self.block_end = end
            return end
        title = " ".join(part.strip() for part in self.lines[first + 1 : line].split("\n"))
        self.headings.append(Heading(first, 1 if found["setext"][0] == "=" else 2, title))
        self.block_end = end
        return end

    def _paragraph_start(self, line: int) -> int | None:
        """Where the paragraph that ends above `line` starts, or None when no top-level paragraph ends there."""
        rows: list[tuple[int, str]] = []
        position = line
        while position > self.block_end and position > self.start:
            if len(rows) == _PARAGRAPH_LINES or position == self.refused:
                self.refused = line
                return None
            above = self.lines.rfind("\n", 0, position)
            content = self.lines[above + 1 : position]
            if not content.strip():
                break
            if _NO_PARAGRAPH.match(content) and not content.lstrip(" ").startswith(">"):
                break
            rows.append((above, content))
            if _LIST_MARKER.match(content) or content.lstrip(" ").startswith(">"):
                self.refused = line
                return None
            position = above
        # Link definitions at the head of a paragraph are no part of it.
        while rows and _DEFINITION.match(rows[-1][1]):
            rows.pop()
        if not rows:
            return None
        first, head = rows[-1]
        indent = len(head) - len(head.lstrip(" "))
        if indent > 3 or head.startswith("\t") or (indent and self._list_offset(first, indent)):
            return None
        if len(rows) > 1 and "|" in head and "|" in rows[-2][1] and _TABLE_RULE.match(rows[-2][1]):
            return None
        return first

    def _html(self, found: re.Match[str], line: int) -> int:
        tag = found.start("html")
        end = self._html_end(tag, line)
        if end is None:
            return found.end()
        self.whole.append((line, min(end, len(self.lines) - 1)))
        self.block_end = end
        return end

    def _html_end(self, tag: int, line: int) -> int | None:
        """End of the HTML block that begins at `tag`, or None when the line begins no such block."""
        lines = self.lines
        if _RAW.match(lines, tag):
            closing = _RAW_END.search(lines, tag)
            return self._end_of_line(closing.end() if closing else -1)
        for opening, ending in _SPECIAL_ENDS:
            if lines.startswith(opening, tag):
                place = lines.find(ending, tag + len(opening))
                return self._end_of_line(place + len(ending) if place >= 0 else -1)
        if _DECLARATION.match(lines, tag):
            return self._end_of_line(lines.find(">", tag))
        if not _BLOCK_TAG.match(lines, tag) and not (_ANY_TAG.match(lines, tag) and not self._in_paragraph(line)):
            return None
        blank = _BLANK_LINE.search(lines, tag)
        return blank.start() if blank else len(lines)

    def _end_of_line(self, position: int) -> int:
        if position < 0:
            return len(self.lines)
        end = self.lines.find("\n", position)
        return len(self.lines) if end < 0 else end

    def _in_paragraph(self, line: int) -> bool:
        if line <= self.block_end or line <= self.start:
            return False
        above = self.lines[self.lines.rfind("\n", 0, line) + 1 : line]
        # A quote may go on lazily, so a line after one continues its paragraph.
        return bool(above.strip()) and (above.lstrip(" ").startswith(">") or not _NO_PARAGRAPH.match(above))
