"""Paths as people type them: which are meant from the current folder, and what to say when a name is only known there.

A path without `./` is one as results show it, whatever the current folder holds: the same words always mean the same.
"""

from __future__ import annotations

import os
import shlex


def absolute(path: str) -> str:
    """A path that begins with `./` or `../` starts at the current folder; others are taken as results show them."""
    return os.path.abspath(path) if path.startswith(("./", "../")) else path


def meant_here(path: str) -> str | None:
    """A sentence for a path that names nothing known, where the current folder has a file of that name."""
    if os.path.isabs(path) or path.startswith(("./", "../", "~")) or not os.path.lexists(path):
        return None
    return f"The current folder has one of that name: {shlex.quote(f'./{path}')}."
