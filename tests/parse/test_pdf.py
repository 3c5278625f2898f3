"""PDFs give text by page, sections by outline, tables as Markdown, and a reason where they give nothing."""

from __future__ import annotations

from bisect import bisect_right

import pytest

from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.paragraphs import ParagraphsChunker
from hermes_lance.parse.pdf import PdfParser
from hermes_lance.parse.pdf_tables import as_markdown
from hermes_lance.parse.pdf_text import clean_pages

WORDS = "A line of words that is long enough to count as text."


@pytest.fixture(scope="module")
def parser():
    made = PdfParser()
    yield made
    made.close()


def parsed(parser: PdfParser, data: bytes):
    return parser.parse(data, path="a.pdf", media_type="application/pdf")


def reason(parser: PdfParser, data: bytes) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        parsed(parser, data)
    return caught.value


def test_pages_are_joined_and_their_starts_known(parser, make_pdf):
    document = parsed(parser, make_pdf.pages(f"First page.\n{WORDS}", f"Second page.\n{WORDS}"))
    assert document.text == f"First page.\n{WORDS}\fSecond page.\n{WORDS}"
    assert not document.verbatim
    place = document.text.index("Second")
    assert bisect_right(document.page_starts, place) == 2


def test_the_outline_gives_sections_at_the_words_of_its_entries(parser, make_pdf, covered):
    data = make_pdf.pages(
        f"Preface\n{WORDS}", f"{WORDS}\nMethod\n{WORDS}", f"Results\n{WORDS}", outline=[("Method", 1), ("Results", 2)]
    )
    document = parsed(parser, data)
    assert [section.trail for section in document.sections] == [(), ("Method",), ("Results",)]
    assert document.text[document.sections[1].start :].startswith("Method\n")
    covered(document, ParagraphsChunker().pieces(document))


def test_a_ruled_table_follows_its_page_as_markdown(parser, make_pdf):
    document = parsed(parser, make_pdf.table([["Name", "Price", "Left"], ["Apple", "3", "7"], ["Pear", "4", "8"]]))
    table = next(section for section in document.sections if section.kind == "table")
    assert document.text[table.start : table.end].splitlines()[:3] == [
        "| Name | Price | Left |",
        "| --- | --- | --- |",
        "| Apple | 3 | 7 |",
    ]
    tables = [piece for piece in ParagraphsChunker().pieces(document) if piece.kind == "table"]
    assert len(tables) == 1


def test_a_frame_around_text_is_no_table():
    assert as_markdown([["only one cell"]]) == ""
    assert as_markdown([["a", None, None], [None, None, "b"], [None, "c", None]]) == ""
    assert as_markdown([["a|b", "c\nd"], ["1", None]]) == "| a\\|b | c d |\n| --- | --- |\n| 1 |  |"


def test_line_end_hyphens_are_joined_unless_the_document_knows_them():
    pages = ["genera\ufffetion of line\ufffebased and well\ufffeknown things", "a generation, line, based, well-known"]
    assert clean_pages(pages)[0] == "generation of line-based and well-known things"


def test_glyphs_of_print_become_letters_and_marks_vanish():
    assert clean_pages(["ef\ufb01cient\r\nwork\x00\x02"]) == ["efficient\nwork"]
    assert clean_pages(["\ufe8e\ufedf"]) == ["ال"]


def test_a_picture_says_that_it_needs_ocr(parser, make_pdf):
    why = reason(parser, make_pdf.picture())
    assert (why.code, why.failed) == ("needs_ocr", False)
    assert "pages 1" in why.detail


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"this is not a pdf at all", "parse_failed"),
        (b"%PDF-1.7\n", "parse_failed"),
        (b"", "empty"),
    ],
)
def test_what_is_no_pdf_says_so(parser, data, code):
    assert reason(parser, data).code == code


def test_a_truncated_file_and_a_looping_page_tree_are_damaged(parser, make_pdf):
    for data in (make_pdf.pages(WORDS)[:250], make_pdf.looping()):
        why = reason(parser, data)
        assert (why.code, why.failed) == ("parse_failed", True)


def test_too_many_pages_are_refused(parser, make_pdf):
    data = (
        make_pdf.pages(WORDS).replace(b"/Count 1", b"/Count 9999").replace(b"[4 0 R]", b"[" + b"4 0 R " * 9999 + b"]")
    )
    assert reason(parser, data).code == "too_large"


def test_a_page_of_lines_is_read_without_looking_for_tables(parser, make_pdf):
    assert "mean nothing" in parsed(parser, make_pdf.many_paths(50_000)).text


@pytest.mark.slow
@pytest.mark.parametrize("polled", [None, True], ids=["by the system", "by polling"])
def test_bombs_cost_themselves_only(make_pdf, polled):
    parser = PdfParser(polled_memory=polled)
    try:
        for data in (make_pdf.bomb(), make_pdf.drawing_itself()):
            why = reason(parser, data)
            assert (why.code, why.failed) == ("parse_failed", True)
            assert parsed(parser, make_pdf.pages(WORDS)).text == WORDS
    finally:
        parser.close()
