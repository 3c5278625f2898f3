"""HTML is read as a reader of the page sees it."""

from __future__ import annotations

import pytest

from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.paragraphs import ParagraphsChunker
from hermes_lance.parse.web import HtmlParser


def parsed(page: str | bytes):
    data = page.encode() if isinstance(page, str) else page
    return HtmlParser().parse(data, path="a.html", media_type="text/html")


def test_tags_scripts_styles_and_navigation_are_gone():
    text = parsed(
        "<title>T</title><style>p{color:red}</style><nav><a href=x>Home</a></nav>"
        "<p class=lead>Shown <b>text</b>.</p><script>alert('x')</script><p hidden>secret</p><footer>legal</footer>"
    ).text
    assert text == "T\n\nShown text.\n"


def test_headings_are_sections_with_their_trail():
    document = parsed("<p>intro</p><h1>A</h1><p>one</p><h2>B <i>C</i></h2><p>two</p><h1>D</h1>")
    assert [section.trail for section in document.sections] == [(), ("A",), ("A", "B C"), ("D",)]
    text = document.text
    assert text[document.sections[2].start :].startswith("B C\n\ntwo")
    assert "".join(text[section.start : section.end] for section in document.sections) == text


def test_the_title_stands_first_and_above_pages_without_a_main_heading():
    document = parsed("<title>Page</title><h2>Part</h2><p>words</p>")
    assert document.facts == {"title": "Page"}
    assert document.sections[-1].trail == ("Page", "Part")


def test_blanks_are_folded_but_code_keeps_its_lines():
    text = parsed("<p>one\n   two</p><pre>def f():\n    return 1\n</pre><p>three<br>four</p>").text
    assert text == "one two\n\ndef f():\n    return 1\n\n\nthree\nfour\n"


def test_rows_are_lines_and_cells_stand_apart():
    text = parsed("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>").text
    assert text == "a\tb\n1\t2\n"


def test_words_split_by_inline_tags_stay_one_word():
    assert parsed("<p>data<b>base</b> and <i>more</i></p>").text == "database and more\n"


def test_a_page_names_its_own_encoding():
    page = '<meta charset="iso-8859-2"><p>žluťoučký kůň příliš</p>'.encode("iso-8859-2")
    assert "žluťoučký" in parsed(page).text


def test_a_page_that_is_all_navigation_is_read_with_it():
    assert parsed("<nav><a>Only links here</a></nav>").text == "Only links here\n"


def test_a_page_without_text_says_so():
    with pytest.raises(Unreadable) as caught:
        parsed("<html><body><img src=x></body></html>")
    assert caught.value.code == "empty"


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 100_000 + "inside",
        "<b>" * 3000 + "inside<p>" * 500,
        "<" * 100_000 + " inside",
        "<p>" * 20_000 + "inside",
    ],
    ids=["deep", "unclosed", "brackets", "paragraphs"],
)
def test_hostile_pages_are_read_in_time(page, covered):
    document = parsed(page)
    assert "inside" in document.text
    covered(document, ParagraphsChunker().pieces(document))
