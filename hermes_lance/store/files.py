"""What is known of every discovered file, readable without Lance: one record for each row of the sources table.

Records are JSON arrays sorted by root and path. Beside them stand columns of numbers, so that all files are compared
with the disk, counted or found by id without reading a record; only what differs is read.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hermes_lance.core.ids import source_hash
from hermes_lance.core.records import KnownFile
from hermes_lance.store.segment import Segment, SegmentWriter, reading

COLUMNS = tuple(KnownFile.__dataclass_fields__)
_END = b",\n"
NUMBERS = {
    "ids": "Q",
    "sizes": "Q",
    "mtimes": "q",
    "inodes": "Q",
    "devs": "Q",
    "read_at": "q",
    "kinds": "I",
    "chunks": "Q",
}
"""Columns in the order of the records, with their `array` type codes."""


class Kind(NamedTuple):
    """What many files have in common; the column `kinds` holds the position in a table of these."""

    state: str
    media_type: str | None
    pieces_signature: str | None
    plain: bool
    """Read, not dropped on purpose, named in UTF-8, and with a stat that the columns of numbers can hold."""


class FilesState:
    """The state file of a generation; empty when there is none."""

    def __init__(self, folder: Path, entry: dict[str, Any] | None) -> None:
        self._segment = Segment(folder / entry["file"], entry["size"]) if entry else None
        self.path = folder / entry["file"] if entry else folder
        self._paths: dict[str, list[str]] = {}
        self._ids = self.column("ids")
        self._by_id = self.column("by_id")
        self._rows = self._segment.raw("rows") if self._segment else memoryview(b"")
        self._offsets = self.column("offsets")
        with reading(self.path):
            if len({len(self._ids), len(self._by_id), max(len(self._offsets) - 1, 0)}) != 1:
                raise ValueError("columns of different lengths")
            self.kinds = [Kind(*one) for one in self._table("kinds_table")]
            self.roots = {root: range(start, end) for root, start, end in self._table("roots")}
            """Root key to the positions of its files."""

    def __len__(self) -> int:
        return len(self._ids)

    def _table(self, name: str) -> list[Any]:
        return list(json.loads(bytes(self._segment.raw(name)))) if self._segment else []

    def column(self, name: str) -> memoryview:
        """One of `NUMBERS`, in the order of the records."""
        return self._segment.cast(name) if self._segment else memoryview(b"").cast("Q")

    def paths(self, root: str) -> list[str]:
        """The printable paths of the files of a root, sorted."""
        positions = self.roots.get(root)
        if not positions or self._segment is None:
            return []
        if root not in self._paths:
            with reading(self.path):
                found = str(self._segment.raw(f"paths:{root}"), "utf-8").split("\0")
                if len(found) != len(positions):
                    raise ValueError("paths are missing")
            self._paths[root] = found
        return self._paths[root]

    def record(self, position: int) -> KnownFile:
        """The record at a position."""
        with reading(self.path):
            return KnownFile(*json.loads(self.slice(position, position + 1).removesuffix(_END)))

    def slice(self, start: int, end: int) -> bytes:
        """The stored bytes of some records, each with its end mark."""
        return bytes(self._rows[self._offsets[start] : self._offsets[end]])

    def stored(self, start: int, end: int) -> list[bytes]:
        """The records between two positions as they are stored: JSON arrays, equal only where the records are."""
        return self.slice(start, end).removesuffix(_END).split(_END) if start < end else []

    def records(self, positions: Iterable[int]) -> list[KnownFile]:
        """Several records, parsed at once."""
        with reading(self.path):
            text = b"".join(self.slice(one, one + 1) for one in positions)
            return [KnownFile(*one) for one in json.loads(b"[" + text.removesuffix(_END) + b"]")]

    def find(self, source_id: str) -> tuple[int, KnownFile] | None:
        """The record of one file, and where it is."""
        with reading(self.path):
            wanted = source_hash(source_id)
            at = bisect_left(self._by_id, wanted, key=self._ids.__getitem__)
            while at < len(self._by_id) and self._ids[self._by_id[at]] == wanted:
                position = self._by_id[at]
                if (known := self.record(position)).id == source_id:
                    return position, known
                at += 1
        return None

    def get(self, source_id: str) -> KnownFile | None:
        """The record of one file."""
        found = self.find(source_id)
        return None if found is None else found[1]

    def all(self) -> dict[str, KnownFile]:
        """Every record by source id."""
        if not len(self):
            return {}
        with reading(self.path):
            records = json.loads(b"[" + self.slice(0, len(self)).removesuffix(_END) + b"]")
            return {record[0]: KnownFile(*record) for record in records}

    def by_state(self) -> Counter[str]:
        """Number of files in each state; reads no record."""
        counts: Counter[str] = Counter()
        with reading(self.path):
            for code, number in Counter(self.column("kinds")).items():
                counts[self.kinds[code].state] += number
        return counts

    def bytes_in(self, state: str) -> int:
        """Size of all files in a state, in bytes."""
        codes = {code for code, kind in enumerate(self.kinds) if kind.state == state}
        sizes = zip(self.column("sizes"), self.column("kinds"), strict=True)
        with reading(self.path):
            return sum(size for size, code in sizes if code in codes)


class FilesWriter:
    """Writes one state file. Records come in the order of `sort_key`, one by one or as a stretch of an older file."""

    def __init__(self, path: Path) -> None:
        self._file = SegmentWriter(path)
        self._file.begin("rows")
        self._offsets = array("Q", [0])
        self._numbers = {name: array(code) for name, code in NUMBERS.items()}
        self._codes: dict[Kind, int] = {}
        self._paths: dict[str, list[str]] = {}

    def add(self, known: KnownFile) -> None:
        """One record."""
        record = json.dumps([getattr(known, name) for name in COLUMNS], ensure_ascii=False, separators=(",", ":"))
        data = record.encode("utf-8") + _END
        self._file.append(data)
        self._offsets.append(self._offsets[-1] + len(data))
        stat = (known.size, known.mtime_ns, known.inode, known.dev)
        held = tuple(number if 0 <= number < 1 << 63 else 0 for number in stat)
        plain = held == stat and known.sha256 is not None and known.tombstone_sha is None and known.raw_path is None
        kind = Kind(known.state, known.media_type, known.pieces_signature, plain)
        values = (
            source_hash(known.id), *held, nanoseconds(known.indexed_at) or 0,
            self._codes.setdefault(kind, len(self._codes)), known.chunks,
        )  # fmt: skip
        for column, value in zip(self._numbers.values(), values, strict=True):
            column.append(value)
        self._paths.setdefault(known.root, []).append(known.path)

    def copy(self, state: FilesState, start: int, end: int) -> None:
        """The records of another file between two positions, as they are."""
        if start >= end:
            return
        self._file.append(state.slice(start, end))
        shift = self._offsets[-1] - state._offsets[start]
        self._offsets.extend(one + shift for one in state._offsets[start + 1 : end + 1])
        for name, column in self._numbers.items():
            values = state.column(name)[start:end]
            if name == "kinds":
                codes = {
                    code: self._codes.setdefault(state.kinds[code], len(self._codes)) for code in dict.fromkeys(values)
                }
                column.extend(codes[code] for code in values)
            else:
                column.frombytes(values.cast("B"))
        for root, positions in state.roots.items():
            first, last = max(start, positions.start), min(end, positions.stop)
            if first < last:
                paths = state.paths(root)[first - positions.start : last - positions.start]
                self._paths.setdefault(root, []).extend(paths)

    def close(self) -> dict[str, Any]:
        """Finishes the file; its entry for the manifest."""
        file, ids = self._file, self._numbers["ids"]
        file.end()
        file.put_numbers("offsets", self._offsets, "Q")
        for name, code in NUMBERS.items():
            file.put_numbers(name, self._numbers[name], code)
        file.put_numbers("by_id", sorted(range(len(ids)), key=ids.__getitem__), "I")
        file.put("kinds_table", _json(list(self._codes)))
        roots, at = [], 0
        for root, paths in self._paths.items():
            file.put(f"paths:{root}", "\0".join(paths).encode("utf-8"))
            roots.append([root, at, at + len(paths)])
            at += len(paths)
        file.put("roots", _json(roots))
        return {**file.close(), "rows": len(ids)}


def sort_key(known: KnownFile) -> tuple[str, str]:
    """The order of the records."""
    return known.root, known.path


@lru_cache(maxsize=64)
def nanoseconds(moment: str | None) -> int | None:
    """ISO 8601 to Unix nanoseconds; none when there is no moment."""
    return None if moment is None else int(datetime.fromisoformat(moment).timestamp() * 1e9)


def _json(value: Sequence[Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def below(paths: Sequence[str], target: str) -> Iterator[range]:
    """Positions, among sorted paths, of a file or folder and of all that lies in it; all for the empty target."""
    if not target:
        yield range(len(paths))
        return
    at = bisect_left(paths, target)
    if at < len(paths) and paths[at] == target:
        yield range(at, at + 1)
    # `/` and the character after it enclose every path in the folder, and the folder itself where it is left out.
    yield range(bisect_left(paths, f"{target}/"), bisect_left(paths, f"{target}0"))
