"""Outlines of YAML, TOML and INI, read line by line: indentation, headers in brackets, `key = value`."""

from __future__ import annotations

import re

from hermes_lance.parse.outline import Outline, shortened

_YAML_LINE = re.compile(
    r"^(?:(---)(?=[ \t\r\n]|\Z)|([ ]*+)(#)?((?:-(?:[ ]++|(?=\r?\n|\Z)))*+)"
    r"(?:(\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[^\s#&*!|>%@`\"'\[\]{},][^\n:#]{0,200}?)(?<![ \t])[ \t]*+:"
    r"(?=[ \t\r\n]|\Z))?"
    r"(?:[ \t]*([|>])(?=[-+0-9]{0,3}[ \t]*(?:#|\r?\n|\Z)))?)",
    re.MULTILINE,
)
_YAML_VALUE = re.compile(r"[ \t]*([^\s|>&*{\[][^\n#]{0,80})")
_NAMES = frozenset({"name", "id", "title", "key"})
_DOCUMENT = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)

_QUOTED = r"\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'"
_TABLE_LINE = re.compile(
    rf"^[ \t]*+(?:(\[\[?)((?:{_QUOTED}|[^\]\n\"']){{1,300}})\]|([#;])"
    rf"|({_QUOTED}|[^\s=:\[\](){{}},\"'#;][^=:\n]{{0,200}}?)(?<![ \t])[ \t]*+[=:])"
    r"|(\"\"\"|''')",
    re.MULTILINE,
)
_TABLE_KEY = re.compile(rf"({_QUOTED})|[^.\s\"'][^.\"']*")


def yaml_outline(text: str) -> Outline:
    """Keys as labels, items of sequences as `[0]` or by their name, documents as `document 2` where there are several.

    Block scalars are one value; anchors, aliases and tags are characters like any other.
    """
    outline = Outline()
    several = len(_DOCUMENT.findall(text)) > 1
    document = 0
    counts: dict[int, int] = {}
    comment: int | None = None
    scalar: int | None = None
    for found in _YAML_LINE.finditer(text):
        separator, blanks, remark, dashes, key, block = found.groups()
        if separator:
            document += 1
            scalar = comment = None
            if several:
                outline.add(found.start(), -1, f"document {document}")
            continue
        indent = len(blanks)
        blank = not dashes and key is None and not remark and text.startswith(("\n", "\r"), found.end())
        if scalar is not None and (blank or indent > scalar):
            continue
        scalar = None
        if remark:
            comment = found.start() if comment is None else comment
            continue
        start = found.start() if comment is None else comment
        comment = None
        if not dashes and key is None:
            continue
        for offset, sign in enumerate(dashes):
            if sign == "-":
                # An item may stand below its key or in the same column, never before the item above it.
                depth = indent + offset + 0.5
                parent = outline.parent_at(depth)
                index = counts[parent] = counts.get(parent, -1) + 1
                outline.add(start, depth, f"[{index}]")
        if key is not None:
            depth = indent + len(dashes)
            number = outline.add(start, depth, shortened(key.strip("\"'")))
            if key in _NAMES and number is not None:
                _name_item(outline, outline.parents[number], _YAML_VALUE.match(text, found.end()))
        if block:
            scalar = indent + (len(dashes) if key is not None else max(0, len(dashes.rstrip()) - 1))
    return outline.close()


def _name_item(outline: Outline, item: int, value: re.Match[str] | None) -> None:
    label = outline.labels[item] if item >= 0 else None
    if value is not None and isinstance(label, str) and label.startswith("["):
        outline.labels[item] = shortened(value[1].strip().strip("\"'")) or label


def table_outline(text: str) -> Outline:
    """Headers in brackets as labels (`[tool.ruff]` as `tool`, `ruff`), below them the keys: TOML, INI and the like."""
    outline = Outline()
    place = 0
    comment: int | None = None
    dotted = _is_toml(text)
    while (found := _TABLE_LINE.search(text, place)) is not None:
        bracket, header, remark, key, quotes = found.groups()
        place = found.end()
        if quotes:
            end = text.find(quotes, place)
            if end < 0:
                outline.problem = "a string is not closed"
                break
            place = end + 3
            continue
        if remark:
            comment = found.start() if comment is None else comment
            place = _line_end(text, place)
            continue
        start = found.start() if comment is None else comment
        comment = None
        if bracket:
            outline.add(start, 0, _header(header) if dotted else shortened(header))
            place = _line_end(text, place)
        elif not outline.starts or start > outline.starts[-1]:
            outline.add(start, 1, shortened(key.strip("\"'")))
    return outline.close()


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _is_toml(text: str) -> bool:
    """Whether values look like those of TOML, where a dot in a header is a step down."""
    return (
        re.search(r"^[ \t]*[\w.-]{1,80}[ \t]*=[ \t]*(?:[\"'\[{]|true\b|false\b|-?\d)", text, re.MULTILINE) is not None
    )


def _header(header: str) -> tuple[str, ...]:
    keys = [(found[0].strip("\"'") if found[1] else found[0].strip()) for found in _TABLE_KEY.finditer(header)]
    return tuple(shortened(key) for key in keys[:8] if key) or (shortened(header),)
