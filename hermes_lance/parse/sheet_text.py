"""The rows of a sheet as Markdown tables, in passages that say from which cells they come.

Rows are grouped by the blank rows between them; a group begins with its title and its column names where it has some.
Long groups are cut by rows, and each further part has the column names in its trail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hermes_lance.parse.tokens import estimate
from hermes_lance.parse.writer import Writer, header_trail, row_line, rule_line

PASSAGE_TOKENS = 400.0
_HEADER_CHARS = 80
_GROUP_ROWS = 5_000
"""A group longer than this is written in parts, so that a sheet of a million rows is never held as a whole."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that shows something; columns count from 0."""

    column: int
    text: str
    is_text: bool


Row = tuple[int, list[Cell]]
"""Number of the row, from 1, and its cells by rising column."""


@dataclass(slots=True)
class Sheet:
    """One sheet. `rows` is read once, in order; rows that show nothing may be left out."""

    name: str
    rows: Iterable[Row]
    hidden: bool = False
    remarks: list[tuple[str, str]] = field(default_factory=list)
    """Comments and text boxes: the place (`C10`, or empty) and what is written there; may grow while rows are read."""


def column_name(column: int) -> str:
    """`A` for 0, `Z` for 25, `AA` for 26."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


def write_sheet(writer: Writer, sheet: Sheet) -> None:
    """All that a sheet shows, below its name; nothing for a sheet without content."""
    title = f"{sheet.name} (hidden)" if sheet.hidden else sheet.name
    writer.place(f"sheet {sheet.name}", (title,))
    passages = _Passages(writer, sheet.name)
    header: list[Cell] = []
    for rows, begins in _groups(sheet.rows):
        header = passages.group(rows, header, begins)
    passages.flush()
    for place, text in sheet.remarks:
        locator = f"sheet {sheet.name}!{place}" if place else None
        if not passages.written:
            writer.block(sheet.name)
            passages.written = True
        writer.passage(f"Comment at {place}: {text}" if place else text, "text", (), locator)


def _groups(rows: Iterable[Row]) -> Iterator[tuple[list[Row], bool]]:
    """Rows without a blank row between them, and whether these begin a group or go on with one."""
    group: list[Row] = []
    begins = True
    for number, cells in rows:
        if not cells:
            continue
        if group and number != group[-1][0] + 1:
            yield group, begins
            group, begins = [], True
        elif len(group) >= _GROUP_ROWS:
            yield group, begins
            group, begins = [], False
        group.append((number, cells))
    if group:
        yield group, begins


def _is_header(cells: Sequence[Cell]) -> bool:
    return (
        len(cells) > 1
        and all(cell.is_text and len(cell.text) <= _HEADER_CHARS for cell in cells)
        and len({cell.text for cell in cells}) == len(cells)
    )


class _Passages:
    """Gathers small groups into one passage and cuts long ones."""

    def __init__(self, writer: Writer, name: str) -> None:
        self.written = False
        self._writer = writer
        self._name = name
        self._lines: list[str] = []
        self._tokens = 0.0
        self._below: tuple[str, ...] = ()
        self._cells: list[tuple[int, int, int]] = []
        """Row, first and last column of each line."""

    def group(self, rows: list[Row], header: list[Cell], begins: bool) -> list[Cell]:
        """Writes one group; gives the column names for what goes on below it. `header` is that of the group above."""
        titles: list[Row] = []
        while begins and len(rows) > 1 and len(rows[0][1]) == 1 and rows[0][1][0].is_text:
            titles.append(rows.pop(0))
        columns = sorted({cell.column for _, cells in rows for cell in cells})
        own = begins and _is_header(rows[0][1])
        if own:
            names = rows[0][1]
        else:
            names = header if {cell.column for cell in header} >= set(columns[:1]) and len(columns) > 1 else []
        lines = [self._line(cells, columns) for _, cells in rows]
        sizes = [estimate(line) for line in lines]
        heads = [" ".join(row[1][0].text.split()) for row in titles]
        if self._tokens + sum(sizes) > PASSAGE_TOKENS:
            self.flush()
        elif self._lines and begins:
            self._lines.append("")
        self._below = self._below if self._lines else tuple(heads[-1:])
        for (number, cells), head in zip(titles, heads, strict=True):
            self._add(number, cells, head, estimate(head))
        if titles:
            self._lines.append("")
        whole = header_trail([cell.text for cell in names])
        if not own and not self._lines:
            self._below = whole
        for place, ((number, cells), line, size) in enumerate(zip(rows, lines, sizes, strict=True)):
            if self._tokens > 0 and self._tokens + size > PASSAGE_TOKENS and place > 1:
                self.flush()
                self._below = (*heads[-1:], *whole)
            self._add(number, cells, line, size)
            if own and place == 0 and len(rows) > 1:
                self._lines.append(rule_line(len(columns)))
        return names

    def flush(self) -> None:
        """Write what has been gathered, as one passage."""
        if self._cells:
            first, last = self._cells[0][0], self._cells[-1][0]
            left, right = min(cell[1] for cell in self._cells), max(cell[2] for cell in self._cells)
            area = f"{column_name(left)}{first}"
            if (first, left) != (last, right):
                area += f":{column_name(right)}{last}"
            text = "\n".join(self._lines).strip("\n")
            if not self.written:
                text = f"{self._name}\n\n{text}"
                self.written = True
            self._writer.passage(text, "table", self._below, f"sheet {self._name}!{area}")
        self._lines, self._cells, self._tokens, self._below = [], [], 0.0, ()

    def _line(self, cells: Sequence[Cell], columns: Sequence[int]) -> str:
        if len(columns) == 1:
            return " ".join(cells[0].text.split())
        texts = {cell.column: cell.text for cell in cells}
        return row_line([texts.get(column, "") for column in columns])

    def _add(self, number: int, cells: Sequence[Cell], line: str, tokens: float) -> None:
        self._lines.append(line)
        self._cells.append((number, cells[0].column, cells[-1].column))
        self._tokens += tokens
