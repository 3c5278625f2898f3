"""What both hosted rerankers share: one request for all passages, masked, cut and within the time; its answer checked.

Text leaves this machine here: the question and up to `fused_top_k` passages with the headings above them, after the
filter for secret-looking values. Paths are not sent. `sends_to` names the host.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from hermes_lance.core.records import Candidate
from hermes_lance.core.redact import redact
from hermes_lance.core.text import well_formed
from hermes_lance.models.rerank_input import LIMIT_SECONDS, checked_limit, passage_of
from hermes_lance.models.service_call import Advice, Failure, Patience
from hermes_lance.models.service_tier import Remembered, ServiceTier

PASSAGE_CHARS = 8_000
"""Of one passage; passages of ours are a quarter of that, those of other chunkers may be longer."""
QUESTION_CHARS = 2_000
REMEMBERED_ORDERS = 32
"""The next page of an answer sends nothing, and stands in the same order."""
_KEPT = "Meanwhile hits keep their fused order."


class HostedReranker(ServiceTier):
    """Scores of a model behind an official SDK. `retries` after a failure that may pass, all within `timeout_seconds`.

    Every trouble with the service is a `ModelUnavailable` that says what happened and what to do.
    """

    kind = "reranker"

    def __init__(
        self,
        model: str | None = None,
        *,
        base_url: str | None = None,
        retries: int = 2,
        timeout_seconds: float = LIMIT_SECONDS,
    ) -> None:
        super().__init__(model, base_url, retries)
        self.timeout_seconds = checked_limit(self.name, timeout_seconds)
        advice = Advice(
            what="a reranking service",
            meanwhile=_KEPT,
            kept=_KEPT,
            later=f"Ask again later. {_KEPT}",
            slower=f"Wait a few minutes, or raise the limits of the account at the provider. {_KEPT}",
            offline=f"Check the network and any proxy. {_KEPT}",
            more_time=f"Check the network, or give it more time with {self._access.where}.timeout_seconds. {_KEPT}",
        )
        self._take_key(advice)
        self._orders = Remembered[tuple[str, ...], list[float]](REMEMBERED_ORDERS)

    # -- the contract ------------------------------------------------------------------------------------------

    def signature(self) -> str:
        """Name and model; neither key nor address."""
        return f"{self.name}/{self.model}"

    def scores(self, query: str, candidates: Sequence[Candidate], *, timeout: float) -> list[float | None]:
        """A score for each candidate, none for blank ones, which are not sent; or `ModelUnavailable` after `timeout`
        seconds at the latest, tries and waits included."""
        until = time.monotonic() + timeout
        texts = [_sendable(passage_of(one), PASSAGE_CHARS) for one in candidates]
        filled = [position for position, text in enumerate(texts) if text and not text.isspace()]
        found: list[float | None] = [None] * len(texts)
        question = _sendable(query, QUESTION_CHARS)
        if not filled or question.isspace() or not question:
            return found
        sent = [texts[position] for position in filled]
        scores = self._orders.answer((question, *sent), lambda: self._asked(question, sent, until))
        for position, score in zip(filled, scores, strict=True):
            found[position] = score
        return found

    # -- requests ----------------------------------------------------------------------------------------------

    @abstractmethod
    def _send(self, client: Any, question: str, texts: list[str], seconds: float) -> Iterable[tuple[int, float]]:
        """One request: position and score of each text, in any order, or any error of the SDK."""

    def _asked(self, question: str, texts: list[str], until: float) -> list[float]:
        client = self._client()

        def request(seconds: float) -> list[float]:
            return self._or_failure(
                lambda: _complete(list(self._send(client, question, texts, seconds)), len(texts)), seconds
            )

        return self._service.ask(request, Patience(self.timeout_seconds, self._retries, until=until))


def _sendable(text: str, most: int) -> str:
    # Masked before it is cut: half a key is no shape that a filter knows.
    return redact(well_formed(text[: 4 * most]))[:most]


def _complete(rows: list[tuple[int, float]], asked: int) -> list[float]:
    """The scores in the order of the texts. `Failure` where one is missing, there twice, or no number."""
    found: dict[int, float] = {int(position): float(score) for position, score in rows}
    if len(rows) != asked or sorted(found) != list(range(asked)):
        raise Failure(
            f"the service answered {asked} passages with {len(rows)} scores, {len(found)} of them for passages of ours",
            f"Ask again; if it happens once more, choose another model. {_KEPT}",
        )
    if not all(math.isfinite(score) for score in found.values()):
        raise Failure("the service answered with scores that are no numbers (NaN or infinite)", f"Ask again. {_KEPT}")
    return [found[position] for position in range(asked)]
