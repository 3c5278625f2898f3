"""Which document a container is, by what lies in it: zipped ones by their members, OLE files by their streams.

Formats: ECMA-376 part 2 (`[Content_Types].xml`), ODF 1.3 part 2 and EPUB 3.3 (`mimetype`), MS-CFB (directory entries).
"""

from __future__ import annotations

import io
import re
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import zipfile

MAX_MEMBERS = 10_000
"""Archives with more are not looked into."""
_END_OF_LIST = b"PK\x05\x06"
_OOXML = re.compile(
    rb"(?:(wordprocessingml|ms-word)|(presentationml|ms-powerpoint)|(ms-excel\.sheet\.binary)|(spreadsheetml|ms-excel))"
    rb"[\w.]{1,60}?\.main(?:\+xml)?",
    re.IGNORECASE,
)
_OOXML_SUFFIXES = ("docx", "pptx", "xlsb", "xlsx")
_MIMETYPE = re.compile(
    r"application/(?:(epub)\+zip|vnd\.oasis\.opendocument\.(?:(text)|(spreadsheet)|(presentation))(?:-[a-z]+)?)$"
)
_MIMETYPE_SUFFIXES = ("epub", "odt", "ods", "odp")


def zipped_format(data: bytes) -> str | None:
    """The usual suffix of the zipped document that these bytes are (`docx`, `odt`, `epub` …), or None."""
    import zipfile

    end = data.rfind(_END_OF_LIST, max(0, len(data) - 66_000))
    if end < 0 or len(data) < end + 12 or struct.unpack_from("<H", data, end + 10)[0] > MAX_MEMBERS:
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            if "mimetype" in names:
                found = _MIMETYPE.match(_head(archive, "mimetype", 100).decode("ascii", "replace").strip())
                if found:
                    return _MIMETYPE_SUFFIXES[(found.lastindex or 1) - 1]
            if "[Content_Types].xml" in names:
                kinds = _OOXML.search(_head(archive, "[Content_Types].xml", 1 << 20))
                return _OOXML_SUFFIXES[(kinds.lastindex or 1) - 1] if kinds else None
            return "epub" if "META-INF/container.xml" in names else None
    except damages():
        return None  # a damaged archive: the parser of the format that its name promises says what is wrong


def _head(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    with archive.open(name) as member:
        return member.read(most)


def damages() -> tuple[type[Exception], ...]:
    """What reading a damaged archive raises."""
    import zipfile
    import zlib

    return (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        OSError,
        ValueError,
        struct.error,
    )


_STREAMS = (
    ("encrypted", "EncryptedPackage"),
    ("doc", "WordDocument"),
    ("ppt", "PowerPoint Document"),
    ("msg", "__substg1.0_"),
    ("xls", "Workbook"),
    ("xls", "Book"),
)
_ENTRY = 128
"""Bytes of a directory entry, which begins with the name of its stream; they are aligned."""


def ole_format(data: bytes, suffix: str) -> str | None:
    """`doc`, `xls`, `ppt` or `msg`; `encrypted` for a protected newer document; None for another OLE file.

    A document may hold others (a chart in a letter), so that the suffix decides where it is among those found.
    """
    found = [kind for kind, name in _STREAMS if _has_stream(data, name.encode("utf-16-le"))]
    return suffix if suffix in found and "encrypted" not in found else next(iter(found), None)


def _has_stream(data: bytes, name: bytes) -> bool:
    place = data.find(name)
    while place >= 0:
        if place % _ENTRY == 0:
            return True
        place = data.find(name, place + 1)
    return False
