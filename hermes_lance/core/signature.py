"""Fingerprints of the settings that shape stored data. Separate ones, so that a change redoes only what it must."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass


def digest(settings: object) -> str:
    """16 hexadecimal digits of the SHA-256 of the canonical JSON form."""
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """What each part of a dataset was made with: pieces (by media type), vectors, lexical index, rules of suspicion,
    schemas."""

    pieces: str
    vectors: str
    lexical: str
    suspicion: str
    schemas: str

    @property
    def bundle(self) -> str:
        """One hash over all of them, shown by `status`."""
        return digest(asdict(self))

    def as_json(self) -> Mapping[str, str]:
        """For the manifest."""
        return {**asdict(self), "bundle": self.bundle}
