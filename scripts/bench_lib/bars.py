"""The figures that were set as bars for corpora M and L, and the order and wording of the rows that they belong to."""

from __future__ import annotations

from collections.abc import Mapping

BOTH = ("M", "L")


def both(bar: float) -> Mapping[str, float]:
    """The same bar for either corpus."""
    return dict.fromkeys(BOTH, bar)


BUILD: Mapping[str, Mapping[str, float]] = {
    "text": {"M": 2.8, "L": 20.0},
    "tables": {"M": 3.6, "L": 22.0},
    "unchanged": {"M": 0.25, "L": 0.5},
    "changed": {"M": 1.5, "L": 2.0},
    "running": both(0.3),
    "largest": both(600.0),
    "tree": both(1200.0),
    "size": both(1.3),
    "edited": both(1.2),
}
"""CPU seconds; wall seconds for `changed` and `running`; MB; ratios."""
GROWTH = 1.15
"""Growth of a build by that of the bytes, at most."""
SEARCH: Mapping[str, Mapping[str, float]] = {
    "cold hybrid": both(0.40),
    "cold lexical": both(0.15),
    "warm hybrid": both(1.5),
    "tail": both(3.0),
    "memory": both(350.0),
}
"""CPU seconds; ratio to the sum of the floors; p95 by p50; MB."""
DENSE_MS, DENSE_RECALL, DENSE_ROWS = 3.0, 0.99, 75_000
THROUGHPUT = 0.90
"""Of the bare embedder."""
CORES_BUSY = 1.8
"""CPU by wall time on two cores: what counts as both busy."""
SAVED_SECONDS, STOPPED_SECONDS = 1.0, 1.0
"""From a save to its being found, of 95 in 100; from Ctrl-C to the end."""
WATCHED_DISK = 2.0
"""Disk while a watch follows many changes, by the dataset before."""
LARGE_SHARE = 0.10
"""Changing one paragraph of a large file, or deleting it, by indexing it."""
