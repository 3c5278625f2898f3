"""Documents and their pieces as rows: keys of vectors, tokens, lines and bytes."""

from __future__ import annotations

import pytest

from hermes_lance.core.config import ChunkingConfig
from hermes_lance.core.ids import text_sha
from hermes_lance.core.records import ChunkRow, Document, Piece
from hermes_lance.ingest.rows import Origin, chunk_rows, strings_to_embed
from hermes_lance.parse.tokens import estimate

CHUNKING = ChunkingConfig()
PROSE = "It is cold today, 12 degrees; the café opens at 9.\n"
TRAIL = ("Guide", "Weather")


def rows_of(text: str, pieces: list[Piece], **more: bool) -> list[ChunkRow]:
    document = Document(text, "text/plain", "builtin_text/1", **more)  # type: ignore[arg-type]
    return chunk_rows(document, pieces, Origin("f" * 32, "workspace", "a.txt", "run"), chunker="c/1", chunking=CHUNKING)


@pytest.mark.parametrize("trail", [(), TRAIL, ("Größe",)])
@pytest.mark.parametrize("lead", ["", "## Weather\n\n"])
@pytest.mark.parametrize("times", [1, 20, 200])
@pytest.mark.parametrize("sentence", [PROSE, PROSE.replace("é", "e")])
def test_keys_and_tokens_are_those_of_the_strings_that_will_be_embedded(trail, lead, times, sentence):
    text = "x = 1\n" + lead + sentence * times
    (row,) = rows_of(text, [Piece(6, len(text), "text", trail)])
    strings = strings_to_embed(row.section, row.text, CHUNKING)
    assert row.embed_keys == tuple(text_sha(string) for string in strings)
    read = sum(min(estimate(string), CHUNKING.window_tokens) for string in strings)
    assert row.embedded_tokens == pytest.approx(read, rel=0.05, abs=1 + 2 * len(strings))


@pytest.mark.parametrize(
    "spans",
    [
        [(0, 51), (51, 153), (153, 204)],
        [(0, 120), (80, 160), (100, 204)],
        [(153, 204), (0, 51), (60, 70)],
        [(0, 204), (0, 204)],
    ],
    ids=["tiling", "overlapping", "out of order", "nested"],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_lines_and_bytes_are_those_of_the_file(spans, ends):
    text = (PROSE * 4)[:-2] + "."
    text = text.replace("\n", ends) if ends != "\n" else text
    for row, (start, end) in zip(
        rows_of(text, [Piece(first, last, "text") for first, last in spans]), spans, strict=True
    ):
        assert (row.char_start, row.char_end) == (start, end)
        assert row.line_start == text.count("\n", 0, start) + 1
        assert row.line_end == text.count("\n", 0, end - 1) + 1
        assert row.byte_start == len(text[:start].encode())
        assert row.byte_end == len(text[:end].encode())


def test_text_that_is_not_the_file_itself_has_neither_lines_nor_bytes():
    (row,) = rows_of(PROSE, [Piece(0, len(PROSE), "text")], verbatim=False)
    assert (row.line_start, row.line_end, row.byte_start, row.byte_end) == (None, None, None, None)


def test_equal_passages_of_a_file_have_different_ids():
    rows = rows_of("ab\nab\n \n", [Piece(0, 3, "text"), Piece(3, 6, "text"), Piece(6, 8, "text")])
    assert [row.ordinal for row in rows] == [0, 1]
    assert rows[0].id != rows[1].id


def test_lines_of_a_file_of_carriage_returns_are_counted_by_them():
    text = "first\rsecond\rthird"
    (row,) = rows_of(text, [Piece(6, len(text), "text")])
    assert (row.line_start, row.line_end) == (2, 3)
