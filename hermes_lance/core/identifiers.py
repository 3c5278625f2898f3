"""Names from code inside any text: camelCase words, snake_case words, and the parts they are made of.

Two ways to the same result: regular expressions for a query or a short text, byte classes with numpy for bulk
(about four times as fast on source code). Letters are those of Latin-1; a name in another script is one word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

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


class Found(NamedTuple):
    """The names of several texts in two lists, since making two tuples a text takes longer than finding them.

    The camelCase words of text `i` are `camel[camel_from[i] : camel_from[i + 1]]`, and the same for `underscored`.
    """

    camel: list[str]
    camel_from: list[int]
    underscored: list[str]
    """Words with an underscore anywhere: `foo_bar`, but also `_foo`, which is no snake_case; see `compact`."""
    underscored_from: list[int]

    def of(self, text: int) -> Identifiers:
        """The names of one of the texts."""
        names = self.underscored[self.underscored_from[text] : self.underscored_from[text + 1]]
        stripped = [name.strip("_") for name in names]
        camel = self.camel[self.camel_from[text] : self.camel_from[text + 1]]
        return Identifiers(tuple(camel), tuple(name for name in stripped if "_" in name))


@lru_cache(maxsize=65_536)
def compact(name: str) -> str:
    """`foobar` for `foo_Bar`; empty where the underscores are at the ends only. Code says the same names often."""
    stripped = name.strip("_")
    return stripped.replace("_", "").lower() if "_" in stripped else ""


@lru_cache(maxsize=65_536)
def camel_parts(word: str) -> tuple[str, ...]:
    """`HTTPServerName` as `("HTTP", "Server", "Name")`; a word without an inner border is its own only part."""
    return tuple(_BORDER.split(word))


@lru_cache(maxsize=65_536)
def spaced_parts(word: str) -> str:
    """`HTTP Server Name` for `HTTPServerName`."""
    return " ".join(_BORDER.split(word))


def find(text: str) -> Identifiers:
    """The names of one text, by regular expressions and without numpy."""
    camel = tuple(word for word in _WORD.findall(text) if _BORDER.search(word))
    names = (word.strip("_") for word in _NAME.findall(text)) if "_" in text else ()
    return Identifiers(camel, tuple(name for name in names if "_" in name))


def find_all(texts: Sequence[str]) -> Found:
    """The names of each text, the same as `find` on each, by one pass over the bytes of all of them."""
    return _find_by_bytes(texts) if sum(map(len, texts)) >= BULK_CHARS else _find_one_by_one(texts)


def _find_one_by_one(texts: Sequence[str]) -> Found:
    each = [find(text) for text in texts]
    return Found(
        [word for found in each for word in found.camel],
        list(accumulate((len(found.camel) for found in each), initial=0)),
        [name for found in each for name in found.snake],
        list(accumulate((len(found.snake) for found in each), initial=0)),
    )


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


def _find_by_bytes(texts: Sequence[str]) -> Found:
    import numpy as np

    # Two new lines before, between and after: look-behind and look-ahead then never leave the array.
    # One byte a character: what is not Latin-1 becomes a question mark, which ends a word just as it should.
    joined = "\n\n".join(["", *texts, ""]).encode("latin-1", "replace")
    kinds = np.frombuffer(joined.translate(_class_table()), dtype=np.uint8)
    camel = _words_around(np, _borders(np, kinds), kinds < _DIGIT)
    names = _words_around(np, np.flatnonzero(kinds == _UNDERSCORE), kinds == _OTHER)
    starts = list(accumulate((len(text) + 2 for text in texts), initial=2))
    # Cut from the narrow text: in a wide one every slice is searched for its widest character.
    narrow = joined.decode("latin-1")
    return Found(
        _slices(narrow, *camel),
        np.searchsorted(camel[0], starts).tolist(),
        _slices(narrow, *names),
        np.searchsorted(names[0], starts).tolist(),
    )


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


def _slices(text: str, starts: Any, ends: Any) -> list[str]:
    return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
