"""The OpenAI tier, through its official SDK; with `base_url` any server that speaks the same way.

Needs the extra `openai` and a key in `OPENAI_API_KEY`. Neither address nor key are taken from anywhere else: what the
SDK would read from further variables could send text to a host that nobody has been told of.
"""

from __future__ import annotations

import base64
import importlib
from collections.abc import Mapping
from typing import Any, ClassVar

from hermes_lance.models.hosted import HostedEmbedder, HostedModel, Limits
from hermes_lance.models.service_errors import headers_of


class OpenAiEmbedder(HostedEmbedder):
    """Vectors of an OpenAI embedding model. Documents and questions are sent alike: these models know no difference.

    `dimensions` shortens the vectors of `text-embedding-3-…`; for a model that is not in the list it says how wide its
    vectors are, and is not sent.
    """

    name = "openai"
    sends_to: str | None = "api.openai.com"
    package = "openai"
    home = "https://api.openai.com/v1"
    variables = ("OPENAI_API_KEY",)
    default_model = "text-embedding-3-small"
    default_batch_size = 128
    known: ClassVar[Mapping[str, HostedModel]] = {
        "text-embedding-3-small": HostedModel(1536, 8192, widths=(32, 1536)),
        "text-embedding-3-large": HostedModel(3072, 8192, widths=(32, 3072)),
        "text-embedding-ada-002": HostedModel(1536, 8192),
    }
    limits = Limits(texts=2048, tokens=250_000)

    def _make_client(self) -> Any:
        sdk = importlib.import_module("openai")
        return sdk.OpenAI(api_key=self._key, base_url=self._base_url, max_retries=0, timeout=self._timeout)

    def _send(self, client: Any, texts: list[str], side: str, seconds: float) -> list[Any]:
        import numpy as np

        # The SDK takes written numbers apart one by one, some 3 ms a text. A server that knows only those sends them
        # all the same.
        options: dict[str, Any] = {"encoding_format": "base64"}
        if self._facts.widths is not None and self.dimensions != self._facts.dimensions:
            options["dimensions"] = self.dimensions
        answer = client.embeddings.create(model=self.model, input=texts, timeout=seconds, **options)
        rows = [one.embedding for one in sorted(answer.data, key=lambda one: one.index)]
        return [np.frombuffer(base64.b64decode(row), dtype="<f4") if isinstance(row, str) else row for row in rows]

    def _told_wait(self, error: Exception) -> float | None:
        try:
            return max(0.0, float(headers_of(error)["retry-after-ms"]) / 1000)
        except (KeyError, ValueError):
            return super()._told_wait(error)
