"""The YAML block at the head of a Markdown file, and the text after it.

People write `description: Cut a release: bump, tag`, which is no YAML; such a block is read line by line, as simple
keys and lists, instead of losing everything it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_BLOCK = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LONGEST_BLOCK = 64_000
_KEY = re.compile(r"^([A-Za-z_][\w.\-]*)[ \t]*:[ \t]*(.*)$")
_ITEM = re.compile(r"^[ \t]*-[ \t]+(.*)$")
_MOST_NODES = 2_000


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown file: what its head says, and its body."""

    head: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""

    def text(self, key: str) -> str:
        """A value of the head on one line; empty where there is none."""
        value = self.head.get(key)
        return " ".join(str(value).split()) if isinstance(value, str | int | float) and value != "" else ""

    def words(self, key: str) -> tuple[str, ...]:
        """The strings of a list (or of `a, b`) under a key, at the top or in any mapping below it."""
        for value in _values(self.head, key):
            found = _strings(value)
            if found:
                return found
        return ()


def read(text: str) -> Document:
    """Head and body of a Markdown text."""
    found = _BLOCK.match(text) if text.startswith("---") else None
    if found is None:
        return Document({}, text)
    return Document(_mapping(found[1][:_LONGEST_BLOCK]), text[found.end() :])


def _mapping(block: str) -> Mapping[str, Any]:
    import yaml

    try:
        loaded = yaml.load(block, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return _simple(block)
    return {str(key): value for key, value in loaded.items()} if isinstance(loaded, dict) else _simple(block)


def _simple(block: str) -> Mapping[str, Any]:
    """`key: value`, `key: [a, b]` and items below a key; the rest is passed over."""
    found: dict[str, Any] = {}
    key = ""
    for line in block.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if pair := _KEY.match(line):
            key, value = pair[1], pair[2].strip()
            if value.startswith("[") and value.endswith("]"):
                found[key] = [part.strip().strip("\"'") for part in value[1:-1].split(",") if part.strip()]
            else:
                found[key] = value.strip("\"'") if value else []
        elif (item := _ITEM.match(line)) and isinstance(found.get(key), list):
            found[key].append(item[1].strip().strip("\"'"))
    return found


def _values(head: Mapping[str, Any], key: str) -> Iterator[Any]:
    """Values under a key, those further up first."""
    level: list[Any] = [head]
    left = _MOST_NODES
    while level and left > 0:
        below: list[Any] = []
        for one in level:
            left -= 1
            if key in one:
                yield one[key]
            below += [value for value in one.values() if isinstance(value, Mapping)]
        level = below


def _strings(value: Any) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(
        text for part in parts if isinstance(part, str | int | float) and (text := " ".join(str(part).split()))
    )
