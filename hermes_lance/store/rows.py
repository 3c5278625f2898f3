"""Passages as queries read them: text, place and section of every row, in mapped files, without Lance.

A generation has a few text segments. A row has a serial number, given once and never again, that Tantivy, vectors
and text share; serials rise from segment to segment. Rows that a later publication replaced stay in their segment
and are listed as dead, until segments are merged.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.core.ids import source_hash
from hermes_lance.core.records import ChunkRow
from hermes_lance.store import columns
from hermes_lance.store.segment import Segment, SegmentWriter, reading

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NUMBERS = (
    "ordinal", "char_start", "char_end", "byte_start", "byte_end", "line_start", "line_end", "page_start", "page_end",
    "embedded_tokens",
)  # fmt: skip
CODED = ("kind", "symbol", "parent_id", "locator")
LISTS = ("section", "flags")
"""Kept for each row, beside its key, its text and the keys of its vectors; columns of the file stand once a file."""
PER_FILE = ("source_id", "root", "path", "media_type", "lang", "parser", "chunker")
KEY_BYTES = columns.KEY_BYTES


def _words(raw: bytes) -> tuple[str, ...]:
    return tuple(json.loads(raw))


class TextSegmentWriter:
    """Streams rows into one text segment. The text goes to disk at once, the rest is written by `close`."""

    def __init__(self, path: Path) -> None:
        self._file = SegmentWriter(path)
        self._file.begin("text")
        self._text_offsets = array("Q", [0])
        self._rows: list[ChunkRow] = []
        self._serials = array("Q")

    def __len__(self) -> int:
        return len(self._serials)

    def add(self, row: ChunkRow, serial: int) -> None:
        """Adds one row; serials must rise."""
        data = row.text.encode("utf-8")
        self._file.append(data)
        self._text_offsets.append(self._text_offsets[-1] + len(data))
        self._rows.append(row)
        self._serials.append(serial)

    def close(self) -> dict[str, Any]:
        """Finishes the file; its entry for the manifest."""
        file, rows = self._file, self._rows
        file.end()
        file.put("text_offsets", self._text_offsets.tobytes(), "Q")
        file.put("serials", self._serials.tobytes(), "Q")
        columns.put_keys(file, "ids", [row.id for row in rows])
        for name in NUMBERS:
            columns.put_numbers(file, name, [getattr(row, name) for row in rows])
        for name in CODED:
            columns.put_coded(file, name, [getattr(row, name) for row in rows])
        for name in LISTS:
            columns.put_coded(file, name, [getattr(row, name) for row in rows], columns.as_json)
        self._put_sources()
        counts = array("I", [0])
        for row in rows:
            counts.append(counts[-1] + len(row.embed_keys))
        columns.put_keys(file, "keys", [key for row in rows for key in row.embed_keys])
        file.put("keys_offsets", counts.tobytes(), "I")
        entry = file.close()
        return {**entry, "rows": len(rows), "text_bytes": self._text_offsets[-1]}

    def _put_sources(self) -> None:
        """What stands once for each file, and for each row the number of its file."""
        ordinal_of: dict[str, int] = {}
        first_rows: list[ChunkRow] = []
        of_rows = array("I")
        for row in self._rows:
            ordinal = ordinal_of.get(row.source_id)
            if ordinal is None:
                ordinal = ordinal_of[row.source_id] = len(first_rows)
                first_rows.append(row)
            of_rows.append(ordinal)
        self._file.put("row_source", of_rows.tobytes(), "I")
        records = [columns.as_json([getattr(row, name) for name in PER_FILE]) for row in first_rows]
        columns.put_texts(self._file, "sources", records)
        self._file.put_numbers("source_hashes", (source_hash(source) for source in ordinal_of), "Q")

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
        self._row_source = self.file.cast("row_source")
        self._keys_offsets = self.file.cast("keys_offsets")
        self._columns: dict[str, Any] = {}
        self._sources: dict[int, list[Any]] = {}

    def __len__(self) -> int:
        return len(self.serials)

    def _column(self, name: str, make: Callable[[], Any]) -> Any:
        """A column, opened when it is first asked for: a search of one page needs few of them."""
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = make()
        return column

    def numbers(self, name: str) -> columns.Numbers:
        """A column of whole numbers."""
        column: columns.Numbers = self._column(name, lambda: columns.Numbers(self.file, name))
        return column

    def coded(self, name: str) -> columns.Coded:
        """A column of repeating values: strings, or tuples of strings."""
        decode: Callable[[bytes], Any] = _words if name in LISTS else bytes.decode
        column: columns.Coded = self._column(name, lambda: columns.Coded(self.file, name, decode))
        return column

    def keys_of(self, name: str) -> columns.Keys:
        """`ids`, one for each row, or `keys`, those of all vectors in the order of their rows."""
        column: columns.Keys = self._column(name, lambda: columns.Keys(self.file, name))
        return column

    def id(self, index: int) -> str:
        """The key of a row."""
        with reading(self.file.path):
            return self.keys_of("ids")[index]

    def source(self, ordinal: int) -> list[Any]:
        """What stands once for a file, in the order of `PER_FILE`."""
        found = self._sources.get(ordinal)
        if found is None:
            with reading(self.file.path):
                texts: columns.Texts = self._column("sources", lambda: columns.Texts(self.file, "sources"))
                found = self._sources[ordinal] = json.loads(texts[ordinal])
        return found

    @property
    def sources(self) -> list[list[Any]]:
        """What stands once for each file."""
        return [self.source(ordinal) for ordinal in range(len(self.file.cast("source_hashes")))]

    def source_id(self, index: int) -> str:
        """The file of a row."""
        with reading(self.file.path):
            return str(self.source(self._row_source[index])[0])

    def path(self, index: int) -> str:
        """The path of the file of a row."""
        with reading(self.file.path):
            return str(self.source(self._row_source[index])[PER_FILE.index("path")])

    def ordinal(self, index: int) -> int:
        """Which passage of its file a row is, from 0."""
        with reading(self.file.path):
            return self.numbers("ordinal")[index] or 0

    def text(self, index: int) -> str:
        """The text of a row."""
        with reading(self.file.path):
            return str(self._text[self._text_offsets[index] : self._text_offsets[index + 1]], "utf-8")

    def section(self, index: int) -> tuple[str, ...]:
        """The headings that a row stands under."""
        with reading(self.file.path):
            found: tuple[str, ...] = self.coded("section")[index]
            return found

    def keys(self, index: int) -> tuple[str, ...]:
        """The keys of a row's vectors."""
        with reading(self.file.path):
            every = self.keys_of("keys")
            return tuple(every[at] for at in range(self._keys_offsets[index], self._keys_offsets[index + 1]))

    def row(self, index: int) -> ChunkRow:
        """A whole row."""
        with reading(self.file.path):
            values: dict[str, Any] = dict(zip(PER_FILE, self.source(self._row_source[index]), strict=True))
            values.update((name, self.numbers(name)[index]) for name in NUMBERS)
            values.update((name, self.coded(name)[index]) for name in (*CODED, *LISTS))
            return ChunkRow(id=self.id(index), text=self.text(index), embed_keys=self.keys(index), run="", **values)

    def source_hash_of_rows(self) -> npt.NDArray[np.uint64]:
        """For each row the hash of its file."""
        hashes: npt.NDArray[np.uint64] = self.file.array("source_hashes")
        of_rows: npt.NDArray[np.uint64] = hashes[self.file.array("row_source")]
        return of_rows


@dataclass(slots=True)
class Located:
    """Where a serial is. Each property reads its own column and no other."""

    segment: TextSegment
    index: int

    @property
    def id(self) -> str:
        """The key of the row."""
        return self.segment.id(self.index)

    @property
    def source_id(self) -> str:
        """The file of the row."""
        return self.segment.source_id(self.index)

    @property
    def path(self) -> str:
        """The path of that file."""
        return self.segment.path(self.index)

    @property
    def ordinal(self) -> int:
        """Which passage of its file it is, from 0."""
        return self.segment.ordinal(self.index)

    @property
    def text(self) -> str:
        """The text of the row."""
        return self.segment.text(self.index)

    @property
    def section(self) -> tuple[str, ...]:
        """The headings that the row stands under."""
        return self.segment.section(self.index)

    def row(self) -> ChunkRow:
        """The whole row."""
        return self.segment.row(self.index)


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

    def place(self, serial: int) -> Located:
        """The place of a serial that Tantivy or a vector named; `DatasetDamaged` when it is not there."""
        place = self.locate(serial)
        if place is None:
            raise DatasetDamaged(f"row {serial}: named by an index but not stored")
        return place

    def row(self, serial: int) -> ChunkRow:
        """The row at that place."""
        return self.place(serial).row()

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
