"""The part of a walk that meets every file of every run: which entries of a folder are files as they were before?

It decides nothing by itself: where a name may fit a rule, or anything differs, the entry is left to the walk.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from hermes_lance.ingest.ignore import Scope

Stat = tuple[int, int, int, int]
"""Size, time of change in nanoseconds, inode, device."""

Entry = tuple[str, os.DirEntry[str]]
"""The name, with `/` at the end for a folder: sorted by that, what is in a folder stands where its path belongs."""


class Names:
    """Which names have to be looked at closely inside a folder: those that a rule, a suffix or a dot may rule out."""

    __slots__ = ("first", "last", "names", "scope", "suffixes")

    def __init__(self, scope: Scope, refused: frozenset[str]) -> None:
        """`refused`: suffixes, lower case with their dot, that are left out whatever the rules say."""
        self.scope = scope
        self.first = scope.first | {"."}
        self.last = scope.last
        self.names = scope.names
        self.suffixes = scope.suffixes | refused

    def plain(self, name: str) -> bool:
        """False where a closer look is due; a hard rule, which may fit any name, is not asked here."""
        dot = name.rfind(".")
        return not (
            name[0] in self.first
            or name[-1] in self.last
            or name in self.names
            or (dot >= 0 and name[dot:].lower() in self.suffixes)
        )


def unsettled(
    entries: Iterable[Entry], prefix: str, looks: Names, settled: dict[str, Stat], max_bytes: int
) -> list[Entry]:
    """The entries that are not files with the stat that `settled` has for their path; those that are leave it."""
    rest = []
    first, last, names, suffixes = looks.first, looks.last, looks.names, looks.suffixes
    hard, verdict = looks.scope.hard, looks.scope.verdict
    for each in entries:
        name, entry = each
        path = prefix + name
        before = settled.get(path)
        # The test of `plain`, written out: a call for each file would cost a fifth of the walk.
        if (
            before is None
            or name[0] in first
            or name[-1] in last
            or name in names
            or ((dot := name.rfind(".")) >= 0 and name[dot:].lower() in suffixes)
            or (hard and verdict(name, path, False) is not None)
            or not entry.is_file(follow_symlinks=False)
        ):
            rest.append(each)
            continue
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            rest.append(each)  # the walk meets the same error and says what it means
            continue
        size = found.st_size
        if size <= max_bytes and before == (size, found.st_mtime_ns, found.st_ino, found.st_dev):
            del settled[path]
        else:
            rest.append(each)
    return rest
