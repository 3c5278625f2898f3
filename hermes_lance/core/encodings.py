"""Which encoding bytes are in, when they are not UTF-8 and carry no mark: their NULs, escapes, own words, a guess.

Each answer is the name of a Python codec. Names that a file gives are read as browsers read them (a label such as
`iso-8859-1` stands for the Windows page that contains it), after the WHATWG Encoding Standard, section 4.2.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter

_HEAD_BYTES = 8192
_DETECT_BYTES = 65_536
_DECLARED_BYTES = 1024

_ASCII = bytes(range(128))
_PRINTABLE = bytes((*b"\t\n\r", *range(32, 127), *range(0xA0, 0x100)))
_LETTERS = re.compile(
    "[\t\n\r -~\u00a0-\u05ff\u0600-\u06ff\u0900-\u0eff\u10a0-\u11ff\u1e00-\u1fff\u2010-\u2026\u2030-\u203a\u20ac"
    "\u2116\u2122\u2190-\u21ff\u2500-\u25ff\u3000-\u30ff\u3105-\u318e\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\ufe30-\ufe6b\uff01-\uff9f\U0001f300-\U0001faff\U00020000-\U0003ffff]+"
)
"""What text of any living script is mostly made of."""
_EAST_ASIAN = "\u2e80"
"""From here on a script has thousands of characters."""


def wide(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, by where the NULs stand; None when `data` with NULs is something else.

    In text of any script some characters are ASCII (blanks, line ends), and of these one byte is no NUL and printable:
    always the same one. A program has NULs in every place.
    """
    head = data[:_HEAD_BYTES]
    if len(data) >= 8 and not len(data) % 4:
        for codec, zero in (("utf-32-le", 3), ("utf-32-be", 0)):
            quarter = head[zero::4]
            if quarter.count(0) == len(quarter) and head.count(0) * 2 >= len(head) and _reads(data, codec):
                return codec
    if len(data) % 2 or len(data) < 8:
        return None
    for codec, zero in (("utf-16-le", 1), ("utf-16-be", 0)):
        high, low = head[zero::2], head[1 - zero :: 2]
        nuls, low_nuls = high.count(0), low.count(0)
        # Some Han characters end in a NUL; others then have a byte beyond ASCII there, unlike text with NULs in it.
        of_han = low_nuls * 10 <= len(low) and len(low.translate(None, _ASCII)) * 5 > len(low)
        if not nuls or (low_nuls > max(2, nuls // 2) and not of_han):
            continue
        # The bytes beside NULs: where they are not printable, this is no text in this byte order.
        beside = bytes([byte for byte, above in zip(low, high, strict=False) if not above])
        if len(beside.translate(None, _PRINTABLE)) * 50 <= len(beside) and _reads(data, codec):
            return codec
    return None


def _reads(data: bytes, codec: str) -> bool:
    """Whether all but a few characters decode, and the head into those of one or two living scripts."""
    text = data.decode(codec, "replace")
    if text.count("\ufffd") * 100 > len(text):
        return False
    head = text[: _HEAD_BYTES // 2]
    if len(_LETTERS.sub("", head)) * 20 > len(head):
        return False
    # Numbers of four bytes decode as well, into letters of a dozen alphabets.
    blocks = Counter(ord(char) >> 8 for char in head if char < _EAST_ASIAN)
    return sum(count for _, count in blocks.most_common(3)) * 10 >= blocks.total() * 9


_STRANGE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd-\uffff]+")


def strange(text: str) -> bool:
    """Whether text behind a mark is none: sound and pictures can begin with the same two bytes."""
    head = text[: _HEAD_BYTES // 2]
    return (len(head) - len(_STRANGE.sub("", head))) * 20 > len(head)


_ESCAPES = (
    (re.compile(rb"\x1b\$\)C"), "iso2022_kr"),
    (re.compile(rb"\x1b\$(?:[@AB]|\([CD])|\x1b\([IJ]"), "iso2022_jp_2"),
)


def escaped(data: bytes) -> str | None:
    """An encoding of seven bits that switches its alphabet by escape sequences, as old mail does; None for others."""
    for sequence, codec in _ESCAPES:
        if sequence.search(data):
            try:
                data.decode(codec)
            except UnicodeDecodeError:
                continue
            return codec
    return None


_DECLARED = re.compile(rb"(?:coding|charset)[ \t]*[:=][ \t]*[\"']?([A-Za-z0-9][A-Za-z0-9_.:-]{1,39})", re.IGNORECASE)
"""`coding: x` of Python, Ruby and Emacs, `encoding="x"` of XML, `charset=x` of HTML, `fileencoding=x` of Vim."""

_NEVER_MEANT = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"})
"""Text encodings to Python; no writer of files means them, and two take the square of the length."""
_WIDER = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "shift_jis": "cp932", "euc_kr": "cp949", "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs",
}  # fmt: skip


def declared(data: bytes) -> str | None:
    """What the head of the file says of itself, if that is a codec for text and fits; None else.

    Only asked of bytes that are no UTF-8, so a claim to be that is no answer.
    """
    for found in _DECLARED.finditer(data[:_DECLARED_BYTES]):
        codec = known(found[1].decode("ascii"))
        if codec is None or codec.startswith("utf"):
            continue
        text = data[:_DETECT_BYTES].decode(codec, "replace")
        if text.count("\ufffd") * 20 <= len(text) - _ascii(text):
            return codec
    return None


def known(label: str) -> str | None:
    """The codec for a label found in a file, as browsers take it; None when there is none, or none for text."""
    try:
        found = codecs.lookup(label)
    except (LookupError, ValueError):
        return None
    if not getattr(found, "_is_text_encoding", True) or found.name in _NEVER_MEANT:
        return None
    return _WIDER.get(found.name, found.name)


def _ascii(text: str) -> int:
    return len(text.encode("ascii", "ignore"))


# What files are found in. Left out: pages that differ from one of these in a few signs, and those of mainframes, into
# which any bytes fit.
_LATIN = (
    "cp1252", "iso8859-15", "mac-roman", "cp850", "cp437", "cp1250", "iso8859-2", "cp852", "cp1254", "cp1257",
)  # fmt: skip
_EASTERN = ("cp932", "euc-jp", "gb18030", "big5", "cp949", "johab")
_OTHERS = (
    "cp1251", "koi8-r", "koi8-u", "cp866", "iso8859-5", "mac-cyrillic", "cp1253", "cp1255", "cp1256", "iso8859-6",
    "cp874",
)  # fmt: skip
_MIXED = re.compile(rb"[A-Za-z][\x80-\xff]|[\x80-\xff][A-Za-z]")
"""Inside a word, plain letters stand beside odd ones in the Latin alphabet only (or by chance, in bytes of pairs)."""
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\f\r\x1a\x1b\x08")) + b"\x7f"
_WESTERN = 0.9, 0.5
"""Share of the best answer's confidence at which cp1252 is taken instead, and the same where letters are few."""


def guessed(data: bytes, first_bad: int) -> str | None:
    """The most likely of the usual encodings of one or two bytes, from up to 64 KiB around the first odd byte; None for
    bytes that look like no text.

    A few accented letters between plain ones fit dozens of pages about equally well; then the most common one it is.
    """
    if (len(data) - len(data.translate(None, _CONTROLS))) * 100 > len(data):
        return None
    import chardet

    start = max(0, first_bad - 1024)
    sample = data[start : start + _DETECT_BYTES]
    odd = len(sample.translate(None, _ASCII))
    mixed = sum(1 for _ in _MIXED.finditer(sample))
    candidates = _LATIN + _EASTERN if mixed * 3 >= odd else _LATIN + _EASTERN + _OTHERS
    answers = [
        (answer["encoding"], float(answer["confidence"] or 0.0))
        for answer in chardet.detect_all(sample, ignore_threshold=True, include_encodings=candidates)
    ]
    best, most = answers[0]
    if best is None:
        return None
    near = most * _WESTERN[odd < 4]
    if any(name in ("Windows-1252", "ISO-8859-1") and confidence >= near for name, confidence in answers):
        return "cp1252"
    return known(best) or "cp1252"
