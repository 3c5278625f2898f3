"""Writing systems: which script a text is in, and the runs that need a tokenizer of their own.

The ranges are those of the Unicode block chart, cut down to letters and the marks that belong to them. Rare scripts
that are missing here count as `Other` and are split at spaces like any other.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache

_RANGES: tuple[tuple[int, int, str], ...] = (
    (0x0041, 0x005A, "Latin"),
    (0x0061, 0x007A, "Latin"),
    (0x00AA, 0x00AA, "Latin"),
    (0x00BA, 0x00BA, "Latin"),
    (0x00C0, 0x00D6, "Latin"),
    (0x00D8, 0x00F6, "Latin"),
    (0x00F8, 0x02AF, "Latin"),
    (0x0370, 0x0373, "Greek"),
    (0x0376, 0x037D, "Greek"),
    (0x037F, 0x03FF, "Greek"),
    (0x0400, 0x052F, "Cyrillic"),
    (0x0531, 0x0556, "Armenian"),
    (0x0560, 0x0588, "Armenian"),
    (0x0591, 0x05BD, "Hebrew"),
    (0x05BF, 0x05BF, "Hebrew"),
    (0x05C1, 0x05C2, "Hebrew"),
    (0x05C4, 0x05C5, "Hebrew"),
    (0x05C7, 0x05F2, "Hebrew"),
    (0x0610, 0x061A, "Arabic"),
    (0x0620, 0x0669, "Arabic"),
    (0x066E, 0x06D3, "Arabic"),
    (0x06D5, 0x06FF, "Arabic"),
    (0x0710, 0x074F, "Syriac"),
    (0x0750, 0x077F, "Arabic"),
    (0x0780, 0x07B1, "Thaana"),
    (0x07C0, 0x07F5, "Nko"),
    (0x08A0, 0x08FF, "Arabic"),
    (0x0900, 0x0963, "Devanagari"),
    (0x0966, 0x096F, "Devanagari"),
    (0x0971, 0x097F, "Devanagari"),
    (0x0980, 0x09F1, "Bengali"),
    (0x0A01, 0x0A75, "Gurmukhi"),
    (0x0A81, 0x0AEF, "Gujarati"),
    (0x0AF9, 0x0AFF, "Gujarati"),
    (0x0B01, 0x0B6F, "Oriya"),
    (0x0B71, 0x0B77, "Oriya"),
    (0x0B82, 0x0BEF, "Tamil"),
    (0x0C00, 0x0C6F, "Telugu"),
    (0x0C80, 0x0C83, "Kannada"),
    (0x0C85, 0x0CF3, "Kannada"),
    (0x0D00, 0x0D6F, "Malayalam"),
    (0x0D7A, 0x0D7F, "Malayalam"),
    (0x0D81, 0x0DF3, "Sinhala"),
    (0x0E01, 0x0E3A, "Thai"),
    (0x0E40, 0x0E4E, "Thai"),
    (0x0E50, 0x0E59, "Thai"),
    (0x0E81, 0x0EDF, "Lao"),
    (0x0F00, 0x0F00, "Tibetan"),
    (0x0F18, 0x0F39, "Tibetan"),
    (0x0F40, 0x0F84, "Tibetan"),
    (0x0F86, 0x0FBC, "Tibetan"),
    (0x1000, 0x1049, "Myanmar"),
    (0x1050, 0x109D, "Myanmar"),
    (0x10A0, 0x10FA, "Georgian"),
    (0x10FC, 0x10FF, "Georgian"),
    (0x1100, 0x11FF, "Hangul"),
    (0x1200, 0x135F, "Ethiopic"),
    (0x1380, 0x138F, "Ethiopic"),
    (0x13A0, 0x13FD, "Cherokee"),
    (0x1401, 0x166C, "Canadian_Aboriginal"),
    (0x166F, 0x167F, "Canadian_Aboriginal"),
    (0x1780, 0x17D3, "Khmer"),
    (0x17D7, 0x17D7, "Khmer"),
    (0x17DC, 0x17E9, "Khmer"),
    (0x1810, 0x18AA, "Mongolian"),
    (0x1C80, 0x1C8A, "Cyrillic"),
    (0x1C90, 0x1CBF, "Georgian"),
    (0x1E00, 0x1EFF, "Latin"),
    (0x1F00, 0x1FFE, "Greek"),
    (0x2C60, 0x2C7F, "Latin"),
    (0x2D00, 0x2D2D, "Georgian"),
    (0x2D80, 0x2DDE, "Ethiopic"),
    (0x2DE0, 0x2DFF, "Cyrillic"),
    (0x3005, 0x3007, "Han"),
    (0x3041, 0x3096, "Hiragana"),
    (0x309D, 0x309F, "Hiragana"),
    (0x30A1, 0x30FA, "Katakana"),
    (0x30FC, 0x30FF, "Katakana"),
    (0x3105, 0x312F, "Bopomofo"),
    (0x3131, 0x318E, "Hangul"),
    (0x31A0, 0x31BF, "Bopomofo"),
    (0x31F0, 0x31FF, "Katakana"),
    (0x3400, 0x4DBF, "Han"),
    (0x4E00, 0x9FFF, "Han"),
    (0xA000, 0xA48C, "Yi"),
    (0xA640, 0xA69F, "Cyrillic"),
    (0xA722, 0xA7FF, "Latin"),
    (0xA960, 0xA97C, "Hangul"),
    (0xA9E0, 0xA9FE, "Myanmar"),
    (0xAA60, 0xAA7F, "Myanmar"),
    (0xAB30, 0xAB64, "Latin"),
    (0xAB70, 0xABBF, "Cherokee"),
    (0xAC00, 0xD7FB, "Hangul"),
    (0xF900, 0xFAD9, "Han"),
    (0xFB00, 0xFB06, "Latin"),
    (0xFB13, 0xFB17, "Armenian"),
    (0xFB1D, 0xFB4F, "Hebrew"),
    (0xFB50, 0xFBB1, "Arabic"),
    (0xFBD3, 0xFD3D, "Arabic"),
    (0xFD50, 0xFDFB, "Arabic"),
    (0xFE70, 0xFEFC, "Arabic"),
    (0xFF21, 0xFF3A, "Latin"),
    (0xFF41, 0xFF5A, "Latin"),
    (0xFF66, 0xFF9F, "Katakana"),
    (0xFFA0, 0xFFDC, "Hangul"),
    (0x1B000, 0x1B16F, "Katakana"),
    (0x20000, 0x323AF, "Han"),
)
_STARTS = tuple(start for start, _, _ in _RANGES)

WITHOUT_SPACES = frozenset({"Han", "Hiragana", "Katakana", "Bopomofo", "Yi", "Thai", "Lao", "Khmer", "Myanmar"})
"""Scripts that put no space between words, so that a run of them is not one word."""

LOOKED_AT_CHARS = 20_000
"""Characters of a text that decide its script; more would only cost time."""


def script_of(char: str) -> str | None:
    """Name of the script of one letter or of a mark that belongs to letters; none for anything else."""
    code = ord(char)
    at = bisect_right(_STARTS, code) - 1
    if at >= 0 and code <= _RANGES[at][1]:
        return _RANGES[at][2]
    return "Other" if code > 0x2AF and char.isalpha() else None


def script_shares(text: str) -> Mapping[str, float]:
    """Script name to its share of the letters of `text`, 0 to 1; empty when there is no letter."""
    found: Counter[str] = Counter()
    for char, times in Counter(text[:LOOKED_AT_CHARS]).items():
        script = script_of(char)
        if script is not None and not char.isdigit():
            found[script] += times
    total = sum(found.values())
    return {script: times / total for script, times in sorted(found.items())}


def dominant_script(text: str) -> str:
    """The script of most letters (first by name among equals); the empty string when there is no letter."""
    shares = script_shares(text)
    return max(sorted(shares), key=lambda script: shares[script]) if shares else ""


def share_outside(text: str, scripts: Collection[str]) -> float:
    """Share of the letters of `text` that are in none of `scripts`; 0 when `scripts` is empty or there is no letter."""
    if not scripts:
        return 0.0
    return sum(share for script, share in script_shares(text).items() if script not in scripts)


def _character_class(wanted: Collection[str]) -> str:
    return "".join(f"\\U{start:08x}-\\U{end:08x}" for start, end, script in _RANGES if script in wanted)


_SPACED = {script for _, _, script in _RANGES} - WITHOUT_SPACES - {"Latin"}


@cache
def runs_without_spaces() -> re.Pattern[str]:
    """Finds maximal runs of the scripts that put no space between words. Compiled late: most text never needs it."""
    return re.compile(f"[{_character_class(WITHOUT_SPACES)}]+")


@cache
def spaced_words() -> re.Pattern[str]:
    """Finds words of the scripts other than Latin that have spaces, each with its marks and joiners."""
    letters = _character_class(_SPACED)
    return re.compile(f"[{letters}][{letters}\\u0300-\\u036f\\u200c\\u200d]*")
