"""The stage that orders the best fused candidates anew, where a reranker is configured or asked for.

Whatever goes wrong in it keeps the fused order, and is said: an answer in a good order is worth more than none in the
best. Rows that hold the question word for word, or are the file of that name, stay first: who asks for an exact thing
means it, and a model that has read neither file names nor the rest of the index cannot know better. Within such a tier,
and below it, the reranker decides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_lance.core import plugins
from hermes_lance.core.errors import HermesLanceError, ModelUnavailable
from hermes_lance.core.records import Candidate
from hermes_lance.search.in_time import Calls, StillAtWork, TooLate

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Reranker
    from hermes_lance.search.ranking import Trace

LIMIT_SECONDS = 30.0
"""For a reranker that names no `timeout_seconds` of its own."""
GRACE_SECONDS = 0.25
"""A reranker that ends in time by itself knows better what it was waiting for."""


@dataclass(frozen=True, slots=True)
class Order:
    """The candidates as they are to stand, and what is to be said about it."""

    places: Sequence[tuple[int, float | None]]
    """Position among the given candidates, and the reranker's score, best first."""
    outcome: str
    """For the trace."""
    by: str
    """Name of the reranker."""
    warning: str = ""
    seconds: float = 0.0

    def tell(self, trace: Trace, warnings: list[str]) -> None:
        """Adds what there is to say."""
        trace.note("rerank", self.outcome, by=self.by, seconds=self.seconds)
        if self.warning:
            warnings.append(self.warning)


@dataclass(slots=True)
class Reranking:
    """A reranker in use. Kept between searches, so that one that hangs is waited for once and not every time."""

    reranker: Reranker
    most: int
    """Candidates that are scored, at most."""
    name: str = ""
    trouble: HermesLanceError | None = None
    """What went wrong the last time; none where all went well."""
    _calls: Calls = field(default_factory=Calls)

    def __post_init__(self) -> None:
        self.name = self.name or str(getattr(self.reranker, "name", "?"))

    @property
    def limit(self) -> float:
        """Seconds that an order is waited for."""
        own = getattr(self.reranker, "timeout_seconds", LIMIT_SECONDS)
        return float(own) if isinstance(own, int | float) and own > 0 else LIMIT_SECONDS

    def order(
        self, query: str, candidates: Sequence[Candidate], tiers: Sequence[int], within: float | None = None
    ) -> Order:
        """The candidates, given best first, by tier, then by score; those without one after them, as they were given.

        Equal scores keep the given order. Never raises: any failure gives the order as it was, with a warning. Where
        there are only so many seconds, no order is waited for any longer (`within`).
        """
        as_given = [(position, None) for position in range(len(candidates))]
        if len(candidates) < 2:
            return Order(as_given, "nothing to order", self.name)
        began = time.monotonic()
        try:
            scores = checked(self._asked(query, candidates, within), len(candidates))
        except HermesLanceError as error:
            return self._failed(as_given, f"{error}", error.hint)
        except Exception as error:
            return self._failed(as_given, str(plugins.fault("rerankers", self.name, error)), "")
        self.trouble = None
        spent = time.monotonic() - began
        scored = sum(score is not None for score in scores)
        places = sorted(enumerate(scores), key=lambda one: (-tiers[one[0]], *_by_score(one[1]), one[0]))
        return Order(places, f"{scored} of {len(candidates)} scored", self.name, seconds=spent)

    def _failed(self, as_given: Sequence[tuple[int, None]], what: str, hint: str) -> Order:
        told = what if self.name in what else f"reranker {self.name}: {what}"
        self.trouble = ModelUnavailable(told, hint=hint)
        return Order(as_given, "failed", self.name, f"{told}; the fused order is kept. {hint}".strip())

    def _asked(self, query: str, candidates: Sequence[Candidate], within: float | None) -> Any:
        hurried = within is not None and within < self.limit
        limit = max(0.0, within) if within is not None and hurried else self.limit
        try:
            return self._calls.within(
                limit if hurried else limit + GRACE_SECONDS,
                lambda: self.reranker.scores(query, candidates, timeout=limit),
                f"rerank-{self.name}",
            )
        except StillAtWork:
            raise ModelUnavailable(
                "it is still at work on an earlier question", hint="Ask again in a moment."
            ) from None
        except TooLate:
            more = "max_wait_ms" if hurried else f"rerankers.{self.name}.timeout_seconds"
            raise ModelUnavailable(
                f"no order within {limit:.3g} s",
                hint=f"Give it more time with knowledgebase.{more}, or fewer candidates with "
                "knowledgebase.fused_top_k.",
            ) from None


def _by_score(score: float | None) -> tuple[bool, float]:
    return score is None, 0.0 if score is None else -score


def checked(said: Any, expected: int) -> list[float | None]:
    """The answer of a reranker as numbers. Raises `ValueError` where it is not one finite number or none for each."""
    found: list[float | None] = [None if score is None else float(score) for score in said]
    if len(found) != expected:
        raise ValueError(f"{expected} candidates were given, and {len(found)} scores came back")
    wrong = [score for score in found if score is not None and not math.isfinite(score)]
    if wrong:
        raise ValueError(f"{len(wrong)} of {expected} scores are no numbers ({wrong[0]})")
    return found
