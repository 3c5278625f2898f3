"""Sections of manual pages in troff: `.SH` and `.SS` of man, `.Sh` and `.Ss` of mdoc.

Sources: man(7), mdoc(7), and groff's tbl for tables.
"""

from __future__ import annotations

import re

from hermes_lance.parse.trail import Blocks, Heading, one_line, same_length_newlines

_REQUEST = re.compile(
    r"^[.'][ \t]*(?P<name>S[Hh]|S[Ss])(?:[ \t]+(?P<title>\S[^\n]*)|[ \t]*\n(?P<below>[^.'\n][^\n]*))$"
    r"|^[.'][ \t]*(?P<opens>nf|EX|TS|Bd)\b[^\n]*\n",
    re.MULTILINE,
)
_CLOSES = {
    name: re.compile(rf"^[.'][ \t]*({ends})\b[^\n]*$", re.MULTILINE)
    for name, ends in {"nf": "fi|SH|SS", "EX": "EE|SH|SS", "TS": "TE|SH|SS", "Bd": "Ed|Sh|Ss"}.items()
}
_HEADINGS = frozenset({"SH", "SS", "Sh", "Ss"})
_HEAD = re.compile(r"^[.'][ \t]*(?:TH|Dt)[ \t]+\"?([^\s\"]+)\"?(?:[ \t]+\"?([^\s\"]+)\"?)?", re.MULTILINE)
_ESCAPE = re.compile(r"\\f(?:\[[^\]]*\]|\(..|.)|\\s[+-]?\d|\\[&|^%/,]|\\\"[^\n]*")
_SIGNS = {r"\-": "-", r"\(em": "—", r"\(en": "–", r"\(aq": "'", r"\(cq": "'", r"\e": "\\", r"\ ": " ", r"\~": " "}


def scan(text: str) -> Blocks:
    """Headings, and the tables and examples to keep whole, in offsets of `text`."""
    text = same_length_newlines(text)
    headings: list[Heading] = []
    whole: list[tuple[int, int]] = []
    position = 0
    open_until: dict[str, int] = {}
    """By request: where a search for its end has come to a heading instead, or to the end of the text."""
    while (found := _REQUEST.search(text, position)) is not None:
        position = found.end()
        if found["opens"]:
            if position < open_until.get(found["opens"], 0):
                continue
            closing = _CLOSES[found["opens"]].search(text, position)
            if closing is None or closing[1] in _HEADINGS:
                open_until[found["opens"]] = closing.start() if closing else len(text)
            else:
                position = closing.end()
                whole.append((found.start(), position))
            continue
        title = found["title"] or found["below"] or ""
        headings.append(Heading(found.start(), 1 if found["name"][1] in "Hh" else 2, readable(title)))
    return Blocks(headings, whole)


def facts(text: str) -> dict[str, str]:
    """The name of the page with its section, such as `git-log(1)`."""
    found = _HEAD.search(text[:16_384])
    if found is None:
        return {}
    name = readable(found[1]).lower()
    return {"title": f"{name}({found[2]})" if found[2] else name}


def readable(title: str) -> str:
    """A title without quotes and escapes."""
    title = title.strip()
    if title.startswith('"') and title.endswith('"') and len(title) > 1:
        title = title[1:-1]
    title = title.replace('" "', " ") if title.count('"') > 1 else title
    title = _ESCAPE.sub("", title)
    for escape, sign in _SIGNS.items():
        title = title.replace(escape, sign)
    return one_line(title)
