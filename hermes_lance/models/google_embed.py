"""The Google tier: embedding models of the Gemini API, through the official SDK `google-genai`.

Needs the extra `google` and a key in `GOOGLE_API_KEY` or `GEMINI_API_KEY`. Variables by which the SDK would talk to
another service or address are overruled, so that text goes where `sends_to` says.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, ClassVar

from hermes_lance.models.hosted import DOCUMENT, HostedEmbedder, HostedModel, Limits
from hermes_lance.models.service_call import told_wait

_TASKS = {DOCUMENT: "RETRIEVAL_DOCUMENT"}
_WORDS = {DOCUMENT: "title: none | text: "}


class GoogleEmbedder(HostedEmbedder):
    """Vectors of a Gemini embedding model. Documents and questions are told apart the way the model asks for: by the
    request's task type, or by words before the text (`gemini-embedding-2`). `dimensions` is the width to ask for, 768
    unless it is set.
    """

    name = "google"
    sends_to: str | None = "generativelanguage.googleapis.com"
    package = "google.genai"
    home = "https://generativelanguage.googleapis.com"
    variables = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
    default_model = "gemini-embedding-2"
    """Its predecessors `text-embedding-004` (switched off in January 2026) and `gemini-embedding-001` can be named."""
    default_batch_size = 100
    known: ClassVar[Mapping[str, HostedModel]] = {
        "gemini-embedding-2": HostedModel(768, 8192, widths=(128, 3072), tasks="words"),
        "gemini-embedding-2-preview": HostedModel(768, 8192, widths=(128, 3072), tasks="words"),
        "gemini-embedding-001": HostedModel(768, 2048, widths=(128, 3072), tasks="parameter"),
        "text-embedding-004": HostedModel(768, 2048, widths=(1, 768), tasks="parameter"),
    }
    limits = Limits(texts=100, tokens=60_000)

    def _unknown(self, width: int) -> HostedModel:
        # What is new is asked the way the newest known one is, and for the width that was named.
        return HostedModel(width, 2048, widths=(width, width), tasks="words")

    def _make_client(self) -> Any:
        sdk = importlib.import_module("google.genai")
        return sdk.Client(
            api_key=self._key,
            vertexai=False,
            http_options={"base_url": self._base_url, "api_version": "v1beta", "timeout": int(self._timeout * 1000)},
        )

    def _send(self, client: Any, texts: list[str], side: str, seconds: float) -> list[Any]:
        words = ""
        config: dict[str, Any] = {"http_options": {"timeout": max(1, int(seconds * 1000))}}
        if self._facts.widths is not None:
            config["output_dimensionality"] = self.dimensions
        if self._facts.tasks == "words":
            words = _WORDS.get(side, "task: search result | query: ")
        elif self._facts.tasks == "parameter":
            config["task_type"] = _TASKS.get(side, "RETRIEVAL_QUERY")
        # Each text is a content of its own: strings in one list would become one vector for all of them.
        contents = [{"parts": [{"text": words + text}]} for text in texts]
        answer = client.models.embed_content(model=self.model, contents=contents, config=config)
        return [one.values for one in answer.embeddings]

    def _told_wait(self, error: Exception) -> float | None:
        """What the body says (`retryDelay: 17s`), else the header."""
        details = getattr(error, "details", None)
        listed = details.get("error", details).get("details", []) if isinstance(details, dict) else []
        for entry in listed if isinstance(listed, list) else []:
            delay = entry.get("retryDelay") if isinstance(entry, dict) else None
            if isinstance(delay, str) and delay.endswith("s"):
                return told_wait(delay[:-1])
        return super()._told_wait(error)
