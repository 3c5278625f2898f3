"""What both hosted rerankers share: one request for all passages, masked, cut and within the time; its answer checked.

Text leaves this machine here: the question and up to `fused_top_k` passages with the headings above them, after the
filter for secret-looking values. Paths are not sent. `sends_to` names the host.
"""

from __future__ import annotations

import math
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

from hermes_lance.core.errors import PluginFailed
from hermes_lance.core.records import Candidate
from hermes_lance.core.redact import redact
from hermes_lance.core.text import well_formed
from hermes_lance.models.rerank_input import checked_limit, passage_of
from hermes_lance.models.service_access import Access
from hermes_lance.models.service_call import Advice, Failure, Patience, Service, told_wait
from hermes_lance.models.service_errors import ServiceErrors

PASSAGE_CHARS = 8_000
"""Of one passage; passages of ours are a quarter of that, those of other chunkers may be longer."""
QUESTION_CHARS = 2_000
REMEMBERED_ORDERS = 32
"""The next page of an answer sends nothing, and stands in the same order."""
_KEPT = "Meanwhile hits keep their fused order."


class HostedReranker:
    """Scores of a model behind an official SDK. Construction needs the SDK (`PluginMissing`) and a key
    (`ModelUnavailable`), and opens no connection; the SDK itself is loaded by the first question.

    Every trouble with the service is a `ModelUnavailable` that says what happened and what to do.
    """

    name: str = ""
    sends_to: str | None = None
    """The host that text goes to; none where `base_url` names a server on this machine."""

    package: ClassVar[str] = ""
    home: ClassVar[str] = ""
    """Where the service is."""
    variables: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *, model: str, base_url: str | None, retries: int, timeout_seconds: float) -> None:
        access = Access("reranker", self.name, self.package, self.home, self.variables)
        access.need_sdk()
        self.model = str(model)
        self.timeout_seconds = checked_limit(self.name, timeout_seconds)
        self._retries = int(access.number("retries", retries, 0, 20))
        self._base_url, self.sends_to = access.address(base_url)
        variable, self._key = access.key(self.sends_to)
        advice = Advice(
            what="a reranking service",
            meanwhile=_KEPT,
            kept=_KEPT,
            later=f"Ask again later. {_KEPT}",
            slower=f"Wait a few minutes, or raise the limits of the account at the provider. {_KEPT}",
            offline=f"Check the network and any proxy. {_KEPT}",
            more_time=f"Check the network, or give it more time with {access.where}.timeout_seconds. {_KEPT}",
        )
        host = urlsplit(self._base_url).netloc
        self._errors = ServiceErrors(access.where, self.model, host, variable, self._key, advice)
        self._service = Service(access.plugin, advice)
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._orders: OrderedDict[tuple[str, ...], list[float]] = OrderedDict()

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
        asked = (question, *(texts[position] for position in filled))
        for position, score in zip(filled, self._remembered(asked, until), strict=True):
            found[position] = score
        return found

    # -- for the tiers -----------------------------------------------------------------------------------------

    def _make_client(self) -> Any:
        """The client of the SDK, or its module; with `close`, where connections are kept."""
        raise NotImplementedError

    def _send(self, client: Any, question: str, texts: list[str], seconds: float) -> Iterable[tuple[int, float]]:
        """One request: position and score of each text, in any order, or any error of the SDK."""
        raise NotImplementedError

    # -- requests ----------------------------------------------------------------------------------------------

    def _remembered(self, asked: tuple[str, ...], until: float) -> list[float]:
        with self._lock:
            known = self._orders.pop(asked, None)
        found = known if known is not None else self._asked(asked[0], list(asked[1:]), until)
        with self._lock:
            self._orders[asked] = found
            while len(self._orders) > REMEMBERED_ORDERS:
                self._orders.popitem(last=False)
        return found

    def _asked(self, question: str, texts: list[str], until: float) -> list[float]:
        client = self._client()

        def request(seconds: float) -> list[float]:
            try:
                return _complete(list(self._send(client, question, texts, seconds)), len(texts))
            except Failure:
                raise
            except Exception as error:
                raise self._errors.failure(error, seconds, _told_wait(error)) from None

        return self._service.ask(request, Patience(self.timeout_seconds, self._retries, until=until))

    def _client(self) -> Any:
        with self._lock:
            if self._loaded is None:
                try:
                    self._loaded = client = self._make_client()
                except Exception as error:
                    raise PluginFailed(
                        f"reranker {self.name}: its SDK cannot be used ({type(error).__name__})",
                        hint=f'Install it anew with `pip install --upgrade "hermes-lance[{self.name}]"`.',
                    ) from error
                if close := getattr(client, "close", None):
                    weakref.finalize(self, close).atexit = False
            return self._loaded


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


def _told_wait(error: Exception) -> float | None:
    headers = getattr(error, "headers", None) or {}
    return told_wait({str(key).lower(): str(value) for key, value in headers.items()}.get("retry-after"))
