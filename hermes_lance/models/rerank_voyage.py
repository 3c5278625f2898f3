"""The Voyage AI tier, through its official SDK.

Needs the extra `voyage` and a key in `VOYAGE_API_KEY`. The SDK by itself would send text of some keys to another host;
here it goes to the address that `sends_to` names, and nowhere else.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from hermes_lance.models.rerank_hosted import HostedReranker


class VoyageReranker(HostedReranker):
    """Relevance (0 to 1) by a Voyage rerank model."""

    name = "voyage"
    sends_to: str | None = "api.voyageai.com"
    package = "voyageai"
    home = "https://api.voyageai.com/v1"
    variables = ("VOYAGE_API_KEY",)
    default_model = "rerank-2.5"

    def _make_client(self) -> Any:
        return importlib.import_module("voyageai")

    def _send(self, client: Any, question: str, texts: list[str], seconds: float) -> Iterable[tuple[int, float]]:
        # A client holds nothing but its settings, among them the time-out, which is another one for each try.
        asked = client.Client(api_key=self._key, max_retries=0, timeout=seconds, base_url=self._base_url)
        answer = asked.rerank(query=question, documents=texts, model=self.model, truncation=True)
        return [(one.index, one.relevance_score) for one in answer.results]
