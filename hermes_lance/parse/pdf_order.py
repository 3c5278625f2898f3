"""Reading order of PDF pages whose content is drawn in another order. Runs in the worker only.

Most producers write a page as it is read, columns one after the other, and no guess from the outside is better than
that. A page whose content jumps back and up again and again (forms, drawings, slides) is put in order by recursive
X-Y cuts (Nagy and Seth, 1984): at wide gaps between lines first, then between columns, then row by row.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

_FEWEST_JUMPS = 3
_JUMPS_SHARE = 0.1
_MOST_CHARS = 20_000
_SAME_ROW = 0.35
"""Share of the lesser height by which base lines of one row may differ."""
_WIDE_GAP = 1.5
"""Heights of a line that separate blocks below each other, and columns beside each other."""

Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in points from the lower left corner."""


@dataclass(slots=True)
class Run:
    """Characters that stand on one line: their box, from the lower left corner, and text."""

    left: float
    bottom: float
    right: float
    top: float
    text: str

    @property
    def height(self) -> float:
        return self.top - self.bottom


def jumps_back(boxes: Sequence[Box]) -> bool:
    """Whether text in this order goes back to the left or upwards too often to be in reading order."""
    jumps = 0
    for (left, bottom, right, top), (next_left, next_bottom, _, next_top) in pairwise(boxes):
        shared = min(top, next_top) - max(bottom, next_bottom)
        if shared > 0.3 * min(top - bottom, next_top - next_bottom):
            jumps += next_left < left - 2
        elif next_bottom >= top - 1:
            # Up and to the right is the next column.
            jumps += next_left < right - 5
    return jumps >= _FEWEST_JUMPS and jumps > _JUMPS_SHARE * len(boxes)


def reordered(raw: Any, page: Any, text_page: Any) -> str | None:
    """The text of a page that jumps back, in reading order; none where the order of its content should stay.

    Turned pages, vertical writing and writing from right to left stay as they are.
    """
    count = text_page.count_chars()
    if page.get_rotation() or not 0 < count <= _MOST_CHARS:
        return None
    if not jumps_back([text_page.get_rect(index) for index in range(text_page.count_rects())]):
        return None
    runs = _runs(raw, text_page, count)
    upright = sum(run.right - run.left >= run.height * 0.8 or len(run.text) < 3 for run in runs)
    if not runs or upright < 0.8 * len(runs) or _from_right(runs):
        return None
    return "\n".join(line for block in _ordered(runs) for line in _lines(block))


def _from_right(runs: Sequence[Run]) -> bool:
    letters = [unicodedata.bidirectional(char) for run in runs for char in run.text]
    return any(kind in {"R", "AL"} for kind in letters)


def _runs(raw: Any, text_page: Any, count: int) -> list[Run]:
    """Characters that follow one another on a line without a wide gap, as one run each."""
    runs: list[Run] = []
    current: Run | None = None
    for index in range(count):
        code = raw.FPDFText_GetUnicode(text_page, index)
        char = chr(code) if code else ""
        if char in "\r\n":
            current = None
            continue
        if raw.FPDFText_IsGenerated(text_page, index) == 1 and char == " ":
            if current is not None:
                current.text += char
            continue
        left, bottom, right, top = text_page.get_charbox(index, loose=True)
        if current is not None:
            gap = left - current.right
            if not -0.5 * current.height <= gap <= _WIDE_GAP * current.height or top < current.bottom:
                current = None
        if current is None:
            current = Run(left, bottom, right, top, char)
            runs.append(current)
        else:
            current.text += char
            current.right, current.top = max(current.right, right), max(current.top, top)
            current.bottom = min(current.bottom, bottom)
    return [run for run in runs if run.text.strip()]


@dataclass(slots=True)
class Block:
    """Lines that stand together, and the box around them."""

    lines: list[str]
    left: float
    bottom: float
    right: float
    top: float


def ordered_blocks(runs: list[Run], least_chars: int = 500) -> list[Block]:
    """Runs in reading order, as blocks; a block of fewer characters takes in the one after it."""
    blocks: list[Block] = []
    for group in _ordered(runs):
        box = [
            min(run.left for run in group),
            min(run.bottom for run in group),
            max(run.right for run in group),
            max(run.top for run in group),
        ]
        last = blocks[-1] if blocks else None
        if last is None or sum(map(len, last.lines)) >= least_chars:
            blocks.append(Block(_lines(group), *box))
            continue
        last.lines += ["", *_lines(group)]
        last.left, last.bottom = min(last.left, box[0]), min(last.bottom, box[1])
        last.right, last.top = max(last.right, box[2]), max(last.top, box[3])
    return blocks


def _lines(runs: list[Run]) -> list[str]:
    return [" ".join(run.text.strip() for run in row) for row in _rows(runs)]


def _ordered(runs: list[Run]) -> list[list[Run]]:
    """Blocks in reading order, cut where wide gaps are."""
    if len(runs) < 2:
        return [runs] if runs else []
    height = median(run.height for run in runs)
    blocks = _split(runs, [(-run.top, -run.bottom) for run in runs], _WIDE_GAP * height)
    if len(blocks) == 1:
        columns = _split(runs, [(run.left, run.right) for run in runs], _WIDE_GAP * height)
        if len(columns) > 1 and all(len(_rows(column)) > 1 for column in columns):
            blocks = columns
    if len(blocks) > 1:
        return [part for block in blocks for part in _ordered(block)]
    return [runs]


def _split(runs: list[Run], extents: list[tuple[float, float]], gap: float) -> list[list[Run]]:
    """Groups in rising order between which nothing stands over at least `gap`."""
    groups: list[list[Run]] = []
    reach = float("-inf")
    for index in sorted(range(len(runs)), key=lambda index: extents[index]):
        begin, end = extents[index]
        if begin - reach >= gap or not groups:
            groups.append([])
        groups[-1].append(runs[index])
        reach = max(reach, end)
    return groups


def _rows(runs: list[Run]) -> list[list[Run]]:
    """Runs on one base line together, from top to bottom, each row from left to right."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: (-run.bottom, run.left)):
        last = rows[-1][0] if rows else None
        if last is not None and last.bottom - run.bottom <= _SAME_ROW * min(last.height, run.height):
            rows[-1].append(run)
        else:
            rows.append([run])
    return [sorted(row, key=lambda run: run.left) for row in rows]
