"""The sheets of an XLSX workbook, row by row: what each cell shows, where it stands, comments and text boxes.

Our own reading, since a library that builds the whole grid loses the places of cells and needs a gigabyte for some
megabytes of file. Format: ECMA-376 part 1, chapter 18; namespaces are ignored, so that strict files are read too.
"""

from __future__ import annotations

import io
import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from hermes_lance.parse.number_formats import BUILT_IN, NumberFormat, general, number_format
from hermes_lance.parse.office_xml import elements, local, tree
from hermes_lance.parse.sheet_text import Cell, Row, Sheet

if TYPE_CHECKING:
    from hermes_lance.parse.packages import Package

_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_KEPT_NUMBERS = frozenset("\t\n\r")


def sheets(package: Package) -> Iterator[Sheet]:
    """All sheets with cells in the order of their tabs, hidden ones too; raises `Unreadable` for damage."""
    main = next(iter(related(package, "", "officeDocument").values()), "xl/workbook.xml")
    links = related(package, main, "")
    book = tree(package.read(main))
    since_1904 = any(item.get("date1904") in ("1", "true") for item in book.iter() if local(item) == "workbookPr")
    reader = _Reader(package, main, since_1904)
    for item in book.iter():
        if local(item) != "sheet":
            continue
        part = links.get(next((value for key, value in item.attrib.items() if key.endswith("}id")), ""))
        if part is not None and part in package:
            yield reader.sheet(part, item.get("name") or "Sheet", item.get("state", "visible") != "visible")


def related(package: Package, part: str, kind: str) -> dict[str, str]:
    """Relations of a part (`""` for the package): id to the name of the other part, of one kind or of all."""
    folder, name = posixpath.split(part)
    relations = posixpath.join(folder, "_rels", f"{name}.rels")
    if relations not in package:
        return {}
    found = {}
    for item in tree(package.read(relations)).iter():
        target, mode = item.get("Target"), item.get("TargetMode")
        if target and mode != "External" and (item.get("Type") or "").endswith(kind):
            path = unquote(target)
            path = path.lstrip("/") if path.startswith("/") else posixpath.normpath(posixpath.join(folder, path))
            found[item.get("Id") or ""] = path
    return found


class _Reader:
    """What all sheets of a workbook share: strings and number formats."""

    def __init__(self, package: Package, main: str, since_1904: bool) -> None:
        self._package = package
        self._since_1904 = since_1904
        strings = next(iter(related(package, main, "/sharedStrings").values()), "")
        styles = next(iter(related(package, main, "/styles").values()), "")
        self._strings = list(_shared_strings(package.read(strings))) if strings in package else []
        self._formats = _cell_formats(package.read(styles)) if styles in package else []

    def sheet(self, part: str, name: str, hidden: bool) -> Sheet:
        remarks = [*_comments(self._package, part), *_text_boxes(self._package, part)]
        return Sheet(name, self._rows(part), hidden, remarks)

    def _rows(self, part: str) -> Iterator[Row]:
        number = 0
        for row in elements(io.BytesIO(self._package.read(part)), "row", "sheetData"):
            given = row.get("r")
            number = int(given) if given and given.isdigit() else number + 1
            column = -1
            cells = []
            for item in row:
                place = _PLACE.fullmatch(item.get("r") or "")
                column = column_number(place[1]) if place else column + 1
                text, is_text = self._shown(item)
                if text and not text.isspace():
                    cells.append(Cell(column, text, is_text))
            yield number, cells

    def _shown(self, cell: Any) -> tuple[str, bool]:
        kind = cell.get("t", "n")
        value = formula = None
        for child in cell:
            tag = child.tag
            if tag.endswith("}v"):
                value = child.text
            elif tag.endswith("}is"):
                return _string(child), True
            elif tag.endswith("}f"):
                formula = child.text
        if value is None:
            # Written by a program that does not calculate: the formula is all there is.
            return (f"={formula}", False) if formula else ("", False)
        if kind == "s":
            place = int(value) if value.strip().isdigit() else -1
            return (self._strings[place], True) if 0 <= place < len(self._strings) else ("", True)
        if kind == "b":
            return ("TRUE" if value.strip() == "1" else "FALSE"), False
        if kind in ("str", "e", "d"):
            return _unescaped(value), kind == "str"
        try:
            number = float(value)
        except ValueError:
            return value, True
        if number != number or number in (float("inf"), float("-inf")):
            return value, False
        style = cell.get("s", "0")
        place = int(style) if style.isdigit() else 0
        if place < len(self._formats):
            return self._formats[place].shown(number, since_1904=self._since_1904), False
        return general(number), False


def column_number(letters: str) -> int:
    """0 for `A`, 26 for `AA`."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _unescaped(text: str) -> str:
    """`_x000A_` stands for the character of that number; control characters become blanks."""
    if "_x" not in text:
        return text

    def char(found: re.Match[str]) -> str:
        made = chr(int(found[1], 16))
        return made if made.isprintable() or made in _KEPT_NUMBERS else " "

    return _ESCAPED.sub(char, text)


def _string(item: Any) -> str:
    """The text of a string with its runs, without the readings of East Asian words."""
    parts = []
    for child in item:
        name = local(child)
        if name == "t":
            parts.append(child.text or "")
        elif name == "r":
            parts.extend(inner.text or "" for inner in child if local(inner) == "t")
    return _unescaped("".join(parts))


def _shared_strings(content: bytes) -> Iterator[str]:
    for item in elements(io.BytesIO(content), "si", "sst"):
        yield _string(item)


def _cell_formats(content: bytes) -> list[NumberFormat]:
    codes = dict(BUILT_IN)
    made: dict[int, NumberFormat] = {}
    formats = []
    root = tree(content)
    for item in root.iter():
        if local(item) == "numFmt" and (item.get("numFmtId") or "").isdigit():
            codes[int(item.get("numFmtId"))] = item.get("formatCode") or ""
    for group in root:
        if local(group) == "cellXfs":
            for item in group:
                given = item.get("numFmtId") or "0"
                number = int(given) if given.isdigit() else 0
                if number not in made:
                    made[number] = number_format(codes.get(number, ""))
                formats.append(made[number])
    return formats


def _comments(package: Package, part: str) -> Iterator[tuple[str, str]]:
    """Place and text of the comments of a sheet; of threads (which repeat as a note) the whole thread."""
    threaded = list(related(package, part, "/threadedComment").values())
    for name in threaded or related(package, part, "/comments").values():
        if name not in package:
            continue
        root = tree(package.read(name))
        authors = [item.text or "" for item in root.iter() if local(item) == "author"]
        for item in root.iter():
            kind = local(item)
            if kind not in ("comment", "threadedComment"):
                continue
            text = " ".join("".join(inner.text or "" for inner in item.iter() if local(inner) in ("t", "text")).split())
            given = item.get("authorId") or ""
            author = authors[int(given)].strip() if given.isdigit() and int(given) < len(authors) else ""
            author = "" if author.startswith("tc=") or text.startswith(author) else author
            if text:
                yield item.get("ref") or "", f"{author}: {text}" if author else text


def _text_boxes(package: Package, part: str) -> Iterator[tuple[str, str]]:
    """Words in drawings upon a sheet."""
    for name in related(package, part, "/drawing").values():
        if name not in package:
            continue
        for item in tree(package.read(name)).iter():
            if local(item) == "txBody":
                lines = ("".join(inner.text or "" for inner in line.iter() if local(inner) == "t") for line in item)
                text = "\n".join(line for line in lines if line.strip())
                if text:
                    yield "", text
