"""What is known of every discovered file, readable without Lance: one record for each row of the sources table.

Rows are JSON arrays sorted by source id, so that one file is found by bisection and all of them parse as one text.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from hermes_lance.core.records import KnownFile
from hermes_lance.store.rows import source_hash
from hermes_lance.store.segment import Segment, SegmentWriter, reading

COLUMNS = tuple(item.name for item in fields(KnownFile))
_SEPARATOR = b",\n"


def write_files(path: Path, files: Iterable[KnownFile]) -> dict[str, Any]:
    """Writes the state file; its entry for the manifest."""
    ordered = sorted(files, key=lambda known: known.id)
    writer = SegmentWriter(path)
    writer.begin("rows")
    offsets, at = [0], 0
    for position, known in enumerate(ordered):
        record = json.dumps([getattr(known, name) for name in COLUMNS], ensure_ascii=False, separators=(",", ":"))
        data = (_SEPARATOR if position else b"") + record.encode("utf-8")
        writer.append(data)
        at += len(data)
        offsets.append(at)
    writer.end()
    writer.put_numbers("offsets", offsets, "Q")
    writer.put_numbers("ids", (source_hash(known.id) for known in ordered), "Q")
    return {**writer.close(), "rows": len(ordered)}


class FilesState:
    """The state file of a generation; empty when there is none."""

    def __init__(self, folder: Path, entry: dict[str, Any] | None) -> None:
        self._segment = Segment(folder / entry["file"], entry["size"]) if entry else None
        self._ids = self._segment.cast("ids") if self._segment else memoryview(b"").cast("Q")

    def __len__(self) -> int:
        return len(self._ids)

    def get(self, source_id: str) -> KnownFile | None:
        """The record of one file."""
        if self._segment is None:
            return None
        wanted = source_hash(source_id)
        at = bisect_left(self._ids, wanted)
        offsets = self._segment.cast("offsets")
        rows = self._segment.raw("rows")
        while at < len(self._ids) and self._ids[at] == wanted:
            with reading(self._segment.path):
                data = bytes(rows[offsets[at] : offsets[at + 1]]).removeprefix(_SEPARATOR)
                known = KnownFile(*json.loads(data))
            if known.id == source_id:
                return known
            at += 1
        return None

    def all(self) -> dict[str, KnownFile]:
        """Every record by source id."""
        if self._segment is None:
            return {}
        with reading(self._segment.path):
            records = json.loads(b"[" + bytes(self._segment.raw("rows")) + b"]")
            return {record[0]: KnownFile(*record) for record in records}
