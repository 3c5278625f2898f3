"""Asking a carrier again after a failure, without making things worse for it."""

import random
import time

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 60.0


class CarrierDown(Exception):
    """The carrier has not answered after every attempt."""


def wait_before(attempt: int) -> float:
    """Seconds to wait before attempt `attempt` (from 1): doubled each time, capped, and then a random share of it.

    The random share keeps our four nodes from knocking at the same moment.
    """
    longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (attempt - 1))
    return random.uniform(0, longest)


def ask_again(request, attempts: int = 6):
    """The answer of `request()`; a refused or timed-out call is repeated up to `attempts` times."""
    for attempt in range(1, attempts + 1):
        try:
            return request()
        except (ConnectionError, TimeoutError) as error:
            last = error
            time.sleep(wait_before(attempt))
    raise CarrierDown(f"no answer after {attempts} attempts") from last
