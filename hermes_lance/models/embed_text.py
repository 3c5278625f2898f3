"""What exactly the embedder is given for one passage: its section trail and its text, in windows that it can read.

Never path, root or file name: they would tie a vector to where a file lies. Pure and without a tokenizer, because it
runs for every passage of a build before the first vector is made; the caller brings an estimate of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import ceil
from typing import NamedTuple

RULES = 2
"""Part of the fingerprint of vectors; raised whenever the same passage would give other strings."""

TRAIL_SHARE = 0.25
"""A trail may take this much of the window; of a longer one the innermost headings are kept."""

TOLERANCE = 1.1
"""A passage this much over the window still gets one vector: the estimate is no better than that."""

SEARCH_SHARE = 0.2
"""How far from the even cut, as a share of a window, a better place to cut is looked for."""


_HEADING = re.compile(r"\s*#{1,6}[ \t]+([^\n]*?)[ \t#]*\n+")


class Layout(NamedTuple):
    """How a passage is given to the embedder: one string for each part, the same head before each."""

    head: str
    head_tokens: float
    parts: Sequence[tuple[int, int]]
    """First and last offset (exclusive) in the text of the passage."""
    tokens: float
    """Of all parts together, without a head."""


def windows(
    text: str,
    trail: Sequence[str] = (),
    *,
    window_tokens: int,
    most: int,
    tokens: Callable[[str], float],
) -> list[str]:
    """The strings to embed for one passage, at least one and at most `most`; each yields one vector.

    A passage that fits the window gives one string. A longer one is cut into pieces of about equal length at line ends
    or blanks, the trail before each; what does not fit into `most` windows is left to the model to cut off.
    A blank passage is returned as it is: a vector of its headings alone would pretend that it says something.
    """
    made = layout(
        text,
        tuple(trail),
        window_tokens=window_tokens,
        most=most,
        tokens=tokens,
        measure=lambda start, end: tokens(text[start:end]),
    )
    return [made.head + text[start:end] for start, end in made.parts]


def layout(
    text: str,
    trail: tuple[str, ...],
    *,
    window_tokens: int,
    most: int,
    tokens: Callable[[str], float],
    measure: Callable[[int, int], float],
) -> Layout:
    """The same as `windows` says, in offsets. `measure` gives the tokens between two offsets of the text, for a caller
    who knows them without counting; `tokens` counts in a string.
    """
    if not text or text.isspace():
        return Layout("", 0.0, [(0, len(text))], measure(0, len(text)))
    head, head_tokens = _head(trail, window_tokens, tokens) if trail else ("", 0.0)
    start = _after_own_heading(text, trail) if head else 0
    room = max(1.0, window_tokens - head_tokens)
    size = measure(start, len(text))
    count = max(1, min(ceil(size / room / TOLERANCE), most))
    return Layout(head, head_tokens, _parts(text, start, count), size)


def _after_own_heading(text: str, trail: Sequence[str]) -> int:
    """Where the text goes on after the heading that it begins with, where the trail already says it: said twice, marks
    and all, it takes room and weight from the rest (nDCG@10 of the dense leg +.004 to +.009).
    """
    found = _HEADING.match(text)
    if found is None or found[1].split() != trail[-1].split():
        return 0
    rest = text[found.end() :]
    return found.end() if rest and not rest.isspace() else 0


@lru_cache(maxsize=256)
def _head(trail: tuple[str, ...], window_tokens: int, tokens: Callable[[str], float]) -> tuple[str, float]:
    """The head and its tokens. Kept, because the passages of a section follow one another."""
    kept = [" ".join(part.split()) for part in trail if part and not part.isspace()]
    while kept:
        head = " > ".join(kept) + "\n\n"
        if (size := tokens(head)) <= window_tokens * TRAIL_SHARE:
            return head, size
        kept = kept[1:]
    return "", 0.0


def _parts(text: str, begin: int, count: int) -> list[tuple[int, int]]:
    if count == 1:
        return [(begin, len(text))]
    size = (len(text) - begin) / count
    reach = int(size * SEARCH_SHARE)
    cuts = [begin]
    for index in range(1, count):
        cuts.append(max(cuts[-1], _cut(text, begin, begin + int(size * index), reach)))
    spans = pairwise([*cuts, len(text)])
    return [(start, end) for start, end in spans if start < end and not text[start:end].isspace()]


def _cut(text: str, begin: int, near: int, reach: int) -> int:
    """The end of a paragraph, line or word nearest before or after `near`; `near` itself when there is none."""
    for mark in ("\n\n", "\n", " "):
        before = text.rfind(mark, max(begin, near - reach), near)
        after = text.find(mark, near, near + reach)
        if before >= 0 or after >= 0:
            # Both ends of `mark`, never beyond `near` the one, always beyond it the other.
            back, on = before + len(mark), after + len(mark)
            return back if after < 0 or (before >= 0 and near - back <= on - near) else on
    return near
