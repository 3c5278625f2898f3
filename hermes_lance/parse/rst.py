"""Sections of reStructuredText: titles with a line of signs below, or above and below; levels in order of appearance.

Source: the reStructuredText Markup Specification of Docutils, "Sections", "Literal Blocks", "Directives", "Tables".
"""

from __future__ import annotations

import re
from unicodedata import combining, east_asian_width

from hermes_lance.parse.trail import Blocks, Heading, one_line, same_length_newlines

_ADORNMENT = re.compile(r"^([!-/:-@\[-`{-~])\1*[ \t]*$", re.MULTILINE)
_INDENTED = re.compile(r"(?:[ \t]*\n)*[ \t]+\S[^\n]*(?:\n(?:[ \t]*\n)*[ \t]+\S[^\n]*)*")
"""Lines of an indented block, with the empty ones before and between them."""
_OPENING = re.compile(r"^(?:\.\.[ \t]+\S[^\n]*|[^\n]*::[ \t]*)\n", re.MULTILINE)
_TABLE = re.compile(r"^(?:\+[-=+]{2,}\+[ \t]*\n(?:[+|][^\n]*\n?)+|={2,}(?:[ \t]+={2,})+[ \t]*\n)", re.MULTILINE)
_TABLE_RULE = re.compile(r"^={2,}(?:[ \t]+={2,})+[ \t]*(?:\n(?=[ \t]*\n)|\n?\Z)", re.MULTILINE)
_ROLE = re.compile(r":[\w.:+-]+:`([^`]*)`|``([^`]+)``|`([^`<]+?)(?:[ ]*<[^>`]*>)?`_{0,2}")
_FIELD = re.compile(r"^:(author|authors|date|version|tags|keywords|organization):[ \t]+(\S[^\n]*)$", re.I | re.M)


def scan(text: str) -> Blocks:
    """Headings, and the directives, literal blocks and tables to keep whole, in offsets of `text`."""
    text = same_length_newlines(text)
    return Blocks(_headings(text), _whole(text))


def facts(text: str) -> dict[str, str]:
    """Fields of the bibliography at the head."""
    return {found[1].lower(): one_line(found[2]) for found in _FIELD.finditer(text[:4096])}


def _line_before(text: str, start: int) -> tuple[int, str]:
    if start <= 0:
        return start, ""
    above = text.rfind("\n", 0, start - 1) + 1
    return above, text[above : start - 1]


def _headings(text: str) -> list[Heading]:
    headings: list[Heading] = []
    styles: list[tuple[str, bool]] = []
    free = 0
    """Where the part of the text begins that no title has used."""
    for found in _ADORNMENT.finditer(text):
        start, mark = found.start(), found[1]
        if start < free:
            continue
        above, title = _line_before(text, start)
        if above < free or not title.strip() or _ADORNMENT.fullmatch(title):
            continue
        head, over = _line_before(text, above)
        overlined = head >= free and above > 0 and over.rstrip(" \t") == found[0].rstrip(" \t")
        if not overlined:
            short = len(found[0].rstrip()) < min(_columns(title.rstrip()), 4)
            after_text = above > free and over.strip() and not over.startswith(".. ")
            if short or after_text or title[:1] in " \t":
                continue
        begin = head if overlined else above
        style = (mark, overlined)
        if style not in styles:
            styles.append(style)
        headings.append(Heading(begin, styles.index(style) + 1, _readable(title)))
        free = min(found.end() + 1, len(text))
    return headings


def _columns(title: str) -> int:
    """How wide a title is on a screen: East Asian characters take two columns."""
    if title.isascii():
        return len(title)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in title)


def _readable(title: str) -> str:
    if "`" in title:
        title = _ROLE.sub(lambda found: found[1] or found[2] or found[3] or "", title)
    return one_line(title.replace("\\", "").replace("**", ""))


def _whole(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    end = 0
    for found in _OPENING.finditer(text):
        # What opens inside a block ends with it at the latest.
        body = _INDENTED.match(text, found.end()) if found.start() >= end else None
        if body is not None:
            end = body.end()
            spans.append((found.start(), end))
    unclosed, end = False, 0
    for found in _TABLE.finditer(text):
        if found.start() < end:
            continue
        end = found.end()
        if text[found.start()] == "=":
            closing = None if unclosed else _TABLE_RULE.search(text, end)
            if closing is None:
                unclosed = True
                continue
            end = closing.end()
        spans.append((found.start(), end))
    return outermost(spans)


def outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, without those that begin inside another."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept
