"""Parser: plain text, source code and every text format that needs no parser of its own."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_lance.core.records import Document
from hermes_lance.core.text import Decoded, decode
from hermes_lance.parse.generated import flags_of
from hermes_lance.parse.media import Unreadable, language_of


def decoded(data: bytes) -> Decoded:
    """The text of a file; raises `Unreadable` when it is binary or holds nothing but blanks."""
    if not data:
        raise Unreadable("empty", "the file has no bytes")
    found = decode(data)
    if found is None:
        raise Unreadable("binary", "the content is not text")
    if not found.text or found.text.isspace():
        raise Unreadable("empty", "the file holds only blanks")
    return found


class PlainParser:
    """Takes the decoded file as it is; every offset is an offset into the file's own text."""

    name = "builtin_text"
    media_types: Sequence[str] = ("text/*",)

    def signature(self) -> str:
        """Name and version."""
        return "builtin_text/2"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """The text, without sections, generated or minified code flagged; raises `Unreadable` (`binary`, `empty`)."""
        found = decoded(data)
        language = language_of(media_type)
        return Document(
            text=found.text,
            media_type=media_type,
            parser=self.signature(),
            lang=language,
            encoding=found.encoding,
            replaced_chars=found.replaced_chars,
            flags=flags_of(found.text) if language else (),
        )
