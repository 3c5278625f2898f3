"""What hosted embedders cost, roughly: list prices as they were on one day, to give an idea before they are used."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_lance.models.google_embed import GoogleEmbedder
from hermes_lance.models.openai_embed import OpenAiEmbedder

AS_OF = "2026-12-01"
"""The day on which the prices below were written down."""
ADVICE = f"list price as of {AS_OF}; check the provider"
USD_PER_MILLION_TOKENS: Mapping[tuple[str, str], float] = {
    ("openai", "text-embedding-3-small"): 0.02,
    ("openai", "text-embedding-3-large"): 0.13,
    ("openai", "text-embedding-ada-002"): 0.10,
    ("google", "gemini-embedding-2"): 0.20,
    ("google", "gemini-embedding-2-preview"): 0.20,
    ("google", "gemini-embedding-001"): 0.15,
}
"""By embedder and model, for text. Sources: the providers' published price lists."""


def rough_cost(name: str, model: str, tokens: int) -> float | None:
    """US dollars for embedding so many tokens with a model of an embedder (empty: its default one); none where no price
    is known."""
    model = model or {one.name: one.default_model for one in (OpenAiEmbedder, GoogleEmbedder)}.get(name, "")
    price = USD_PER_MILLION_TOKENS.get((name, model.rsplit("/", 1)[-1]))
    return None if price is None else price * tokens / 1_000_000
