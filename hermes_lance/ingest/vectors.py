"""The second step of a build: vectors for rows that have none, published batch by batch, so that a kill loses little.

A text that was embedded before, in this dataset or in its vectors table, is never embedded again: vectors are keyed by
the exact string. A change of embedder fills the table of the new space while queries go on in the old one; when every
row has its vectors, one publication turns over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_lance.core import ids
from hermes_lance.core.config import ChunkingConfig
from hermes_lance.core.errors import Cancelled
from hermes_lance.core.records import ChunkRow
from hermes_lance.ingest.rows import strings_to_embed
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.publish import Publication
from hermes_lance.store.rows import TextRows
from hermes_lance.store.tables import Tables
from hermes_lance.store.vectors import VectorRows

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder

ROWS_IN_A_BATCH = 256
SECONDS_BETWEEN_PUBLICATIONS = 20.0
BYTES_IN_A_PUBLICATION = 24 << 20
"""float16 vectors after which a batch is published: bounds memory where embedding is fast."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A row without vectors."""

    serial: int
    row: ChunkRow


@dataclass(slots=True)
class Step:
    """Settings of the vector step of one build."""

    chunking: ChunkingConfig
    cancelled: Callable[[], bool]
    progress: Callable[[int, int], None]
    deadline: float | None = None
    """`time.monotonic` at which to stop after the batch at hand."""

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
    that is not in use yet. Raises `Cancelled` between batches, after publishing what is done.
    """
    computed = 0
    done = 0
    in_table = table in tables.names()
    work: Publication | None = None
    published_at = time.monotonic()
    try:
        for batch in _batches(waiting, text):
            stop = step.cancelled() or step.over()
            waited = time.monotonic() - published_at > SECONDS_BETWEEN_PUBLICATIONS
            if work is not None and not work.empty and (stop or waited or work.vector_bytes > BYTES_IN_A_PUBLICATION):
                finish(work)
                work, published_at = None, time.monotonic()
                in_table = True
            if step.cancelled():
                raise Cancelled("stopped between two batches")
            if stop:
                return computed
            if work is None:
                work = begin()
            computed += _one_batch(batch, work, tables, table if in_table else None, embedder, step, serve=serve)
            done += len(batch)
            step.progress(done, len(waiting))
        if work is not None and not work.empty:
            finish(work)
    except Cancelled as error:
        # Stopped inside a batch: the batches before it are finished and need not be made again.
        if work is not None and not work.empty:
            finish(work)
        elif work is not None:
            work.abandon()
        raise Cancelled(f"stopped with {done} of {len(waiting)} passages embedded; they are kept") from error
    except BaseException:
        if work is not None:
            work.abandon()
        raise
    return computed


def _batches(waiting: list[int], text: TextRows) -> Iterator[list[Waiting]]:
    for start in range(0, len(waiting), ROWS_IN_A_BATCH):
        yield [Waiting(serial, text.row(serial)) for serial in waiting[start : start + ROWS_IN_A_BATCH]]


def _one_batch(
    batch: list[Waiting],
    work: Publication,
    tables: Tables,
    table: str | None,
    embedder: Embedder,
    step: Step,
    *,
    serve: bool,
) -> int:
    strings: dict[str, str] = {}
    keys_of: list[list[str]] = []
    for one in batch:
        made = strings_to_embed(one.row.section, one.row.text, step.chunking)
        keyed = {ids.text_sha(string): string for string in made}
        strings.update(keyed)
        keys_of.append(list(keyed))
    vectors: dict[str, Any] = tables.vectors_for(table, sorted(strings)) if table is not None else {}
    stored = set(vectors)
    missing = [key for key in strings if key not in vectors]
    if missing:
        matrix = embedder.embed_documents([strings[key] for key in missing], cancelled=step.cancelled)
        vectors.update(zip(missing, matrix.astype("float16"), strict=True))
    if not serve:
        for key in missing:
            work.store_vector(key, vectors[key])
        return len(missing)
    for one, keys in zip(batch, keys_of, strict=True):
        for key in keys:
            work.put_vector(one.serial, one.row.source_id, key, vectors[key], stored=key in stored)
            stored.add(key)
    return len(missing)


def serve_stored(work: Publication, serials: list[int], text: TextRows, tables: Tables, table: str, step: Step) -> None:
    """Gives rows the vectors that a table already holds for them."""
    for batch in _batches(serials, text):
        keys_of = [
            [ids.text_sha(string) for string in strings_to_embed(one.row.section, one.row.text, step.chunking)]
            for one in batch
        ]
        vectors = tables.vectors_for(table, sorted({key for keys in keys_of for key in keys}))
        for one, keys in zip(batch, keys_of, strict=True):
            for key in dict.fromkeys(keys):
                work.put_vector(one.serial, one.row.source_id, key, vectors[key], stored=True)
