"""Tokens of hosted models, estimated: their tokenizers would have to be downloaded, and nothing is."""

from __future__ import annotations

BYTES_OF_A_TOKEN = 2
"""Fewer than in any usual text or code; English has four to five. What fits by this measure fits the window."""


def about(text: str) -> int:
    """Tokens of a text, for counting and for costs, by the rule of thumb of four characters a token: a quarter of the
    characters, and half of the further bytes that letters beyond ASCII take. Too low for long runs of digits and random
    letters, too high for plain prose."""
    beyond = len(text.encode("utf-8", "replace")) - len(text)
    return (len(text) + 3) // 4 + (beyond + 1) // 2


def cut_to(text: str, tokens: int, bytes_of_a_token: int = BYTES_OF_A_TOKEN) -> str:
    """The beginning of a text that surely is no longer than so many tokens; with one byte a token, in any tokenizer
    that falls back to bytes."""
    limit = tokens * bytes_of_a_token
    if len(text) * 4 <= limit:
        return text
    encoded = text[:limit].encode("utf-8", "replace")
    return encoded[:limit].decode("utf-8", "ignore")
