"""The string that stands for an artifact where meanings are compared: what it is called and what it is for."""

from __future__ import annotations

import re
from dataclasses import replace

from hermes_lance.core.artifact import Artifact
from hermes_lance.core.ids import text_sha

MOST_CHARS = 1_000
"""About the window of the bundled model."""
_SEPARATORS = re.compile(r"[_/\\.\-]+")


def text_of(one: Artifact) -> str:
    """Name, summary and triggers; the place of a file says nothing and is left out."""
    name = re.split(r"[/\\#]", one.title)[-1]
    said = _SEPARATORS.sub(" ", name).strip()
    known = _SEPARATORS.sub(" ", f"{said}: {one.summary}").lower()
    more = [word for word in one.triggers if _SEPARATORS.sub(" ", word).lower() not in known]
    return f"{said}: {one.summary} {', '.join(more)}"[:MOST_CHARS].strip()


def with_key(one: Artifact) -> Artifact:
    """The artifact with the key of its vector."""
    return replace(one, embed_keys=(text_sha(text_of(one)),))
