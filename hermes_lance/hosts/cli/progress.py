"""A line of progress on the error stream: only for people, and only when the work takes longer than a second.

`Indexing [3/12] docs/plan.md`, then how many a second and about how long it will still take.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from hermes_lance.hosts.output import Console, cut_path, is_terminal, shown

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_SECONDS = 1.0
_STAGES = {"read": "Indexing", "tables": "Storing", "embed": "Embedding"}
_OTHER_COLUMNS = 22
"""What rate and time left need."""


class Bar:
    """Used as a context; give `progress` to the work."""

    def __init__(self, console: Console, *, wanted: bool = True) -> None:
        self._wanted = wanted and not console.quiet and is_terminal(console.err)
        self._colour = console.colour
        self._columns = console.width
        self._began = time.monotonic()
        self._stage_began = self._began
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._stage = ""

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._progress is not None:
            self._progress.stop()

    def progress(self, stage: str, done: int, total: int, path: str) -> None:
        """What the work calls: stage, number done, number in all, the file at hand."""
        if not self._wanted:
            return
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._stage_began = stage, now
        if self._progress is None:
            if now - self._began < PATIENCE_SECONDS:
                return
            self._progress = self._started()
            self._task = self._progress.add_task("", pace="")
        assert self._task is not None
        about = described(stage, done, total, path, self._columns - _OTHER_COLUMNS)
        self._progress.update(
            self._task, description=about, pace=pace(done, total, now - self._stage_began), total=total or None
        )

    def _started(self) -> Progress:
        from rich.console import Console as RichConsole
        from rich.progress import Progress, TextColumn

        console = RichConsole(stderr=True, no_color=not self._colour, width=self._columns)
        bar = Progress(
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[pace]}", markup=False),
            console=console,
            transient=True,
        )
        bar.start()
        return bar


def described(stage: str, done: int, total: int, path: str, width: int) -> str:
    """`Indexing [3/12] docs/plan.md` in at most `width` columns; the middle of a long path gives way."""
    word = _STAGES.get(stage, stage.capitalize())
    head = f"{word} [{done:,}/{total:,}]" if total else word
    return f"{head} {cut_path(shown(path), max(width - len(head) - 1, 8))}".rstrip()


def pace(done: int, total: int, seconds: float) -> str:
    """How many a second, and the time left at that rate; empty while nobody can know."""
    if done <= 0 or seconds < 0.2:
        return ""
    rate = done / seconds
    left = round(max(total - done, 0) / rate)
    minutes, rest = divmod(left, 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
    speed = f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
    return f"{speed}, {clock} left" if total else speed
