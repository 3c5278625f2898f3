"""Sections of AsciiDoc: titles of equals signs, outside delimited blocks; the older underlined ones too.

Source: AsciiDoc Language Documentation, "Section Titles and Levels" and "Delimited Blocks"; for two-line titles the
AsciiDoc.py user guide.
"""

from __future__ import annotations

import re

from hermes_lance.parse.trail import Blocks, Heading, one_line, same_length_newlines

_LINE = re.compile(
    r"^(?:(?P<title>={1,6}|#{1,6})[ \t]+(?P<words>\S[^\n]*)"
    r"|(?P<fence>-{4,}|\.{4,}|={4,}|\+{4,}|\*{4,}|_{4,}|/{4,}|--|```+[^`\n]*|[|,:!]={3,})[ \t]*"
    r"|(?P<under>=+|-+|~+|\^+|\++)[ \t]*)$",
    re.MULTILINE,
)
_UNDERLINES = "=-~^+"
_ANCHOR = re.compile(r"\[\[[^\]]*\]\]|\[#[^\]]*\]")
_CLOSING = re.compile(r"(?<![ \t])[ \t]++[=#]++$")
_ATTRIBUTE = re.compile(r"^:(author|revdate|description|keywords|tags):[ \t]+(\S[^\n]*)$", re.MULTILINE)


def scan(text: str) -> Blocks:
    """Headings, and the delimited blocks to keep whole, in offsets of `text`."""
    text = same_length_newlines(text)
    headings: list[Heading] = []
    whole: list[tuple[int, int]] = []
    unclosed: set[str] = set()
    position = 0
    while (found := _LINE.search(text, position)) is not None:
        position = found.end()
        start = found.start()
        if found["title"]:
            headings.append(Heading(start, len(found["title"]), _readable(found["words"])))
            continue
        above = _underlined(text, start, found[0].rstrip())
        if above is not None:
            headings.append(Heading(above, _UNDERLINES.index(found[0][0]) + 1, _readable(text[above : start - 1])))
            continue
        fence = (found["fence"] or "").rstrip()
        if not fence:
            continue
        ending = "```" if fence.startswith("`") else fence
        if ending in unclosed:
            continue
        closing = re.compile(rf"^{re.escape(ending)}[ \t]*$", re.MULTILINE).search(text, position)
        if closing is None:
            unclosed.add(ending)
        else:
            position = closing.end()
            whole.append((start, position))
    return Blocks(headings, whole)


def _underlined(text: str, start: int, line: str) -> int | None:
    """Start of the title above an underline of about its length, or None."""
    if start < 2 or line[0] not in _UNDERLINES or len(line) < 3:
        return None
    above = text.rfind("\n", 0, start - 1) + 1
    title = text[above : start - 1].rstrip()
    before = text[text.rfind("\n", 0, max(above - 1, 0)) + 1 : max(above - 1, 0)].strip()
    alone = not before or before.startswith(("[", "//"))
    return above if alone and abs(len(title) - len(line)) <= 2 and re.match(r"[^\W_]|[`'*:]", title) else None


def _readable(title: str) -> str:
    return one_line(_CLOSING.sub("", _ANCHOR.sub("", title)).replace("`", ""))


def facts(text: str) -> dict[str, str]:
    """Attributes of the header."""
    return {found[1]: one_line(found[2]) for found in _ATTRIBUTE.finditer(text[:4096])}
