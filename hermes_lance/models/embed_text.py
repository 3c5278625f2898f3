"""What exactly the embedder is given for one passage: its section trail and its text, in windows that it can read.

Never path, root or file name: they would tie a vector to where a file lies. Pure and without a tokenizer, because it
runs for every passage of a build before the first vector is made; the caller brings an estimate of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import ceil

RULES = 2
"""Part of the fingerprint of vectors; raised whenever the same passage would give other strings."""

TRAIL_SHARE = 0.25
"""A trail may take this much of the window; of a longer one the innermost headings are kept."""

TOLERANCE = 1.1
"""A passage this much over the window still gets one vector: the estimate is no better than that."""

SEARCH_SHARE = 0.2
"""How far from the even cut, as a share of a window, a better place to cut is looked for."""


_HEADING = re.compile(r"\s*#{1,6}[ \t]+([^\n]*?)[ \t#]*\n+")


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
    if not text or text.isspace():
        return [text]
    head = _head(trail, window_tokens, tokens)
    if head:
        text = _without_own_heading(text, trail)
    room = max(1.0, window_tokens - (tokens(head) if head else 0.0))
    count = max(1, min(ceil(tokens(text) / room / TOLERANCE), most))
    return [head + part for part in _parts(text, count)]


def _without_own_heading(text: str, trail: Sequence[str]) -> str:
    """The text without the heading that it begins with, where the trail already says it: said twice, marks and all,
    it takes room and weight from the rest (nDCG@10 of the dense leg +.004 to +.009).
    """
    found = _HEADING.match(text)
    if found is None or found[1].split() != trail[-1].split():
        return text
    rest = text[found.end() :]
    return rest if rest and not rest.isspace() else text


def _head(trail: Sequence[str], window_tokens: int, tokens: Callable[[str], float]) -> str:
    kept = [" ".join(part.split()) for part in trail if part and not part.isspace()]
    while kept:
        head = " > ".join(kept) + "\n\n"
        if tokens(head) <= window_tokens * TRAIL_SHARE:
            return head
        kept = kept[1:]
    return ""


def _parts(text: str, count: int) -> list[str]:
    if count == 1:
        return [text]
    size = len(text) / count
    reach = int(size * SEARCH_SHARE)
    cuts = [0]
    for index in range(1, count):
        cuts.append(max(cuts[-1], _cut(text, int(size * index), reach)))
    parts = [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]
    return [part for part in parts if part and not part.isspace()]


def _cut(text: str, near: int, reach: int) -> int:
    """The end of a paragraph, line or word nearest before or after `near`; `near` itself when there is none."""
    for mark in ("\n\n", "\n", " "):
        before = text.rfind(mark, max(0, near - reach), near)
        after = text.find(mark, near, near + reach)
        found = [at + len(mark) for at in (before, after) if at >= 0]
        if found:
            return min(found, key=lambda at: (abs(at - near), at))
    return near
