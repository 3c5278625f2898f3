"""Bytes to text, and the front matter at the head of a text.

Line ends stay as they are in the file, so that characters and lines counted here are those an editor shows. Only a
byte-order mark is dropped, and stray NULs are replaced one for one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes_lance.core import encodings

_SNIFF_BYTES = 8192
_FRONT_MATTER_CHARS = 65_536

# UTF-32 before UTF-16: the little-endian mark of the longer one begins with that of the shorter.
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32-le", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32-be", "utf-32"),
    (b"\xff\xfe", "utf-16-le", "utf-16"),
    (b"\xfe\xff", "utf-16-be", "utf-16"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\x0b\x0c\r\x1b\x08")) + b"\x7f"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and how it was read. `replaced_chars` counts the U+FFFD that stand for bytes we could not read."""

    text: str
    encoding: str
    replaced_chars: int = 0


def decode(data: bytes) -> Decoded | None:
    """The text in `data`, or None when it is binary.

    Order: byte-order mark, strict UTF-8, UTF-16 and UTF-32 without a mark, damaged UTF-8, what the file says of itself,
    a guess from the bytes. Which one it was is told by `encoding`. Nothing of this fails, bad bytes are replaced.
    """
    for mark, codec, name in _MARKS:
        if data.startswith(mark):
            found = _replacing(data[len(mark) :], codec, name)
            return None if len(mark) != 3 and encodings.strange(found.text) else found
    if b"\x00" in data:
        return _with_nuls(data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _damaged_or_legacy(data, error)
    if not text.isascii():
        return None if _full_of_controls(data) else Decoded(text, "utf-8")
    if b"\x1b" in data and (codec7 := encodings.escaped(data)) is not None:
        return _replacing(data, codec7, codec7)
    return None if _full_of_controls(data) else Decoded(text, "ascii")


def well_formed(text: str) -> str:
    """`text` with `?` for each half of a surrogate pair, which tokenizers and JSON refuse; mostly `text` itself."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _with_nuls(data: bytes) -> Decoded | None:
    codec = encodings.wide(data)
    if codec is not None:
        return _replacing(data, codec, codec)
    # A crash can leave a run of NULs in a log. Near the start, or many of them, it is no text at all.
    nuls = data.count(0)
    if b"\x00" in data[:_SNIFF_BYTES] or nuls * 1000 > len(data):
        return None
    inner = decode(data.replace(b"\x00", b"?"))
    if inner is None:
        return None
    cleaned = _replacing(data, "utf-8" if inner.encoding == "ascii" else inner.encoding, inner.encoding)
    return Decoded(cleaned.text.replace("\x00", "�"), cleaned.encoding, cleaned.replaced_chars + nuls)


def _replacing(data: bytes, codec: str, name: str) -> Decoded:
    text = data.decode(codec, "replace")
    if "�" not in text:
        return Decoded(text, name)
    # A file may hold a real U+FFFD, which is no loss of ours.
    real = data.count("�".encode(codec)) if codec.startswith(("utf", "gb18030")) else 0
    return Decoded(text, name, max(0, text.count("�") - real))


def _full_of_controls(data: bytes) -> bool:
    head = data[:_SNIFF_BYTES]
    return len(head) - len(head.translate(None, _CONTROLS)) > len(head) // 10


def _damaged_or_legacy(data: bytes, error: UnicodeDecodeError) -> Decoded | None:
    if _full_of_controls(data):
        return None
    damaged = _replacing(data, "utf-8", "utf-8")
    whole_sequences = len(damaged.text) - damaged.text.count("�") - _ascii_count(data)
    cut_at_end = error.reason == "unexpected end of data" and len(data) - error.start < 4
    if whole_sequences > damaged.replaced_chars or (cut_at_end and damaged.replaced_chars == 1):
        return damaged
    codec = encodings.declared(data) or encodings.guessed(data, error.start)
    return None if codec is None else _replacing(data, codec, codec)


def _ascii_count(data: bytes) -> int:
    return len(data.translate(None, bytes(range(128, 256))))


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Fields of the block at the head of a file, and where the body begins (0 when there is no such block)."""

    fields: Mapping[str, str] = field(default_factory=dict)
    body_start: int = 0


_OPENING = re.compile(r"(---|\+\+\+)[ \t]*(?:\r\n|\n|\r)(?![ \t]*[\r\n])")
_CLOSING = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE),
}
_PLAIN_FIELD = re.compile(r"^([A-Za-z_][\w.-]{0,63})[ \t]*[:=][ \t]*(\S[^\r\n]*)$", re.MULTILINE)


def front_matter(text: str) -> FrontMatter:
    """The fields of a YAML (`---`) or TOML (`+++`) block at offset 0: plain values, lists joined with `, `.

    Never raises: what cannot be parsed (templates, broken YAML) is read line by line as `key: value`. A rule
    followed by an empty line is a rule, and a block that is not closed within 64 Ki characters is none.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return FrontMatter()
    closing = _CLOSING[opening[1]].search(text, opening.end(), min(len(text), _FRONT_MATTER_CHARS))
    if closing is None:
        return FrontMatter()
    block = text[opening.end() : closing.start()]
    loaded = _yaml_fields(block) if opening[1] == "---" else _toml_fields(block)
    if loaded is None:
        loaded = {key: value.strip().strip("\"'") for key, value in _PLAIN_FIELD.findall(block)}
    return FrontMatter(loaded, closing.end())


def _yaml_fields(block: str) -> dict[str, str] | None:
    import yaml

    # The base loader leaves every scalar a string, so that a date or a version stays as it was typed.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        loaded = yaml.load(block, Loader=loader)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return None
    return _flat(loaded) if isinstance(loaded, dict) else None


def _toml_fields(block: str) -> dict[str, str] | None:
    import tomllib

    try:
        return _flat(tomllib.loads(block))
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None


def _flat(loaded: Mapping[Any, Any]) -> dict[str, str]:
    # One level only: values shared through YAML aliases would multiply if they were written out.
    fields: dict[str, str] = {}
    for key, value in loaded.items():
        if isinstance(value, list):
            value = ", ".join(str(item) for item in value if not isinstance(item, list | dict))
        if not isinstance(value, dict) and value is not None and str(value).strip():
            fields[str(key)] = str(value).strip()
    return fields
