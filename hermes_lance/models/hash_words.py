"""The words that the hashing embedder counts: as they are spelt, and the features that one spelling stands for."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from hermes_lance.core.identifiers import camel_parts
from hermes_lance.core.scripts import runs_without_spaces, spaced_words
from hermes_lance.core.words import STOP_WORDS, clean

_ASCII_WORDS = re.compile(r"[A-Za-z0-9]+")
_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")
_ENDINGS = ("ing", "ed", "es", "s")
_STEM_LETTERS = 3


@cache
def _spellings() -> re.Pattern[str]:
    return re.compile(rf"{spaced_words().pattern}|[^\W_]+")


def words(text: str) -> list[str]:
    """Words as they are spelt, and pairs of characters of runs without spaces (a run of one is itself)."""
    if text.isascii():
        return _ASCII_WORDS.findall(text)
    text = clean(text)
    runs = runs_without_spaces().findall(text)
    words: list[str] = _spellings().findall(runs_without_spaces().sub(" ", text) if runs else text)
    for run in runs:
        words += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    return words


def features(word: str) -> list[str]:
    """What one spelling stands for: its parts in their basic form, without those that say nothing."""
    if word.isascii() and word.isalpha() and word.islower():
        # Nothing to take apart or to make equal: most words of most texts.
        return [_stem(word)] if len(word) > 1 and word not in STOP_WORDS else []
    if runs_without_spaces().match(word):
        return [unicodedata.normalize("NFKC", word)]
    found = []
    for part in camel_parts(word):
        for run in [part] if spaced_words().match(part) else _LETTERS_OR_DIGITS.findall(part):
            basic = _basic(run)
            if len(basic) > 1 and basic not in STOP_WORDS:
                found.append(_stem(basic))
    return found


def _basic(word: str) -> str:
    word = unicodedata.normalize("NFKC", word).casefold()
    if word.isascii() or spaced_words().match(word):
        return word
    decomposed = unicodedata.normalize("NFKD", word)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_LETTERS:
            return word[: -len(ending)]
    return word
