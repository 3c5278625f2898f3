"""Asks an indexed folder for names and sentences that are certainly in it; any file that holds the item is right.

The library comes from the caller, as for judged sets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from hermes_lance.learn.known_items import KnownItem
from hermes_lance.learn.whole import whole

DEPTH = 10


class Searchable(Protocol):
    """What is asked of a library."""

    def search(self, query: str, *, limit: int = 8, mode: str = "hybrid", fusion: str | None = None) -> Any:
        """Passages, best first; `path` names the file of each."""
        ...


def rank(item: KnownItem, paths: Sequence[str]) -> int | None:
    """The number (from 1) of the first passage whose file holds the item."""
    return next((number for number, path in enumerate(paths, start=1) if path in item.files), None)


def shares(
    items: Sequence[KnownItem],
    library: Searchable,
    *,
    mode: str,
    fusion: str | None = None,
    path_of: Callable[[str], str] = str,
    progress: Callable[[str, int, int, str], None] | None = None,
) -> Mapping[str, float]:
    """Shares of items found first and among the first ten passages: `name@1`, `name@10`, `sentence@1`, `sentence@10`.

    `path_of` turns the path of a hit into one relative to the folder that the items were drawn from.
    """
    ranks: dict[str, list[int | None]] = defaultdict(list)
    for number, item in enumerate(items, start=1):
        hits = whole(library.search(item.query, limit=DEPTH, mode=mode, fusion=fusion))
        ranks[item.kind].append(rank(item, [path_of(hit.path) for hit in hits]))
        if progress is not None:
            progress(f"ask {mode}", number, len(items), "")
    found: dict[str, float] = {}
    for kind, places in ranks.items():
        found[f"{kind}@1"] = sum(place == 1 for place in places) / len(places)
        found[f"{kind}@{DEPTH}"] = sum(place is not None for place in places) / len(places)
    return found
