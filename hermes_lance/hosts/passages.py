"""Hits as people read them: place, section, score, and the few lines that speak to the question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hermes_lance.core.records import Hit
from hermes_lance.core.words import Analyser
from hermes_lance.hosts.output import Console, columns_of, cut, cut_path, shown, shown_lines, wrapped
from hermes_lance.search.page import place

EXCERPT_LINES = 4
INDENT = "   "
_WORD = re.compile(r"\w+")
_MARKS = {"changed": "changed on disk since it was indexed", "unverified": "not compared with the disk"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a question can be seen in a line: stems of words, and pieces of scripts without spaces."""

    stems: frozenset[str]
    pieces: tuple[str, ...]

    @classmethod
    def of(cls, question: str) -> Wanted:
        """The tokens of a question, stop words left out."""
        analysed = Analyser().query(question)
        return cls(frozenset(analysed.terms), (*analysed.pairs, *analysed.grams))

    def found_in(self, line: str) -> frozenset[str]:
        """Those that a line holds."""
        lowered = line.lower()
        words = {stem for _, stem in Analyser().words(line)} if self.stems else set()
        return frozenset(words & self.stems) | {piece for piece in self.pieces if piece in lowered}


def print_hits(console: Console, hits: Sequence[Hit], question: str, *, first: int = 1) -> None:
    """One block for each hit; `first` numbers the first one."""
    wanted = Wanted.of(question)
    for number, hit in enumerate(hits, start=first):
        if number > first:
            console.line()
        console.lines(heading(console, number, hit))
        for line in excerpt(hit.text, wanted, console.width - len(INDENT)):
            console.line((INDENT + (_highlighted(console, line, wanted) if console.colour else line)).rstrip())


def heading(console: Console, number: int, hit: Hit) -> list[str]:
    """`1. path:12-18  [section > sub-section]  2.31`, on two lines where one does not hold it; then the marks."""
    start = f"{number}. "
    where = shown(hit.path) + shown(place(hit))
    score = "" if hit.score is None else f"{hit.score:.2f}"
    trail = " > ".join(shown(part) for part in hit.section) or shown(hit.symbol or "")
    room = console.width - len(start) - len(score) - 2
    where = cut_path(where, room)
    lines = []
    left = room - columns_of(where) - 2
    inline = trail and columns_of(trail) + 2 <= left
    head = start + console.styled(where, "cyan")
    if inline:
        head += "  " + console.styled(f"[{trail}]", "dim")
    lines.append(f"{head}  {score}".rstrip())
    if trail and not inline:
        lines.append(INDENT + console.styled(f"[{cut(trail, console.width - len(INDENT) - 2, keep_end=True)}]", "dim"))
    marks = [_MARKS[hit.freshness]] if hit.freshness in _MARKS else []
    marks += [f"flag: {shown(flag)}" for flag in hit.flags]
    lines.extend(INDENT + console.styled(cut(f"({mark})", console.width - len(INDENT)), "yellow") for mark in marks)
    return lines


def excerpt(text: str, wanted: Wanted, width: int) -> list[str]:
    """At most `EXCERPT_LINES` lines of `text`, those with most of what is wanted; the first ones when none has any."""
    lines = [line for raw in shown_lines(text) for line in _fitted(raw.rstrip(), width)]
    found = [wanted.found_in(line) for line in lines]
    best, most = 0, (0, 0)
    for at in range(len(lines)):
        window = found[at : at + EXCERPT_LINES]
        if not window[0]:
            continue  # a window begins with a line that says something
        worth = (len(frozenset().union(*window)), sum(map(len, window)))
        if worth > most:
            best, most = at, worth
    # The line above often names what follows, when there is room for it.
    start = max(0, min(best, max(len(lines) - EXCERPT_LINES, 0)))
    if start == best and best > 0 and not any(found[best + EXCERPT_LINES - 1 : best + EXCERPT_LINES]):
        start -= 1
    return _without_margin(lines[start : start + EXCERPT_LINES])


def _fitted(line: str, width: int) -> list[str]:
    if columns_of(line) <= width:
        return [line]
    margin = line[: len(line) - len(line.lstrip())][: width // 3]
    return wrapped(line, width, indent=margin)


def _without_margin(lines: list[str]) -> list[str]:
    """Lines without the blanks that all of them begin with, and without empty lines at either end."""
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:] for line in lines]


def _highlighted(console: Console, line: str, wanted: Wanted) -> str:
    surfaces = {surface for surface, stem in Analyser().words(line) if stem in wanted.stems}

    def mark(match: re.Match[str]) -> str:
        return console.styled(match[0], "match") if match[0].lower() in surfaces else match[0]

    return _WORD.sub(mark, line)
