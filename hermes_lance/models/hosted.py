"""What all hosted embedders share: requests of bounded size, answers that are checked, lengths of 1.

A tier of its own gives the models it knows and one method that sends a request. Text leaves this machine here, and only
here: `sends_to` names the host.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from hermes_lance.core.errors import ConfigError, ModelUnavailable
from hermes_lance.core.text import well_formed
from hermes_lance.models.service_call import Advice, Failure, Patience
from hermes_lance.models.service_tier import Remembered, ServiceTier
from hermes_lance.models.token_estimate import BYTES_OF_A_TOKEN, about, cut_to

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Vectors

DOCUMENT, QUESTION = "document", "question"
REMEMBERED_QUESTIONS = 64
"""The next page of an answer sends nothing, and waits for nobody."""
REST_SECONDS = 15.0
"""After a question that the service did not answer in time: so long, no other question waits for it."""
TOKENS_LEFT_FREE = 32
"""Of the window, for the words that go before a text, and for the marks that a tokenizer adds."""


@dataclass(frozen=True, slots=True)
class HostedModel:
    """What is known of a model that somebody else runs."""

    dimensions: int
    """Width of its vectors unless another one is asked for."""
    window_tokens: int
    widths: tuple[int, int] | None = None
    """The least and greatest width that it can be asked for; none where it has one only."""
    tasks: str = ""
    """How it is told whether a text is a document or a question: `parameter`, `words` before the text, or not."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a service takes in one request."""

    texts: int
    tokens: int


class HostedEmbedder(ServiceTier):
    """Vectors of a model behind an official SDK, of length 1.

    `dimensions` is the width of the vectors, the model's usual one unless it is set. `batch_size` texts go into a
    request, and `requests_at_once` requests of a build are under way. `timeout` and `query_timeout` in seconds,
    `retries` after a failure that may pass.

    Every trouble with the service is a `ModelUnavailable` that says what happened and what to do: a build keeps what is
    finished, a question is answered by its words.
    """

    kind = "embedder"
    scripts: frozenset[str] = frozenset()
    fusion_weight = 0.5

    known: ClassVar[Mapping[str, HostedModel]] = {}
    limits: ClassVar[Limits] = Limits(1, 1)
    default_batch_size: ClassVar[int] = 1

    def __init__(
        self,
        model: str | None = None,
        *,
        dimensions: int | None = None,
        base_url: str | None = None,
        batch_size: int | None = None,
        timeout: float = 60.0,
        query_timeout: float = 5.0,
        retries: int = 5,
        requests_at_once: int = 4,
    ) -> None:
        super().__init__(model, base_url, retries)
        number = self._access.number
        self._facts, self.dimensions = self._widths(dimensions)
        self.window_tokens = self._facts.window_tokens
        texts = self.default_batch_size if batch_size is None else batch_size
        self._batch_size = int(number("batch_size", texts, 1, self.limits.texts))
        self._timeout = number("timeout", timeout, 0.1, 3600)
        self._query_timeout = number("query_timeout", query_timeout, 0.1, 600)
        self.requests_at_once = int(number("requests_at_once", requests_at_once, 1, 64))
        self._take_key(Advice())
        self._questions = Remembered[str, "Vectors"](REMEMBERED_QUESTIONS)
        self._rests_until = 0.0

    # -- the contract ------------------------------------------------------------------------------------------

    def signature(self) -> str:
        """Model, width, and how documents and questions are told apart; neither key nor address."""
        tasks = f"/{self._facts.tasks}" if self._facts.tasks else ""
        return f"{self.name}/{self.model}/{self.dimensions}{tasks}/l2"

    def embed_documents(self, texts: Sequence[str], *, cancelled: Callable[[], bool] | None = None) -> Vectors:
        """float32 `[len(texts), dimensions]`, zero rows for blank texts, which are not sent. `cancelled` is asked
        several times a second, while an answer is waited for too."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        client = self._client()
        for batch in self._batches(texts):
            patience = Patience(self._timeout, self._retries, cancelled=cancelled)
            vectors[batch] = self._vectors(client, [texts[index] for index in batch], DOCUMENT, patience)
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """float32 `[dimensions]`, or `ModelUnavailable` after `query_timeout` seconds at the latest."""
        import numpy as np

        if not text or text.isspace():
            return np.zeros(self.dimensions, dtype=np.float32)
        return self._questions.answer(text, lambda: self._question(text)).copy()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """An estimate; see `token_estimate.about`."""
        return [about(text) for text in texts]

    # -- requests ----------------------------------------------------------------------------------------------

    @abstractmethod
    def _send(self, client: Any, texts: list[str], side: str, seconds: float) -> list[Any]:
        """One request: the rows of numbers of the answer, in the order of the texts, or any error of the SDK."""

    def _batches(self, texts: Sequence[str]) -> Iterator[list[int]]:
        batch: list[int] = []
        tokens = 0
        for index, text in enumerate(texts):
            if not text or text.isspace():
                continue
            size = min(len(text.encode("utf-8", "replace")) // BYTES_OF_A_TOKEN + 1, self.window_tokens)
            if batch and (len(batch) == self._batch_size or tokens + size > self.limits.tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(index)
            tokens += size
        if batch:
            yield batch

    def _question(self, text: str) -> Vectors:
        client = self._client()
        began = time.monotonic()
        if began < self._rests_until:
            raise ModelUnavailable(
                f"embedder {self.name}: not asked, since it did not answer in time a moment ago",
                hint=f"It is asked again after {REST_SECONDS:.0f} s.",
            )
        patience = Patience(self._query_timeout, self._retries, until=began + self._query_timeout)
        try:
            vector: Vectors = self._vectors(client, [text], QUESTION, patience)[0]
        except ModelUnavailable:
            if time.monotonic() - began > self._query_timeout / 2:
                self._rests_until = time.monotonic() + REST_SECONDS
            raise
        return vector

    def _vectors(self, client: Any, texts: list[str], side: str, patience: Patience) -> Any:
        window = self.window_tokens - TOKENS_LEFT_FREE
        sent = [cut_to(well_formed(text), window) for text in texts]

        def request(seconds: float) -> Any:
            return self._or_failure(lambda: self._checked(self._send(client, sent, side, seconds), len(sent)), seconds)

        def request_or_shorter(seconds: float) -> Any:
            try:
                return request(seconds)
            except Failure as failure:
                shorter = [cut_to(text, window, bytes_of_a_token=1) for text in sent]
                if not failure.refused_input or shorter == sent:
                    raise
                sent[:] = shorter
                return request(seconds)

        return self._service.ask(request_or_shorter, patience)

    def _checked(self, rows: list[Any], asked: int) -> Any:
        import numpy as np

        if len(rows) != asked:
            raise Failure(
                f"the service answered {asked} texts with {len(rows)} vectors",
                "Nothing of that answer is kept. Run the command again; if it happens once more, the model does not "
                "take several texts in one request: set the option `batch_size` to 1.",
            )
        where, widths = self._access.where, sorted({len(row) for row in rows})
        if widths != [self.dimensions]:
            raise Failure(
                f"the vectors of {self.model} have {', '.join(map(str, widths))} numbers, not {self.dimensions}",
                f"Set {where}.dimensions to the width of the model, or correct {where}.model.",
            )
        matrix = np.asarray(rows, dtype=np.float32)
        if not np.isfinite(matrix).all():
            raise Failure("the service answered with numbers that are none (NaN or infinite)", "Run the command again.")
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        return matrix / np.where(lengths > 0, lengths, 1)

    # -- options -----------------------------------------------------------------------------------------------

    def _widths(self, wanted: int | None) -> tuple[HostedModel, int]:
        """What is known of the model, and the width of its vectors."""
        where = self._access.where
        facts = self.known.get(self.model.rsplit("/", 1)[-1])
        if wanted is not None and (isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1):
            raise ConfigError(f"{where}.dimensions is {wanted!r}; a whole number above 0")
        if facts is None:
            if wanted is None:
                raise ConfigError(
                    f"{where}.model is {self.model!r}, whose width is not known here",
                    hint=f"Set {where}.dimensions to the number of its dimensions. "
                    f"Known without it: {', '.join(self.known)}.",
                )
            return self._unknown(wanted), wanted
        if wanted is None:
            return facts, facts.dimensions
        if facts.widths is None and wanted != facts.dimensions:
            raise ConfigError(
                f"{where}.dimensions is {wanted}; {self.model} has {facts.dimensions}, and cannot be shortened"
            )
        if facts.widths is not None and not facts.widths[0] <= wanted <= facts.widths[1]:
            least, most = facts.widths
            raise ConfigError(f"{where}.dimensions is {wanted}; {least} to {most} fit {self.model}")
        return facts, wanted

    def _unknown(self, width: int) -> HostedModel:
        """What is assumed of a model that is not in the list."""
        return HostedModel(width, min(model.window_tokens for model in self.known.values()))
