"""Outlines of JSON, JSON Lines and JSON with comments: by indentation where there is some, else token by token."""

from __future__ import annotations

import re

from hermes_lance.parse.outline import Frame, Frames, Outline, has_line_over, shortened

_LONG_LINE_CHARS = 2_000
_LONG_STRING_CHARS = 300
# A string cannot hold a line end, so that every line begins between tokens.
_LINE = re.compile(
    r'^([ \t]*+)(?:(//|/\*|#)|(?:[}\]][}\], \t]{0,20})?(?:"((?:[^"\\\n]|\\.){0,200})"[ \t]*:[ \t]*)?([\[{])?)', re.M
)
_NAME_VALUE = re.compile(r'[ \t]*"((?:[^"\\\n]|\\.){1,80})"')
_NAMES = frozenset({"name", "id", "title", "key"})
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"(\s*+:)?|[\[\]{}]|,\s*+|"', re.DOTALL)


def json_outline(text: str) -> Outline:
    """Keys as labels, elements of arrays as `[0]` or by their name; lines of JSON Lines as `line 3`."""
    indented = "\n " in text or "\n\t" in text
    return _by_lines(text) if indented and not has_line_over(text, _LONG_LINE_CHARS) else _by_tokens(text)


def _by_lines(text: str) -> Outline:
    outline = Outline()
    counts: dict[int, int] = {}
    comment: int | None = None
    for found in _LINE.finditer(text):
        blanks, remark, key, bracket = found.groups()
        if remark:
            comment = found.start() if comment is None else comment
            continue
        start = found.start() if comment is None else comment
        comment = None
        if key is not None:
            number = outline.add(start, len(blanks), shortened(key))
            if key in _NAMES and number is not None:
                _name(outline, outline.parents[number], _NAME_VALUE.match(text, found.end()))
        elif bracket and (blanks or len(outline)):
            parent = outline.parent_at(len(blanks))
            index = counts.get(parent, 0)
            counts[parent] = index + 1
            outline.add(start, len(blanks), f"[{index}]")
    return outline.close()


def _name(outline: Outline, element: int, value: re.Match[str] | None) -> None:
    """An element of an array is better known by its name than by its number."""
    label = outline.labels[element] if element >= 0 else None
    if value is not None and isinstance(label, str) and label.startswith("["):
        outline.labels[element] = shortened(value[1])


def _by_tokens(text: str) -> Outline:
    outline = Outline()
    frames = Frames(outline)
    stack = frames.stack
    key: tuple[int, str] | None = None
    roots = line = counted = 0
    for token in _TOKEN.finditer(text):
        start = token.start()
        sign = text[start]
        if sign == '"':
            end = token.end()
            if end - start == 1:
                outline.problem = "a string is not closed"
                break
            if token[1]:
                key = (start, text[start + 1 : end - len(token[1]) - 1])
                frames.border(start)
            elif key is not None and end - start > _LONG_STRING_CHARS:
                _relabelled(frames, key)
        elif sign in "{[":
            if frames.full:
                frames.beyond += 1
            elif not stack:
                roots += 1
                line += text.count("\n", counted, start)
                counted = start
                if roots == 2 and outline.starts and outline.parents[0] == -1:
                    outline.labels[0] = outline.labels[0] or "line 1"
                if roots > 1:
                    frames.border(start)
                frames.push(Frame(start, f"line {line + 1}" if roots > 1 else None, sign))
            elif key is not None:
                frames.push(Frame(key[0], shortened(key[1]), sign))
            else:
                frames.border(start)
                frames.push(Frame(start, f"[{stack[-1].count}]", sign))
            key = None
        elif sign == ",":
            key = None
            if stack:
                stack[-1].count += 1
                if stack[-1].name == "[":
                    frames.border(token.end())
        elif stack:
            frames.pop()
            key = None
    if stack and outline.problem is None:
        outline.problem = "a bracket is not closed"
    return outline.close()


def _relabelled(frames: Frames, key: tuple[int, str]) -> None:
    """A long string is a member of its own, with its key."""
    outline = frames.outline
    if outline.starts and outline.starts[-1] == key[0]:
        outline.labels[-1] = shortened(key[1])
    else:
        frames.border(key[0], shortened(key[1]), always=True)
