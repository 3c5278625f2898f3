"""The members of a zipped document (OOXML, ODF, EPUB), checked before they are read.

Nothing is unpacked before the list of members has been checked, each member is read with a cap, and a parser is given
a new archive of the checked text parts alone: no pictures, no sizes that lie, no declared entities.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping

from hermes_lance.parse.containers import MAX_MEMBERS, damages
from hermes_lance.parse.media import ENCRYPTED, Unreadable

MAX_BYTES = 200 << 20
"""Of all text parts together, unpacked."""
MAX_RATIO = 100
RATIO_FROM = 1 << 20
"""Smaller parts may be packed as tightly as they like."""

_TEXT_PART = re.compile(r"(?:\.(?:xml|rels|xhtml|html?|ncx|opf|css)|(?:^|/)mimetype)$", re.IGNORECASE)
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)")
_ENTITY = re.compile(rb"<!ENTITY")
_ENCODING = re.compile(rb"<\?xml[^>]{0,200}?\sencoding\s*=\s*[\"']([^\"']{0,40})")
_LIKE_ASCII = re.compile(rb"utf-?(?:8|16)|us-ascii|ascii|iso-8859-\d+|windows-125\d", re.IGNORECASE)
"""In other encodings a declaration could hide from the search for it."""
_TRAP = "a document type or a rare encoding"
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")


class Package:
    """The members of one zipped document. Raises `Unreadable` (`parse_failed`, `encrypted`, `too_large`)."""

    def __init__(self, data: bytes, *, doctypes: bool = False) -> None:
        """`doctypes`: document types are usual in this format (XHTML); entities are refused in any case."""
        self._refused = _ENTITY if doctypes else _DECLARATION
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
            members = self._archive.infolist()
        except damages() as error:
            raise _damaged(f"the archive has no readable list of its parts ({error})") from error
        if len(members) > MAX_MEMBERS:
            raise _too_large(f"it has {len(members):,} parts; at most {MAX_MEMBERS:,} are read")
        if any(member.flag_bits & 1 for member in members):
            raise Unreadable("encrypted", ENCRYPTED, failed=True)
        self._members = {member.filename: member for member in members if not member.is_dir()}
        if len({member.filename for member in members}) < len(members):
            raise _damaged("two of its parts have the same name")
        texts = [member for member in self._members.values() if _TEXT_PART.search(member.filename)]
        for member in texts:
            if member.file_size > RATIO_FROM and member.file_size > MAX_RATIO * member.compress_size:
                packed, unpacked = member.compress_size >> 10, member.file_size >> 20
                raise _too_large(f"{member.filename} would grow from {packed:,} KiB to {unpacked:,} MiB")
        self.text_bytes = sum(member.file_size for member in texts)
        if self.text_bytes > MAX_BYTES:
            raise _too_large(f"unpacked it holds {self.text_bytes >> 20:,} MiB; at most {MAX_BYTES >> 20} are read")
        self.text_parts = [member.filename for member in texts]

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """A part, no longer than the list of members says; damage and declared entities are refused."""
        member = self._members.get(name)
        if member is None:
            raise _damaged(f"its part {name} is missing")
        try:
            with self._archive.open(member) as stream:
                content = stream.read(member.file_size + 1)
        except damages() as error:
            raise _damaged(f"its part {name} cannot be unpacked ({error})") from error
        plain = content.replace(b"\x00", b"") if content.startswith(_WIDE) else content
        encoding = _ENCODING.search(plain, 0, 300)
        if self._refused.search(plain) or (encoding and not _LIKE_ASCII.match(encoding[1])):
            raise Unreadable("parse_failed", f"{name} declares {_TRAP}, which may hide a trap", failed=True)
        return content

    def get(self, name: str) -> bytes:
        """A part, or nothing where there is none."""
        return self.read(name) if name in self._members else b""

    def repacked(self, changed: Mapping[str, bytes] | None = None) -> bytes:
        """A new archive, not compressed, of the text parts alone; `changed` replaces or adds some."""
        changed = changed or {}
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for name in self.text_parts:
                archive.writestr(name, changed[name] if name in changed else self.read(name))
            for name in changed.keys() - set(self.text_parts):
                archive.writestr(name, changed[name])
        return made.getvalue()


def _damaged(detail: str) -> Unreadable:
    return Unreadable("parse_failed", f"the file is damaged or cut off: {detail}", failed=True)


def _too_large(detail: str) -> Unreadable:
    return Unreadable("too_large", detail, failed=True)
