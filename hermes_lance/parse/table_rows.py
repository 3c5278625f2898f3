"""Chunker: CSV and its like by groups of rows. The header is the trail of every group but the one that holds it.

Rows end at line ends outside quotes (RFC 4180). Delimiter and header are found from the first rows; a quote that is
left open, or stands inside a value, ends with its line.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from hermes_lance.core.records import Document, Piece
from hermes_lance.parse.window import Cutter, without_blank_pieces

_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 40
_SAMPLE_CHARS = 65_536
_ROW_LINES = 100
"""A quoted value of more lines is taken for a stray quote."""
_HEADER_CHARS = 300
_NAME_CHARS = 60
_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?\d[\d.,:/\s-]{0,30}\s?[%)€$£]?")
_SEP_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)


class RowsChunker:
    """Passages of whole rows, cited as `rows 2-40`; a row over the target is cut."""

    name = "rows"
    media_types: Sequence[str] = ("text/csv",)

    def __init__(self, target_tokens: int = 512, overlap_tokens: int = 80) -> None:
        self.target_tokens = target_tokens
        self.overlap_tokens = min(overlap_tokens, target_tokens - 1)

    def signature(self) -> str:
        """Name, version and sizes."""
        return f"rows/1:{self.target_tokens}:{self.overlap_tokens}"

    def chunker_label(self, document: Document) -> str:
        """What is noted beside each passage."""
        return "rows/1"

    def pieces(self, document: Document) -> list[Piece]:
        """Groups of rows that tile the text; rows count from 1, the header included."""
        text = document.text
        cutter = Cutter(text, self.target_tokens, self.overlap_tokens)
        starts = row_starts(text)
        header_row = bisect_right(starts, _header_start(text)) - 1
        header = header_of(text, starts)
        pieces: list[Piece] = []
        begin = 0
        while begin < len(text):
            first = bisect_right(starts, begin) - 1
            reach = cutter.ruler.reach(begin, self.target_tokens)
            stop = _end_of_rows(starts, first, reach, len(text))
            last = bisect_left(starts, stop) - 1
            trail = (header,) if header and first > header_row else ()
            locator = f"rows {first + 1}-{last + 1}" if last > first else f"row {first + 1}"
            pieces += [Piece(low, high, "table", trail, locator=locator) for low, high in cutter.spans(begin, stop)]
            begin = stop
        return without_blank_pieces(text, pieces)


def _end_of_rows(starts: Sequence[int], first: int, reach: int, length: int) -> int:
    """Where the last whole row before `reach` ends; a row that alone goes beyond it is taken all the same."""
    if reach >= length or first + 1 >= len(starts):
        return length
    return starts[max(bisect_right(starts, reach) - 1, first + 1)]


def row_starts(text: str) -> list[int]:
    """Where each row begins. Empty lines are rows too, as they are lines."""
    line_end = "\n" if "\n" in text else "\r"
    lines = text.split(line_end)
    if not lines[-1]:
        lines.pop()
    starts = [0]
    position = 0
    for line in lines[:-1]:
        position += len(line) + 1
        starts.append(position)
    if '"' not in text:
        return starts
    odd = [number for number, line in enumerate(lines) if line.count('"') % 2]
    kept = bytearray(b"\x01") * len(starts)
    at = 0
    while at + 1 < len(odd):
        first, last = odd[at], odd[at + 1]
        if last - first <= _ROW_LINES:
            kept[first + 1 : last + 1] = bytes(last - first)
            at += 2
        else:
            at += 1
    return [start for start, keep in zip(starts, kept, strict=True) if keep]


def header_of(text: str, starts: Sequence[int]) -> str:
    """The names of the columns on one line, shortened; empty where the first row is data like the others."""
    begin = _header_start(text)
    first = bisect_left(starts, begin)
    ends = [*starts[first + 1 : first + 1 + _SAMPLE_ROWS], len(text)]
    sample = text[begin : min(ends[min(len(ends), _SAMPLE_ROWS) - 1], begin + _SAMPLE_CHARS)]
    named = _SEP_LINE.match(text)
    rows = _best_rows(sample, named[1] if named else _DELIMITERS)
    if len(rows) < 2:
        return ""
    names = [cell.strip() for cell in rows[0]]
    filled = [name for name in names if name]
    if not filled or len(filled) * 2 < len(names) or len(set(filled)) < len(filled):
        return ""
    if any(len(name) > _NAME_CHARS * 2 or _NUMBER.fullmatch(name[:60]) for name in filled):
        return ""
    for column, name in enumerate(names):
        # A value that comes again further down is no name.
        if name and any(len(row) > column and row[column].strip() == name for row in rows[1:]):
            return ""
    line = ", ".join(" ".join(name.split())[:_NAME_CHARS] for name in filled)
    return line if len(line) <= _HEADER_CHARS else line[:_HEADER_CHARS].rpartition(", ")[0]


def _header_start(text: str) -> int:
    named = _SEP_LINE.match(text)
    return named.end() if named else 0


def _best_rows(sample: str, delimiters: str) -> list[list[str]]:
    """The rows of the sample, split at the delimiter that gives most rows the same number of cells."""
    best: list[list[str]] = []
    best_score = (0.0, 0)
    for delimiter in delimiters:
        rows = _split(sample, delimiter)
        widths = Counter(len(row) for row in rows)
        if not widths:
            continue
        width, count = widths.most_common(1)[0]
        # One cell in each row is what every wrong delimiter gives.
        score = (count / len(rows) if width > 1 else 0.01, width)
        if score > best_score:
            best, best_score = rows, score
    return best


def _split(sample: str, delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    reader = csv.reader(sample.splitlines(keepends=True), delimiter=delimiter)
    # A value beyond the library's limit, or a NUL: what was read before it tells enough.
    with suppress(csv.Error):
        rows.extend(row for row in reader if row)
    return rows
