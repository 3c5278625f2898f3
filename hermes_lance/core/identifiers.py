"""Names from code inside any text: camelCase words, snake_case words, and the parts they are made of.

Two ways to the same result: regular expressions for a query or a short text, byte classes with numpy for bulk
(about four times as fast on source code). Letters are those of Latin-1; a name in another script is one word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

_UPPER = "A-ZÀ-ÖØ-Þ"
_LOWER = "a-zß-öø-ÿ"
_WORD = re.compile(f"[{_UPPER}{_LOWER}0-9]+")
_NAME = re.compile(f"[{_UPPER}{_LOWER}0-9_]+")
_BORDER = re.compile(
    f"(?<=[{_LOWER}])(?=[{_UPPER}])"  # get|User
    f"|(?<=[0-9])(?=[{_UPPER}][{_LOWER}])"  # utf8|Decode, but not A3F4
    f"|(?<=[{_UPPER}])(?=[{_UPPER}][{_LOWER}][{_LOWER}])"  # HTTP|Server, but not URLs
)

BULK_CHARS = 4_096
"""From this many characters on numpy is worth its calls."""


@dataclass(frozen=True, slots=True)
class Identifiers:
    """The names of one text in order of appearance, with repetitions."""

    camel: tuple[str, ...]
    """camelCase words as written: `getUserById`."""
    snake: tuple[str, ...]
    """snake_case words without leading and trailing underscores: `foo_bar`."""


@lru_cache(maxsize=65_536)
def camel_parts(word: str) -> tuple[str, ...]:
    """`HTTPServerName` as `("HTTP", "Server", "Name")`; a word without an inner border is its own only part."""
    return tuple(_BORDER.split(word))


def find(text: str) -> Identifiers:
    """The names of one text, by regular expressions and without numpy."""
    camel = tuple(word for word in _WORD.findall(text) if _BORDER.search(word))
    names = (word.strip("_") for word in _NAME.findall(text)) if "_" in text else ()
    return Identifiers(camel, tuple(name for name in names if "_" in name))


def find_all(texts: Sequence[str]) -> list[Identifiers]:
    """The names of each text, the same as `find` on each, by one pass over the bytes of all of them."""
    if sum(map(len, texts)) < BULK_CHARS:
        return [find(text) for text in texts]
    return _find_by_bytes(texts)


_OTHER, _UNDERSCORE, _DIGIT, _SMALL, _CAPITAL = range(5)


@cache
def _class_table() -> bytes:
    table = bytearray(256)
    for code in range(256):
        char = chr(code)
        if char == "_":
            table[code] = _UNDERSCORE
        elif re.fullmatch(f"[{_UPPER}]", char):
            table[code] = _CAPITAL
        elif re.fullmatch(f"[{_LOWER}]", char):
            table[code] = _SMALL
        elif char in "0123456789":
            table[code] = _DIGIT
    return bytes(table)


def _find_by_bytes(texts: Sequence[str]) -> list[Identifiers]:
    import numpy as np

    # Two new lines before, between and after: look-behind and look-ahead then never leave the array.
    joined = "\n\n".join(["", *texts, ""])
    # One byte a character: what is not Latin-1 becomes a question mark, which ends a word just as it should.
    kinds = np.frombuffer(joined.encode("latin-1", "replace").translate(_class_table()), dtype=np.uint8)
    camel = _words_around(np, _borders(np, kinds), kinds < _DIGIT)
    snake = _words_around(np, np.flatnonzero(kinds == _UNDERSCORE), kinds == _OTHER)
    starts = np.cumsum([2, *(len(text) + 2 for text in texts)])
    camel_of = _by_text(joined, camel, np.searchsorted(camel[0], starts).tolist())
    snake_of = _by_text(joined, snake, np.searchsorted(snake[0], starts).tolist())
    found = []
    for words, names in zip(camel_of, snake_of, strict=True):
        stripped = [name.strip("_") for name in names]
        found.append(Identifiers(tuple(words), tuple(name for name in stripped if "_" in name)))
    return found


def _borders(np: Any, kinds: Any) -> Any:
    """Positions of the capitals before which a camelCase word is cut."""
    capital = kinds == _CAPITAL
    inner = np.flatnonzero(capital[1:] & (kinds[:-1] >= _DIGIT)) + 1
    before, after, second = kinds[inner - 1], kinds[inner + 1], kinds[inner + 2]
    followed = after == _SMALL
    cut = (before == _SMALL) | ((before == _DIGIT) & followed)
    cut |= (before == _CAPITAL) & followed & (second == _SMALL)
    return inner[cut]


def _words_around(np: Any, positions: Any, outside: Any) -> tuple[Any, Any]:
    """Starts and ends (exclusive) of the distinct words that hold `positions`; words end where `outside` is true."""
    ends = np.flatnonzero(outside)
    at = np.searchsorted(ends, positions)
    # Positions ascend, so equal words are neighbours; `np.unique` would hash or sort.
    at = at[np.flatnonzero(np.diff(at, prepend=-1))]
    return ends[at - 1] + 1, ends[at]


def _by_text(joined: str, spans: tuple[Any, Any], bounds: list[int]) -> list[list[str]]:
    starts, ends = spans[0].tolist(), spans[1].tolist()
    words = [joined[start:end] for start, end in zip(starts, ends, strict=True)]
    return [words[first:last] for first, last in pairwise(bounds)]
