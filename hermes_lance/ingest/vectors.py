"""The second step of a build: vectors for rows that have none, published batch by batch, so that a kill loses little.

A text that was embedded before, in this dataset or in its vectors table, is never embedded again: vectors are keyed by
the exact string. A change of embedder fills the table of the new space while queries go on in the old one; when every
row has its vectors, one publication turns over. Threads embed all the while; this one prepares and publishes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from hermes_lance.core.config import ChunkingConfig
from hermes_lance.core.errors import Cancelled, ModelUnavailable
from hermes_lance.ingest.crew import Crew, threads_for
from hermes_lance.ingest.waiting import Batch, WaitingRows, twins_together
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.publish import Publication
from hermes_lance.store.rows import TextRows
from hermes_lance.store.tables import Tables
from hermes_lance.store.vectors import VectorRows

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder

ROWS_IN_A_BATCH = 64
BATCHES_AHEAD = 16
"""Prepared for the threads that embed: work for longer than a publication takes."""
SECONDS_BETWEEN_PUBLICATIONS = 20.0
BYTES_IN_A_PUBLICATION = 16 << 20
"""float16 vectors after which a batch is published: bounds memory where embedding is fast."""


@dataclass(slots=True)
class Step:
    """Settings of the vector step of one build."""

    chunking: ChunkingConfig
    cancelled: Callable[[], bool]
    progress: Callable[[int, int], None]
    deadline: float | None = None
    """`time.monotonic` at which to stop after the batches at hand."""
    workers: int | None = None
    """Threads that embed; none: as many as suit the embedder and the machine."""

    def over(self) -> bool:
        """The time budget is spent."""
        return self.deadline is not None and time.monotonic() >= self.deadline


def rows_without_vectors(text: TextRows, vectors: VectorRows) -> list[int]:
    """Living serials that no vector segment has, rising."""
    living = text.alive()
    missing: list[int] = living[~vectors.rows_with_vectors(living)].tolist()
    return missing


def attach_known(work: Publication, vectors: VectorRows) -> None:
    """Gives the rows of a publication the vectors that their texts already have, so that a rename keeps them."""
    if not len(vectors):
        return
    found = vectors.by_key({key for _, row in work.written for key in row.embed_keys})
    for serial, row in work.written:
        if row.embed_keys and all(key in found for key in row.embed_keys):
            for key in row.embed_keys:
                work.put_vector(serial, row.source_id, key, found[key], stored=True)


def fill(
    waiting: list[int],
    text: TextRows,
    tables: Tables,
    table: str,
    embedder: Embedder,
    step: Step,
    begin: Callable[[], Publication],
    finish: Callable[[Publication], Manifest],
    *,
    serve: bool = True,
) -> int:
    """Embeds and publishes the rows of `waiting`, in batches; the number of vectors that were computed.

    With `serve` the vectors answer queries from their publication on; without, they only fill the table of a space
    that is not in use yet. Whatever ends the embedding early, `Cancelled` or an error of the embedder, is raised once
    the batches that are complete have been published.
    """
    if step.over():
        return 0
    rows = WaitingRows(text, step.chunking, tables, table)
    batches = rows.batches(twins_together(text, waiting), ROWS_IN_A_BATCH)
    with (
        Crew(embedder, threads_for(embedder, step.workers), step.cancelled) as crew,
        _Line(rows, begin, finish, serve) as line,
    ):
        stream = _Stream(crew, batches, step)
        for batch in stream:
            line.add(batch)
            step.progress(line.rows, len(waiting))
            line.publish_if_due()
        line.publish()
        if isinstance(stream.error, Cancelled):
            kept = f"stopped with {line.rows} of {len(waiting)} passages embedded; they are kept"
            raise Cancelled(kept) from stream.error
        if isinstance(stream.error, ModelUnavailable):
            kept = f"{line.rows} of {len(waiting)} passages are embedded and kept, the others are found by their words"
            raise ModelUnavailable(f"{stream.error}; {kept}", hint=stream.error.hint) from stream.error
        if stream.error is not None:
            raise stream.error
    return line.computed


class _Stream:
    """Batches in order, as they become complete. What ends them early is `error`, to be raised by the caller; those
    that are complete by then still come."""

    def __init__(self, crew: Crew, batches: Iterator[Batch], step: Step) -> None:
        self.error: Exception | None = None
        self._crew, self._batches, self._step = crew, batches, step
        self._ahead: deque[Batch] = deque()

    def __iter__(self) -> Iterator[Batch]:
        try:
            while self._prepare():
                self._crew.result(self._ahead[0].job)
                yield self._ahead.popleft()
        except Exception as error:
            self.error = error
            self._crew.stop()
            yield from (batch for batch in self._ahead if batch.complete)

    def _prepare(self) -> bool:
        """Keeps the threads in work; false when nothing is left to wait for."""
        if self._step.cancelled():
            raise Cancelled("stopped between two batches")
        if self._step.over():
            self._crew.drop_what_is_not_begun()
            self._ahead = deque(batch for batch in self._ahead if batch.begun)
            return bool(self._ahead)
        while len(self._ahead) < BATCHES_AHEAD:
            batch = next(self._batches, None)
            if batch is None:
                break
            batch.job = self._crew.put(list(batch.new.values()))
            self._ahead.append(batch)
        return bool(self._ahead)


class _Line:
    """Publications, one on top of the other. Embedding goes on meanwhile; an error leaves none half made."""

    def __init__(
        self,
        waiting: WaitingRows,
        begin: Callable[[], Publication],
        finish: Callable[[Publication], Manifest],
        serve: bool,
    ) -> None:
        self.rows = 0
        """Rows of the batches added."""
        self.computed = 0
        """Vectors among them that the table did not have."""
        self._waiting, self._begin, self._finish, self._serve = waiting, begin, finish, serve
        self._work: Publication | None = None
        self._keys: list[str] = []
        self._published_at = time.monotonic()

    def add(self, batch: Batch) -> None:
        """Takes a complete batch into the next publication."""
        work = self._work = self._work or self._begin()
        if batch.new:
            work.store_vectors(list(batch.new), batch.job.vectors)
        if self._serve:
            work.put_vectors(batch.serials, batch.sources, batch.keys, batch.matrix())
        self.rows += batch.rows
        self.computed += len(batch.new)
        self._keys += batch.new

    def publish_if_due(self) -> None:
        """Publishes when there is much, or when it has been long."""
        waited = time.monotonic() - self._published_at > SECONDS_BETWEEN_PUBLICATIONS
        if self._work is not None and (waited or self._work.vector_bytes > BYTES_IN_A_PUBLICATION):
            self.publish()

    def publish(self) -> None:
        """Publishes what was added since the last time."""
        if self._work is not None and not self._work.empty:
            self._finish(self._work)
            self._work = None
            self._waiting.published(self._keys)
            self._keys = []
            self._published_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._work is not None:
            self._work.abandon()


def serve_stored(work: Publication, serials: list[int], text: TextRows, tables: Tables, table: str, step: Step) -> None:
    """Gives rows the vectors that a table already holds for them."""
    import numpy as np

    waiting = WaitingRows(text, step.chunking, tables, table)
    portion = ROWS_IN_A_BATCH * BATCHES_AHEAD
    for start in range(0, len(serials), portion):
        rows = waiting.strings(serials[start : start + portion])
        found = tables.vectors_for(table, sorted({key for row in rows for key in row.by_key}))
        pairs = [(row.serial, row.source, key) for row in rows for key in row.by_key]
        ordinals, sources, keys = zip(*pairs, strict=True)
        work.put_vectors(ordinals, sources, keys, np.stack([found[key] for key in keys]))
