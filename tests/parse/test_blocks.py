"""The line scanner finds the headings that markdown-it-py finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from hermes_lance.core.text import front_matter
from hermes_lance.parse.blocks import scan

JUDGE = MarkdownIt("commonmark").enable("table")


def judged(text: str, start: int = 0) -> list[tuple[int, int, str]]:
    """(line, level, title) of top-level headings, by the reference implementation."""
    tokens = JUDGE.parse(text[start:])
    return [
        (token.map[0], int(token.tag[1]), " ".join(tokens[index + 1].content.split()))
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map is not None
    ]


def scanned(text: str, start: int = 0) -> list[tuple[int, int, str]]:
    found = []
    for heading in scan(text, start).headings:
        above = text[start : heading.start].replace("\r\n", "\n").replace("\r", "\n")
        found.append((above.count("\n"), heading.level, " ".join(heading.title.split())))
    return found


CASES = {
    "fence": "# A\n\n```bash\n# no\n```\n\n~~~py\n## no\n~~~\n\n    # no\n\n## B\n",
    "unclosed fence": "# A\n\n```\ncode\n# still code\n\nlast\n",
    "nested fence": "# A\n\n````md\n```sh\n# no\n```\n# no\n````\n\n# B\n",
    "tilde in backticks": "```\n~~~\n# no\n```\n# B\n",
    "backtick in info": "``` a`b\n# yes\n",
    "shorter end": "````\n```\n# no\n`````\n# B\n",
    "setext": "Big\n===\n\nintro\n\nSub\n---\n\ndetail\n\n---\n\nafter\n",
    "two-line setext": "one\ntwo\n===\n",
    "setext after list": "- a\n---\n\n- a\nlazy\n===\n",
    "setext after quote": "> a\n---\n\n> a\nlazy\n---\n",
    "setext after table": "| a | b |\n|---|---|\n| 1 | 2 |\n---\n",
    "setext after definition": "[a]: /x\n===\n\n[b]: /y\ntext\n===\n",
    "closing hashes": "# A ##\n#no\n####### no\n\\# no\n# B#\n## # ##\n#\n",
    "indented": "   # yes\n\n    # no\n\ttext\n\t# no\n",
    "in list": "- item\n\n  # no\n\n1. one\n\n   ## no\n\n# B\n",
    "fence in list": "- item\n  ```\n  # no\n  ```\n\n# B\n",
    "fence opened on marker": "- ```sh\n  # no\n  ```\n\n# B\n",
    "comment": "# A\n\n<!-- hidden\n\n# no\n-->\n\n# B\n",
    "html block": "<div>\n# no\n\n# yes\n</div>\n\n<pre>\n\n# no\n</pre>\n# B\n",
    "inline html": "text\n<b>bold</b>\n===\n",
    "script": "<script>\n\n# no\n\n</script>\n\n# B\n",
    "crlf": "# A\r\n\r\ntext\r\n\r\nB\r\n---\r\n\r\n```\r\n# no\r\n```\r\n",
    "cr": "# A\r\rtext\r\r# B\r",
    "rules": "***\n---\n___\ntext\n***\nmore\n---\n",
    "heading ends paragraph": "text\n# A\nB\n===\n",
    "empty": "",
    "only newlines": "\n\n\n",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_headings_are_those_of_commonmark(text):
    assert scanned(text) == judged(text)


LINES = [
    "# One", "## Two ##", "###", "#tag", " # One blank", "    # four blanks", "text", "more *text* here", "", "", "===",
    "---", "- item", "  indented", "1. first", "> quote", "```", "```sh", "~~~", "````", "<!-- note", "-->", "<div>",
    "</div>", "<br>", "| a | b |", "|---|---|", "***", "\\# escaped", "[ref]: /url",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_random_documents_have_the_headings_of_commonmark(lines):
    text = "\n".join(lines) + "\n"
    ours, theirs = scanned(text), judged(text)
    # Corners of list items that hold fences or continue lazily may differ; nowhere else may they.
    if not any(line.startswith(("- ", "1. ", "  ")) for line in lines):
        assert ours == theirs


def test_the_documents_of_this_repository_agree(checkout):
    files = sorted([*checkout.glob("*.md"), *(checkout / "docs").rglob("*.md")])
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        start = front_matter(text).body_start
        assert scanned(text, start) == judged(text, start), file


def test_whole_blocks_are_fences_and_html():
    text = "a\n\n```\nx\n\ny\n```\n\n<!-- c\n\nd -->\n"
    assert [text[start:end] for start, end in scan(text).whole] == ["```\nx\n\ny\n```\n", "<!-- c\n\nd -->\n"]


@pytest.mark.parametrize(
    "text",
    [
        "=\n" * 50_000,
        "- a\n" + "lazy\n===\n" * 20_000,
        "```\n" * 50_000,
        "<pre>\n" * 50_000,
        "<a " * 50_000,
        "# " * 100_000,
        " ```\n" * 250_000,
        "   ```\n  a\n" * 100_000,
    ],
    ids=["underlines", "lazy", "fences", "pre", "tags", "hashes", "indented fences", "indented by turns"],
)
def test_hostile_documents_are_scanned_in_linear_time(text):
    spans = scan(text).whole
    assert all(0 <= start < end <= len(text) for start, end in spans) and spans == sorted(spans)
