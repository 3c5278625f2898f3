"""Threads that embed, kept busy across the borders of batches while the caller prepares more and publishes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from hermes_lance.core.cores import usable_cores
from hermes_lance.core.errors import Cancelled

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder

WAIT_SECONDS = 0.2
"""Between two looks while waiting: on some systems a thread that waits without end cannot be interrupted."""


class Job:
    """Strings to embed, and room for their vectors."""

    __slots__ = ("begun", "left", "strings", "vectors")

    def __init__(self, strings: Sequence[str], dimensions: int) -> None:
        import numpy as np

        self.strings = strings
        self.vectors = np.zeros((len(strings), dimensions), dtype=np.float16)
        self.left = len(strings)
        self.begun = False

    @property
    def complete(self) -> bool:
        """Every string has its vector."""
        return self.left == 0


def threads_for(embedder: Embedder, wanted: int | None) -> int:
    """How many threads embed: `wanted`, else what the embedder names, as far as there are cores; one for an embedder
    that names none, since it may not be used by several threads at the same time or gains nothing from it.

    One that waits for a service (`requests_at_once`) takes no core: as many as it names, and never more.
    """
    requests = int(getattr(embedder, "requests_at_once", 0))
    if requests:
        return max(1, min(requests, wanted if wanted is not None else requests))
    named = int(getattr(embedder, "threads", 1))
    if named <= 1:
        return 1
    return max(1, wanted if wanted is not None else min(named, usable_cores()))


class Crew:
    """`workers` threads that share one embedder. A `with` block ends them.

    One thread is given whole jobs, and so are those that wait for a service, which takes many texts in one request.
    Several others get one string at a time, so that none of them waits for another at the end of a job. They ask
    `cancelled` themselves; its yes, and any error of the embedder, ends all work.
    """

    def __init__(self, embedder: Embedder, workers: int, cancelled: Callable[[], bool]) -> None:
        self._embedder = embedder
        self._cancelled = cancelled
        self._one_by_one = workers > 1 and not getattr(embedder, "requests_at_once", 0)
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Job, int, int]] = deque()
        self._stopped = False
        self._error: BaseException | None = None
        self._threads = [
            threading.Thread(target=self._work, name=f"hermes-lance-embed-{number}", daemon=True)
            for number in range(workers)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def put(self, strings: Sequence[str]) -> Job:
        """Queues strings; returns at once."""
        job = Job(strings, self._embedder.dimensions)
        size = 1 if self._one_by_one else max(1, len(strings))
        with self._changed:
            self._waiting.extend((job, at, at + size) for at in range(0, len(strings), size))
            self._changed.notify_all()
        return job

    def result(self, job: Job) -> Any:
        """float16 `[len(strings), dimensions]` once the job is complete; the error that ended the work otherwise."""
        with self._changed:
            while not job.complete:
                if self._error is not None:
                    raise self._error
                if self._stopped:
                    raise Cancelled("embedding was stopped")
                self._changed.wait(WAIT_SECONDS)
        return job.vectors

    def drop_what_is_not_begun(self) -> None:
        """Jobs that no thread has begun will never be complete; the others will."""
        with self._changed:
            self._waiting = deque(entry for entry in self._waiting if entry[0].begun)

    def stop(self) -> None:
        """Ends the threads; each has finished the call that it was in."""
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._stopped:
                    self._changed.wait()
                if self._stopped:
                    return
                job, start, end = self._waiting.popleft()
                job.begun = True
            try:
                if self._asked_to_end():
                    raise Cancelled("embedding was stopped by the caller")
                made = self._embedder.embed_documents(job.strings[start:end], cancelled=self._asked_to_end)
                if made.shape != job.vectors[start:end].shape:
                    raise ValueError(f"embedder {self._embedder.name}: {made.shape} for {end - start} texts")
                job.vectors[start:end] = made
            except BaseException as error:
                self._fail(error)
                return
            with self._changed:
                job.left -= end - start
                if job.complete:
                    self._changed.notify_all()

    def _asked_to_end(self) -> bool:
        return self._stopped or self._cancelled()

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            if self._error is None:
                self._error = error
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()
