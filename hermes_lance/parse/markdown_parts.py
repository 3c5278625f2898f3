"""Lists and tables of Markdown, looked for only where a passage has to be cut, and what MDX adds to Markdown.

Items: CommonMark 0.31, section 5.2; tables: GitHub Flavored Markdown, "Tables"; MDX: mdxjs.com, "What is MDX?".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from hermes_lance.parse.trail import one_line, same_length_newlines

Span = tuple[int, int]

_ITEM = re.compile(r"\n {0,3}(?:[-+*]|\d{1,9}[.)])[ \t]+(?=\S)")
_AFTER_ITEM = re.compile(r"\n(?:[ \t]*\n){1,99}+(?=\S)|\n(?=#{1,6}[ \t])")
"""Where a line without indentation follows an empty one, or a heading comes, a list is at its end."""
_DELIMITER = re.compile(r"\n {0,3}(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+(?=\n|\Z)")
_TABLE_END = re.compile(r"\n[ \t]*(?=\n|\Z)")
_HEADER_CHARS = 200


class Table(NamedTuple):
    """Where a table begins, where its first row of data does, where it ends, and its column names on one line."""

    start: int
    body: int
    end: int
    header: str


def tables(text: str, hidden: Sequence[Span]) -> list[Table]:
    """Tables outside `hidden` (code, HTML), in order, in offsets of `text`."""
    lines = "\n" + same_length_newlines(text)
    found = []
    end = 0
    for rule in _DELIMITER.finditer(lines):
        if "|" not in rule[0] or rule.start() < end or _inside(rule.start(), hidden):
            continue
        above = lines.rfind("\n", 0, rule.start())
        header = lines[above + 1 : rule.start()]
        if above < 0 or "|" not in header or not header.strip():
            continue
        closing = _TABLE_END.search(lines, rule.end())
        end = closing.start() if closing else len(lines) - 1
        names = [one_line(cell) for cell in header.strip().strip("|").split("|")]
        found.append(Table(above, min(rule.end(), len(text)), end, ", ".join(filter(None, names))[:_HEADER_CHARS]))
    return found


def items(text: str, hidden: Sequence[Span]) -> list[Span]:
    """Items of lists at the top level, with all that is in them, in order, in offsets of `text`."""
    lines = "\n" + same_length_newlines(text)
    starts = [found.start() for found in _ITEM.finditer(lines) if not _inside(found.start(), hidden)]
    found: list[Span] = []
    for index, start in enumerate(starts):
        limit = starts[index + 1] if index + 1 < len(starts) else len(lines) - 1
        closing = _AFTER_ITEM.search(lines, start + 1, limit + 1)
        found.append((start, min(limit, closing.start()) if closing else limit))
    return found


def _inside(position: int, spans: Sequence[Span]) -> bool:
    index = bisect_right(spans, (position, len(spans) and spans[-1][1])) - 1
    return index >= 0 and spans[index][0] < position < spans[index][1]


_ESM = re.compile(
    r"(?:(?<=\n\n)|\A|(?<=\n\r\n))(?:import|export)[ \t{*][^\r\n]*(?:\r?\n(?![ \t]*\r?(?:\n|\Z))[^\r\n]*)*"
)
_EXPRESSION = re.compile(r"\{/\*.*?\*/\}", re.DOTALL)
_SIGN = re.compile(r"[^\r\n]")


def without_mdx(text: str, start: int) -> str:
    """The text with what MDX takes for JavaScript blanked out, every offset as before: imports, exports, comments."""

    def blank(found: re.Match[str]) -> str:
        return _SIGN.sub(" ", found[0])

    body = text[start:]
    return text[:start] + _EXPRESSION.sub(blank, _ESM.sub(blank, body))
