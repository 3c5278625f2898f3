"""What a path that has changed asks for: the file itself, the folder whose rules it makes, or a look that can wait."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hermes_lance.core.records import Root
from hermes_lance.ingest import ignore
from hermes_lance.ingest.roots import nearest

DECIDING = frozenset({*ignore.IGNORE_FILES, *ignore.CACHE_MARKERS}.union(*ignore.BUILD_OUTPUT.values()))
"""Names of files that decide what beside them and below is left out."""


@dataclass(slots=True)
class Touched:
    """Absolute paths to be looked at, by how soon."""

    soon: set[str] = field(default_factory=set)
    late: set[str] = field(default_factory=set)
    """Names that are left out as a rule: swap files, caches. They are looked at when there is time, since rules of the
    user may take them in, and since every file has a state."""


def sorted_out(
    paths: Iterable[str], roots: Sequence[Root], excluded: Iterable[str], *, include_hidden: bool
) -> Touched:
    """Paths below the roots. Those below `excluded` (absolute folders) concern nobody."""
    found = Touched()
    outside = tuple(f"{one}{os.sep}" for one in excluded)
    for path in paths:
        if f"{path}{os.sep}".startswith(outside):
            continue
        root = nearest(roots, path)
        if root is None:
            continue
        top = os.fspath(root.path).rstrip(os.sep)
        parts = path[len(top) :].strip(os.sep).split(os.sep)
        if parts[-1] in DECIDING:
            # The name may begin with a dot; what it decides is to be seen at once.
            folder = os.path.dirname(path)
            (found.late if _left_out(parts[:-1], include_hidden) is not None else found.soon).add(folder)
            if parts[-1] in ignore.IGNORE_FILES:
                continue
        cut = _left_out(parts, include_hidden)
        if cut is None:
            found.soon.add(path)
        else:
            found.late.add(os.sep.join([top, *parts[:cut]]))
    return found


def _left_out(parts: Sequence[str], include_hidden: bool) -> int | None:
    """How many parts name what is left out as a rule: the topmost folder or file of that kind."""
    rules = ignore.built_in_rules()
    for at, name in enumerate(parts, start=1):
        if name[:1] == "." and not include_hidden:
            return at
        for is_folder in (False, True) if at == len(parts) else (True,):
            rule = rules.verdict(name, name, is_folder)
            if rule is not None and not rule.keeps:
                return at
    return None
