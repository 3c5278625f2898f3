"""Every plugin of ours that runs offline keeps the promises of its contract, and the checks see a broken one."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from hermes_lance import testing
from hermes_lance.core import plugins, registry
from hermes_lance.core.records import Document, Piece

DOC = "# Harbour\n\nThe office opens at seven.\n\n## Größe\n\nBoats moor at the quay.\n"
HTML = b"<html><head><title>Harbour</title></head><body><h1>Harbour</h1><p>The office opens at seven.</p></body></html>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><title>Quay</title><text>Boats moor here.</text></svg>'
MAIL = b"From: a@example.org\nTo: b@example.org\nSubject: Berths\nMIME-Version: 1.0\n\nThe office opens at seven.\n"
RTF = rb"{\rtf1\ansi The office opens at seven.\par Boats moor at the quay.}"
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Tides\n", "High at noon."]},
            {"cell_type": "code", "metadata": {}, "source": ["berths = 7\n"], "outputs": [], "execution_count": 1},
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
).encode()


def pdf() -> bytes:
    """One page with one line."""
    content = b"BT /F1 12 Tf 40 700 Td (The harbour office opens at seven.) Tj ET"
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
        b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    made = b"%PDF-1.4\n"
    for number, part in enumerate(parts, start=1):
        made += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    return made + b"trailer << /Root 1 0 R /Size 5 >>\n%%EOF\n"


SAMPLES: dict[str, dict[str, bytes]] = {
    "builtin_text": {"a.txt": DOC.encode(), "b.py": b"def berth():\n    return 7\n"},
    "markdown": {"a.md": DOC.encode()},
    "markup": {"a.rst": b"Harbour\n=======\n\nThe office opens at seven.\n", "b.org": b"* Harbour\nIt opens.\n"},
    "html": {"a.html": HTML},
    "svg": {"a.svg": SVG},
    "pdf": {"a.pdf": pdf()},
    "notebook": {"a.ipynb": NOTEBOOK},
    "mail": {"a.eml": MAIL},
    "office": {"a.rtf": RTF},
}
NUMBERS = itertools.count()
WITH_AN_EXTRA = {"pdf_ocr", "image"}


def test_every_parser_of_ours_has_a_sample_here():
    assert set(registry.BUILT_IN["parsers"]) == set(SAMPLES) | WITH_AN_EXTRA


@pytest.mark.parametrize("name", SAMPLES)
def test_a_parser_of_ours_keeps_its_promises(name):
    parser = plugins.make("parsers", name)
    try:
        testing.check_parser(parser, SAMPLES[name])
    finally:
        if hasattr(parser, "close"):
            parser.close()


@pytest.mark.parametrize("name", registry.BUILT_IN["chunkers"])
def test_a_chunker_of_ours_keeps_its_promises(name):
    testing.check_chunker(plugins.make("chunkers", name, offered={"target_tokens": 64, "overlap_tokens": 8}))


@pytest.mark.parametrize("name", ["minilm", "builtin_hash"])
def test_an_embedder_of_ours_keeps_its_promises(name):
    testing.check_embedder(plugins.make("embedders", name))


def test_the_embedder_for_tests_keeps_its_promises():
    testing.check_embedder(testing.WordCountEmbedder())


@pytest.mark.parametrize("name", sorted({"heuristic"} & set(registry.BUILT_IN.get("rerankers", ()))))
def test_a_reranker_of_ours_keeps_its_promises(name):
    testing.check_reranker(plugins.make("rerankers", name))


@pytest.mark.parametrize("name", registry.BUILT_IN["retrievers"])
def test_a_retriever_of_ours_keeps_its_promises(name):
    testing.check_retriever(plugins.make("retrievers", name))


def test_the_store_for_tests_keeps_the_promises_of_a_store(tmp_path):
    testing.check_index_store(testing.FileStore(), tmp_path / "index")


class Broken:
    """A plugin of any category, to be broken in one point."""

    name = "broken"
    media_types = ("text/plain",)

    def __init__(self, **answers: Any) -> None:
        for method, answer in answers.items():
            setattr(self, method, answer)

    def signature(self) -> str:
        return "broken/1"


def broken(**answers: Any) -> Any:
    """One with these methods and no others."""
    return Broken(**answers)


@pytest.mark.parametrize(
    ("parse", "said"),
    [
        (lambda data, **_: None, "gave NoneType for a.txt, not a Document"),
        (lambda data, **_: Document("", "text/plain", "1"), "there is no text in the document"),
        (lambda data, **_: Document(str(next(NUMBERS)), "text/plain", "1"), "another document"),
        (lambda data, **_: Document("\ud800", "text/plain", "1"), "lone surrogates"),
    ],
)
def test_a_parser_that_breaks_a_promise_is_told_which(parse, said):
    with pytest.raises(AssertionError, match=said):
        testing.check_parser(broken(parse=parse), {"a.txt": b"one"})


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (lambda document: [], "characters are in no piece, the first at"),
        (lambda document: [Piece(0, 10**6, "text")], "is empty or leaves the text"),
        (lambda document: [Piece(0, len(document.text), "")], "has no kind"),
        (lambda document: [Piece(0, len(document.text), "text", parent=0)], "larger piece, which there is not"),
        (lambda document: (Piece(0, len(document.text), "text"),), "gave tuple, not a list"),
    ],
)
def test_a_chunker_that_breaks_a_promise_is_told_which(pieces, said):
    with pytest.raises(AssertionError, match=said):
        testing.check_chunker(broken(pieces=pieces))


class LongVectors(testing.WordCountEmbedder):
    def embed_query(self, text):
        return super().embed_query(text) * 2


class OneTooMany(testing.WordCountEmbedder):
    def count_tokens(self, texts):
        return [1] * (len(texts) + 1)


@pytest.mark.parametrize(
    ("made", "said"), [(LongVectors(), "length 2.0000, not 1 or 0"), (OneTooMany(), "count_tokens")]
)
def test_an_embedder_that_breaks_a_promise_is_told_which(made, said):
    with pytest.raises(AssertionError, match=said):
        testing.check_embedder(made)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (lambda query, given, timeout: [1.0], "6 passages have 1 scores"),
        (lambda query, given, timeout: [float("nan")] * len(given), "nan is no score"),
        (lambda query, given, timeout: [None] * len(given), "none of the passages has a score"),
        (lambda query, given, timeout: [1.0 for _ in [given.pop() for _ in range(len(given))]], "has changed the list"),
    ],
)
def test_a_reranker_that_breaks_a_promise_is_told_which(scores, said):
    with pytest.raises(AssertionError, match=said):
        testing.check_reranker(broken(scores=scores))


@pytest.mark.parametrize(
    ("retrieve", "said"),
    [
        (lambda query, view, rows: [(row, 1.0) for row in range(12)], "at most 1 were asked for"),
        (lambda query, view, rows: view.lexical("a", rows)[::-1], "the best row does not come first"),
        (lambda query, view, rows: [(99, 1.0)], "gives rows that no leg has found"),
        (lambda query, view, rows: (view.lexical("a", 1) * 2)[:rows], "a row comes twice"),
    ],
)
def test_a_retriever_that_breaks_a_promise_is_told_which(retrieve, said):
    with pytest.raises(AssertionError, match=said):
        testing.check_retriever(broken(retrieve=retrieve))


class Forgetful(testing.FileStore):
    def open(self, folder: Path, *, dimensions: int | None) -> Any:
        session = super().open(folder, dimensions=dimensions)
        session.commit = lambda: None  # type: ignore[method-assign]
        return session


def test_a_store_that_breaks_a_promise_is_told_which(tmp_path):
    with pytest.raises(AssertionError, match="opened again, it holds"):
        testing.check_index_store(Forgetful(), tmp_path / "index")


def test_what_a_plugin_lacks_is_named():
    with pytest.raises(AssertionError, match="Broken has no retrieve"):
        testing.check_retriever(broken())
