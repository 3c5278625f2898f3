"""The Cohere tier, through its official SDK.

Needs the extra `cohere` and a key in `COHERE_API_KEY` or `CO_API_KEY`. Address and key are taken from nowhere else:
what the SDK would read from further variables could send text to a host that nobody has been told of.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from hermes_lance.models.rerank_hosted import HostedReranker

PASSAGE_TOKENS = 4096
"""After which the service cuts a passage; ours are shorter."""


class CohereReranker(HostedReranker):
    """Relevance (0 to 1) by a Cohere rerank model."""

    name = "cohere"
    sends_to: str | None = "api.cohere.com"
    package = "cohere"
    home = "https://api.cohere.com"
    variables = ("COHERE_API_KEY", "CO_API_KEY")
    default_model = "rerank-v3.5"

    def _make_client(self) -> Any:
        sdk = importlib.import_module("cohere")
        return _Closing(sdk.ClientV2(self._key, base_url=self._base_url, timeout=self.timeout_seconds))

    def _send(self, client: Any, question: str, texts: list[str], seconds: float) -> Iterable[tuple[int, float]]:
        answer = client.sdk.rerank(
            model=self.model,
            query=question,
            documents=texts,
            max_tokens_per_doc=PASSAGE_TOKENS,
            # Some releases take the one, some the other; each passes over what it does not know. Repeating is ours.
            request_options={"max_retries": 0, "timeout": seconds, "timeout_in_seconds": max(1, round(seconds))},
        )
        return [(one.index, one.relevance_score) for one in answer.results]


class _Closing:
    """A client whose kept connections can be closed; the SDK does it at the end of a `with`."""

    def __init__(self, sdk: Any) -> None:
        self.sdk = sdk

    def close(self) -> None:
        self.sdk.__exit__(None, None, None)
