"""Rows that wait for vectors, as batches of strings: each string once, whatever number of rows it stands for.

Of a row only its text, its section and its file are read. The table is asked for keys that it may hold, several
batches at a time: never in the first fill of an empty one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_lance.core import ids
from hermes_lance.core.config import ChunkingConfig
from hermes_lance.ingest.crew import Job
from hermes_lance.ingest.rows import strings_to_embed
from hermes_lance.store.rows import TextRows
from hermes_lance.store.tables import Tables

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BATCHES_IN_A_LOOKUP = 16


@dataclass(frozen=True, slots=True)
class Strings:
    """One row: its serial, the hash of its file, and the strings that its vectors stand for, by key."""

    serial: int
    source: int
    by_key: dict[str, str]


@dataclass(slots=True)
class Batch:
    """Some rows: their vectors are those of `job`, of earlier batches, and of the table."""

    rows: int = 0
    serials: list[int] = field(default_factory=list)
    """One for each vector of a row, like `sources` (hashes) and `keys`."""
    sources: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    new: dict[str, str] = field(default_factory=dict)
    """Strings that nobody has embedded yet, by key."""
    stored: dict[str, Any] = field(default_factory=dict)
    """Vectors of the table, by key."""
    earlier: dict[str, tuple[Batch, int]] = field(default_factory=dict)
    """The batch that embeds a key, and the row of its vector there."""
    job: Job = field(default_factory=lambda: Job([], 0))

    def _jobs(self) -> Iterator[Job]:
        yield self.job
        for batch, _ in self.earlier.values():
            yield batch.job

    @property
    def complete(self) -> bool:
        """Every vector is there."""
        return all(job.complete for job in self._jobs())

    @property
    def begun(self) -> bool:
        """Every vector is there or being made."""
        return all(job.begun or job.complete for job in self._jobs())

    def matrix(self) -> npt.NDArray[np.float16]:
        """The vectors of a complete batch in the order of `keys`."""
        if len(self.new) == len(self.keys):
            return self.job.vectors
        import numpy as np

        found = dict(self.stored)
        found.update(zip(self.new, self.job.vectors, strict=True))
        found.update((key, batch.job.vectors[row]) for key, (batch, row) in self.earlier.items())
        return np.stack([found[key] for key in self.keys])


class WaitingRows:
    """Makes batches. `published` tells it what has come into the table since."""

    def __init__(self, text: TextRows, chunking: ChunkingConfig, tables: Tables, table: str) -> None:
        self._text, self._chunking, self._tables, self._table = text, chunking, tables, table
        self._anything_stored = table in tables.names() and tables.rows(table) > 0
        self._fresh: dict[str, tuple[Batch, int]] = {}
        self._leaving: list[str] = []
        self._published: set[str] = set()
        self._sources: dict[int, npt.NDArray[np.uint64]] = {}

    def batches(self, serials: Sequence[int], rows: int) -> Iterator[Batch]:
        """Batches of so many rows, in order."""
        portion = rows * BATCHES_IN_A_LOOKUP
        for start in range(0, len(serials), portion):
            self._leave_to_the_table()
            found = self.strings(serials[start : start + portion])
            stored = self._stored({key for row in found for key in row.by_key})
            for at in range(0, len(found), rows):
                yield self._batch(found[at : at + rows], stored)

    def published(self, keys: Iterable[str]) -> None:
        """The table has these keys from now on."""
        self._leaving.extend(keys)
        for segment in self._text.segments:
            # Read once, in order: what has been read need not stay in memory.
            segment.file.forget("text")

    def _leave_to_the_table(self) -> None:
        """Only between two look-ups: what was not in the table at the last one may still be asked for."""
        for key in self._leaving:
            del self._fresh[key]
        self._published.update(self._leaving)
        self._leaving.clear()

    def strings(self, serials: Sequence[int]) -> list[Strings]:
        """What stands for each of these rows."""
        made = []
        for serial in serials:
            place = self._text.place(serial)
            segment, index = place.segment, place.index
            sources = self._sources.get(id(segment))
            if sources is None:
                sources = self._sources[id(segment)] = segment.source_hash_of_rows()
            strings = strings_to_embed(segment.coded("section")[index], place.text, self._chunking)
            made.append(Strings(serial, int(sources[index]), {ids.text_sha(string): string for string in strings}))
        return made

    def _stored(self, keys: set[str]) -> dict[str, Any]:
        asked = keys - self._fresh.keys()
        if not self._anything_stored:
            asked &= self._published
        return self._tables.vectors_for(self._table, sorted(asked)) if asked else {}

    def _batch(self, rows: Sequence[Strings], stored: dict[str, Any]) -> Batch:
        batch = Batch(len(rows))
        for row in rows:
            for key, string in row.by_key.items():
                batch.serials.append(row.serial)
                batch.sources.append(row.source)
                batch.keys.append(key)
                if key in batch.new:
                    continue
                if key in stored:
                    batch.stored[key] = stored[key]
                elif key in self._fresh:
                    batch.earlier[key] = self._fresh[key]
                else:
                    batch.new[key] = string
        self._fresh.update((key, (batch, row)) for row, key in enumerate(batch.new))
        return batch


def twins_together(text: TextRows, serials: Sequence[int]) -> list[int]:
    """The same rows in nearly the same order: those with an equal first string follow the first of them, so that the
    vector of a text that stands in many files is at hand for all of them."""
    import numpy as np

    firsts = []
    for segment in text.segments:
        heads = np.append(segment.keys_of("keys").heads(), np.uint64(0))
        firsts.append(heads[segment.file.array("keys_offsets")[:-1]])
    wanted = np.asarray(serials, dtype=np.uint64)
    every = np.concatenate([segment.file.array("serials") for segment in text.segments])
    keys = np.concatenate(firsts)[np.searchsorted(every, wanted)]
    _, where, group = np.unique(keys, return_index=True, return_inverse=True)
    order: list[int] = wanted[np.argsort(where[group], kind="stable")].tolist()
    return order
