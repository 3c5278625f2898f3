"""Orders that are encoded: base64, base32, hexadecimal, escapes, bits, rot13, written backwards.

Two ways lead to a finding. What a few telling words look like in an encoding is an anchor by itself; and a request to
decode something and to act on it is one. Either way the text is decoded here, and flagged only if what comes out speaks
to an assistant: a picture, a key or a certificate does not.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from hermes_lance.parse.suspicion_rules import ENCODED, Finding

LONGEST_CHARS = 4_000
"""Of one encoded stretch; the rest of a longer one is not decoded."""
MOST_TRIES = 64
"""Stretches that are decoded in one document for each encoding, so that a file of nothing else costs little."""
_WORDS = ("nstruct", "gnore", "isregard", "ystem prompt", "gnorier", "ssistant")


@dataclass(frozen=True, slots=True)
class Decoder:
    """One encoding: where it may begin, what belongs to a stretch of it, and how it is read."""

    name: str
    anchors: tuple[str, ...]
    stretch: str
    """An expression for one whole stretch."""
    decoded: Callable[[str], str]
    before: int = 400
    after: int = 400
    """Where a stretch begins, in characters around an anchor."""

    def findings(self, text: str, hits: Iterable[int], order_like: Callable[[str], bool]) -> Iterator[Finding]:
        """Stretches near the hits whose decoded text speaks to an assistant."""
        expression = re.compile(self.stretch)
        done = tries = 0
        for hit in hits:
            begin, end = max(done, hit - self.before), min(len(text), hit + self.after)
            while begin < end and tries < MOST_TRIES and (near := expression.search(text, begin, end)):
                match = expression.match(text, near.start(), min(len(text), near.start() + LONGEST_CHARS)) or near
                tries += 1
                begin = done = match.end()
                if order_like(self.decoded(match[0])):
                    yield Finding(ENCODED, match.start(), match.end(), f"orders in {self.name}")


def _readable(octets: bytes) -> str:
    """The text in decoded bytes, or nothing where they are not text."""
    text = octets.decode("utf-8", "ignore")
    if len(text.encode()) < 0.9 * len(octets) or not text:
        return ""
    return text if sum(one.isprintable() or one.isspace() for one in text) > 0.95 * len(text) else ""


def _of_base64(text: str) -> str:
    # A stretch may begin with other letters that touch it: four beginnings, the readable one wins.
    plain = re.sub(r"\s", "", text).replace("-", "+").replace("_", "/").rstrip("=")
    for skip in range(4):
        part = plain[skip:]
        with_end = part[: len(part) - (len(part) % 4 == 1)]
        try:
            made = _readable(base64.b64decode(with_end + "=" * (-len(with_end) % 4)))
        except (binascii.Error, ValueError):
            continue
        if made:
            return made
    return ""


def _of_base32(text: str) -> str:
    plain = text.upper().rstrip("=")
    try:
        return _readable(base64.b32decode(plain + "=" * (-len(plain) % 8)))
    except (binascii.Error, ValueError):
        return ""


def _of_hex(text: str) -> str:
    digits = re.sub(r"[^0-9a-fA-F]", "", text.replace("0x", "").replace("\\x", ""))
    return _readable(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _of_bits(text: str) -> str:
    bits = re.sub(r"[^01]", "", text)
    return _readable(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)))


def _of_escapes(text: str) -> str:
    return re.sub(
        r"\\u\{?([0-9a-fA-F]{4})\}?|\\x([0-9a-fA-F]{2})", lambda found: chr(int(found[1] or found[2], 16)), text
    )


def _alignments(word: str) -> Iterator[str]:
    """What is certain of a word in base64, at each of its three places in a group of letters."""
    octets = word.encode()
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + octets).decode()
        begin = -(-shift * 8 // 6)
        yield coded[begin : (shift + len(octets)) * 8 // 6].lower()


_HINTS = (
    *("base64", "base-64", "base 64", "decode the", "decode this", "decode it", "dekodier", "décode", "decodifica"),
    *("解码", "デコード", "раскодир", "декодир"),
)
_LONG_HEX = r"(?:(?:0x|\\x)?[0-9a-fA-F]{2}[\s,:]?){12,}"
_BASE64 = r"[A-Za-z0-9+/_-]{20,}={0,2}"
_REFERENCES = r"(?:&#(?:\d{2,5}|x[0-9a-fA-F]{2,4});){8,}"
_ESCAPES = r"(?:\\u\{?[0-9a-fA-F]{4}\}?|\\x[0-9a-fA-F]{2}){8,}"
_LINE = r"[^\n]{12,400}"


def _spelled(*forms: str) -> tuple[str, ...]:
    """The telling words with each octet in these forms."""
    return tuple("".join(form % octet for octet in word.encode()) for word in _WORDS for form in forms)


def _rot13(text: str) -> str:
    return codecs.decode(text, "rot13")


def _reversed(text: str) -> str:
    return text[::-1]


DECODERS = (
    Decoder("base64", _HINTS, _BASE64, _of_base64, before=0),
    Decoder("base64", tuple(one for word in _WORDS for one in _alignments(word)), _BASE64, _of_base64),
    Decoder("base32", ("base32", "base 32"), r"\b[A-Z2-7]{24,}={0,6}", _of_base32),
    Decoder("hexadecimal", ("from hex", "this hex", "hex string", *_spelled("%02x")), _LONG_HEX, _of_hex),
    Decoder(
        "bits",
        ("these bits", "01100111 01101110 01101111", "from binary", "binary code", "this binary"),
        r"(?:[01]{8}\s?){6,}",
        _of_bits,
    ),
    Decoder("percent signs", _spelled("%%%02x"), r"(?:%[0-9A-Fa-f]{2}|[\w.+-]){12,}", unquote),
    Decoder("character references", _spelled("&#%d;"), _REFERENCES, html.unescape),
    Decoder("escapes", _spelled("\\u%04x", "\\x%02x"), _ESCAPES, _of_escapes),
    Decoder("rot13", tuple(map(_rot13, _WORDS[:5])), _LINE, _rot13, 200, 200),
    Decoder("reversed letters", tuple(map(_reversed, _WORDS[:5])), _LINE, _reversed, 200, 200),
)
