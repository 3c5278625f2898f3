"""Marks text that tries to steer its reader: orders to an assistant, forged roles and delimiters, tool bait, hiding.

Rules, not a model: each finding names its rule and its place. One automaton looks for the anchors of all rules at once;
an expression runs only near an anchor of its own, so that ordinary text costs one pass. Nothing here decides what is
done with a flag, and text without a flag is not thereby safe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from hermes_lance.core.signature import digest
from hermes_lance.parse.suspicion_rules import ENCODED, FLAGS, Finding, Rule, compiled, rules, sources, words

CODE = "1"
"""Raised when the code beside the rules finds other things than before. The rules themselves are hashed as they are."""


@cache
def signature() -> str:
    """Changes with the rules: files are then read again for their flags, and no text is embedded anew."""
    return digest([CODE, *sources()])


def flags(text: str) -> tuple[str, ...]:
    """The flags that a text deserves, in the order of `FLAGS`; none for nearly every text."""
    return flags_between(findings(text), 0, len(text))


def flags_between(found: Sequence[Finding], start: int, end: int) -> tuple[str, ...]:
    """The flags of findings that touch these characters: a signal across two passages marks both."""
    there = {one.flag for one in found if one.start < end and one.end > start}
    return tuple(flag for flag in FLAGS if flag in there)


def findings(text: str) -> list[Finding]:
    """Everything that a rule says of a text, by place. Time grows with the length of the text, whatever it holds."""
    places = _matcher().places(text)
    if not places:
        return []
    disguised = places.pop(_DISGUISE, None) is not None
    found = _at(places, text)
    if disguised:
        from hermes_lance.parse.suspicion_hidden import hidden_findings

        found += hidden_findings(text, plain_findings, found)
    return sorted(found, key=lambda one: (one.start, one.end, one.rule))


def plain_findings(text: str) -> list[Finding]:
    """What stands in a text as it is, or encoded in it."""
    return _at(_matcher().places(text), text)


def _at(places: Mapping[int, list[int]], text: str) -> list[Finding]:
    rules = _matcher().rules
    found: list[Finding] = []
    for number, hits in places.items():
        if number == _DISGUISE:
            continue
        rule = rules[number]
        if isinstance(rule, Rule):
            found += _matches(rule, compiled(rule.pattern), text, hits)
        else:
            found += rule.findings(text, hits, order_like)
    return found


def order_like(text: str) -> bool:
    """Whether text that somebody took pains to hide speaks to an assistant; less is asked than of open text."""
    return compiled(words()["HIDDEN_ORDER"]).search(small(text)) is not None or any(
        one.flag != ENCODED for one in plain_findings(text)
    )


def _matches(rule: Rule, expression: re.Pattern[str], text: str, hits: Iterable[int]) -> Iterator[Finding]:
    for start, end in _windows(hits, rule.before, rule.after, len(text)):
        # Small letters and an expression that compares them as they are: twice as fast as one that folds case.
        begin = max(0, start - _LOOK_BEHIND_CHARS)
        for match in expression.finditer(small(text[begin:end]), start - begin):
            if match.end() > match.start():
                yield Finding(rule.flag, begin + match.start(), begin + match.end(), rule.name)


def small(text: str) -> str:
    """`text` in small letters, character for character."""
    made = text.lower()
    # One letter of all becomes two.
    return made if len(made) == len(text) else text.replace("\u0130", "i").lower()


def _windows(hits: Iterable[int], before: int, after: int, length: int) -> Iterator[tuple[int, int]]:
    """Rising stretches around the hits, joined where they meet, so that no character is looked at twice."""
    begin = end = -1
    for hit in hits:
        if begin >= 0 and hit - before <= end:
            end = min(length, hit + after)
            continue
        if begin >= 0:
            yield begin, end
        begin, end = max(0, hit - before), min(length, hit + after)
    if begin >= 0:
        yield begin, end


_LOOK_BEHIND_CHARS = 32
"""What an expression may see of the text before its window."""
_BLANKS = b"\t\n\r\x0b\x0c*\"'`()>~!?"
_FOLDED = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ" + _BLANKS, b"abcdefghijklmnopqrstuvwxyz" + b" " * len(_BLANKS))
"""Case, line ends and what stands around words do not count where anchors are looked for."""


_DISGUISE = -1
"""Stands for a rule: characters that nobody sees, or that pass for others, are somewhere in the text."""
_LITTLE_BYTES = 4_000_000
"""Read by the automaton that is made in no time; the one that reads twice as fast takes some 30 ms to make."""


class _Matcher:
    """The anchors of all rules, looked for in UTF-8 whose ASCII letters were made small."""

    def __init__(self, rules: Sequence[Any], disguises: Iterable[bytes]) -> None:
        self.rules = rules
        users: dict[bytes, set[int]] = {one: {_DISGUISE} for one in disguises}
        for number, rule in enumerate(rules):
            for anchor in rule.anchors:
                for form in _forms(anchor, whole_words=isinstance(rule, Rule)):
                    users.setdefault(form.encode().translate(_FOLDED), set()).add(number)
        self._any = _Automaton(users)
        # Most texts are ASCII, and an automaton that knows nothing else is a quarter of the size.
        self._ascii = _Automaton({anchor: numbers for anchor, numbers in users.items() if anchor.isascii()})

    def places(self, text: str) -> dict[int, list[int]]:
        """For each rule that has an anchor in the text, where its anchors end, in characters, rising."""
        octets = b" " + text.encode("utf-8", "surrogatepass").translate(_FOLDED)
        plain = len(octets) == len(text) + 1
        automaton = self._ascii if plain else self._any
        hits = automaton.hits(octets)
        if not hits:
            return {}
        places: dict[int, list[int]] = {}
        at, offset = 1, 0
        for anchor, _, end in hits:
            numbers = automaton.users[anchor]
            if numbers[0] == _DISGUISE:
                places[_DISGUISE] = []
                continue
            if plain:
                offset = end - 1
            else:
                offset += len(octets[at:end].decode("utf-8", "surrogatepass"))
                at = end
            for number in numbers:
                places.setdefault(number, []).append(offset)
        return places


def _forms(anchor: str, *, whole_words: bool) -> Iterator[str]:
    """An anchor as the automaton needs it."""
    if not anchor.isascii():
        # ASCII letters only are folded: capitals of other scripts are anchors of their own.
        yield from {anchor, anchor.upper(), anchor.capitalize()}
        return
    # Within words the automaton then rests in its first state, and few of its states are ever touched: what costs is
    # to fetch them anew for every file.
    begun = f" {anchor}" if whole_words and anchor[0].isalpha() else anchor
    yield begun
    if " " in anchor:
        yield begun[0] + begun[1:].replace(" ", "  ")  # a line end may be two characters


class _Automaton:
    """Finds all of its anchors in one pass."""

    def __init__(self, users: Mapping[bytes, set[int]]) -> None:
        self._anchors = list(users)
        self.users = [tuple(sorted(numbers)) for numbers in users.values()]
        """For each anchor the numbers of the rules that it stands for."""
        self._engine: Any = None
        self._read = 0

    def hits(self, octets: bytes) -> list[tuple[int, int, int]]:
        """Number, begin and end of each anchor in the octets, by end."""
        if self._engine is None or 0 <= self._read <= _LITTLE_BYTES < self._read + len(octets):
            self._make(self._read + len(octets) > _LITTLE_BYTES)
        self._read += len(octets)
        found: list[tuple[int, int, int]] = self._engine.find_matches_as_indexes(octets, overlapping=True)
        return found

    def _make(self, much: bool) -> None:
        from ahocorasick_rs import BytesAhoCorasick, Implementation

        kind = Implementation.DFA if much else Implementation.ContiguousNFA
        self._engine = BytesAhoCorasick(self._anchors, implementation=kind)


@cache
def _matcher() -> _Matcher:
    from hermes_lance.parse.suspicion_encoded import DECODERS
    from hermes_lance.parse.suspicion_hidden import DISGUISES

    return _Matcher([*rules(), *DECODERS], DISGUISES)
