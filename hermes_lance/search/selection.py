"""Which of the candidates an agent is given unasked: nothing twice, not too much of one file, nothing that commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from hermes_lance.core.records import Hit

SUSPECT = "suspect:"
"""Flags that begin so make a passage step back behind the others."""

INSTRUCTION_FILES = frozenset(
    name.casefold() for name in ("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "SOUL.md", ".cursorrules")
)
"""Files in which people give agents orders. They can be searched; nobody gets their text as reference material."""


def gives_orders(path: str) -> bool:
    """Whether a file is made to instruct agents, by its display path."""
    parts = [part.casefold() for part in PurePosixPath(path).parts]
    if not parts:
        return False
    return parts[-1] in INSTRUCTION_FILES or (".cursor", "rules") in pairwise(parts)


def trusted_first(hits: Sequence[Hit]) -> list[Hit]:
    """The same hits, suspicious ones behind all others."""
    return sorted(hits, key=lambda hit: any(flag.startswith(SUSPECT) for flag in hit.flags))


def chosen(hits: Sequence[Hit], *, per_file: int) -> list[Hit]:
    """Hits in order without the same text twice, and at most so many of one file."""
    texts: set[str] = set()
    files: Counter[tuple[str, str]] = Counter()
    kept = []
    for hit in hits:
        text, file = " ".join(hit.text.split()), (hit.root, hit.path)
        if text in texts or files[file] >= per_file:
            continue
        texts.add(text)
        files[file] += 1
        kept.append(hit)
    return kept
