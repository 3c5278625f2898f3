"""The outline of a structured text: where each key, element or table begins and what it lies in.

Only places are noted, nothing is built: no alias is followed, no entity expanded, no depth recursed into.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST_LEVELS = 32
"""Deeper marks are not noted; their text belongs to the mark that they lie in."""
_MOST_FRAMES = 2 * MOST_LEVELS
LABEL_CHARS = 80
STEP_CHARS = 160
"""Least distance of two marks in texts that are read token by token."""

Label = str | tuple[str, ...] | None


class Outline:
    """Marks in the order of the text; each reaches to the next one that is not deeper."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.labels: list[Label] = []
        self.parents: list[int] = []
        self.levels: list[int] = []
        self.after: list[int] = []
        """For each mark, the index of the first mark that is not inside it."""
        self.problem: str | None = None
        """What is broken in the text, as far as it was noticed."""
        self._open: list[int] = []
        self._depths: list[float] = []

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: int, depth: float, label: Label) -> int | None:
        """Note a mark: it lies in the last one of less depth. Its index, or none beyond `MOST_LEVELS`."""
        opened, depths = self._open, self._depths
        number = len(self.starts)
        while depths and depths[-1] >= depth:
            depths.pop()
            self.after[opened.pop()] = number
        if len(opened) >= MOST_LEVELS:
            return None
        self.starts.append(start)
        self.labels.append(label)
        self.parents.append(opened[-1] if opened else -1)
        self.levels.append(len(opened))
        self.after.append(0)
        opened.append(number)
        depths.append(depth)
        return number

    def close(self) -> Outline:
        """After the last mark."""
        for number in self._open:
            self.after[number] = len(self.starts)
        self._open, self._depths = [], []
        return self

    def parent_at(self, depth: float) -> int:
        """Index of the mark that one of this depth would lie in, from what is open now; -1 for none."""
        for place in range(len(self._open) - 1, -1, -1):
            if self._depths[place] < depth:
                return self._open[place]
        return -1

    def path(self, number: int) -> tuple[str, ...]:
        """Labels from the outside in, the mark's own included."""
        found: list[Label] = []
        while number >= 0:
            found.append(self.labels[number])
            number = self.parents[number]
        names: list[str] = []
        for label in reversed(found):
            if label:
                names.extend((label,) if isinstance(label, str) else label)
        return tuple(names)


@dataclass(slots=True)
class Frame:
    """An open bracket or element. Its mark is made when something inside needs one."""

    start: int
    label: Label
    name: str = ""
    count: int = 0
    mark: int | None = None
    mixed: bool = False


class Frames:
    """Open frames over an outline; marks come at least `STEP_CHARS` apart, frames around them first."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.stack: list[Frame] = []
        self.beyond = 0
        """Open frames that are too deep to be kept."""
        self._noted = 0
        self._last, self._last_depth = -STEP_CHARS, -1

    def push(self, frame: Frame) -> None:
        """Open a frame; where a mark was just made for its beginning, that is its mark."""
        if self.full:
            self.beyond += 1
            return
        starts = self.outline.starts
        if starts and starts[-1] == frame.start and self._last_depth == len(self.stack) == self._noted:
            self.outline.labels[-1] = frame.label
            frame.mark = len(starts) - 1
            self._noted += 1
        self.stack.append(frame)

    def pop(self) -> Frame:
        """Close the innermost frame; one beyond the limit is only counted."""
        if self.beyond:
            self.beyond -= 1
            return self.stack[-1]
        frame = self.stack.pop()
        self._noted = min(self._noted, len(self.stack))
        return frame

    def border(self, place: int, label: Label = None, *, always: bool = False) -> None:
        """A member begins at `place`: note it where the last mark is far enough, or was made for something inside
        the member before.
        """
        depth = len(self.stack)
        if not always and place - self._last < STEP_CHARS and depth >= self._last_depth:
            if depth == self._last_depth and place > self._last:
                # The mark stands for several members now, so that the name of one would mislead.
                self.outline.labels[-1] = None
            return
        # Frames that are noted lie below those that are not, and begin before them.
        for level in range(self._noted, depth):
            frame = self.stack[level]
            frame.mark = self._mark(frame.start, level, frame.label)
        self._noted = depth
        self._mark(place, depth, label)
        self._last, self._last_depth = place, depth

    def _mark(self, start: int, depth: int, label: Label) -> int | None:
        outline = self.outline
        if outline.starts and outline.starts[-1] >= start:
            if label and outline.starts[-1] == start:
                outline.labels[-1] = label
            return len(outline) - 1
        return outline.add(start, depth, label)

    def rename(self, frame: Frame, label: str) -> None:
        """Give a frame another label, and its mark too unless that stands for several members."""
        frame.label = label
        if frame.mark is not None and self.outline.labels[frame.mark] is not None:
            self.outline.labels[frame.mark] = label

    @property
    def full(self) -> bool:
        """Whether a further frame would only be counted."""
        return len(self.stack) >= _MOST_FRAMES

    @property
    def untouched(self) -> bool:
        """Whether nothing was noted inside the innermost frame yet."""
        mark = self.stack[-1].mark
        return mark is None or mark == len(self.outline) - 1


def has_line_over(text: str, limit: int) -> bool:
    """Whether a line has more than `limit` characters, found by leaps from line end to line end."""
    place = 0
    while len(text) - place > limit:
        place = text.rfind("\n", place, place + limit + 1) + 1
        if not place:
            return True
    return False


def shortened(label: str) -> str:
    """A label on one line, of bounded length."""
    return " ".join(label[: LABEL_CHARS * 2].split())[:LABEL_CHARS]
