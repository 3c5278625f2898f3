"""What a plugin promises, checked: one function for each category, for its author's tests and for ours.

Each raises `AssertionError` with a sentence that names the broken promise, and returns nothing where all are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hermes_lance.core import plugins
from hermes_lance.core.records import Candidate, ChunkRow, Document, Piece, Query, Section
from hermes_lance.testing.rows import chunk_rows

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Chunker, Embedder, Parser, Reranker, Retriever

SAMPLE_TEXT = (
    "# Harbour\n\nThe office opens at seven. Boats moor at the north quay.\n\n## Größe – 港口\n\n"
    "\tdef berth():\n\t\treturn 7\n\n\n\nThe last line has no end"
)


def promise(kept: bool, sentence: str) -> None:
    """`AssertionError` with that sentence unless the promise is kept."""
    if not kept:
        raise AssertionError(sentence)


def check_shape(category: str, plugin: Any) -> str:
    """Every attribute and method of the contract is there, name and signature are stable texts; the name."""
    for member in plugins.members(category):
        promise(hasattr(plugin, member), f"{type(plugin).__name__} has no {member}, which every one of {category} has")
    name = plugin.name
    promise(isinstance(name, str) and bool(name.strip()), f"the name {name!r} is not a text")
    signature = plugin.signature()
    promise(isinstance(signature, str) and bool(signature), f"{name}: the signature {signature!r} is not a text")
    promise(plugin.signature() == signature, f"{name}: the signature changes from one call to the next")
    return str(name)


def _check_media_types(name: str, plugin: Any) -> None:
    kinds = plugin.media_types
    fine = not isinstance(kinds, str) and all(isinstance(kind, str) and kind for kind in kinds) and len(kinds) > 0
    promise(fine, f"{name}: media_types is {kinds!r}, which is not a list of media types or suffixes")


def check_parser(parser: Parser, samples: Mapping[str, bytes]) -> None:
    """`samples`: file name to the bytes of a file that the parser can read. No such file has to exist."""
    from hermes_lance.parse.media import media_type

    name = check_shape("parsers", parser)
    _check_media_types(name, parser)
    promise(len(samples) > 0, "check_parser needs a sample that the parser can read")
    for path, data in samples.items():
        own = [kind for kind in parser.media_types if kind.startswith(".") and path.lower().endswith(kind.lower())]
        kind = f"application/x-{own[0][1:].lower()}" if own else media_type(path, data)
        document = parser.parse(data, path=path, media_type=kind)
        promise(isinstance(document, Document), f"{name} gave {type(document).__name__} for {path}, not a Document")
        _check_document(f"{name}, {path}", document)
        again = parser.parse(data, path=path, media_type=kind)
        promise(again == document, f"{name}: the same bytes of {path} gave another document the second time")
        for broken in (b"", data[: len(data) // 2], b"\x00\xff" * 64):
            try:
                made = parser.parse(broken, path=path, media_type=kind)
            except Exception:
                continue  # an error is an answer
            fine = isinstance(made, Document)
            promise(fine, f"{name}: for damaged bytes of {path} it gave {type(made).__name__} and raised nothing")


def _check_document(where: str, document: Document) -> None:
    promise(isinstance(document.text, str), f"{where}: the text is {type(document.text).__name__}, not str")
    promise(bool(document.text.strip()), f"{where}: there is no text in the document, and nothing was raised")
    try:
        document.text.encode("utf-8")
    except UnicodeEncodeError:
        raise AssertionError(f"{where}: the text holds lone surrogates, which have no UTF-8") from None
    promise(bool(document.media_type), f"{where}: the document has no media type")
    promise(bool(document.parser), f"{where}: the document does not name its parser")
    at = 0
    for part in document.sections:
        fine = at <= part.start <= part.end <= len(document.text)
        promise(fine, f"{where}: the section {part.start} to {part.end} overlaps another or leaves the text")
        at = part.end
    starts = document.page_starts
    fine = list(starts) == sorted(starts) and all(0 <= start <= len(document.text) for start in starts)
    promise(fine, f"{where}: the pages do not begin in order within the text")


def sample_documents() -> list[Document]:
    """Texts that a chunker has to cope with: with sections and without, empty lines, one endless line."""
    half = SAMPLE_TEXT.index("## Gr")
    sections = (Section(0, half, ("Harbour",)), Section(half, len(SAMPLE_TEXT), ("Harbour", "Größe – 港口")))
    plain = Document(SAMPLE_TEXT, "text/plain", "sample/1")
    return [
        replace(plain, media_type="text/markdown", sections=sections),
        plain,
        replace(plain, text="one"),
        replace(plain, text="\n\n  \nafter blanks\n\n\n"),
        replace(plain, text="word " * 4_000),
        replace(plain, text="x" * 20_000),
        replace(plain, text="\n\n".join(f"Paragraph {number} of many, all alike." for number in range(400))),
    ]


def check_chunker(chunker: Chunker, documents: Sequence[Document] | None = None) -> None:
    """`documents` that the chunker is made for; without, the samples of this module."""
    name = check_shape("chunkers", chunker)
    _check_media_types(name, chunker)
    for number, document in enumerate(sample_documents() if documents is None else documents):
        where = f"{name}, document {number}"
        pieces = chunker.pieces(document)
        promise(isinstance(pieces, list), f"{where}: pieces() gave {type(pieces).__name__}, not a list")
        _check_pieces(where, document, pieces)
        promise(chunker.pieces(document) == pieces, f"{where}: the same document was cut differently the second time")


def _check_pieces(where: str, document: Document, pieces: list[Piece]) -> None:
    covered, before = [False] * len(document.text), 0
    for at, piece in enumerate(pieces):
        promise(isinstance(piece, Piece), f"{where}: piece {at} is {type(piece).__name__}, not a Piece")
        within = 0 <= piece.start < piece.end <= len(document.text)
        promise(within, f"{where}: piece {at}, {piece.start} to {piece.end}, is empty or leaves the text")
        promise(piece.start >= before, f"{where}: piece {at} begins before the one before it")
        promise(bool(piece.kind), f"{where}: piece {at} has no kind")
        if piece.parent is not None:
            fine = 0 <= piece.parent < len(pieces) and piece.parent != at
            promise(fine, f"{where}: piece {at} names {piece.parent} as its larger piece, which there is not")
        before = piece.start
        covered[piece.start : piece.end] = [True] * (piece.end - piece.start)
    lost = [at for at, (seen, character) in enumerate(zip(covered, document.text, strict=True))
            if not seen and not character.isspace()]  # fmt: skip
    promise(not lost, f"{where}: {len(lost)} characters are in no piece, the first at {lost[:1]}")


def check_embedder(embedder: Embedder, texts: Sequence[str] | None = None) -> None:
    """`texts` to embed; without, the samples of this module."""
    import numpy as np

    name = check_shape("embedders", embedder)
    texts = list(texts or [*SAMPLE_TEXT.split("\n\n"), "word " * 600, "The office opens at seven."])
    size = embedder.dimensions
    promise(isinstance(size, int) and size > 0, f"{name}: dimensions is {size!r}")
    promise(embedder.window_tokens > 0, f"{name}: window_tokens is {embedder.window_tokens!r}")
    promise(isinstance(embedder.scripts, frozenset), f"{name}: scripts is no frozenset")
    promise(0 <= embedder.fusion_weight <= 1, f"{name}: fusion_weight is {embedder.fusion_weight!r}, not within 0 to 1")
    vectors = embedder.embed_documents(texts)
    shape = getattr(vectors, "shape", None)
    promise(shape == (len(texts), size), f"{name}: {len(texts)} texts gave vectors of the shape {shape}")
    promise(vectors.dtype == np.float32, f"{name}: the vectors are {vectors.dtype}, not float32")
    _check_lengths(name, vectors)
    none = embedder.embed_documents([])
    promise(none.shape == (0, size), f"{name}: no texts gave vectors of the shape {none.shape}, not (0, {size})")
    alone = np.stack([embedder.embed_documents([text])[0] for text in texts])
    promise(bool(np.allclose(alone, vectors, atol=5e-3)), f"{name}: a text alone has another vector than among others")
    again = embedder.embed_documents(texts)
    promise(bool(np.allclose(again, vectors, atol=1e-4)), f"{name}: the same text has another vector the second time")
    for text in (texts[0], ""):
        vector = embedder.embed_query(text)
        promise(vector.shape == (size,), f"{name}: a question has a vector of the shape {vector.shape}")
        promise(vector.dtype == np.float32, f"{name}: a question has a vector of {vector.dtype}, not float32")
        _check_lengths(name, vector[None])
    counts = embedder.count_tokens(texts)
    fine = len(counts) == len(texts) and all(isinstance(count, int) and count >= 0 for count in counts)
    promise(fine, f"{name}: count_tokens gave {counts!r} for {len(texts)} texts")
    _check_stop(name, embedder, texts)


def _check_lengths(name: str, vectors: Any) -> None:
    import numpy as np

    promise(bool(np.isfinite(vectors).all()), f"{name}: a vector holds a number that is none")
    for length in np.linalg.norm(vectors, axis=1):
        promise(length < 1e-6 or abs(length - 1) < 1e-3, f"{name}: a vector has the length {length:.4f}, not 1 or 0")


def _check_stop(name: str, embedder: Embedder, texts: list[str]) -> None:
    from hermes_lance.core.errors import Cancelled

    try:
        embedder.embed_documents(texts, cancelled=lambda: True)
    except Cancelled:
        return  # a quick one may have finished first
    except Exception as error:
        raise AssertionError(f"{name}: when stopped it raises {type(error).__name__}, not Cancelled") from error


def sample_candidates() -> list[Candidate]:
    """Passages as they come from the legs; one that no leg has scored, one in another script."""
    texts = [*SAMPLE_TEXT.split("\n\n")[:3], "港口办公室七点开门。", "The harbour office opens at seven o'clock.", "?"]
    return [
        Candidate(text, f"notes/{at}.md", ("Notes",), 9.0 - at, None if at == 2 else 0.9 - at / 10, 1.0 - at / 10)
        for at, text in enumerate(texts)
    ]


def check_reranker(
    reranker: Reranker, candidates: Sequence[Candidate] | None = None, query: str = "when does the harbour office open?"
) -> None:
    """Scores of `candidates` for `query`; without, the samples of this module."""
    name = check_shape("rerankers", reranker)
    given = list(sample_candidates() if candidates is None else candidates)
    handed = list(given)
    scores = list(reranker.scores(query, handed, timeout=30.0))
    promise(handed == given, f"{name}: it has changed the list of passages that it was given")
    promise(len(scores) == len(given), f"{name}: {len(given)} passages have {len(scores)} scores")
    for score in scores:
        fine = score is None or (isinstance(score, int | float) and math.isfinite(score))
        promise(fine, f"{name}: {score!r} is no score")
    promise(any(score is not None for score in scores), f"{name}: none of the passages has a score")
    promise(list(reranker.scores(query, given, timeout=30.0)) == scores, f"{name}: other scores the second time")
    promise(len(list(reranker.scores(query, [], timeout=30.0))) == 0, f"{name}: no passages, and yet scores")


class SampleView:
    """Two small legs over passages that need no dataset; fits `core.contracts.SearchView`."""

    def __init__(self, *, words: bool = True, meaning: bool = True) -> None:
        self.rows = chunk_rows("notes/harbour.md", [f"Passage {number} of the harbour." for number in range(12)])
        self._words = [(row, 12.0 - row) for row in range(8)] if words else []
        self._meaning = [(row, row / 12) for row in range(11, 3, -1)] if meaning else []

    def lexical(self, text: str, rows: int) -> list[tuple[int, float]]:
        """The first eight passages."""
        return self._words[:rows] if text.strip() else []

    def dense(self, text: str, rows: int) -> list[tuple[int, float]]:
        """The last eight."""
        return self._meaning[:rows] if text.strip() else []

    def passage(self, row: int) -> ChunkRow:
        """One of them."""
        return self.rows[row]


def check_retriever(retriever: Retriever, view: Callable[..., Any] = SampleView) -> None:
    """`view(words=…, meaning=…)` makes a view with or without each leg; without, the samples of this module."""
    name = check_shape("retrievers", retriever)
    query = Query("harbour")
    for words, meaning in ((True, True), (True, False), (False, True), (False, False)):
        for rows in (1, 5, 100):
            seen = view(words=words, meaning=meaning)
            found = list(retriever.retrieve(query, seen, rows))
            where = f"{name}, {'with' if words else 'without'} words, {'with' if meaning else 'without'} vectors"
            promise(len(found) <= rows, f"{where}: {len(found)} rows where at most {rows} were asked for")
            numbers = [int(row) for row, _ in found]
            scores = [float(score) for _, score in found]
            promise(len(set(numbers)) == len(numbers), f"{where}: a row comes twice")
            promise(all(map(math.isfinite, scores)), f"{where}: a score is no number")
            promise(scores == sorted(scores, reverse=True), f"{where}: the best row does not come first")
            legs = {row for row, _ in [*seen.lexical(query.text, 100), *seen.dense(query.text, 100)]}
            promise(set(numbers) <= legs, f"{where}: it gives rows that no leg has found")
            again = list(retriever.retrieve(query, view(words=words, meaning=meaning), rows))
            promise(again == found, f"{where}: another ranking the second time")
