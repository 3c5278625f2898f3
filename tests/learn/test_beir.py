"""A judged set is read whole, and no file name or heading gives an answer away."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hermes_lance.core.errors import FileMissing, UsageError
from hermes_lance.learn import beir
from hermes_lance.learn.beir import JudgedDocument

REFERENCE = os.environ.get("HERMES_LANCE_REFERENCE_DATA", "")


def document(id: str = "x", title: str = "", text: str = "text", **metadata: Any) -> JudgedDocument:
    return JudgedDocument(id, title, text, metadata)


def lines(*rows: object) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two languages, one query without an answer."""
    top = tmp_path / "small"
    (top / "qrels").mkdir(parents=True)
    corpus = lines(
        {"_id": "en-1", "title": "Cats", "text": "purr\u2028loudly", "metadata": {"lang": "en"}},
        {"_id": "th-1", "title": "แมว", "text": "คราง", "metadata": {"lang": "th"}},
    )
    (top / "corpus.jsonl.gz").write_bytes(gzip.compress(corpus.encode()))
    queries = lines(
        {"_id": "q1", "text": "who purrs", "metadata": {"lang": "en"}},
        {"_id": "q2", "text": "ใคร", "metadata": {"lang": "th"}},
        {"_id": "q3", "text": "no answer", "metadata": {"lang": "en"}},
    )
    (top / "queries.jsonl").write_text(queries, encoding="utf-8")
    (top / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\ten-1\t2\nq1\tth-1\t1\nq2\tth-1\t1\nq3\ten-1\t0\n"
    )
    (top / "qrels" / "cross.tsv").write_text("q2\ten-1\t1\n")
    return top


def test_a_set_is_read_with_metadata_and_judgements(folder: Path) -> None:
    judged = beir.read(folder)
    assert judged.name == "small"
    assert [(each.id, each.text) for each in judged.documents] == [("en-1", "purr\u2028loudly"), ("th-1", "คราง")]
    assert judged.qrels == {"q1": {"en-1": 2, "th-1": 1}, "q2": {"th-1": 1}, "q3": {"en-1": 0}}
    assert [query.id for query in judged.answerable] == ["q1", "q2"]
    assert judged.queries[1].metadata == {"lang": "th"}
    assert beir.read(folder, "cross").qrels == {"q2": {"en-1": 1}}


def test_an_uncompressed_corpus_is_read_too(folder: Path) -> None:
    packed = folder / "corpus.jsonl.gz"
    (folder / "corpus.jsonl").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    assert len(beir.read(folder).documents) == 2


def test_languages_become_sets_of_their_own(folder: Path) -> None:
    english, thai = beir.by_language(beir.read(folder))
    assert (english.name, thai.name) == ("small/en", "small/th")
    assert [each.id for each in thai.documents] == ["th-1"] and [query.id for query in thai.queries] == ["q2"]
    assert english.qrels == {"q1": {"en-1": 2}, "q3": {"en-1": 0}}


def test_a_set_without_languages_is_one_set(folder: Path) -> None:
    judged = beir.read(folder)
    plain = beir.JudgedSet("p", tuple(document(each.id) for each in judged.documents), judged.queries, judged.qrels)
    assert beir.by_language(plain) == [plain]


def test_what_is_missing_or_broken_is_named_with_its_line(folder: Path) -> None:
    with pytest.raises(FileMissing, match=r"corpus\.jsonl"):
        beir.read(folder / "qrels")
    with pytest.raises(FileMissing, match=r"nope\.tsv"):
        beir.read(folder, "nope")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1 en-1 2\n")
    with pytest.raises(UsageError, match=r"test\.tsv:2"):
        beir.read(folder)
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "a"}\n\n{"_id": 3}\n')
    with pytest.raises(UsageError, match=r"queries\.jsonl:3"):
        beir.read(folder)


@pytest.mark.parametrize(
    ("given", "suffix"),
    [
        (document("c0", language="python"), ".py"),
        (document("chi/middleware/get.go", repo="chi"), ".go"),
        (document("sinatra/lib/base.RB"), ".rb"),
        (document("common/tar.md"), ".md"),
        (document("en/docs/welcome#models"), ".md"),
        (document("AI2sql", language="klingon"), ".md"),
    ],
)
def test_the_suffix_is_that_of_the_language_and_nothing_else_of_the_id(given: JudgedDocument, suffix: str) -> None:
    assert beir.suffix_of(given) == suffix


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (document(title="Cats", text="They purr."), "# Cats\n\nThey purr."),
        (document(title="Cats", text="Cats\n\nThey purr."), "# Cats\n\nThey purr."),
        (document(title="Cats", text="\n\nCats\nThey purr."), "# Cats\nThey purr."),
        (document(title="!", text="# !\n\n> Reuse"), "# !\n\n> Reuse"),
        (document(title="Cats", text="Cats purr."), "Cats purr."),
        (document(title="", text="They purr."), "They purr."),
        (document("a/b.py", "b.py", "def f(): ..."), "def f(): ..."),
        (document("x", "helper", "def f(): ...", language="python"), "def f(): ..."),
        (document("api-notes.md", "api-notes.md", "Text."), "Text."),
        (document("aiohttp/docs/use.md", "docs/use.md", "Text."), "Text."),
        (document("lib/src/build.zig", "src/build.zig", "Text."), "Text."),
        (document("n1", "TCP/IP", "Text."), "# TCP/IP\n\nText."),
        (document("AI2sql", "AI2sql", "Converts."), "# AI2sql\n\nConverts."),
        (document("Tool.ai", "Tool.ai", "Helps."), "# Tool.ai\n\nHelps."),
        (document(title="Two\n words", text="x"), "# Two words\n\nx"),
    ],
)
def test_the_title_is_a_heading_unless_it_names_a_file_or_is_there_already(given: JudgedDocument, written: str) -> None:
    assert beir.contents_of(given) == written


def test_documents_become_files_with_neutral_names(folder: Path, tmp_path: Path) -> None:
    names = beir.materialise(beir.read(folder), tmp_path / "out")
    assert names == {"d0.md": "en-1", "d1.md": "th-1"}
    assert (tmp_path / "out" / "d1.md").read_bytes() == "# แมว\n\nคราง".encode()
    assert sorted(os.listdir(tmp_path / "out")) == ["d0.md", "d1.md"]
    with pytest.raises(UsageError, match="not empty"):
        beir.materialise(beir.read(folder), tmp_path / "out")


@pytest.mark.reference
@pytest.mark.skipif(not REFERENCE, reason="HERMES_LANCE_REFERENCE_DATA is not set")
def test_every_reference_set_is_read_and_written(tmp_path: Path) -> None:
    counts = {}
    for folder in sorted(Path(REFERENCE, "beir").iterdir()):
        if not folder.is_dir():
            continue
        judged = beir.read(folder)
        counts[folder.name] = (len(judged.documents), len(judged.answerable))
        known = {each.id for each in judged.documents}
        assert all(set(grades) <= known for grades in judged.qrels.values()), folder.name
    assert counts["product-docs"] == (232, 100)
    assert counts["mtrag-followup"] == (560, 194)
    languages = beir.by_language(beir.read(Path(REFERENCE, "beir", "xquad-multilingual")))
    assert [(len(each.documents), len(each.answerable)) for each in languages] == [(150, 445)] * 8
    code = beir.read(Path(REFERENCE, "beir", "semble-code"))
    suffixes = {Path(name).suffix for name in beir.materialise(code, tmp_path / "code")}
    assert suffixes == {".py", ".go", ".rb", ".pyx", ".pxd", ".mod"}
    for each in code.documents:
        assert beir.contents_of(each) == each.text, "a title that is a path gives the answer away"
    written = (tmp_path / "code" / "d0.py").read_text(encoding="utf-8")
    assert written == code.documents[0].text
