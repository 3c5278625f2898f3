"""Calls that may hang, such as those of a model or a service: waited for so long, and then by nobody.

A thread cannot be ended from outside. It ends with its call, or with the process; until then no further call of the
same thing is begun, so that what hangs costs one thread and not one for each question.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_lance.core.errors import ModelUnavailable

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder, Vectors

Result = TypeVar("Result")


class TooLate(Exception):
    """The call is still at work."""


class StillAtWork(Exception):
    """An earlier call is, so that none was begun."""


class Calls:
    """The calls of one thing. May be used from several threads."""

    def __init__(self) -> None:
        self._late: list[threading.Thread] = []
        self._lock = threading.Lock()

    def within(self, seconds: float, work: Callable[[], Result], name: str) -> Result:
        """What `work` returns or raises, within so many seconds. Raises `TooLate`, `StillAtWork`."""
        with self._lock:
            self._late = [thread for thread in self._late if thread.is_alive()]
            if self._late:
                raise StillAtWork
        answer: list[Result] = []
        trouble: list[BaseException] = []

        def run() -> None:
            try:
                answer.append(work())
            except BaseException as error:
                trouble.append(error)

        thread = threading.Thread(target=run, name=f"hermes-lance-{name}", daemon=True)
        thread.start()
        thread.join(max(0.0, seconds))
        if answer:
            return answer[0]
        if trouble:
            # What would end a thread must not end the process that asks.
            raise trouble[0] if isinstance(trouble[0], Exception) else RuntimeError(repr(trouble[0]))
        with self._lock:
            self._late.append(thread)
        raise TooLate


class Punctual:
    """An embedder whose questions are waited for until a moment (`time.monotonic`); later ones count as failed, so that
    an answer is found by its words in time."""

    def __init__(self, embedder: Embedder, until: float, calls: Calls) -> None:
        self._embedder, self._until, self._calls = embedder, until, calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed_query(self, text: str) -> Vectors:
        """As the embedder does; `ModelUnavailable` where it comes too late."""
        left = self._until - time.monotonic()
        try:
            return self._calls.within(left, lambda: self._embedder.embed_query(text), "embed-question")
        except (TooLate, StillAtWork) as error:
            when = "in time" if isinstance(error, TooLate) else "and is still at work on an earlier question"
            raise ModelUnavailable(
                f"embedder {self._embedder.name}: it was not done {when}",
                hint="Give a turn more time with knowledgebase.max_wait_ms.",
            ) from None
