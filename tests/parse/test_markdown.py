"""Markdown becomes sections with their whole heading trail, and front matter becomes facts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_lance.parse.markdown import MarkdownParser, readable_title
from hermes_lance.parse.media import Unreadable


def parsed(text: str):
    return MarkdownParser().parse(text.encode(), path="a.md", media_type="text/markdown")


def trails(text: str) -> list[tuple[str, ...]]:
    return [section.trail for section in parsed(text).sections]


def test_a_section_carries_every_heading_above_it():
    text = "intro\n\n# A\n\n## B\n\n### C\n\n## D\n\n# E\n"
    assert trails(text) == [(), ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",)]


def test_a_skipped_level_leaves_no_hole():
    assert trails("# A\n\n#### D\n\n## B\n") == [("A",), ("A", "D"), ("A", "B")]


def test_comments_in_fences_are_no_headings():
    text = "# Real\n\n```bash\n# not one\n```\n\n## Second\n"
    assert trails(text) == [("Real",), ("Real", "Second")]


def test_front_matter_is_facts_and_a_section_of_its_own():
    document = parsed("---\ntitle: Rotate the key\ntags: [security, runbook]\n---\n\nSteps follow.\n")
    assert document.facts == {"title": "Rotate the key", "tags": "security, runbook"}
    assert [section.kind for section in document.sections] == ["front_matter", "markdown"]
    assert document.sections[1].trail == ("Rotate the key",)


def test_the_title_of_the_front_matter_gives_way_to_a_heading_of_level_one():
    assert trails("---\ntitle: T\n---\n# A\n")[-1] == ("A",)
    assert trails("---\ntitle: T\n---\n## A\n")[-1] == ("T", "A")


def test_titles_are_as_a_reader_sees_them():
    assert readable_title("The [`open`](api.md#open) call {#open}") == "The `open` call"
    assert readable_title("<a id='x'></a>Deep \\*stars\\*") == "Deep *stars*"


def test_offsets_are_those_of_the_file_even_with_crlf():
    text = "# One\r\n\r\nalpha\r\n\r\n# Two\r\n\r\nbeta\r\n"
    document = parsed(text)
    assert document.text == text and document.verbatim
    assert [text[section.start : section.start + 5] for section in document.sections] == ["# One", "# Two"]


@given(st.lists(st.sampled_from(["# A", "## B", "text", "", "```", "---", "===", "<div>", "- x"]), max_size=30))
def test_sections_tile_the_text(lines):
    text = "\n".join(lines) + "\nend"
    sections = parsed(text).sections
    assert "".join(text[section.start : section.end] for section in sections) == text


@pytest.mark.parametrize(("data", "code"), [(b"", "empty"), (b" \n\t\n", "empty"), (b"a\x00b" * 9, "binary")])
def test_a_file_without_text_says_why(data, code):
    with pytest.raises(Unreadable) as caught:
        MarkdownParser().parse(data, path="a.md", media_type="text/markdown")
    assert caught.value.code == code and not caught.value.failed


def test_links_of_wikis_are_read_as_their_text():
    assert readable_title("See [[plans/solar|the solar plan]] and [[Roof]]") == "See the solar plan and Roof"


def test_javascript_in_mdx_makes_no_headings():
    text = (
        "import Tabs from '@theme/Tabs'\n\nexport const note = `\n# not a heading\n`\n\n# Quick start\n\n"
        "{/*\n# hidden\n*/}\n\n<Tabs>\n# inside a tag\n\n## In the tabs\n</Tabs>\n\n## Next\n"
    )
    sections = MarkdownParser().parse(text.encode(), path="a.mdx", media_type="text/markdown").sections
    assert [section.trail for section in sections] == [
        (), ("Quick start",), ("Quick start", "In the tabs"), ("Quick start", "Next"),
    ]  # fmt: skip
    assert "".join(text[section.start : section.end] for section in sections) == text


def test_footnotes_are_text_of_their_section():
    text = "# A\n\nText[^1].\n\n[^1]: A note\n\n    # not a heading\n\n## B\n"
    assert trails(text) == [("A",), ("A", "B")]


def test_toml_front_matter_is_facts_too():
    document = parsed('+++\ntitle = "Deploy"\ntags = ["ops", "web"]\n+++\n\n## Steps\n')
    assert document.facts == {"title": "Deploy", "tags": "ops, web"}
    assert [section.trail for section in document.sections] == [(), ("Deploy",), ("Deploy", "Steps")]
