"""One request to a service that may be slow, busy or away: time-outs, repeated tries, and an end when it is asked for.

The SDKs wait inside their calls, where neither Ctrl-C nor a build that is to end reaches them. So each request runs in
a thread of its own, which is left alone when it takes too long, and the waits between tries are ours.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

from hermes_lance.core.errors import Cancelled, ModelUnavailable

Found = TypeVar("Found")

LOOK_SECONDS = 0.1
"""Between two questions whether to end."""
FIRST_WAIT, FIRST_WAIT_WHEN_BUSY, LONGEST_WAIT = 0.5, 2.0, 30.0
"""Seconds before the second try, doubled with each further one. Limits are counted by the minute."""
LONGEST_TOLD_WAIT = 300.0
"""A service that tells us to wait longer than this has ended the matter for now."""
TRIES_WHEN_AWAY = 2
"""A machine without network will not find one in the next seconds."""


@dataclass(eq=False)
class Failure(Exception):
    """A request that failed. `again` says whether a further try may help, `wait` what the service told, in seconds."""

    what: str
    hint: str
    again: bool = False
    wait: float | None = None
    busy: bool = False
    """Too many requests, by the count of the service."""
    away: bool = False
    """No connection came about."""
    refused_input: bool = False
    """The service did not like what it was sent."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What can be done about a failure, in the words of one kind of service; by default one that embeds."""

    what: str = "an embedding service"
    meanwhile: str = "Words are compared meanwhile."
    kept: str = "What is embedded is kept; the next build goes on from there."
    later: str = "Run the command again later: it continues where it stopped."
    slower: str = (
        "Wait a few minutes and run the command again: it continues where it stopped. The options `batch_size` and "
        "`requests_at_once` set the pace."
    )
    offline: str = (
        "Check the network and any proxy. Without it words are compared, and vectors wait for the next build."
    )
    more_time: str = (
        "Check the network, or give it more time: the options `timeout` (builds) and `query_timeout` (questions)."
    )


@dataclass(slots=True)
class Patience:
    """How long one answer is waited for."""

    seconds: float
    """For one request."""
    retries: int
    """Further tries after a failure that may pass."""
    until: float | None = None
    """`time.monotonic` by which there must be an answer, tries and waits included."""
    cancelled: Callable[[], bool] | None = None

    def left(self) -> float:
        """Seconds for the next request."""
        return self.seconds if self.until is None else max(0.0, min(self.seconds, self.until - time.monotonic()))

    def asked_to_end(self) -> None:
        """Raises `Cancelled` if so."""
        if self.cancelled is not None and self.cancelled():
            raise Cancelled("embedding was stopped by the caller")


class Service:
    """One service, used by several threads: when it tells one of them to wait, all wait."""

    def __init__(self, plugin: str, advice: Advice | None = None) -> None:
        self._plugin = plugin
        self._advice = advice or Advice()
        self._lock = threading.Lock()
        self._not_before = 0.0

    def ask(self, request: Callable[[float], Found], patience: Patience) -> Found:
        """What `request(seconds)` returns, which raises `Failure`. `ModelUnavailable` when no further try would help or
        be in time, `Cancelled`."""
        tries = 0
        while True:
            tries += 1
            self._wait(0.0, patience)
            try:
                return self._in_time(request, patience)
            except Failure as failure:
                wait = self._next_wait(failure, tries, patience)
                if wait is None:
                    raise self._given_up(failure, tries) from None
                if failure.wait is not None:
                    with self._lock:
                        self._not_before = max(self._not_before, time.monotonic() + wait)
            self._wait(wait, patience)

    def _in_time(self, request: Callable[[float], Found], patience: Patience) -> Found:
        patience.asked_to_end()
        seconds = patience.left()
        answer: list[Found] = []
        trouble: list[BaseException] = []
        done = threading.Event()

        def run() -> None:
            try:
                answer.append(request(seconds))
            except BaseException as error:
                trouble.append(error)
            finally:
                done.set()

        threading.Thread(target=run, name=f"hermes-lance-{self._plugin}", daemon=True).start()
        end = time.monotonic() + seconds
        while not done.wait(min(LOOK_SECONDS, max(0.001, end - time.monotonic()))):
            patience.asked_to_end()
            if time.monotonic() >= end:
                raise timed_out(seconds, self._advice)
        if trouble:
            raise trouble[0]
        return answer[0]

    def _next_wait(self, failure: Failure, tries: int, patience: Patience) -> float | None:
        if not failure.again or tries > patience.retries or (failure.away and tries >= TRIES_WHEN_AWAY):
            return None
        wait = failure.wait
        if wait is None:
            # Threads that failed together do not come back together.
            first = FIRST_WAIT_WHEN_BUSY if failure.busy else FIRST_WAIT
            wait = min(LONGEST_WAIT, first * 2 ** (tries - 1)) * random.uniform(0.5, 1.0)
        too_late = patience.until is not None and time.monotonic() + wait >= patience.until
        return None if wait > LONGEST_TOLD_WAIT or too_late else wait

    def _wait(self, seconds: float, patience: Patience) -> None:
        end = time.monotonic() + seconds
        while True:
            patience.asked_to_end()
            with self._lock:
                rest = max(end, self._not_before) - time.monotonic()
            if rest <= 0:
                return
            if patience.until is not None and time.monotonic() + rest >= patience.until:
                raise ModelUnavailable(
                    f"{self._plugin}: the service asks for {rest:.0f} s of patience, which this question does not have",
                    hint=f"Ask again in a moment. {self._advice.meanwhile}",
                )
            time.sleep(min(LOOK_SECONDS, rest))

    def _given_up(self, failure: Failure, tries: int) -> ModelUnavailable:
        times = f" ({tries} tries)" if tries > 1 else ""
        return ModelUnavailable(f"{self._plugin}: {failure.what}{times}", hint=failure.hint)


def timed_out(seconds: float, advice: Advice) -> Failure:
    """No answer within the time."""
    return Failure(f"no answer within {seconds:.3g} s", advice.more_time, again=True)


def told_wait(value: str | None) -> float | None:
    """Seconds of a `Retry-After` header, which holds seconds or a date; none where it holds neither."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
