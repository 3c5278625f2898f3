"""What PDF text needs before it is a document: marks out, halves of words joined, repeated head lines once.

Kept as printed are all characters but ligatures and Arabic shapes, which become their letters: nobody types those,
and the words are compared in compatibility form (NFKC) wherever they are looked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from hermes_lance.core.scripts import script_of

_CID = re.compile(r"\(cid:\d+\)")
_HYPHEN = re.compile(r"(\w+)[\ufffe\x02\xad](?:\r\n|\r|\n)?(\w*)")
_PLAIN_HYPHEN = re.compile(r"([^\W\d_]+)[-\u2010]\n([^\W\d_]+)")
_COMPOUND = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LONGER_WORD = re.compile(r"[^\W\d_]{3,}")
# Ligatures and Arabic shapes: glyphs of print that nobody types in a question.
_GLYPHS = re.compile(r"[\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]+")
_CONTROLS = {code: None for code in range(32) if code not in (9, 10)} | dict.fromkeys((0x7F, 0xAD, 0xFFFE, 0xFFFF))
_UNMAPPED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd\ue000-\uf8ff\U000f0000-\U0010fffd]")
_GARBLED_SHARE = 0.2
_GARBLED_WORDS = 5
_EDGE_LINES = 2
_HEAD_CHARS = 120
_LONG_FILE_PAGES = 8
_HEAD_PAGES = 4
_HEAD_SHARE = 0.4
_DIGITS = re.compile(r"\d+")
_ROMAN_END = re.compile(r"(?:^|(?<=\s))[ivxl]{1,7}$", re.IGNORECASE)


@dataclass(slots=True)
class Cleaned:
    """Pages as a document has them."""

    pages: list[str]
    unmapped: dict[int, float] = field(default_factory=dict)
    """Page from 1 to the share of its characters whose glyphs name no letter, from one in a hundred on."""
    garbled: list[int] = field(default_factory=list)
    """Pages, from 1, with fonts that do not say which letters their glyphs are; what can be read of them is kept."""


def cleaned(pages: Sequence[str]) -> Cleaned:
    """Pages with line-end hyphens resolved, line ends as newlines, glyphs as letters, running heads once."""
    made = Cleaned([])
    told = _Words(pages)
    for number, text in enumerate(pages, 1):
        lost = len(_UNMAPPED.findall(text)) - text.count("\x02") + len(_CID.findall(text))
        seen = max(1, len(text) - text.count(" ") - text.count("\r\n") * 2)
        if lost * 100 >= seen:
            made.unmapped[number] = lost / seen
        if lost > _GARBLED_SHARE * seen:
            made.garbled.append(number)
            text = _readable_lines(text)
        text = clean_page(text, told)
        if _is_garbled(text):
            made.garbled.append(number)
            text = ""
        made.pages.append(text)
    made.pages = without_running_lines(made.pages)
    return made


def clean_page(text: str, told: _Words | None = None) -> str:
    """One page, or a cell of a table; `told` knows the words of the document, to judge hyphens by."""
    if "(cid:" in text:
        text = _CID.sub("", text)
    if told is not None and ("\ufffe" in text or "\x02" in text or "\xad" in text):
        text = _HYPHEN.sub(told.joined, text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)
    if told is not None and ("-\n" in text or "\u2010\n" in text):
        text = _PLAIN_HYPHEN.sub(told.joined_if_known, text)
    return text if text.isascii() else _GLYPHS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


class _Words:
    """The words of a document, but for the halves that a line end has made, and its hyphenated compounds."""

    def __init__(self, pages: Sequence[str]) -> None:
        self.words: set[str] = set()
        self.compounds: set[str] = set()
        self.prefixes: Counter[str] = Counter()
        if not any(mark in text for text in pages for mark in ("\ufffe", "\x02", "\xad", "-\n", "-\r\n", "\u2010")):
            return
        for text in pages:
            whole = _PLAIN_HYPHEN.sub(" ", _HYPHEN.sub(" ", text).replace("\r\n", "\n"))
            self.words.update(word.lower() for word in _WORD.findall(whole))
            self.compounds.update(word.lower().replace("\u2010", "-") for word in _COMPOUND.findall(whole))
        self.prefixes.update(compound.partition("-")[0] for compound in self.compounds)

    def joined(self, found: re.Match[str]) -> str:
        """The halves at a marked hyphen as one word, unless the document says that the hyphen is a true one."""
        left, right = found[1], found[2]
        if not right:
            return f"{left}-"
        return left + right if self._is_one_word(left, right) else f"{left}-{right}"

    def joined_if_known(self, found: re.Match[str]) -> str:
        """The halves at a hyphen that nobody has marked: joined only into a word that the document has elsewhere."""
        return found[1] + found[2] if (found[1] + found[2]).lower() in self.words else found[0]

    def _is_one_word(self, left: str, right: str) -> bool:
        first, second = left.lower(), right.lower()
        if first + second in self.words:
            return True
        if f"{first}-{second}" in self.compounds:
            return False
        if left[-1].isdigit() or right[0].isdigit() or (right[0].isupper() and left[-1].islower()):
            return False
        if len(left) < 3 or len(right) < 3:
            return True
        # `over-` in two other compounds, or two words that stand elsewhere.
        return self.prefixes[first] < 2 and not (first in self.words and second in self.words)


def _readable_lines(text: str) -> str:
    """The lines without a nameless glyph, most of whose characters are letters or digits."""
    lines = text.replace("\r\n", "\n").split("\n")
    kept = [line for line in lines if not _UNMAPPED.search(line) and not _CID.search(line)]
    return "\n".join(line for line in kept if sum(map(str.isalnum, line)) * 2 > len("".join(line.split())))


def _is_garbled(text: str) -> bool:
    """Whether the letters are those of many scripts mixed within words, as fonts of a map of their own give them."""
    if text.isascii():
        return False
    words = _LONGER_WORD.findall(text)
    if len(words) < _GARBLED_WORDS:
        return False
    mixed = sum(len({_script(char) for char in word[:12]} - {None}) > 2 for word in words if not word.isascii())
    return mixed > _GARBLED_SHARE * len(words)


def _script(char: str) -> str | None:
    # Japanese mixes three in a word, and Latin names with them.
    script = script_of(char)
    return "Han" if script in {"Hiragana", "Katakana"} else script


def without_running_lines(pages: list[str]) -> list[str]:
    """Pages without the head and foot lines that many of them share; the first page that has one keeps it.

    A line counts as the same whatever its numbers are. It must stand among the outermost two lines of at least four
    pages, and of two in five from its first page to its last. Files of a few pages keep theirs: there they do no harm,
    and what repeats may be the matter.
    """
    if len(pages) < _LONG_FILE_PAGES:
        return pages
    places: defaultdict[str, list[int]] = defaultdict(list)
    edges = [_edges(text) for text in pages]
    for number, lines in enumerate(edges):
        for key in {_key(line) for line in lines}:
            places[key].append(number)
    repeated = {
        key: found[0]
        for key, found in places.items()
        if len(found) >= _HEAD_PAGES and len(found) >= _HEAD_SHARE * (found[-1] - found[0] + 1) and _is_worded(key)
    }
    if not repeated:
        return pages
    return [_without(text, number, repeated) if edges[number] else text for number, text in enumerate(pages)]


def _edges(text: str) -> list[str]:
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) <= 2 * _EDGE_LINES:
        return []
    return [line for line in (*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:]) if len(line) <= _HEAD_CHARS]


def _key(line: str) -> str:
    return _ROMAN_END.sub("#", _DIGITS.sub("#", " ".join(line.split()).casefold()))


def _is_worded(key: str) -> bool:
    # A number alone is a page number here and a cell of a table there; it does no harm either way.
    return sum(char.isalpha() for char in key) >= 3


def _without(text: str, number: int, repeated: dict[str, int]) -> str:
    lines = text.split("\n")
    filled = [index for index, line in enumerate(lines) if line.strip()]
    outer = {*filled[:_EDGE_LINES], *filled[-_EDGE_LINES:]}
    return "\n".join(
        line for index, line in enumerate(lines) if index not in outer or repeated.get(_key(line), number) >= number
    )
