"""The media type of a file, from its name and checked against its first bytes, and why a file yields no document.

A suffix can lie, so a few unmistakable beginnings win over it. What is neither known by name nor by its beginning
is text if it decodes as text.
"""

from __future__ import annotations

import re

from hermes_lance.core import encodings
from hermes_lance.parse import containers, suffixes


class Unreadable(Exception):
    """A file that yields no document. `failed` separates a fault of the file from a decision of ours.

    Codes: `binary`, `image`, `unsupported`, `empty`, `encrypted`, `needs_ocr`, `parse_failed`, `too_large`.
    """

    def __init__(self, code: str, detail: str, *, failed: bool = False, remedy: str | None = None) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.failed = failed
        self.remedy = remedy


BINARY = "application/octet-stream"
ENCRYPTED_OFFICE = "application/x-encrypted-office"
ENCRYPTED = "it needs a password; save a copy without one to have it indexed"
_ZIP, _OLE = "application/zip", "application/x-ole-storage"
_OFFICE = frozenset(suffixes.DOCUMENT_TYPES[suffix] for suffix in suffixes.OFFICE_SUFFIXES)

# Beginnings that no text has. The order matters where one is part of another.
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"BZh91AY&SY", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x7fELF", "application/x-elf"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"\xcf\xfa\xed\xfe", "application/x-mach-binary"),
    (b"\x00asm", "application/wasm"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"{\\rtf", "application/rtf"),
    (b"OggS\x00", "audio/ogg"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
)

_MAGIC_BYTES = tuple(magic for magic, _ in _MAGIC)

_SHEBANG = re.compile(rb"#![ \t]*\S*?/(?:env[ \t]+(?:-\S+[ \t]+)*)?([A-Za-z][\w+-]*?)[\d.]*(?:[ \t\r\n]|$)")
_INTERPRETERS = {
    "sh": "bash", "bash": "bash", "dash": "bash", "zsh": "bash", "ksh": "bash", "python": "python", "pypy": "python",
    "node": "javascript", "deno": "typescript", "ruby": "ruby", "perl": "perl", "php": "php", "lua": "lua",
    "Rscript": "r", "awk": "awk", "gawk": "awk", "fish": "fish", "tclsh": "tcl", "make": "make",
}  # fmt: skip


_CPP_HEADER = re.compile(rb"^[ \t]*(?:class|namespace|template|using|public:|private:)(?:[ \t<:]|$)", re.MULTILINE)


def suffix_of(path: str) -> str:
    """The last suffix of a file name in lower case, without the dot; empty when it has none."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    return suffix.lower() if dot and stem.strip(".") else ""


def refused_by_name(path: str) -> Unreadable | None:
    """Why this file need not be opened at all, or None. Suffixes of pictures, archives, programs and the like."""
    suffix = suffix_of(path)
    what = suffixes.BINARY_SUFFIXES.get(suffix)
    if what == suffixes.PICTURES:
        return picture()
    return Unreadable("binary", f".{suffix} files are {what}, which hold no text to index") if what else None


def picture() -> Unreadable:
    """The reason to give for an image; what is in it is never described by a model."""
    return Unreadable("image", suffixes.IMAGE_DETAIL, remedy=suffixes.OCR_REMEDY)


def remedy_of(code: str) -> str | None:
    """What makes a file readable that was left out with this code, where that is a setting; records hold none."""
    return suffixes.OCR_REMEDY if code in ("image", "needs_ocr") else None


def media_type(path: str, data: bytes) -> str:
    """The media type of a file from its path and its bytes (the first 8 KiB suffice, all of them are better).

    `application/octet-stream` for what is neither a known format nor text. Source code is `text/x-<language>`.
    """
    suffix = suffix_of(path)
    by_magic = None
    if data.startswith(_MAGIC_BYTES):
        by_magic = next(kind for magic, kind in _MAGIC if data.startswith(magic))
    if by_magic is None and data[4:8] == b"ftyp":
        by_magic = "video/mp4"
    if by_magic is None and data[:4] == b"RIFF" and data[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        by_magic = "image/webp" if data[8:12] == b"WEBP" else "application/x-riff"
    if by_magic is None and data[:2] == b"BM" and data[6:10] == bytes(4):
        by_magic = "image/bmp"
    by_name = suffixes.DOCUMENT_TYPES.get(suffix)
    if by_magic in (_ZIP, _OLE):
        return _contained(by_magic, data, suffix) or (
            by_name if by_name is not None and by_name in suffixes.CONTAINERS[by_magic] else by_magic
        )
    if by_magic is not None:
        return by_magic
    if by_name in _OFFICE and data:
        # Programs write HTML or tables of text under the name of an office file.
        by_name = _written_as_text(data, suffix) or by_name
    if by_name is not None:
        # Producers may put a little before the mark of a PDF; without any mark its parser says what is wrong.
        return by_name
    name = path.rpartition("/")[2].lower()
    text_type = suffixes.FILE_NAMES.get(name) or suffixes.TEXT_TYPES.get(suffix)
    # Dockerfile.dev, Makefile.am: the name before the dot says more than an unknown suffix.
    text_type = text_type or suffixes.FILE_NAMES.get(name.partition(".")[0]) or _by_first_line(data)
    if not _looks_like_text(data):
        return BINARY
    if suffix == "h" and _CPP_HEADER.search(data, 0, 65_536):
        return "text/x-cpp"
    return text_type or "text/plain"


def _contained(magic: str, data: bytes, suffix: str) -> str | None:
    if magic == _ZIP:
        kind = containers.zipped_format(data)
        return suffixes.DOCUMENT_TYPES[kind] if kind else None
    kind = containers.ole_format(data, suffix)
    return ENCRYPTED_OFFICE if kind == "encrypted" else suffixes.DOCUMENT_TYPES[kind] if kind else None


_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MAIL_HEAD = re.compile(rb"(?:MIME-Version|From|Content-Type): ", re.IGNORECASE)


def _written_as_text(data: bytes, suffix: str) -> str | None:
    """The media type of a text that bears the suffix of an office document, or None where it is no text."""
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not wide and _CONTROL.search(data, 0, 8192):
        return None
    if _MAIL_HEAD.match(data):
        return "message/rfc822"  # a web archive, as Word and Excel save it
    return _by_first_line(data.removeprefix(b"\xef\xbb\xbf")) or (
        "text/csv" if suffix in ("xls", "xlsx", "ods") else "text/plain"
    )


def _by_first_line(data: bytes) -> str | None:
    if data.startswith(b"#!"):
        found = _SHEBANG.match(data[:200])
        language = _INTERPRETERS.get(found[1].decode("ascii")) if found else None
        return f"text/x-{language}" if language else None
    head = data[:256].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    return "text/xml" if head.startswith(b"<?xml") else None


def _looks_like_text(data: bytes) -> bool:
    # Only a glance: decoding decides. A NUL near the start means UTF-16 or UTF-32, or no text.
    head = data[:8192]
    if b"\x00" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        return True
    return encodings.wide(data) is not None


def language_of(media: str) -> str | None:
    """The programming language of `text/x-<language>`, else None."""
    return media[7:] if media.startswith("text/x-") else None


def unsupported(path: str, media: str) -> Unreadable:
    """The reason to give for a file whose media type no parser takes."""
    protected = media == _OLE and suffixes.DOCUMENT_TYPES.get(suffix_of(path), "").find("openxml") > 0
    if protected or media == ENCRYPTED_OFFICE:
        return Unreadable("encrypted", ENCRYPTED, failed=True)
    name = suffixes.FORMAT_NAMES.get(media)
    if name is not None:
        instead = suffixes.INSTEAD.get(media)
        return Unreadable("unsupported", f"{name} files cannot be read" + (f"; {instead}" if instead else " yet"))
    if media.startswith("text/"):
        return Unreadable("unsupported", f"no parser is set for {media}")
    if media.startswith("image/"):
        return picture()
    return Unreadable("binary", f"the content is not text ({media})")
