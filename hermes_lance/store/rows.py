"""Passages as queries read them: text, place and section of every row, in mapped files, without Lance.

A generation has a few text segments. A row has a serial number, given once and never again, that Tantivy, vectors
and text share; serials rise from segment to segment. Rows that a later publication replaced stay in their segment
and are listed as dead, until segments are merged.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.core.records import ChunkRow
from hermes_lance.store.segment import Segment, SegmentWriter, reading

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PER_ROW = (
    "id", "kind", "section", "symbol", "ordinal", "parent_id", "char_start", "char_end", "byte_start", "byte_end",
    "line_start", "line_end", "page_start", "page_end", "locator", "embedded_tokens", "flags",
)  # fmt: skip
"""Columns kept for each row; those of the file stand once for each file of a segment."""
PER_FILE = ("source_id", "root", "path", "media_type", "lang", "parser", "chunker")
KEY_BYTES = 16


def as_mapping(row: ChunkRow) -> dict[str, Any]:
    """A row by column name."""
    return {name: getattr(row, name) for name in ChunkRow.__dataclass_fields__} | {"text_sha": row.text_sha}


def source_hash(source_id: str) -> int:
    """The first eight bytes of a source id as a number: what masks and look-ups compare."""
    return int(source_id[:16], 16)


class TextSegmentWriter:
    """Streams rows into one text segment. The text goes to disk at once, the small rest is kept until `close`."""

    def __init__(self, path: Path) -> None:
        self._file = SegmentWriter(path)
        self._file.begin("text")
        self._text_offsets = [0]
        self._rows: list[bytes] = []
        self._serials: list[int] = []
        self._row_source: list[int] = []
        self._sources: list[list[Any]] = []
        self._source_of: dict[str, int] = {}
        self._keys: list[bytes] = []
        self._keys_offsets = [0]

    def __len__(self) -> int:
        return len(self._serials)

    def add(self, row: Mapping[str, Any], serial: int) -> None:
        """Adds one row, given by column name; serials must rise."""
        data = row["text"].encode("utf-8")
        self._file.append(data)
        self._text_offsets.append(self._text_offsets[-1] + len(data))
        record = [row[name] for name in PER_ROW]
        self._rows.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))
        self._serials.append(serial)
        ordinal = self._source_of.get(row["source_id"])
        if ordinal is None:
            ordinal = self._source_of[row["source_id"]] = len(self._sources)
            self._sources.append([row[name] for name in PER_FILE])
        self._row_source.append(ordinal)
        self._keys.extend(bytes.fromhex(key) for key in row["embed_keys"])
        self._keys_offsets.append(len(self._keys))

    def close(self) -> dict[str, Any]:
        """Finishes the file; its entry for the manifest."""
        file = self._file
        file.end()
        file.put_numbers("text_offsets", self._text_offsets, "Q")
        offsets = [0]
        file.begin("rows")
        for row in self._rows:
            file.append(row)
            offsets.append(offsets[-1] + len(row))
        file.end()
        file.put_numbers("rows_offsets", offsets, "Q")
        file.put_numbers("serials", self._serials, "Q")
        file.put_numbers("row_source", self._row_source, "I")
        file.put("sources", json.dumps(self._sources, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))
        file.put_numbers("source_hashes", (source_hash(source[0]) for source in self._sources), "Q")
        file.put("keys", b"".join(self._keys))
        file.put_numbers("keys_offsets", self._keys_offsets, "I")
        entry = file.close()
        return {**entry, "rows": len(self._serials), "text_bytes": self._text_offsets[-1]}

    def discard(self) -> None:
        """Removes the unfinished file."""
        self._file.discard()


class TextSegment:
    """One finished text segment."""

    def __init__(self, path: Path, entry: dict[str, Any]) -> None:
        self.entry = entry
        self.file = Segment(path, entry["size"])
        self.serials = self.file.cast("serials")
        self._text = self.file.raw("text")
        self._text_offsets = self.file.cast("text_offsets")
        self._rows = self.file.raw("rows")
        self._rows_offsets = self.file.cast("rows_offsets")
        self._row_source = self.file.cast("row_source")
        self._keys = self.file.raw("keys")
        self._keys_offsets = self.file.cast("keys_offsets")
        self._sources: list[list[Any]] | None = None

    def __len__(self) -> int:
        return len(self.serials)

    @property
    def sources(self) -> list[list[Any]]:
        """What stands once for each file."""
        if self._sources is None:
            with reading(self.file.path):
                self._sources = json.loads(bytes(self.file.raw("sources")))
        return self._sources

    def text(self, index: int) -> str:
        """The text of a row."""
        with reading(self.file.path):
            return str(self._text[self._text_offsets[index] : self._text_offsets[index + 1]], "utf-8")

    def keys(self, index: int) -> tuple[str, ...]:
        """The keys of a row's vectors."""
        with reading(self.file.path):
            start, end = self._keys_offsets[index], self._keys_offsets[index + 1]
            if end * KEY_BYTES > len(self._keys):
                raise IndexError("keys beyond the end")
        return tuple(bytes(self._keys[at * KEY_BYTES : (at + 1) * KEY_BYTES]).hex() for at in range(start, end))

    def row(self, index: int) -> ChunkRow:
        """A whole row."""
        with reading(self.file.path):
            record = json.loads(bytes(self._rows[self._rows_offsets[index] : self._rows_offsets[index + 1]]))
            values = dict(zip(PER_ROW, record, strict=True))
            values.update(zip(PER_FILE, self.sources[self._row_source[index]], strict=True))
            values["section"] = tuple(values["section"])
            values["flags"] = tuple(values["flags"])
            return ChunkRow(text=self.text(index), embed_keys=self.keys(index), run="", **values)

    def source_hash_of_rows(self) -> npt.NDArray[np.uint64]:
        """For each row the hash of its file."""
        hashes: npt.NDArray[np.uint64] = self.file.array("source_hashes")
        of_rows: npt.NDArray[np.uint64] = hashes[self.file.array("row_source")]
        return of_rows


@dataclass(frozen=True, slots=True)
class Located:
    """Where a serial is."""

    segment: TextSegment
    index: int


class TextRows:
    """All rows of a generation."""

    def __init__(self, folder: Path, entries: Sequence[dict[str, Any]], dead: DeadRows) -> None:
        self.segments = [TextSegment(folder / entry["file"], entry) for entry in entries if entry["rows"]]
        self._firsts = [int(segment.serials[0]) for segment in self.segments]
        self.dead = dead

    def locate(self, serial: int) -> Located | None:
        """The place of a serial, or none."""
        at = bisect_right(self._firsts, serial) - 1
        if at < 0:
            return None
        segment = self.segments[at]
        index = bisect_left(segment.serials, serial)
        if index >= len(segment) or segment.serials[index] != serial:
            return None
        return Located(segment, index)

    def row(self, serial: int) -> ChunkRow:
        """The row of a serial that Tantivy or a vector named; `DatasetDamaged` when it is not there."""
        place = self.locate(serial)
        if place is None:
            raise DatasetDamaged(f"row {serial}: named by an index but not stored")
        return place.segment.row(place.index)

    def serials_of(self, source_ids: Collection[str]) -> list[int]:
        """Living serials of the named files."""
        import numpy as np

        if not source_ids:
            return []
        wanted = np.fromiter((source_hash(one) for one in source_ids), dtype=np.uint64, count=len(source_ids))
        found: list[int] = []
        for segment in self.segments:
            hit = np.flatnonzero(np.isin(segment.file.array("source_hashes"), wanted))
            if len(hit):
                rows = np.isin(segment.file.array("row_source"), hit)
                found.extend(segment.file.array("serials")[rows].tolist())
        return [serial for serial in found if serial not in self.dead]

    def alive(self) -> npt.NDArray[np.uint64]:
        """Serials of all living rows, rising."""
        import numpy as np

        if not self.segments:
            return np.empty(0, dtype=np.uint64)
        every = np.concatenate([segment.file.array("serials") for segment in self.segments])
        return every[~np.isin(every, self.dead.array())] if len(self.dead) else every

    def living(self) -> Iterator[tuple[int, TextSegment, int]]:
        """Serial, segment and index of each living row, in order."""
        for segment in self.segments:
            for index, serial in enumerate(segment.serials):
                if serial not in self.dead:
                    yield int(serial), segment, index


class DeadRows:
    """Serials that are stored but no longer part of the generation; sorted."""

    def __init__(self, serials: Iterable[int] = ()) -> None:
        self._serials = frozenset(serials)

    @classmethod
    def read(cls, folder: Path, entry: dict[str, Any] | None) -> DeadRows:
        """From the file that a manifest names."""
        if entry is None:
            return cls()
        return cls(Segment(folder / entry["file"], entry["size"]).cast("serials"))

    def write(self, path: Path) -> dict[str, Any]:
        """The entry for the manifest."""
        writer = SegmentWriter(path)
        writer.put_numbers("serials", sorted(self._serials), "Q")
        return {**writer.close(), "rows": len(self._serials)}

    def __contains__(self, serial: int) -> bool:
        return serial in self._serials

    def __len__(self) -> int:
        return len(self._serials)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._serials))

    def array(self) -> npt.NDArray[np.uint64]:
        """As numpy wants it."""
        import numpy as np

        return np.fromiter(self._serials, dtype=np.uint64, count=len(self._serials))
