"""A progress bar on the error stream: only for people, and only when the work takes longer than a second."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hermes_lance.hosts.output import Console, cut_path, is_terminal, shown

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_SECONDS = 1.0
_STAGES = {"read": "Reading", "embed": "Embedding"}
_PATH_COLUMNS = 30


class Bar:
    """Used as a context; give `progress` to the work."""

    def __init__(self, console: Console, *, wanted: bool = True) -> None:
        self._wanted = wanted and not console.quiet and is_terminal(console.err)
        self._colour = console.colour
        self._columns = console.width
        self._began = time.monotonic()
        self._progress: Progress | None = None
        self._task: Any = None
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
        if self._progress is None:
            if time.monotonic() - self._began < PATIENCE_SECONDS:
                return
            self._progress = self._started()
        about = f"{_STAGES.get(stage, stage.capitalize())} {cut_path(shown(path), _PATH_COLUMNS)}".rstrip()
        if stage != self._stage:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(about, total=total or None)
            self._stage = stage
        self._progress.update(self._task, completed=done, total=total or None, description=about)

    def _started(self) -> Progress:
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = RichConsole(stderr=True, no_color=not self._colour, width=self._columns)
        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=18),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        bar.start()
        return bar
