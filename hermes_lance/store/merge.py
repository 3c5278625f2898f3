"""Many segments into one, streamed: what upkeep does so that queries and the disk do not feel a thousand small changes.

Only the newest segments are merged, by size, as in a log-structured tree (O'Neil et al., 1996), so that a byte is
copied a few times in its life and not at every change. Dead rows go when everything is merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.store.rows import DeadRows, TextRows, TextSegmentWriter
from hermes_lance.store.segment import SegmentWriter
from hermes_lance.store.vectors import VectorRows

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_SEGMENTS = 8
_BLOCK_ROWS = 8_192


def first_to_merge(entries: Sequence[dict[str, Any]]) -> int:
    """Where the run of newest segments begins that become one: those not much larger than all that follow them."""
    start = len(entries) - 1
    rows = entries[start]["rows"]
    while start > 0 and (entries[start - 1]["rows"] <= 2 * rows or start >= MOST_SEGMENTS):
        start -= 1
        rows += entries[start]["rows"]
    return start


def merged_text(side: Path, entries: Sequence[dict[str, Any]], dropped: DeadRows, path: Path) -> list[dict[str, Any]]:
    """One segment with the rows of all these but the `dropped` ones, in order of their serials."""
    writer = TextSegmentWriter(path)
    for serial, segment, index in TextRows(side, entries, dropped).living():
        row = segment.row(index)
        writer.add(row, serial)
        # The text is on its way to the disk; kept, all of it would be in memory at the end.
        row.text = ""
    return [writer.close()]


def merged_vectors(
    side: Path, entries: Sequence[dict[str, Any]], dropped: DeadRows, path: Path
) -> list[dict[str, Any]]:
    """The same for vectors; an empty list when none is left."""
    import numpy as np

    segments = VectorRows(side, entries, dropped).segments
    gone = dropped.array()
    kept = [np.flatnonzero(~np.isin(segment.serials, gone)) for segment in segments]
    total = sum(map(len, kept))
    if not total:
        return []
    pairs = list(zip(segments, kept, strict=True))
    dimensions, words = int(segments[0].entry["dimensions"]), len(segments[0].bits)
    writer = SegmentWriter(path)
    writer.begin("vectors", "<f2", (total, dimensions))
    for segment, rows in pairs:
        for at in range(0, len(rows), _BLOCK_ROWS):
            writer.append(_bytes(segment.matrix[rows[at : at + _BLOCK_ROWS]]))
        segment.file.forget("vectors")
    writer.end()
    writer.begin("bits", "<u8", (words, total))
    for word in range(words):
        for segment, rows in pairs:
            writer.append(_bytes(segment.bits[word][rows]))
    writer.end()
    writer.put_array("serials", np.concatenate([segment.serials[rows] for segment, rows in pairs]))
    writer.put_array("sources", np.concatenate([segment.sources[rows] for segment, rows in pairs]))
    writer.put("keys", b"".join(_bytes(segment.keys()[rows]) for segment, rows in pairs))
    return [{**writer.close(), "rows": total, "dimensions": dimensions}]


def _bytes(values: npt.NDArray[np.generic]) -> bytes:
    return values.tobytes()
