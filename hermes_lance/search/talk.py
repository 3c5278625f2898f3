"""What can be told from a message alone: that it is mere talk, a sum, a question, or that it names the user's files.

Everything goes by whole words, never by parts of words; in scripts without spaces, where words have no bounds, by
characters that stand together. The words themselves are in `gate_words.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from hermes_lance.core.scripts import runs_without_spaces
from hermes_lance.core.words import clean, folded
from hermes_lance.search import gate_words

_MARKS = r"\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff"
"""Of letters; to `re` they are no part of a word."""
_SEGMENT = re.compile(rf"[^\w\s'\u2019\-{_MARKS}]+")
_BETWEEN = re.compile(rf"[^\w{_MARKS}]+|_")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_OPERATOR = re.compile(r"(?<=[\d\s])[*×÷^+=%](?=[\s\d]|$)|\s[-/x](?=\s)")
_QUESTION_MARKS = frozenset("?？؟¿⸮՞")
LONGEST_TALK = 80
"""Characters; a longer message is no mere talk."""


def plain(text: str) -> str:
    """The words of a text with single spaces, in lower case, folded; marks that belong to letters stay."""
    return " ".join(_BETWEEN.sub(" ", folded(clean(text))).split())


def is_talk(message: str) -> bool:
    """Whether every part of a message between signs of punctuation is a phrase of mere talk, or all of it is thanks."""
    if len(message) > LONGEST_TALK:
        return False
    parts = [part for part in map(plain, _SEGMENT.split(message)) if part]
    if parts and all(map(_only_phrases, parts)):
        return True
    return _is_thanks(message, parts)


def _only_phrases(part: str) -> bool:
    """Whether phrases of mere talk, one after the other, make up the whole of a part: "yes please", "hello again"."""
    words, phrases = part.split(), _talk()
    reached = {0}
    for end in range(1, len(words) + 1):
        if any(" ".join(words[start:end]) in phrases for start in reached):
            reached.add(end)
    return len(words) in reached


def _is_thanks(message: str, parts: Iterable[str]) -> bool:
    words = " ".join(parts).split()
    if any(word in gate_words.THANKS for word in words):
        return all(word in gate_words.THANKS or word in gate_words.THANKS_BESIDE for word in words)
    return any(word in message for word in gate_words.THANKS_INSIDE) and not asks(message)


def is_sum(message: str) -> bool:
    """Whether a message holds two numbers, what to do with them, and nothing else."""
    text = folded(clean(message))
    runs = "".join(runs_without_spaces().findall(text))
    numbers = len(_NUMBER.findall(text)) + (not gate_words.NUMERALS.isdisjoint(runs))
    if len(text) > LONGEST_TALK or numbers < 2:
        return False
    words = re.findall(r"[^\W\d_]+", runs_without_spaces().sub(" ", text))
    if not all(word in gate_words.SUM_WORDS for word in words):
        return False
    if runs:
        return gate_words.SUM_CHARACTERS.issuperset(runs)
    return any(word in gate_words.OPERATIONS for word in words) or _OPERATOR.search(text) is not None


def asks(message: str) -> bool:
    """Whether a message has the form of a question or of a request."""
    if not _QUESTION_MARKS.isdisjoint(message):
        return True
    words = plain(message).split()
    if any(word in gate_words.QUESTION_WORDS for word in words):
        return True
    first = next((word for word in words if word not in gate_words.POLITE_WORDS), "")
    if first in gate_words.REQUEST_WORDS:
        return True
    return any(part in message for part in gate_words.QUESTION_PARTS)


def names_files(message: str, further: Iterable[str] = ()) -> str | None:
    """The words by which a message names the user's files, or one of the `further` ones; none if it does not."""
    text = f" {plain(message)} "
    for phrase in (*map(plain, further), *_open()):
        if not phrase:
            continue
        if runs_without_spaces().fullmatch(phrase) or "\uac00" <= phrase[0] <= "\ud7a3":
            if phrase in text:
                return phrase
        elif f" {phrase} " in text:
            return phrase
    return None


@cache
def _talk() -> frozenset[str]:
    return frozenset(map(plain, gate_words.phrases(gate_words.TALK)))


@cache
def _open() -> tuple[str, ...]:
    return tuple(sorted(map(plain, gate_words.phrases(gate_words.OPEN_WORDS))))
