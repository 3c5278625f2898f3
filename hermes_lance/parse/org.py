"""Sections of Org: headlines of stars, without their keywords, priorities and tags.

Source: Org Syntax (orgmode.org/worg/org-syntax.html), "Headings" and "Blocks". A line of stars is a headline wherever
it stands; inside blocks it is written with a comma before it.
"""

from __future__ import annotations

import re

from hermes_lance.parse.trail import Blocks, Heading, one_line, same_length_newlines

_HEADLINE = re.compile(r"^(\*+)[ \t]+(?=\S)([^\n]*)$", re.MULTILINE)
_TAGS = re.compile(r"(?:^|(?<![ \t])[ \t]++):[\w@#%:]+:[ \t]*+$")
_PRIORITY = re.compile(r"^\[#[A-Za-z0-9]{1,2}\][ \t]*")
_KEYWORDS = re.compile(r"^#\+(?:seq_|typ_)?todo:[ \t]*([^\n]*)$", re.IGNORECASE | re.MULTILINE)
_LINK = re.compile(r"\[\[([^\[\]]*)\](?:\[([^\[\]]*)\])?\]")
_BLOCK = re.compile(r"^[ \t]*#\+begin_?(?:([\w-]+)|:)[^\n]*\n", re.IGNORECASE | re.MULTILINE)
_LINES = re.compile(
    r"^(?:[ \t]*\|[^\n]*(?:\n[ \t]*\|[^\n]*)+|[ \t]*:[\w-]+:[ \t]*\n(?:(?!\*+ )[^\n]*\n){1,40}?[ \t]*:end:[ \t]*$"
    r"|[ \t]*:(?: [^\n]*)?(?:\n[ \t]*:(?: [^\n]*)?)+$)",
    re.IGNORECASE | re.MULTILINE,
)
"""A table, a drawer, lines of fixed width."""
_FACT = re.compile(r"^#\+(title|author|date|filetags|keywords|description):[ \t]*(\S[^\n]*)$", re.I | re.M)


def scan(text: str) -> Blocks:
    """Headings, and the blocks, tables and drawers to keep whole, in offsets of `text`."""
    text = same_length_newlines(text)
    states = {"TODO", "DONE"}
    for found in _KEYWORDS.finditer(text):
        states.update(word.partition("(")[0] for word in found[1].split() if word != "|")
    headings = [
        Heading(found.start(), len(found[1]), _readable(found[2], states)) for found in _HEADLINE.finditer(text)
    ]
    return Blocks(headings, _whole(text))


def facts(text: str) -> dict[str, str]:
    """Title, author, tags as the keywords of the file say."""
    found = {match[1].lower(): one_line(match[2]) for match in reversed(list(_FACT.finditer(text[:8192])))}
    if "filetags" in found:
        found["tags"] = ", ".join(tag for tag in found.pop("filetags").split(":") if tag)
    return found


def _readable(title: str, states: set[str]) -> str:
    first, _, rest = title.partition(" ")
    if first in states:
        title = rest.lstrip()
    title = _PRIORITY.sub("", title)
    if title.startswith("COMMENT "):
        title = title[8:]
    title = _TAGS.sub("", title)
    return one_line(_LINK.sub(lambda found: found[2] or found[1], title))


def _whole(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    done = 0
    open_until: dict[str, int] = {}
    """By name of block: where a search for its end has come to a headline instead, or to the end of the text."""
    for found in _BLOCK.finditer(text):
        name = found[1] or ":"
        if found.start() < max(done, open_until.get(name, 0)):
            continue
        closing = re.compile(
            rf"^(?:[ \t]*#\+end_?{re.escape(name)}[^\n]*|\*+[ \t]+\S)", re.IGNORECASE | re.MULTILINE
        ).search(text, found.end())
        if closing is None or closing[0].startswith("*"):
            open_until[name] = closing.start() if closing else len(text)
        else:
            spans.append((found.start(), closing.end()))
            done = closing.end()
    spans.extend(found.span() for found in _LINES.finditer(text))
    spans.sort()
    kept: list[tuple[int, int]] = []
    for start, end in spans:
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept
