"""HTML is read as a reader of the page sees it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def test_the_sign_of_a_link_to_the_heading_is_no_part_of_it():
    document = parsed("<h1>Install<a class=headerlink href=#i>¶</a></h1><h2>C#\u200b</h2><h3>Use <a>#</a></h3>")
    assert document.sections[-1].trail == ("Install", "C#", "Use")


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


def test_short_cells_stand_on_the_line_of_their_row_whatever_is_in_them():
    text = parsed(
        "<table><tr><td><p>one</p></td><td><ul><li>two</li><li>three</li></ul></td><td></td><td><div>4</div></td></tr>"
        "<tr><td>next<br>line</td><td><h3>Heading</h3>stays</td></tr></table>"
    ).text
    assert text == "one\ttwo three\t4\nnext line\n\nHeading\n\nstays\n"


def test_a_table_that_lays_out_the_page_keeps_its_blocks():
    document = parsed(f"<table><tr><td><h1>A</h1><p>{'words ' * 90}</p><p>last</p></td><td>aside</td></tr></table>")
    assert "words\n\nlast" in document.text
    assert document.sections[-1].trail == ("A",)
    assert document.text[document.sections[-1].start :].startswith("A\n\nwords")


def test_the_words_for_a_picture_are_read():
    assert (
        parsed('<p>See<img src="x.png" alt=" a red  &amp; blue\nmap ">here</p>').text == "See a red & blue map here\n"
    )
    assert parsed('<p>See<img alt="">here<img></p>').text == "Seehere\n"


def test_what_is_not_shown_is_not_read():
    text = parsed(
        "<p style='color: red; DISPLAY: none'>a</p><p style='display:none'>b</p><template><p>c</p></template>"
        "<p hidden>d</p><noscript>e</noscript><select><option>f</select><!-- g --><p>shown</p>"
    ).text
    assert text == "shown\n"


def test_what_the_page_says_of_itself_are_facts():
    document = parsed(
        '<html lang="de-AT"><head><title> A \n title </title><meta name="Description" content="What it &lt;is&gt;">'
        '<meta property="og:description" content="other"><meta name=author content=Ann></head><body>x</body></html>'
    )
    assert document.facts == {"title": "A title", "lang": "de-AT", "description": "What it <is>", "author": "Ann"}


def test_the_title_of_a_drawing_is_not_that_of_the_page():
    assert parsed("<p>words</p><svg><title>icon</title></svg>").facts == {}


def test_in_xhtml_an_element_may_close_itself():
    page = (
        '<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><script src="a.js"/>'
        '<title>T</title></head><body><a id="top"/><p/><div class="x" /><p>text<br/>more</p></body></html>'
    )
    assert parsed(page).text == "T\n\ntext\nmore\n"


def test_a_page_of_frames_is_read_as_those_without_frames_see_it():
    page = (
        "<title>F</title><frameset cols='1,2'><frame src=a.html><noframes><p>No <b>frames</b></p></noframes></frameset>"
    )
    assert parsed(page).text == "F\n\nNo frames\n"


def test_pictures_inside_the_page_are_not_read():
    text = parsed(
        f"<p>seen</p><img src='data:image/png;base64,{'iVBORw0KGgo' * 50_000}'><a href='data:x'>link</a>"
    ).text
    assert text == "seen\n\nlink\n"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<p>one<p>two<b>bold</p>three", "one\n\ntwobold\n\nthree"),
        ("<table><td>cell<p>words", "cell words"),
        ("<li>a<li>b</ul></div>", "a\nb"),
        ("text < 5 &amp &unknown; &#x41;&#0;", "text < 5 & &unknown; A�"),
        ("<h1>A<h2>B", "A\n\nB"),
        ("<a href='x>y'>link</a><p class=\"a'>after", ""),
    ],
)
def test_malformed_pages_are_read_as_browsers_do(page, words):
    assert parsed(f"<p>start</p>{page}").text.startswith(f"start\n\n{words}")


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
        "<table><tr><td>" * 300 + "inside",
        "<td>inside</td>" * 30_000,
        "<p " + "a=b " * 100_000 + ">inside",
        "<?xml ?><p " + "/" * 300_000 + "/>inside",
        "<span>" * 200_000 + "inside" + "</span>" * 200_000,
        "inside<!--" * 50_000,
        "<style>" * 50_000 + "</style>inside",
        "&amp;" * 200_000 + "inside",
        "<h2>inside</h2>" * 20_000,
        "<section><nav><figure>" * 50_000 + "inside",
        "<main>" * 200_000 + "inside",
    ],
    ids=[
        "deep",
        "unclosed",
        "brackets",
        "paragraphs",
        "tables",
        "cells",
        "attributes",
        "slashes",
        "spans",
        "comments",
        "styles",
        "entities",
        "headings",
        "blocks",
        "mains",
    ],
)
def test_hostile_pages_are_read_in_time(page, covered):
    document = parsed(page)
    assert "inside" in document.text
    covered(document, ParagraphsChunker().pieces(document))


FRAGMENTS = [
    "<p>", "</p>", "<table>", "<tr>", "<td>", "<th>", "</td>", "</table>", "<h1>", "</h1>", "<h2>", "<pre>", "</pre>",
    "<ul><li>", "<div>", "</div>", "<img alt='x y'>", "words", " ", "\n", "&amp;", "&#0;", "<!--", "-->", "<br>", "\r",
    "<template>", "<title>T", "</title>", "<frameset>", "<noframes>", "<script>", "</script>", "<nav>", "<a href=x>",
    "<?xml version='1.0'?>", "<a/>", "<select>", "<math><mi>x", "\x0c", "<body>", "</html>", "<svg><title>", "é", "😀",
]  # fmt: skip


@settings(max_examples=250, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40))
def test_any_page_is_read_or_says_why_not(covered, fragments):
    try:
        document = parsed("".join(fragments))
    except Unreadable:
        return
    text = document.text
    assert "".join(text[part.start : part.end] for part in document.sections) == text
    covered(document, ParagraphsChunker(16, 4).pieces(document))
