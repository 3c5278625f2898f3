"""Stable ids and content hashes. An id depends on root key, path and content only, never on history."""

from __future__ import annotations

import hashlib
import os
import time

SHORT_HEX = 32
"""Hexadecimal digits kept of a SHA-256 where 128 bits are plenty."""


def sha256_hex(data: bytes) -> str:
    """All 64 digits."""
    return hashlib.sha256(data).hexdigest()


def text_sha(text: str) -> str:
    """First 32 hexadecimal digits of the SHA-256 of `text` as UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:SHORT_HEX]


def source_id(root_key: str, raw_relative: bytes) -> str:
    """The id of a file: root and the exact bytes of its relative path."""
    return hashlib.sha256(b"source\0" + root_key.encode("utf-8", "surrogateescape") + b"\0" + raw_relative).hexdigest()[
        :SHORT_HEX
    ]


def source_hash(source: str) -> int:
    """The first eight bytes of a source id as a number: what masks and look-ups compare."""
    return int(source[:16], 16)


def chunk_id(source: str, sha_of_text: str, ordinal_among_equals: int) -> str:
    """The id of a passage: its file, its text, and which of several equal texts of the file it is."""
    return hashlib.sha256(f"chunk\0{source}\0{sha_of_text}\0{ordinal_among_equals}".encode()).hexdigest()[:SHORT_HEX]


def unique_name() -> str:
    """A name for a new file or folder that no other run has used: time first, so that listings sort by age."""
    return f"{time.time_ns():016x}{os.urandom(4).hex()}"
