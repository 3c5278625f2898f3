"""Sections of LaTeX: the sectioning commands, outside comments and verbatim text; environments to keep whole.

Source: "LaTeX2e: An unofficial reference manual", chapters "Sectioning" and "Environments".
"""

from __future__ import annotations

import re

from hermes_lance.parse.trail import Blocks, Heading, one_line, same_length_newlines

_LEVELS = {
    "part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6, "subparagraph": 7,
    "frametitle": 6, "addchap": 2, "addsec": 3,
}  # fmt: skip
_TOKEN = re.compile(
    r"\\\\|\\%|%[^\n]*"
    r"|\\begin[ \t]*\{(?P<verbatim>verbatim|Verbatim|lstlisting|minted|comment|filecontents)(?P<star>\*?)\}"
    r"|\\begin[ \t]*\{(?P<opens>[A-Za-z]+\*?)\}|\\end[ \t]*\{(?P<closes>[A-Za-z]+\*?)\}"
    rf"|\\(?P<command>{'|'.join(_LEVELS)})\*?[ \t\n]*(?=[\[{{])"
    r"|\\verb\*?(?P<mark>[^\sA-Za-z*])"
)
_COMMANDS_WITHOUT_TEXT = re.compile(
    r"\\(?:label|index|footnote|thanks|ref|cite[a-z]*|url|href)\*?(?:\[[^\]]*\])?\{[^{}]*\}"
)
_COMMAND = re.compile(r"\\(?:[A-Za-z]+\*?(?:\[[^\]]*\])?[ \t]*|[,;:!/ ])")
_ESCAPED = re.compile(r"\\([%&$#_{}])")
_ARGUMENT_CHARS = 600
_DEEPEST = 12
_OPEN_ENDED = frozenset({"document", "abstract", "appendices", "CJK", "CJK*", "frame", "multicols"})
"""Environments that hold whole sections or pages of prose."""


def scan(text: str) -> Blocks:
    """Headings, and the outermost environments to keep whole, in offsets of `text`."""
    text = same_length_newlines(text)
    headings: list[Heading] = []
    whole: list[tuple[int, int]] = []
    opened: list[tuple[str, int]] = []
    position = 0
    while (found := _TOKEN.search(text, position)) is not None:
        position = found.end()
        if found["verbatim"]:
            ending = rf"\end{{{found['verbatim']}{found['star']}}}"
            closing = text.find(ending, position)
            position = closing + len(ending) if closing >= 0 else len(text)
            if not opened:
                whole.append((found.start(), position))
        elif found["mark"]:
            position = max(position, text.find(found["mark"], position) + 1)
        elif found["opens"] and found["opens"] not in _OPEN_ENDED:
            opened.append((found["opens"], found.start()))
        elif found["closes"]:
            _close(found["closes"], found.end(), opened, whole)
        elif found["command"]:
            title, position = _argument(text, position)
            line = text.rfind("\n", 0, found.start()) + 1
            start = found.start() if text[line : found.start()].strip() else line
            headings.append(Heading(start, _LEVELS[found["command"]], readable(title)))
            # No environment goes on across a section, so that one without an end hides nothing.
            opened.clear()
    return Blocks(headings, whole)


def _close(name: str, end: int, opened: list[tuple[str, int]], whole: list[tuple[int, int]]) -> None:
    for index in range(len(opened) - 1, max(-1, len(opened) - 20), -1):
        if opened[index][0] == name:
            start = opened[index][1]
            del opened[index:]
            if not opened:
                whole.append((start, end))
            return


def _argument(text: str, position: int) -> tuple[str, int]:
    """The text in braces from here on, after a short form in brackets; at most 600 characters of it."""
    if text.startswith("[", position):
        closing = text.find("]", position, position + _ARGUMENT_CHARS)
        position = closing + 1 if closing >= 0 else position + 1
        while text[position : position + 1] in (" ", "\t", "\n"):
            position += 1
    if not text.startswith("{", position):
        return "", position
    depth = 0
    for brace in re.compile(r"\\.|[{}]").finditer(text, position, position + _ARGUMENT_CHARS):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return text[position + 1 : brace.start()], brace.end()
        if depth > _DEEPEST:
            break
    # Without an end: the rest of the line.
    return text[position + 1 : position + 80].partition("\n")[0], position + 1


_FACT = re.compile(r"^[^%\n]*?\\(title|author|date)[ \t\n]*(?=[\[{])", re.MULTILINE)


def facts(text: str) -> dict[str, str]:
    """Title, author and date as the preamble gives them."""
    found: dict[str, str] = {}
    for match in _FACT.finditer(text[:65_536]):
        value = readable(_argument(text, match.end())[0])
        if value and match[1] not in found:
            found[match[1]] = value
    return found


def readable(title: str) -> str:
    """What is printed of an argument, as far as that can be seen without running TeX."""
    title = _COMMANDS_WITHOUT_TEXT.sub("", re.sub(r"(?<!\\)%[^\n]*\n?", "", title)).replace("\\\\", " ")
    title = _ESCAPED.sub(lambda found: found[1] if found[1] not in "{}" else "", title)
    title = _COMMAND.sub("", title)
    return one_line(re.sub(r"[{}$]", "", title).replace("~", " ").replace("---", "—").replace("--", "–"))
