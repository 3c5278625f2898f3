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
    folder: Callable[[str], str | bytes | None] = lambda root: None
    """The folder of a root, by its key."""
    away: dict[str, bool] = field(default_factory=dict)
    """By root key, as far as anybody had to ask: the root as a whole is not there, as a disk that is not mounted."""
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
            return UNVERIFIED if self._away(known) else GONE
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

    def _away(self, known: KnownFile) -> bool:
        """Whether nothing can be said of the file since its root is not there; a build keeps such files too."""
        if known.root not in self.away:
            self.away[known.root] = is_away(self.folder(known.root), known.dev)
        return self.away[known.root]


def is_away(folder: str | bytes | None, dev: int) -> bool:
    """The folder is missing, or it is empty and on another device than its files were: where a disk is mounted."""
    if folder is None:
        return False
    try:
        found = os.stat(folder)
        with os.scandir(folder) as entries:
            return dev not in (0, found.st_dev) and next(entries, None) is None
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
