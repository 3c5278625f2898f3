"""Office documents give text in reading order, with headings, slides, sheets and chapters to cite, or a reason."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import pytest

from hermes_lance.core import registry
from hermes_lance.core.choices import DEFAULT_CHUNKERS, DEFAULT_PARSERS
from hermes_lance.parse.headings import HeadingsChunker
from hermes_lance.parse.media import Unreadable, media_type
from hermes_lance.parse.office import OfficeParser
from hermes_lance.parse.paragraphs import ParagraphsChunker
from hermes_lance.parse.rtf import without_deleted

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
P = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(parts: Mapping[str, str | bytes], *, stored: bool = False) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def relations(*links: tuple[str, str]) -> str:
    """Relations by kind and target, with the ids r1, r2 and so on."""
    made = "".join(
        f'<Relationship Id="r{number}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(links, 1)
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{made}</Relationships>'


def types(*parts: tuple[str, str]) -> str:
    made = "".join(
        f'<Override PartName="/{name}" ContentType="application/vnd.openxmlformats-officedocument.{kind}+xml"/>'
        for name, kind in parts
    )
    return (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{made}</Types>'
    )


STYLES = f"""<w:styles {W}>
<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
</w:styles>"""


def docx(body: str, **more: str) -> bytes:
    """A Word file of these paragraphs; `more` are further parts in `word/` that the text refers to."""
    links = [("styles", "styles.xml"), *((name, f"{name}.xml") for name in more)]
    overrides = [
        ("word/document.xml", "wordprocessingml.document.main"),
        ("word/styles.xml", "wordprocessingml.styles"),
    ]
    overrides += [(f"word/{name}.xml", f"wordprocessingml.{name}") for name in more]
    return zipped(
        {
            "[Content_Types].xml": types(*overrides),
            "_rels/.rels": relations(("officeDocument", "word/document.xml")),
            "word/_rels/document.xml.rels": relations(*links),
            "word/styles.xml": STYLES,
            "word/document.xml": f'<?xml version="1.0"?><w:document {W}><w:body>{body}</w:body></w:document>',
            **{f"word/{name}.xml": content for name, content in more.items()},
        }
    )


def para(text: str, style: str = "") -> str:
    look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{look}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def grid(*rows: tuple[str, ...]) -> str:
    cells = "".join("<w:tr>" + "".join(f"<w:tc>{para(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in rows)
    return f"<w:tbl>{cells}</w:tbl>"


def pptx(*slides: tuple[str, str]) -> bytes:
    """Slides of a title (which may be empty) and a text."""

    def shape(number: int, text: str, place: str) -> str:
        return (
            f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="s"/><p:cNvSpPr/><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:spPr/>'
            f"<p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
        )

    names = [f"slides/slide{number}.xml" for number in range(1, len(slides) + 1)]
    listed = "".join(f'<p:sldId id="{255 + number}" r:id="r{number}"/>' for number in range(1, len(slides) + 1))
    overrides = [(f"ppt/{name}", "presentationml.slide") for name in names]
    parts = {
        "[Content_Types].xml": types(("ppt/presentation.xml", "presentationml.presentation.main"), *overrides),
        "_rels/.rels": relations(("officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {P}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(*(("slide", name) for name in names)),
    }
    for name, (title, text) in zip(names, slides, strict=True):
        shapes = shape(2, title, '<p:ph type="title"/>') if title else ""
        parts[f"ppt/{name}"] = (
            f"<p:sld {P}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id='1' name=''/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>"
            f"<p:grpSpPr/>{shapes}{shape(3, text, '')}</p:spTree></p:cSld></p:sld>"
        )
    return zipped(parts)


def epub(*chapters: tuple[str, str], contents: str = "") -> bytes:
    """Chapters of a file name and a body, in the order of the spine."""
    items = "".join(f'<item id="i{n}" href="{name}"/>' for n, (name, _) in enumerate(chapters))
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    head = '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="e">'
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Book</dc:title><dc:creator>Ann Author</dc:creator>'
        f'</metadata><manifest>{items}<item id="nav" href="nav.xhtml" properties="nav" '
        f'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="nav"/>{spine}</spine></package>',
        "OPS/nav.xhtml": f'{head}<body><nav epub:type="toc"><ol>{contents}</ol></nav></body></html>',
        **{f"OPS/{name}": f"{head}<head><title>x</title></head><body>{body}</body></html>" for name, body in chapters},
    }
    parts["OPS/book.opf"] = parts["OPS/book.opf"].replace('.xhtml"/>', '.xhtml" media-type="application/xhtml+xml"/>')
    return zipped(parts)


def odt(body: str) -> bytes:
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table")
    )
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "META-INF/manifest.xml": "<manifest/>",
            "content.xml": f"<office:document-content {spaces}><office:body><office:text>{body}</office:text>"
            "</office:body></office:document-content>",
        }
    )


@pytest.fixture(scope="module")
def parser():
    made = OfficeParser()
    yield made
    made.close()


def parsed(parser: OfficeParser, data: bytes, name: str):
    return parser.parse(data, path=name, media_type=media_type(name, data))


def reason(parser: OfficeParser, data: bytes, name: str = "a.docx") -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        parsed(parser, data, name)
    return caught.value


def test_every_format_has_a_parser_and_a_chunker():
    for kind in OfficeParser.media_types:
        assert registry.best_match(DEFAULT_PARSERS, kind) == "office"
        assert registry.best_match(DEFAULT_CHUNKERS, kind) in {"headings", "paragraphs"}
    assert registry.plugin_class("parsers", "docx") is OfficeParser


def test_headings_of_a_word_file_are_lines_and_trails(parser, covered):
    body = para("Plan", "H1") + para("First.") + para("Costs", "H2") + para("Second.") + para("Risks", "H1")
    document = parsed(parser, docx(body + para("Third.")), "plan.docx")
    assert document.text == "Plan\n\nFirst.\n\nCosts\n\nSecond.\n\nRisks\n\nThird.\n"
    assert [part.trail for part in document.sections] == [("Plan",), ("Plan", "Costs"), ("Risks",)]
    assert not document.verbatim
    covered(document, HeadingsChunker().pieces(document))


def test_a_table_that_fits_stays_among_its_text(parser):
    body = para("Before.") + grid(("Name", "Price"), ("Apple|s", "3")) + para("After.")
    text = parsed(parser, docx(body), "a.docx").text
    assert text.startswith("Before.\n\n| Name | Price |\n")
    assert "| Apple\\|s | 3 |\n\nAfter." in text


def test_a_long_table_is_cut_by_rows_with_its_header_in_the_trail(parser, covered):
    header = "<w:tr><w:trPr><w:tblHeader/></w:trPr>" + "".join(f"<w:tc>{para(x)}</w:tc>" for x in ("Town", "Mayor"))
    rows = grid(*((f"Town number {n}", f"Mayor of town number {n}") for n in range(200)))
    body = para("Mayors", "H1") + para("Before.") + rows.replace("<w:tbl>", f"<w:tbl>{header}</w:tr>") + para("After.")
    document = parsed(parser, docx(body), "a.docx")
    pieces = HeadingsChunker().pieces(document)
    covered(document, pieces)
    tables = [piece for piece in pieces if piece.kind == "table"]
    assert len(tables) > 3
    assert {piece.trail for piece in tables} == {("Mayors", "Town | Mayor")}
    assert all(document.text[piece.start : piece.end].startswith("| ") for piece in tables)
    assert pieces[-1].trail == ("Mayors",) and "After." in document.text[pieces[-1].start :]


def test_comments_follow_at_the_end_and_deleted_words_are_gone(parser):
    body = "<w:p><w:r><w:t>Kept</w:t></w:r><w:del><w:r><w:delText> deleted</w:delText></w:r></w:del>"
    body += "<w:ins><w:r><w:t> inserted</w:t></w:r></w:ins></w:p>"
    note = f'<w:comments {W}><w:comment w:id="1" w:author="Bob">{para("Ask Anna")}</w:comment></w:comments>'
    document = parsed(parser, docx(body, comments=note), "a.docx")
    assert document.text == "Kept inserted\n\nBob: Ask Anna\n"
    assert document.sections[-1].trail == ("Comments",)


def test_each_slide_is_cited_by_its_number(parser, covered):
    document = parsed(parser, pptx(("Plan", "What we do"), ("", "No title here"), ("End", "Thanks")), "a.pptx")
    assert [part.locator for part in document.sections] == ["slide 1", "slide 2", "slide 3"]
    assert [part.trail for part in document.sections] == [("Plan",), (), ("End",)]
    assert document.text == "Plan\n\nWhat we do\n\nNo title here\n\nEnd\n\nThanks\n"
    pieces = ParagraphsChunker().pieces(document)
    covered(document, pieces)
    assert [piece.locator for piece in pieces] == ["slide 1", "slide 2", "slide 3"]


def test_sections_of_a_presentation_are_no_slides(parser):
    data = pptx(("Plan", "What we do"), ("End", "Thanks"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        listed = archive.read("ppt/presentation.xml").decode()
    sections = (
        '<p:extLst><p14:sldIdLst xmlns:p14="s"><p14:sldId id="256"/><p14:sldId id="257"/></p14:sldIdLst></p:extLst>'
    )
    listed = listed.replace("</p:presentation>", f"{sections}</p:presentation>")
    document = parsed(parser, changed(data, ppt__presentation_xml=listed), "a.pptx")
    assert [part.locator for part in document.sections] == ["slide 1", "slide 2"]


def test_chapters_come_in_the_order_of_the_spine_and_untitled_ones_have_a_name(parser):
    contents = '<li><a href="b.xhtml">Second part</a></li><li><a href="a.xhtml">First part</a></li>'
    book = epub(
        ("b.xhtml", "<p>Words of b.</p>"), ("a.xhtml", "<h1>Own title</h1><p>Words of a.</p>"), contents=contents
    )
    document = parsed(parser, book, "a.epub")
    assert document.text == "The Book\n\nWords of b.\n\nOwn title\n\nWords of a.\n"
    assert [(part.trail, part.locator) for part in document.sections] == [
        (("Second part",), "chapter 2"),
        (("Own title",), "chapter 3"),
    ]
    assert document.facts == {"title": "The Book", "author": "Ann Author"}


def test_open_document_text_has_headings_and_lists(parser):
    body = '<text:h text:outline-level="1">Plan</text:h><text:p>Words.</text:p>'
    body += "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
    document = parsed(parser, odt(body), "a.odt")
    assert document.text == "Plan\n\nWords.\n\n- one\n"
    assert document.sections[0].trail == ("Plan",)


def test_rtf_is_read_in_its_code_page(parser):
    data = rb"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0\fcharset204 Arial;}}\f0 \'cf\'f0\'e8\'e2\'e5\'f2\par second \u8364?}"
    assert parsed(parser, data, "a.rtf").text == "Привет\n\nsecond €\n"


def test_deleted_words_of_an_rtf_file_are_gone(parser):
    data = rb"{\rtf1\ansi Kept {\b\deleted\revauth1 lost {\i deeper} } words {\i and\} more}{\deleted {\deleted x}y}.}"
    assert parsed(parser, data, "a.rtf").text == "Kept  words and} more.\n"
    whole = rb"{\rtf1\ansi\deleted All of it}"
    assert without_deleted(whole) == whole
    assert without_deleted(rb"{\rtf1{\pict\bin3 }}{}{\deleted x}}") == rb"{\rtf1{\pict\bin3 }}{}}"


def test_one_worker_reads_on_after_a_file_that_cannot_be_read(parser):
    assert reason(parser, docx(para("Words."))[:-300]).failed
    assert parsed(parser, docx(para("Words.")), "a.docx").text == "Words.\n"


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"", "empty", "no bytes"),
        (docx(para("  ")), "empty", "no text"),
        (b"PK\x03\x04 nothing more", "parse_failed", "damaged or cut off"),
        (b"\x00\x01\x02 not a package", "parse_failed", "damaged or cut off"),
        (zipped({"word/other.xml": "<a/>"}), "parse_failed", ""),
    ],
)
def test_what_cannot_be_read_says_why(parser, data, code, words):
    why = reason(parser, data)
    assert why.code == code
    assert words in why.detail


def test_declared_entities_are_refused(parser):
    body = docx(para("Words."))
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    trap = b'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "lol">]>'
    parts["word/document.xml"] = parts["word/document.xml"].replace(b'<?xml version="1.0"?>', trap)
    why = reason(parser, zipped(parts))
    assert (why.code, why.failed) == ("parse_failed", True)
    assert "word/document.xml declares" in why.detail


def changed(data: bytes, **parts: str) -> bytes:
    """An archive with further parts; `__` in a name stands for a slash, `_` for a dot."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        held: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    return zipped(held | {name.replace("__", "/").replace("_", "."): text for name, text in parts.items()})


def test_an_open_document_with_a_password_says_so(parser):
    manifest = '<manifest:manifest xmlns:manifest="m"><manifest:encryption-data/></manifest:manifest>'
    data = changed(odt("<text:p>Words.</text:p>"), **{"META-INF__manifest_xml": manifest})
    assert reason(parser, data, "a.odt").code == "encrypted"


def test_a_book_with_locked_chapters_is_encrypted_and_one_with_locked_fonts_is_not(parser):
    book = epub(("a.xhtml", "<h1>Title</h1><p>Words.</p>"))

    def locked(path: str) -> bytes:
        cipher = f'<e:CipherReference xmlns:e="http://www.w3.org/2001/04/xmlenc#" URI="{path}"/>'
        return changed(book, **{"META-INF__encryption_xml": f"<encryption>{cipher}</encryption>"})

    assert reason(parser, locked("OPS/a.xhtml"), "a.epub").code == "encrypted"
    assert "Words." in parsed(parser, locked("OPS/fonts/a.otf"), "a.epub").text
