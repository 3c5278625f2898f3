"""Decoding by an encoding that the file itself names, such as a mail part or a web page does."""

from __future__ import annotations

import codecs

from hermes_lance.core.text import decode

# Python also calls these text encodings. No writer means them, and some take the square of the length.
_NO_CHARSETS = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7", "mbcs"})
# What browsers read under these names (encoding.spec.whatwg.org): producers mean the larger sets.
_LARGER = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}


def codec_name(charset: str) -> str | None:
    """The codec that a declared charset stands for; none when there is none, or it is none for text."""
    try:
        name = codecs.lookup(charset.strip().strip("\"'")[:40]).name
    except (LookupError, ValueError):
        return None
    return None if name in _NO_CHARSETS else _LARGER.get(name, name)


def declared_text(data: bytes, charset: str | None) -> str:
    """The text of `data`: strict UTF-8 first, then as declared, then by what the bytes look like; never fails."""
    name = codec_name(charset) if charset else None
    # ISO-2022 and UTF-7 look like ASCII, so what is declared must be asked before UTF-8 where it is one of those.
    if name is None or not name.startswith(("iso2022", "hz", "utf-16", "utf-32")):
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            pass  # the declaration, or else a guess, has to tell
    if name is not None:
        try:
            return data.decode(name, "replace")
        except (LookupError, UnicodeError):
            pass  # a codec that turns bytes into bytes, or one that this system lacks: go on with a guess
    found = decode(data)
    return data.decode("latin-1") if found is None else found.text
