"""Is what we are about to serve still on disk as it was read? Stat first; bytes only where the stat differs."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field

from hermes_lance.core.records import KnownFile

FRESH, CHANGED, GONE, UNVERIFIED = "fresh", "changed", "gone", "unverified"


@dataclass(slots=True)
class Freshness:
    """Answers for one query; each file is looked at once."""

    locate: Callable[[KnownFile], str | bytes | None]
    """Where a known file is on disk; none when its root is no longer configured."""
    _seen: dict[str, str] = field(default_factory=dict)

    def of(self, known: KnownFile | None) -> str:
        """fresh, changed, gone, or unverified when it cannot be told."""
        if known is None:
            return GONE
        answer = self._seen.get(known.id)
        if answer is None:
            answer = self._seen[known.id] = self._look(known)
        return answer

    def _look(self, known: KnownFile) -> str:
        place = self.locate(known)
        if place is None:
            return UNVERIFIED
        try:
            found = os.stat(place)
        except (FileNotFoundError, NotADirectoryError):
            return GONE
        except OSError:
            return UNVERIFIED
        if not stat.S_ISREG(found.st_mode):
            return GONE
        if known.state == "failed":
            # Its passages are those of an earlier reading; the record already speaks of the present bytes.
            return CHANGED
        same = (found.st_size, found.st_mtime_ns, found.st_ino) == (known.size, known.mtime_ns, known.inode)
        if same:
            return FRESH
        if known.sha256 is None or found.st_size != known.size:
            return CHANGED
        try:
            with open(place, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return UNVERIFIED
        return FRESH if digest == known.sha256 else CHANGED
