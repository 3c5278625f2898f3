"""File names as the disk has them, and as people, tables and JSON can hold them.

A name on disk is bytes. Python shows bytes that are not UTF-8 as lone surrogates, which no table, no JSON document
and no console can take; here they become `\\xNN`, with the exact bytes kept beside the text.
"""

from __future__ import annotations

import os
import re

_WRITTEN = re.compile(r"\\(?:[nrte]|x[01][0-9a-f]|x[789][0-9a-f]|u[0-9a-f]{4})")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "e": "\x1b"}


def printable(name: str) -> tuple[str, str | None]:
    """The text to show for a name or path, and the hexadecimal bytes where that text is not the name itself."""
    if name.isascii():
        return name, None
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raw = os.fsencode(name)
        return raw.decode("utf-8", "backslashreplace"), raw.hex()
    return name, None


def on_disk(text: str, raw_hex: str | None) -> str:
    """The name as the operating system takes it; the inverse of `printable`."""
    return text if raw_hex is None else os.fsdecode(bytes.fromhex(raw_hex))


def raw_bytes(text: str, raw_hex: str | None) -> bytes:
    """The bytes of the name, as ids are made of."""
    return os.fsencode(text) if raw_hex is None else bytes.fromhex(raw_hex)


def unescaped(text: str) -> str:
    """The name that a console shows as `text`, where it wrote new lines, colours and direction marks as escapes."""
    return _WRITTEN.sub(lambda found: _LETTERS.get(found[0][1:]) or chr(int(found[0][2:], 16)), text)
