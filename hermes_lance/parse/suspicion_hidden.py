"""Characters that nobody sees, and letters that pass for others: what they hide, and that they hide it.

Soft hyphens, joiners and direction marks have honest uses, in Arabic, Persian and Indic text, in emoji, in words that
may be broken. A flag therefore needs a use that has none: tags and selectors that spell bytes, runs of zero-width
characters, letters of one word kept apart, directions overridden, or orders that appear once the disguise is off.
Source for directions in code: CVE-2021-42574 (Trojan Source).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from hermes_lance.parse.suspicion_rules import HIDDEN, Finding

_UNSEEN = "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0e\ufeff"
_ANY = re.compile(f"[{_UNSEEN}\U000e0000-\U000e007f\U000e0100-\U000e01ef]")
_RUNS = re.compile(
    # Tags, unless they follow the black flag of a region.
    "(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])[\U000e0001\U000e0020-\U000e007f]{2,}"
    # Selectors one after the other: a letter or an emoji has one at most.
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}"
    # Zero-width characters in a row. Joiners between letters stand alone.
    "|[\u200b-\u200d\u2060-\u2064\ufeff\u180e\u206a-\u206f]{6,}"
)
_APART = re.compile("(?:[A-Za-zÀ-ɏЀ-ӿ一-鿿ぁ-ヿ][\u200b-\u200d\u2060-\u2064\ufeff\u00ad]){5,}")
_OVERRIDE = re.compile("[\u202d\u202e][^\n\u202c]{3,400}")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TURNED = re.compile("[\u202b\u2067]")
_ALIKE = dict(
    zip(
        "асеоріхуѕјԁһԛԝІАВЕКМНОРСТХαεορυκιντΑΒΕΗΙΚΜΝΟΡΤΥΧ",
        "aceopixysjdhqwIABEKMHOPCTXaeopukivtABEHIKMNOPTYX",
        strict=True,
    )
)
_PLAIN = str.maketrans({**_ALIKE, "\u3000": " ", **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}})
_MIXED = re.compile(f"[a-z][{''.join(_ALIKE)}]|[{''.join(_ALIKE)}][a-z]", re.IGNORECASE)
_WIDE = re.compile("[\uff21-\uff3a\uff41-\uff5a]{3}")
_CONTEXT_CHARS = 400


_GROUPS = ("\u115f\u1160", "\u17b4\u17b5", "\u200b\u200f", "\u202a\u202e", "\u2060\u206f", "\ufe00\ufe0e")


def _disguises() -> Iterator[bytes]:
    """What betrays a disguise in UTF-8 folded to small letters: whole characters, or what groups of them begin with."""
    for group in _GROUPS:
        yield from (chr(code).encode() for code in range(ord(group[0]), ord(group[1]) + 1))
    yield from (one.encode() for one in "\u00ad\u034f\u180e\ufeff")
    yield from (b"\xf3\xa0" + bytes((third,)) for third in (0x80, 0x81, 0x84, 0x85, 0x86, 0x87))
    # A Latin letter before one that looks Latin. All pairs of all look-alikes would double the automaton.
    yield from ((chr(letter) + alike).encode() for letter in range(ord("a"), ord("z") + 1) for alike in "асеорі\u03bf")
    for pair in ("gn", "ns", "pr", "ss"):
        yield from ("".join(chr(ord(one) + 0xFEE0) for one in form).encode() for form in (pair, pair.upper()))


DISGUISES = tuple(_disguises())

Find = Callable[[str], list[Finding]]


def hidden_findings(text: str, find: Find, known: Sequence[Finding]) -> list[Finding]:
    """Findings about hidden characters, and those of `find` that only appear without the disguise."""
    found: list[Finding] = []
    if _ANY.search(text):
        found += [
            Finding(HIDDEN, one.start(), one.end(), "a run of characters nobody sees") for one in _RUNS.finditer(text)
        ]
        found += [Finding(HIDDEN, one.start(), one.end(), "letters kept apart") for one in _APART.finditer(text)]
        found += _directions(text)
        found += _revealed(text, find, known)
    if _WIDE.search(text) or _MIXED.search(text):
        # One character for one, so that places stay.
        found += _new(find(text.translate(_PLAIN)), known, lambda place: place, "letters that pass for others")
    return found


def _directions(text: str) -> Iterator[Finding]:
    for one in _OVERRIDE.finditer(text):
        if not _RIGHT_TO_LEFT.search(one[0]):
            yield Finding(HIDDEN, one.start(), one.end(), "a direction overridden")
    for one in _TURNED.finditer(text):
        begin = max(0, one.start() - _CONTEXT_CHARS)
        begin = max(begin, text.rfind("\n", begin, one.start()))
        stop = min(len(text), one.end() + _CONTEXT_CHARS)
        end = text.find("\n", one.end(), stop)
        if not _RIGHT_TO_LEFT.search(text, begin, end if end >= 0 else stop):
            yield Finding(HIDDEN, one.start(), one.end(), "a direction turned in a line without such letters")


def _revealed(text: str, find: Find, known: Sequence[Finding]) -> Iterator[Finding]:
    """What is found once the invisible characters are gone."""
    plain = find(_ANY.sub("", text))
    if not plain:
        return
    kept = [place for place, character in enumerate(text) if not _ANY.match(character)]
    yield from _new(plain, known, kept.__getitem__, "orders under unseen characters")


def _new(
    found: Sequence[Finding], known: Sequence[Finding], origin: Callable[[int], int], rule: str
) -> Iterator[Finding]:
    """Findings that are not known yet, by their place in the text as it is, each with one that says it was hidden."""
    there = {(one.rule, one.start) for one in known}
    for one in found:
        start, end = origin(one.start), origin(one.end - 1) + 1
        if (one.rule, start) not in there:
            yield Finding(one.flag, start, end, one.rule)
            yield Finding(HIDDEN, start, end, rule)
