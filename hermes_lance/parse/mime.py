"""The parts of a mail (RFC 5322, 2045-2047, 2231): headers and decoding by the standard library, cutting by ourselves.

The library's own reader asks every open boundary about each line and recurses, so that a small file of nested parts
takes minutes or overflows. Cutting by search takes each byte once for each level, and the levels are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser

from hermes_lance.parse.charset import declared_text

MOST_PARTS = 1_000
DEEPEST = 12
_HEAD_BYTES = 256 * 1024
_FIELD_CHARS = 4_000
_HEAD_END = re.compile(rb"\r?\n[ \t]*\r?\n")
_FOLDED = re.compile(r"[\r\n]+[ \t]*")
_SEPARATOR = re.compile(
    rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]{0,300}\d\d?:\d\d[^\r\n]{0,100}\r?\n(?=>?[A-Za-z][\w-]{0,80}:)"
)
_QUOTED_FROM = re.compile(rb"^>(>{0,20}From )", re.MULTILINE)
_BROKEN = (ValueError, TypeError, IndexError, KeyError, AttributeError, LookupError, HeaderParseError)
"""What the library is known to raise on broken fields."""


@dataclass(frozen=True, slots=True)
class Part:
    """A leaf of the tree of parts, or a whole message that is attached."""

    kind: str
    """Media type in lower case, such as `text/plain`."""
    name: str
    """File name; empty where there is none."""
    attached: bool
    depth: int
    raw: bytes
    fields: Message
    alternative: int
    """Number of the group of alternatives that it is a member of; 0 for none."""

    def content(self) -> bytes:
        """The bytes behind the transfer encoding, as far as they can be decoded."""
        self.fields.set_payload(self.raw.decode("ascii", "surrogateescape"))
        found = _asked(lambda: self.fields.get_payload(decode=True))
        return found if isinstance(found, bytes) else self.raw

    def text(self) -> str:
        """The content in its charset, line ends as line feeds."""
        charset = _asked(self.fields.get_content_charset)
        text = declared_text(self.content(), charset if isinstance(charset, str) else None)
        return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "�")


def messages(data: bytes) -> list[bytes]:
    """The messages of a mailbox (mbox): from each line `From … <time>` that headers follow to the next.

    Lines of a text that begin with `From ` are quoted by a `>` there, which is taken off.
    """
    starts = [found.start() for found in _SEPARATOR.finditer(data)]
    if not starts:
        return [data]
    if data[: starts[0]].strip():
        starts.insert(0, 0)
    ends = [*starts[1:], len(data)]
    return [_QUOTED_FROM.sub(rb"\1", data[start:end]) for start, end in zip(starts, ends, strict=True)]


def split(data: bytes) -> tuple[Message, bytes]:
    """Headers and body of a message or a part; a head without any field is body."""
    if data.startswith((b"\n", b"\r\n")):
        return Message(), data
    end = _HEAD_END.search(data, 0, _HEAD_BYTES)
    head, body = (data[: end.start()], data[end.end() :]) if end else (data[:_HEAD_BYTES], data[_HEAD_BYTES:])
    fields = BytesHeaderParser().parsebytes(head + b"\n\n")
    if not fields.keys():
        return Message(), data
    for name in ("content-type", "content-disposition"):
        # The library takes the square of the number of parameters.
        if len(str(fields.get(name, ""))) > _FIELD_CHARS:
            fields.replace_header(name, str(fields[name])[:_FIELD_CHARS])
    return fields, body


def field(fields: Message, name: str) -> str:
    """A header on one line, encoded words decoded; empty where it is missing."""
    wanted = name.lower()
    raw = next((value for key, value in fields.raw_items() if key.lower() == wanted), "")
    flat = _FOLDED.sub(" ", str(raw)[:_FIELD_CHARS])
    # Headers in bare UTF-8 or a code page arrive as surrogates.
    flat = declared_text(flat.encode("utf-8", "surrogateescape"), None)
    words = _asked(lambda: decode_header(flat)) if "=?" in flat else None
    if isinstance(words, list):
        flat = "".join(declared_text(word, charset) if isinstance(word, bytes) else word for word, charset in words)
    return " ".join(flat.replace("\x00", " ").split())


def parts(fields: Message, body: bytes) -> Iterator[Part]:
    """The leaves in order, at most `MOST_PARTS`; what is nested beyond `DEEPEST` is a leaf."""
    stack = [(fields, body, 0, 0)]
    given = groups = 0
    while stack and given < MOST_PARTS:
        head, raw, depth, alternative = stack.pop()
        kind = str(_asked(head.get_content_type) or "text/plain")
        boundary = _asked(head.get_boundary) if kind.startswith("multipart/") else None
        inner = _cut(raw, boundary) if isinstance(boundary, str) and depth < DEEPEST else []
        if inner:
            if kind == "multipart/alternative" and not alternative:
                groups += 1
                alternative = groups
            stack.extend((*split(piece), depth + 1, alternative) for piece in reversed(inner[:MOST_PARTS]))
            continue
        given += 1
        disposition = str(_asked(head.get_content_disposition) or "")
        name = _name(head)
        if kind.startswith("multipart/"):
            kind = "text/plain"
        yield Part(kind, name, disposition == "attachment", depth, raw, head, alternative)


def _cut(body: bytes, boundary: str) -> list[bytes]:
    mark = re.escape(boundary.encode("utf-8", "surrogateescape"))
    border = re.compile(rb"(?:\A|\r?\n)--" + mark + rb"(--)?[ \t]*(?:\r?\n|\Z)")
    found: list[bytes] = []
    start = None
    place = 0
    while (match := border.search(body, place)) is not None:
        if start is not None:
            found.append(body[start : match.start()])
        start = match.end()
        if match[1]:
            return found
        # The line end of one border may be the one before the next.
        place = max(match.start() + 1, match.end() - 2)
    if start is not None:
        found.append(body[start:])
    return found


def _name(head: Message) -> str:
    raw = _asked(head.get_filename)
    if not isinstance(raw, str):
        return ""
    if "=?" in raw:
        holder = Message()
        holder["name"] = raw.replace("\n", " ").replace("\r", " ")
        raw = field(holder, "name")
    return " ".join(declared_text(raw.encode("utf-8", "surrogateescape"), None).split())[-200:]


def _asked(question: Callable[[], object]) -> object:
    """What the library says of a field, or nothing where the field is broken beyond its patience."""
    try:
        return question()
    except _BROKEN:
        return None
