"""Every chunker cuts exact slices that cover the text, whatever the text is."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_lance.core.records import Document
from hermes_lance.parse.cells import CellsChunker
from hermes_lance.parse.headings import HeadingsChunker
from hermes_lance.parse.keys import KeysChunker
from hermes_lance.parse.markdown import MarkdownParser
from hermes_lance.parse.media import media_type
from hermes_lance.parse.paragraphs import ParagraphsChunker
from hermes_lance.parse.plain import PlainParser
from hermes_lance.parse.symbols import SymbolsChunker
from hermes_lance.parse.table_rows import RowsChunker
from hermes_lance.parse.tokens import estimate
from hermes_lance.parse.window import FixedChunker

CHUNKERS: list[Any] = [
    HeadingsChunker, ParagraphsChunker, SymbolsChunker, CellsChunker, KeysChunker, RowsChunker, FixedChunker,
]  # fmt: skip
FRAGMENTS = [
    "A sentence of plain words. ", "Another one!\n", "\n", "\n\n", "\r\n", "# Heading\n", "```\ncode\n\ncode\n```\n",
    "- item one\n", "| a | b |\n", "def name(argument):\n    return 1\n\n", "class Thing:\n", "    x = 1\n", "e\u0301",
    "日本語の文章です。", "👨‍👩‍👧", "مرحبا ", "x" * 40, "\f", "\t", " ", "/* note */ ", "# note\n", "@decorated\n",
]  # fmt: skip
LANGUAGES = [None, "python", "rust", "javascript", "cpp", "haskell"]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    pieces = draw(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=80))
    text = "".join(pieces) * draw(st.sampled_from([1, 1, 1, 12])) + draw(st.sampled_from(["", "end"])) + "x"
    language = draw(st.sampled_from(LANGUAGES))
    if language is None:
        return MarkdownParser().parse(text.encode(), path="a.md", media_type="text/markdown")
    return PlainParser().parse(text.encode(), path="a", media_type=f"text/x-{language}")


@pytest.mark.parametrize("chunker", CHUNKERS)
@settings(max_examples=60, deadline=None)
@given(document=documents(), target=st.sampled_from([16, 40, 512]), overlap=st.sampled_from([0, 10, 80]))
def test_passages_cover_any_text_and_stay_near_the_target(covered, chunker, document, target, overlap):
    pieces = chunker(target, overlap).pieces(document)
    covered(document, pieces)
    for piece in pieces:
        # The ruler interpolates within 512 characters, so a small target can be missed by the unevenness of one block.
        assert estimate(document.text[piece.start : piece.end].strip()) <= target * 1.15 + 60


@pytest.mark.parametrize("chunker", [HeadingsChunker, ParagraphsChunker, SymbolsChunker])
@settings(max_examples=40, deadline=None)
@given(document=documents())
def test_without_overlap_passages_tile_the_text(chunker, document):
    pieces = chunker(64, 0).pieces(document)
    assert "".join(document.text[piece.start : piece.end] for piece in pieces) == document.text


def test_the_standard_library_is_covered_by_every_chunker(covered):
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("[a-e]*.py"))[:40]
    assert files
    for file in files:
        data = file.read_bytes()
        if not data.strip():
            continue
        document = PlainParser().parse(data, path=file.name, media_type=media_type(file.name, data))
        for chunker in CHUNKERS:
            covered(document, chunker().pieces(document))


def test_the_same_document_is_cut_the_same_way_twice():
    document = PlainParser().parse(Path(__file__).read_bytes(), path="a.py", media_type="text/x-python")
    for chunker in CHUNKERS:
        assert chunker().pieces(document) == chunker().pieces(document)


def test_a_signature_changes_with_the_sizes():
    for chunker in CHUNKERS:
        assert chunker(512, 80).signature() != chunker(256, 80).signature() != chunker(256, 0).signature()


@pytest.mark.parametrize("chunker", CHUNKERS)
@pytest.mark.parametrize(
    "text",
    [
        "A" * 300_000 + " needle " + "B" * 300_000,
        "var a=1;" * 40_000,
        "é" * 100_000,
        "e\u0301" * 60_000,
        "\n" * 50_000 + "x",
    ],
    ids=["no blank", "minified", "wide", "accents", "newlines"],
)
def test_texts_without_any_border_are_cut_all_the_same(covered, chunker, text):
    document = Document(text, "text/x-javascript", "test", lang="javascript")
    pieces = chunker().pieces(document)
    covered(document, pieces)
    assert all(piece.end - piece.start < 60_000 for piece in pieces)


def test_no_accent_is_cut_from_its_letter_and_no_emoji_in_two():
    text = "e\u0301" * 4_000 + "👨\u200d👩\u200d👧" * 2_000
    for chunker in CHUNKERS:
        for piece in chunker(64, 0).pieces(Document(text, "text/plain", "test")):
            assert text[piece.start] not in "\u0301\u200d"
            assert piece.start == 0 or text[piece.start - 1] != "\u200d"
