"""PDFs give text by page, sections by outline, tables as Markdown, and a reason where they give nothing."""

from __future__ import annotations

from bisect import bisect_right

import pytest

from hermes_lance.parse import limits
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.paragraphs import ParagraphsChunker
from hermes_lance.parse.pdf import PdfParser
from hermes_lance.parse.pdf_tables import as_markdown
from hermes_lance.parse.pdf_text import read_pdf

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
    assert [section.trail for section in document.sections] == [(), (), ("Method",), ("Results",)]
    assert document.text[document.sections[2].start :].startswith("Method\n")
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


def test_cells_of_fake_bold_and_small_print_are_words():
    assert as_markdown([["PPrriiccee lliisstt (cid:7)", "a"], ["ef\ufb01cient", "b"]]).startswith(
        "| PPrriiccee lliisstt | a |"
    )
    assert as_markdown([["a", "b"], ["x" * 300, None], ["c", "d"]]) == "| a | b |\n| --- | --- |\n| c | d |"


def test_a_table_in_fake_bold_has_each_letter_once(parser, make_pdf):
    rows = [["Customer", "Contract"], ["Wilhelm", "standing"], ["Otto", "ended"]]
    twice = make_pdf.table(rows, offsets=(0.0, 0.3))
    document = parsed(parser, twice)
    table = next(section for section in document.sections if section.kind == "table")
    assert "| Customer | Contract |" in document.text[table.start : table.end]
    assert document.text.count("Customer") == 2


def test_a_page_whose_label_is_not_its_number_has_it_as_locator(parser, make_pdf):
    data = make_pdf.pages(*(f"Page {number}. {WORDS}" for number in range(4)), labels=b"0<</S/r>>2<</S/D>>")
    pieces = ParagraphsChunker(target_tokens=20, overlap_tokens=0).pieces(parsed(parser, data))
    assert [piece.locator for piece in pieces] == ["page i", "page ii", "page 1", "page 2"]
    plain = make_pdf.pages(WORDS, WORDS, labels=b"0<</S/D>>")
    assert all(section.locator is None for section in parsed(parser, plain).sections)


def test_passages_end_with_their_page_and_short_pages_share_one(parser, make_pdf):
    short, long_page = ("\n".join(f"{number}. {WORDS}" for number in range(lines)) for lines in (4, 24))
    document = parsed(parser, make_pdf.pages(short, short, long_page, long_page))
    pieces = ParagraphsChunker(target_tokens=300).pieces(document)
    pages = [
        (bisect_right(document.page_starts, piece.start), bisect_right(document.page_starts, piece.end - 1))
        for piece in pieces
    ]
    assert pages == [(1, 2), (3, 3), (3, 3), (4, 4), (4, 4)]


def test_of_a_file_with_scanned_pages_the_others_are_read_and_the_scanned_named(parser, make_pdf):
    data = make_pdf.pages(WORDS, None, WORDS, None, None)
    document = parsed(parser, data)
    assert document.text.count(WORDS) == 2
    assert document.facts["partial"] == "pages 2, 4–5: pictures without a text layer"
    assert document.facts["pages_without_text"] == "2, 4, 5"


def test_a_stamp_on_every_scanned_page_does_not_make_it_a_text(parser, make_pdf):
    why = reason(parser, make_pdf.picture(pages=12, stamp=b"scan %d"))
    assert (why.code, "(pages 1–12)" in why.detail) == ("needs_ocr", True)


def test_text_turned_by_a_quarter_stays_whole(parser, make_pdf):
    climbing = make_pdf.drawn(
        b"BT /F 12 Tf 0 1 -1 0 300 100 Tm (Text that climbs) Tj 0 -14 Td (beside the margin) Tj ET"
    )
    assert parsed(parser, climbing).text == "Text that climbs\nbeside the margin"


def test_a_file_that_pdfium_refuses_is_read_by_pdfminer(make_pdf, monkeypatch):
    import pypdfium2

    class Refused:
        def __init__(self, data: bytes) -> None:
            raise pypdfium2.PdfiumError("Data format error", err_code=3)

    monkeypatch.setattr(pypdfium2, "PdfDocument", Refused)
    found = read_pdf(make_pdf.pages(f"An office.\n{WORDS}", WORDS), lambda pages: None)
    assert found.pages == [f"An office.\n{WORDS}", WORDS]


def test_a_picture_says_that_it_needs_ocr(parser, make_pdf):
    why = reason(parser, make_pdf.picture())
    assert (why.code, why.failed) == ("needs_ocr", False)
    assert "(page 1)" in why.detail
    assert "hermes-lance[ocr]" in (why.remedy or "")


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


def test_of_too_many_pages_the_first_are_read_and_that_is_said(parser, make_pdf):
    data = (
        make_pdf.pages(WORDS).replace(b"/Count 1", b"/Count 9999").replace(b"[4 0 R]", b"[" + b"4 0 R " * 9999 + b"]")
    )
    document = parsed(parser, data)
    assert len(document.page_starts) == 2000
    assert document.facts["partial"] == "only the first 2,000 of 9,999 pages are read"


def test_a_page_of_lines_is_read_without_looking_for_tables(parser, make_pdf):
    assert "mean nothing" in parsed(parser, make_pdf.many_paths(50_000)).text


@pytest.mark.slow
def test_many_pages_take_hardly_more_memory_than_a_few(parser, make_pdf):
    page = "\n".join(f"{number}. {WORDS}" for number in range(40))
    parsed(parser, make_pdf.pages(*[page] * 20))
    process = parser._worker._process
    few = limits.resident_bytes(process.pid)
    assert len(parsed(parser, make_pdf.pages(*[page] * 2000)).page_starts) == 2000
    assert parser._worker._process is process
    many = limits.resident_bytes(process.pid)
    # The file itself has 5 MB, its text 5 MB.
    assert few is not None and many is not None and many - few < 80 << 20


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
