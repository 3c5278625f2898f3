"""Whatever text a file holds and whatever type it has: its parser's sections and its chunker's passages tile it."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_lance.core import registry
from hermes_lance.core.choices import DEFAULT_CHUNKERS, DEFAULT_PARSERS, MARKUP
from hermes_lance.core.records import Document
from hermes_lance.parse import media
from hermes_lance.parse.grammars import known_languages

CODE = [*sorted(known_languages()), "sql", "nim", "make", "css", "erlang"]
KINDS = [
    *(f"text/{name}" for name in ("plain", "markdown", "html", "csv", "json", "yaml", "toml", "xml", "ini", "diff")),
    *MARKUP,
    *(f"text/x-{language}" for language in CODE),
]
FRAGMENTS = [
    "Some words of a sentence. ", "\n", "\n\n", "# Heading\n", "=====\n", "-----\n", "```\nx\n\ny\n```\n", "- item\n",
    "  more\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "* star\n", "#+begin_src\n", r"\section{A}", "\n== T ==\n",
    ".SH NAME\n", "=head1 X\n", "def f(x):\n    return x\n", "class A {\n  int b() { return 1; }\n}\n", "<p>x</p>",
    "<a b='c'>", "</a>", '{"k": [1, "v"]}', "key: value\n", "[table]\n", "k = 'v'\n", "a,b,c\n1,2,3\n", '"open', "'",
    "日本語の文章。", "e\u0301", "👨\u200d👩\u200d👧", "\t", "\f", "\r\n", "\r", "x" * 50, "/*", "*/", "//", "<!--",
    "-->", "---\n", "+++\n", "{/*", "$(", "`", "\u202e", "\u2028",
]  # fmt: skip


@cache
def plugin(category: str, name: str, *sizes: int) -> Any:
    return registry.plugin_class(category, name)(*sizes)


def read(text: str, kind: str, target: int, overlap: int) -> tuple[Document, list[Any]] | None:
    parser = registry.best_match(DEFAULT_PARSERS, kind)
    chunker = registry.best_match(DEFAULT_CHUNKERS, kind)
    assert parser is not None and chunker is not None
    try:
        document = plugin("parsers", parser).parse(text.encode(), path="a", media_type=kind)
    except media.Unreadable as reason:
        assert reason.code in {"binary", "empty", "parse_failed"}
        return None
    return document, plugin("chunkers", chunker, target, overlap).pieces(document)


def check(document: Document, pieces: list[Any], text: str, tiles: bool) -> None:
    whole = document.text
    if document.verbatim:
        assert whole == text
    if document.sections:
        assert "".join(whole[part.start : part.end] for part in document.sections) == whole
    if tiles:
        assert "".join(whole[piece.start : piece.end] for piece in pieces) == whole
    assert all(whole[piece.start : piece.end].strip() for piece in pieces)
    assert all(isinstance(name, str) for piece in pieces for name in piece.trail)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(parts=st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=60), target=st.sampled_from([16, 512]))
def test_any_text_of_any_type_is_tiled(kind, parts, target):
    text = "".join(parts) + "end"
    found = read(text, kind, target, 0)
    if found is not None:
        check(*found, text, tiles=True)


@pytest.mark.parametrize("kind", KINDS)
def test_real_files_read_as_any_type_are_covered(kind, covered):
    folder = Path(sysconfig.get_path("stdlib"))
    for name in ("abc.py", "LICENSE.txt", "this.py", "contextlib.py"):
        file = folder / name
        if not file.is_file():
            continue
        text = file.read_text(encoding="utf-8")
        found = read(text, kind, 256, 40)
        assert found is not None or kind != "text/plain"
        if found is not None:
            covered(*found)
            check(*found, text, tiles=False)


@pytest.mark.reference
def test_real_files_of_each_type_are_covered(reference_data, covered):
    read_files = 0
    for file in sorted((reference_data / "files").rglob("*")):
        if not file.is_file() or file.name in {"EXPECT.jsonl", "make_nasty.py"}:
            continue
        data = file.read_bytes()
        kind = media.media_type(file.name, data)
        if not kind.startswith("text/"):
            continue
        parser, chunker = registry.best_match(DEFAULT_PARSERS, kind), registry.best_match(DEFAULT_CHUNKERS, kind)
        assert parser is not None and chunker is not None
        document = plugin("parsers", parser).parse(data, path=file.name, media_type=kind)
        for target, overlap in ((512, 80), (100, 0)):
            pieces = plugin("chunkers", chunker, target, overlap).pieces(document)
            covered(document, pieces)
            check(document, pieces, document.text, tiles=overlap == 0)
        read_files += 1
    assert read_files > 40


LONG = " " * 400_000


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text/markdown", f"# a{LONG}b\n"),
        ("text/markdown", f"# a {{#b}}{LONG}c\n"),
        ("text/markdown", f"-{LONG}x\n" + "a line\n" * 3_000),
        ("text/org", f"* a{LONG}b\n"),
        ("text/asciidoc", f"== a{LONG}b\n"),
        ("text/yaml", f"a{LONG}b\n"),
        ("text/toml", f"a{LONG}b\n"),
        ("text/rst", " a::\n" * 60_000),
    ],
    ids=["heading", "attributes", "table", "org", "asciidoc", "yaml", "toml", "nested blocks"],
)
def test_a_long_run_of_blanks_or_blocks_in_blocks_is_read_in_linear_time(kind, text, covered):
    found = read(text, kind, 512, 80)
    assert found is not None
    covered(*found)
