"""The plugin contracts. Protocols: anything with the right shape fits, without importing us."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from hermes_lance.core.records import Candidate, ChunkRow, Document, KnownFile, Piece, Query

    Vectors = npt.NDArray[np.float32]
else:
    Vectors = Any


@runtime_checkable
class Parser(Protocol):
    """Reads the bytes of one file and returns its text with its sections."""

    name: str
    media_types: Sequence[str]

    def signature(self) -> str:
        """Change this when the same bytes would give a different document."""
        ...

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """The document, or `core.errors.HermesLanceError` / `parse.media.Unreadable` with a reason.

        `path` is for naming only: the parser opens nothing.
        """
        ...


@runtime_checkable
class Chunker(Protocol):
    """Cuts a document into passages whose spans tile its text."""

    name: str
    media_types: Sequence[str]

    def signature(self) -> str:
        """Change this when the same document would be cut differently."""
        ...

    def pieces(self, document: Document) -> list[Piece]:
        """Passages in order of `start`; leaf pieces tile `document.text` without gap or overlap."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns text into L2-normalised vectors of one space.

    One that gains from several threads calling it at the same time says so with a further attribute `threads`, how many
    of them a build uses by itself; they give it one text at a time. Without it, a build calls from one thread.

    One behind a service says so with `sends_to`, the host that text goes to (none where that is this machine), and may
    say with `requests_at_once` how many threads a build uses, whatever the cores; they give it many texts at a time.
    """

    name: str
    dimensions: int
    window_tokens: int
    """Tokens that the model reads of one text; the rest is unseen."""
    scripts: frozenset[str]
    """Unicode scripts (`Latin`, `Han`, …) that the model was made for; empty when any."""
    fusion_weight: float
    """Weight of this leg in convex fusion for queries in `scripts`: .5 transformer class, .2 hash and static."""

    def signature(self) -> str:
        """Names the vector space: model, weights, pooling, window, prompts, normalisation."""
        ...

    def embed_documents(self, texts: Sequence[str], *, cancelled: Callable[[], bool] | None = None) -> Vectors:
        """float32 `[len(texts), dimensions]`, rows of length 1 (all zero where a text has nothing to embed).

        `cancelled` is asked now and then, at least every few texts of a slow model; on yes `Cancelled` is raised.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """float32 `[dimensions]`, length 1 or all zero."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Model tokens of each text, without truncation."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """Scores passages against a question, better than the legs that found them could.

    An attribute `timeout_seconds`, where it has one, takes the place of the usual 30 seconds.
    """

    name: str

    def signature(self) -> str:
        """Names model and settings. Shapes nothing that is stored; for reports."""
        ...

    def scores(self, query: str, candidates: Sequence[Candidate], *, timeout: float) -> Sequence[float | None]:
        """One score for each candidate, higher is better; none for one that was not scored, which keeps its place in
        the fused order after the scored ones. `timeout` in seconds. Any error keeps the fused order."""
        ...


class SearchView(Protocol):
    """What a retriever sees of one generation. The filters of the question apply inside both legs."""

    def lexical(self, text: str, rows: int) -> list[tuple[int, float]]:
        """The best rows by words: row number and BM25 score, best first."""
        ...

    def dense(self, text: str, rows: int) -> list[tuple[int, float]]:
        """The best rows by meaning: row number and cosine, best first; empty without vectors."""
        ...

    def passage(self, row: int) -> ChunkRow:
        """Text and place of a row."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """Finds the rows that answer a question."""

    name: str

    def signature(self) -> str:
        """Names method and settings. Shapes nothing that is stored; for reports."""
        ...

    def retrieve(self, query: Query, view: SearchView, rows: int) -> list[tuple[int, float]]:
        """At most `rows` row numbers with a score, best first, each once. Any error: ours answers, with a warning."""
        ...


class IndexSession(Protocol):
    """An opened index of another store. Rows are named by their id; a score is a float, higher is better."""

    def put_file(self, file: KnownFile, rows: Sequence[ChunkRow], vectors: Sequence[Vectors], stamp: str) -> None:
        """The passages of a file in the place of those that were there. `vectors` has for each row a float32 array
        `[vectors of the row, dimensions]`, without any row where there are none yet. `stamp` is kept with the file."""
        ...

    def drop_file(self, source_id: str) -> None:
        """Nothing of this file is left; no error where there is nothing."""
        ...

    def files(self) -> Mapping[str, str]:
        """Source id of every file to the stamp that it was put with."""
        ...

    def lexical(self, text: str, rows: int, source_ids: Collection[str] | None = None) -> Sequence[tuple[str, float]]:
        """At most `rows` row ids by words, best first, of these files only where they are given."""
        ...

    def dense(
        self, vector: Vectors, rows: int, source_ids: Collection[str] | None = None
    ) -> Sequence[tuple[str, float]]:
        """At most `rows` row ids by nearness to a vector, best first, each once; of these files only."""
        ...

    def commit(self) -> None:
        """What was put and dropped since the last call is kept, all of it; before, none of it must be."""
        ...

    def close(self) -> None:
        """Lets go; what was not committed is lost."""
        ...


@runtime_checkable
class IndexStore(Protocol):
    """A further index of the passages, whose legs answer in the place of ours. Our own tables stay the source of truth:
    it is brought in step with them, and can be deleted and made again."""

    name: str

    def signature(self) -> str:
        """Change this when what is stored has to be made again."""
        ...

    def open(self, folder: Path, *, dimensions: int | None) -> IndexSession:
        """The index in a folder of its own, made where there is none. `dimensions` of the vectors, if any are there.
        Several threads use a session, one after the other."""
        ...
