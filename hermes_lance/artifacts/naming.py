"""Ids, slugs, display paths and the words by which artifacts are looked up."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from hermes_lance.core.stop_words import STOP_WORDS

MOST_SIGNIFICANT_WORDS = 30
MOST_TERMS = 80
_HASH_DIGITS = 8
_NOT_SLUG = re.compile(r"[^A-Za-z0-9]+")
_SIGNIFICANT = re.compile(r"[^\W\d_][\w.+\-]{2,}")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_WORD = re.compile(r"[^\W_]+")


def slug(name: str) -> str:
    """Lower case, runs of anything but ASCII letters and digits as `-`.

    Names that lost letters (other scripts, accents) end in a hash of the whole name, so that two of them never meet.
    """
    name = unicodedata.normalize("NFC", name)
    plain = _NOT_SLUG.sub("-", name).strip("-").lower()
    lost = any(character.isalnum() and not character.isascii() for character in name)
    if lost or not plain:
        mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
        return f"{plain}-{mark}" if plain else f"artifact-{mark}"
    return plain


def display_path(path: Path, root: Path) -> str:
    """The path as people see it: relative to the root, else under `~`, else absolute; always with `/`."""
    for base, lead in ((root, ""), (Path.home(), "~/")):
        if path.is_relative_to(base):
            return lead + path.relative_to(base).as_posix()
    return path.as_posix()


@cache
def _unwanted() -> frozenset[str]:
    """Function words, and the name of the account: it is in every path below a home and tells nothing."""
    return STOP_WORDS | {name.lower() for name in (os.environ.get("USER", ""), os.environ.get("LOGNAME", "")) if name}


def significant_words(*texts: str) -> tuple[str, ...]:
    """Distinct words of three characters and more in order, lower case, without function words; at most 30."""
    found: dict[str, None] = {}
    for text in texts:
        for word in _SIGNIFICANT.findall(text):
            lowered = word.lower().rstrip(".-+")
            if len(lowered) > 2 and lowered not in _unwanted():
                found[lowered] = None
                if len(found) == MOST_SIGNIFICANT_WORDS:
                    return tuple(found)
    return tuple(found)


def identifier_terms(names: Iterable[str]) -> tuple[str, ...]:
    """The words inside identifiers (`checkDueDate`, `LEDGER_DSN`), lower case, without function words; at most 80."""
    found: dict[str, None] = {}
    for name in names:
        for word in _WORD.findall(name):
            for part in _CAMEL.findall(word) if word.isascii() else [word]:
                lowered = part.lower()
                if len(lowered) > 1 and lowered not in _unwanted():
                    found[lowered] = None
    return tuple(found)[:MOST_TERMS]


def entities_in(labels: Sequence[str], *texts: str) -> tuple[str, ...]:
    """The configured names that occur in the texts, whatever their case."""
    whole = "\n".join(texts).lower()
    return tuple(label for label in labels if label.lower() in whole)


def digest(*parts: str) -> str:
    """SHA-256 of what an artifact consists of, 64 hexadecimal digits."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
