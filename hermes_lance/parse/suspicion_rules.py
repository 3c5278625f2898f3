"""Reads the rules of suspicion, which are data: a file for each language in `rules/`, lists of words in `words.txt`.

A rule has a name, the flag it gives, its anchors, and an expression that is tried near each anchor. Anchors are
literals in small letters, separated by semicolons; `(a|b) (c|d)` stands for four of them. In an expression a blank
stands for blanks, line ends and the marks that Markdown puts between words, `<LIST>` for a list of words. A line that
begins with `or:` is an alternative; one that begins with blanks continues the line before, with nothing in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

FOLDER = Path(__file__).with_name("rules")
_WORDS = "words.txt"
_GAP = r"""[\s>*_#|"'`~]{1,6}"""

HIDDEN = "suspect:hidden-characters"
ENCODED = "suspect:encoded-payload"
FLAGS = (
    "suspect:orders",
    "suspect:role-forgery",
    "suspect:delimiter-forgery",
    "suspect:tool-bait",
    HIDDEN,
    ENCODED,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason for a flag: the characters that made a rule fire, and its name."""

    flag: str
    start: int
    end: int
    rule: str


@dataclass(frozen=True, slots=True)
class Rule:
    """An expression that is tried around each of its anchors, `before` and `after` characters of it."""

    name: str
    flag: str
    anchors: tuple[str, ...]
    pattern: str
    before: int
    after: int


def sources() -> tuple[str, ...]:
    """The files of rules as text, in stable order."""
    return tuple(file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.txt")))


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, file by file. Raises ValueError for a line that says nothing."""
    files = [file for file in sorted(FOLDER.glob("*.txt")) if file.name != _WORDS]
    return tuple(rule for file in files for rule in _rules(file))


@cache
def words() -> dict[str, str]:
    """The lists of words, each as one group of an expression; lists that name others are filled in."""
    lists: dict[str, str] = {}
    for name, value in _entries(FOLDER / _WORDS):
        lists[name] = f"(?:{_filled(value, lists)})"
    return lists


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """An expression of a rule as Python has it, for text in small letters."""
    return re.compile(_filled(pattern, words()).replace(" ", _GAP))


def _filled(pattern: str, lists: dict[str, str]) -> str:
    return re.sub(r"<([A-Z_]+)>", lambda found: lists[found[1]], pattern)


def _rules(file: Path) -> Iterator[Rule]:
    known: dict[str, str] = {}
    for key, value in [*_entries(file), ("rule", "")]:
        if key == "or":
            known["match"] += f"|{value}"
        elif key != "rule":
            known[key] = value
        elif known:
            before, after = map(int, known["near"].split())
            flag = f"suspect:{known['flag']}"
            anchors = tuple(_anchors(known["anchors"]))
            yield Rule(known["rule"], flag, anchors, known["match"], before, after)
            known = {"rule": value}
        else:
            known = {"rule": value}


def _anchors(value: str) -> Iterator[str]:
    for one in value.split(";"):
        # Quotation marks keep the blanks at the ends of an anchor.
        literal = re.fullmatch(r'\s*"(.+)"\s*', one)
        if literal is not None:
            yield literal[1]
            continue
        parts = [[word.strip() for word in part.strip("()").split("|")] for part in re.findall(r"\([^)]+\)", one)]
        yield from (" ".join(pair) for pair in product(*parts)) if len(parts) > 1 else (one.strip(),)


def _entries(file: Path) -> Iterator[tuple[str, str]]:
    key = value = ""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            value += line.lstrip(" ") if key != "anchors" else " " + line.strip()
            continue
        if key:
            yield key, value.strip(" ") if key == "anchors" else value
        key = ""
        if line and not line.startswith("#"):
            key, colon, value = line.partition(": ")
            if not colon and not line.endswith(":"):
                raise ValueError(f"{file.name}: not a rule: {line}")
            key = key.rstrip(":")
    if key:
        yield key, value
