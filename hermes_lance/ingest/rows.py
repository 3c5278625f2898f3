"""A document and its pieces become rows of the chunks table: ids, lines, bytes, pages, keys of vectors."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from hermes_lance.core import ids
from hermes_lance.core.config import ChunkingConfig
from hermes_lance.core.records import ChunkRow, Document, Piece
from hermes_lance.models import embed_text
from hermes_lance.parse import suspicion
from hermes_lance.parse.suspicion_rules import Finding
from hermes_lance.parse.tokens import TokenRuler, estimate, ruler_of


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that the rows come from, and the run that makes them."""

    source_id: str
    root: str
    path: str
    run: str


def strings_to_embed(trail: Sequence[str], text: str, chunking: ChunkingConfig) -> list[str]:
    """The exact strings whose vectors stand for a passage; their hashes are its keys."""
    return embed_text.windows(
        text, trail, window_tokens=chunking.window_tokens, most=chunking.vectors_per_chunk, tokens=estimate
    )


def chunk_rows(
    document: Document, pieces: Sequence[Piece], origin: Origin, *, chunker: str, chunking: ChunkingConfig
) -> list[ChunkRow]:
    """One row for each piece, in order; pieces of blanks only are left out, since nobody can look for them."""
    text = document.text
    lines = _Lines(text) if document.verbatim else None
    octets = _Bytes(text) if document.verbatim else None
    equals: dict[str, int] = {}
    made: dict[int, str] = {}
    ruler = ruler_of(text)
    suspect = suspicion.findings(text)
    named = _flags_of_name(origin.path)
    rows: list[ChunkRow] = []
    for number, piece in enumerate(pieces):
        body = text[piece.start : piece.end]
        if not body or body.isspace():
            continue
        sha = ids.text_sha(body)
        ordinal = equals.get(sha, 0)
        equals[sha] = ordinal + 1
        made[number] = row_id = ids.chunk_id(origin.source_id, sha, ordinal)
        keys, embedded = _embedded(piece, body, sha, ruler, chunking)
        first_line, last_line = lines.span(piece.start, piece.end) if lines else (None, None)
        first_byte, last_byte = octets.span(piece.start, piece.end) if octets else (None, None)
        first_page, last_page = _pages(document.page_starts, piece)
        rows.append(
            ChunkRow(
                id=row_id,
                source_id=origin.source_id,
                root=origin.root,
                path=origin.path,
                kind=piece.kind,
                section=piece.trail,
                symbol=piece.symbol,
                media_type=document.media_type,
                lang=document.lang,
                text=body,
                embed_keys=keys,
                ordinal=len(rows),
                parent_id=made.get(piece.parent) if piece.parent is not None else None,
                char_start=piece.start,
                char_end=piece.end,
                byte_start=first_byte,
                byte_end=last_byte,
                line_start=first_line,
                line_end=last_line,
                page_start=first_page,
                page_end=last_page,
                locator=piece.locator,
                chunker=chunker,
                parser=document.parser,
                embedded_tokens=embedded,
                flags=_flags((*document.flags, *named), suspect, piece),
                run=origin.run,
            )
        )
    return rows


_NAME_MARKS = re.compile(r"[_.\\-]+")
"""What stands between the words of a name."""
_FEWEST_WORDS = 3
"""Of a name that could give an order."""


def _flags_of_name(path: str) -> tuple[str, ...]:
    """Those that a path deserves by itself: a model reads it with every citation."""
    folder, _, name = path.rpartition("/")
    flags = tuple(flag for part in folder.split("/") for flag in _flags_of_part(part))
    return tuple(dict.fromkeys((*flags, *_flags_of_words(name))))


@lru_cache(maxsize=1_024)
def _flags_of_part(folder: str) -> tuple[str, ...]:
    return _flags_of_words(folder)


def _flags_of_words(name: str) -> tuple[str, ...]:
    words = _NAME_MARKS.sub(" ", name)
    return suspicion.flags(words) if words.count(" ") >= _FEWEST_WORDS - 1 or not name.isascii() else ()


def _flags(of_file: tuple[str, ...], suspect: Sequence[Finding], piece: Piece) -> tuple[str, ...]:
    """Those of the whole file, and those of what is found in the piece or reaches into it."""
    if not suspect:
        return of_file
    return tuple(dict.fromkeys((*of_file, *suspicion.flags_between(suspect, piece.start, piece.end))))


def _embedded(
    piece: Piece, body: str, sha: str, ruler: TokenRuler, chunking: ChunkingConfig
) -> tuple[tuple[str, ...], int]:
    """Keys of `strings_to_embed` and about how many tokens the embedder will read. Nothing is hashed twice."""
    begin, window = piece.start, chunking.window_tokens
    head, head_tokens, parts, whole = embed_text.layout(
        body,
        piece.trail,
        window_tokens=window,
        most=chunking.vectors_per_chunk,
        tokens=estimate,
        measure=lambda start, end: ruler.estimate(begin + start, begin + end),
    )
    tokens = round(min(whole + len(parts) * head_tokens, len(parts) * window))
    if len(parts) == 1 and not head:
        return (sha,), tokens
    return tuple([ids.text_sha(head + body[start:end]) for start, end in parts]), tokens


def _pages(starts: Sequence[int], piece: Piece) -> tuple[int | None, int | None]:
    if not starts:
        return None, None
    return bisect_right(starts, piece.start), bisect_right(starts, max(piece.start, piece.end - 1))


class _Lines:
    """Line numbers of rising spans, counted once. A line ends at a line feed, as editors and citations count; in a file
    that has none, as old Macs wrote them, at a carriage return.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = "\n" if "\n" in text or "\r" not in text else "\r"
        self._known = [(0, 1)]
        """Character offsets and their lines: the start of the text, then first and last character of the last span."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        count, end_of_line = self._text.count, self._end
        at, line = _nearest(self._known, start)
        first = line + count(end_of_line, at, start)
        # The line feed that ends a piece belongs to its last line.
        stop = max(start, end - 1)
        last = first + count(end_of_line, start, stop)
        self._known = [(0, 1), (start, first), (stop, last)]
        return first, last


class _Bytes:
    """Byte offsets in UTF-8 of rising spans; equal to the characters while everything is ASCII."""

    def __init__(self, text: str) -> None:
        self._text, self._ascii = text, text.isascii()
        self._known = [(0, 0)]

    def span(self, start: int, end: int) -> tuple[int, int]:
        if self._ascii:
            return start, end
        at, octet = _nearest(self._known, start)
        first = octet + self._size(at, start)
        last = first + self._size(start, end)
        self._known = [(0, 0), (start, first), (end, last)]
        return first, last

    def _size(self, start: int, end: int) -> int:
        return len(self._text[start:end].encode("utf-8", "surrogatepass"))


def _nearest(known: Sequence[tuple[int, int]], position: int) -> tuple[int, int]:
    """The last of these rising offsets that is not beyond `position`, with what is known of it."""
    for entry in reversed(known):
        if entry[0] <= position:
            return entry
    return known[0]
