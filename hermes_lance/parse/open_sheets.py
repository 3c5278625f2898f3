"""The sheets of an OpenDocument spreadsheet, row by row: the text that each cell shows, where it stands, its comment.

Format: ODF 1.3 part 3, chapter 9; repeated rows and cells are counted, blank ones never written out.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from hermes_lance.parse.office_xml import events, local, tree
from hermes_lance.parse.packages import Package
from hermes_lance.parse.sheet_text import Cell, Row, Sheet, column_name

_MOST_REPEATED = 1_000
"""Copies of a row or cell that are written out; programs fill whole columns with copies of one value."""


def sheets(package: Package) -> Iterator[Sheet]:
    """All sheets in the order of their tabs, each to be read before the next; raises `Unreadable` for damage."""
    content = package.read("content.xml")
    hidden = _hidden_styles(content)
    stream = events(io.BytesIO(content))
    for event, element in stream:
        if event == "start" and local(element) == "table":
            remarks: list[tuple[str, str]] = []
            name = _attribute(element, "name") or "Sheet"
            is_hidden = _attribute(element, "style-name") in hidden
            yield Sheet(name, _rows(stream, element, remarks), is_hidden, remarks)


def _attribute(element: Any, name: str) -> str | None:
    return next((value for key, value in element.attrib.items() if key.endswith(f"}}{name}")), None)


def _hidden_styles(content: bytes) -> set[str | None]:
    end = content.find(b"<office:body")
    if end < 0 or b"table:display" not in content[:end]:
        return set()
    root = tree(content[:end] + b"</office:document-content>")
    return {
        _attribute(style, "name")
        for style in root.iter()
        if local(style) == "style"
        and any(_attribute(inner, "display") == "false" for inner in style if local(inner) == "table-properties")
    }


def _repeated(element: Any, name: str) -> int:
    given = _attribute(element, name) or "1"
    return max(1, int(given)) if given.isdigit() else 1


def _rows(stream: Iterator[tuple[str, Any]], table: Any, remarks: list[tuple[str, str]]) -> Iterator[Row]:
    """The rows up to the end of this table; one within a cell belongs to its cell."""
    number = depth = 1
    for event, element in stream:
        kind = local(element)
        if kind == "table":
            depth += 1 if event == "start" else -1
            if depth == 0:
                return
        elif kind == "table-row" and event == "end" and depth == 1:
            count = _repeated(element, "number-rows-repeated")
            cells = _cells(element, number, remarks)
            for copy in range(min(count, _MOST_REPEATED) if cells else 0):
                yield number + copy, cells
            number += count
            # What was read is forgotten, so that a long sheet is never held as a whole.
            element.clear()
            table.clear()


def _cells(row: Any, number: int, remarks: list[tuple[str, str]]) -> list[Cell]:
    cells: list[Cell] = []
    column = 0
    for item in row:
        if local(item) not in ("table-cell", "covered-table-cell"):
            continue
        count = _repeated(item, "number-columns-repeated")
        lines = [_text(child) for child in item if local(child) == "p"]
        text = "\n".join(line for line in lines if line.strip())
        if text:
            is_text = _attribute(item, "value-type") in (None, "string")
            cells.extend(Cell(column + copy, text, is_text) for copy in range(min(count, _MOST_REPEATED)))
        for note in item:
            if local(note) == "annotation":
                words = " ".join(" ".join(_text(line) for line in note if local(line) == "p").split())
                author = next(("".join(inner.itertext()) for inner in note if local(inner) == "creator"), "").strip()
                if words:
                    place = f"{column_name(column)}{number}"
                    remarks.append((place, f"{author}: {words}" if author else words))
        column += count
    return cells


def _text(element: Any) -> str:
    """Words of a paragraph: blanks, tabs and line ends are elements there; notes are not part of it."""
    parts = [element.text or ""]
    for child in element:
        name = local(child)
        if name == "s":
            parts.append(" " * min(_repeated(child, "c"), 100))
        elif name in ("tab", "line-break"):
            parts.append("\t" if name == "tab" else "\n")
        elif name not in ("annotation", "note"):
            parts.append(_text(child))
        parts.append(child.tail or "")
    return "".join(parts)
