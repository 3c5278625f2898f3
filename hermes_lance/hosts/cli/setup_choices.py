"""What `workspace setup` offers: modes, tiers and extras, each in a line, and the command that installs an extra."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MODES: Mapping[str, str] = {
    "off": "never unasked; it can still search by itself",
    "gated": "when a message gives reason to look into your files",
    "always": "with every message",
}
"""When an agent gets passages."""
PROPOSED_MODE = "gated"
"""For whoever has not chosen yet: they run the setup to switch something on."""
EMBEDDERS: Mapping[str, str] = {
    "minilm": "runs here, needs nothing: a small model that is part of the package",
    "builtin_hash": "runs here, needs nothing: counts words, knows no meaning",
    "local_sentence_transformers": "runs here, needs the extra `local` and a model on this machine",
    "openai": "a service, needs the extra `openai` and OPENAI_API_KEY",
    "google": "a service, needs the extra `google` and GOOGLE_API_KEY",
}
RERANKERS: Mapping[str, str] = {
    "disabled": "none",
    "heuristic": "runs here, needs nothing: shared words",
    "local_cross_encoder": "runs here, needs the extra `local` and a model on this machine; slow without a GPU",
    "cohere": "a service, needs the extra `cohere` and COHERE_API_KEY",
    "voyage": "a service, needs the extra `voyage` and VOYAGE_API_KEY",
}


@dataclass(frozen=True, slots=True)
class Extra:
    """A part of the installation that not everybody needs."""

    name: str
    package: str
    """The module that it brings."""
    brings: str

    @property
    def installed(self) -> bool:
        """Whether this Python has it. Imports nothing of it."""
        try:
            return importlib.util.find_spec(self.package) is not None
        except ModuleNotFoundError:
            return False  # the package above it is missing

    @property
    def command(self) -> list[str]:
        """What installs it into this Python."""
        return [sys.executable, "-m", "pip", "install", f"hermes-lance[{self.name}]"]

    @property
    def command_line(self) -> str:
        """The same to be typed."""
        *first, last = self.command
        return f'{shlex.join(first)} "{last}"'


EXTRAS: Mapping[str, Extra] = {
    one.name: one
    for one in (
        Extra("local", "sentence_transformers", "sentence-transformers and torch, some gigabytes"),
        Extra("openai", "openai", "the SDK of OpenAI"),
        Extra("google", "google.genai", "the SDK of Google"),
        Extra("cohere", "cohere", "the SDK of Cohere"),
        Extra("voyage", "voyageai", "the SDK of Voyage AI"),
        Extra("ocr", "rapidocr", "reading the words of pictures"),
    )
}
_NEEDED_BY: Mapping[str, str] = {
    "local_sentence_transformers": "local",
    "local_cross_encoder": "local",
    **{name: name for name in ("openai", "google", "cohere", "voyage")},
}


def needed(embedder: str, reranker: str, *, ocr: bool) -> list[Extra]:
    """The extras that these choices cannot do without."""
    names = [_NEEDED_BY[one] for one in (embedder, reranker) if one in _NEEDED_BY]
    return [EXTRAS[name] for name in dict.fromkeys([*names, *(["ocr"] if ocr else [])])]


def with_others(known: Mapping[str, str], names: Sequence[str], present: str) -> dict[str, str]:
    """The tiers of ours, then those of other packages and the present one where it is none of these."""
    others = [*names, present]
    return {**known, **{name: "a plugin that is installed here" for name in others if name not in known}}
