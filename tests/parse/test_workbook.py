"""Sheets give their cells as shown, by groups of rows that say where they stand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

import pytest

from hermes_lance.core.records import Document
from hermes_lance.parse.number_formats import general, number_format
from hermes_lance.parse.open_sheets import sheets as open_sheets
from hermes_lance.parse.packages import Package
from hermes_lance.parse.paragraphs import ParagraphsChunker
from hermes_lance.parse.sheet_text import Cell, Sheet, column_name, write_sheet
from hermes_lance.parse.workbook import column_number, sheets
from hermes_lance.parse.writer import Writer

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def package(parts: dict[str, str]) -> Package:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return Package(made.getvalue())


def relations(*links: tuple[str, str]) -> str:
    made = "".join(
        f'<Relationship Id="r{n}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(links, 1)
    )
    return f"<Relationships>{made}</Relationships>"


def workbook(*tabs: tuple[str, str], shared: str = "", styles: str = "", state: str = "", **parts: str) -> Package:
    """Sheets of a name and the XML of their rows; `state` is that of the last."""
    listed = "".join(
        f'<sheet name="{name}" r:id="r{n}"{f" state={chr(34)}{state}{chr(34)}" if state and n == len(tabs) else ""}/>'
        for n, (name, _) in enumerate(tabs, 1)
    )
    links = [("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(tabs) + 1)]
    return package(
        {
            "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f'<workbook {MAIN} xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations(
                *links, ("sharedStrings", "sharedStrings.xml"), ("styles", "styles.xml")
            ),
            "xl/sharedStrings.xml": f"<sst {MAIN}>{shared}</sst>",
            "xl/styles.xml": f"<styleSheet {MAIN}>{styles}</styleSheet>",
            **{
                f"xl/worksheets/sheet{n}.xml": f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"
                for n, (_, rows) in enumerate(tabs, 1)
            },
            **parts,
        }
    )


def shown(found: Package) -> list[list[tuple[int, list[tuple[int, str]]]]]:
    return [
        [(number, [(cell.column, cell.text) for cell in cells]) for number, cells in sheet.rows if cells]
        for sheet in sheets(found)
    ]


def text_of(*rows: tuple[int, Sequence[object]], name: str = "S"):
    """Text and sections of a sheet whose rows begin in column A; numbers are numbers, empty texts are no cells."""
    writer = Writer()
    made = [
        (number, [Cell(n, str(value), isinstance(value, str)) for n, value in enumerate(values) if value != ""])
        for number, values in rows
    ]
    write_sheet(writer, Sheet(name, made))
    return writer.finished()


def test_each_kind_of_cell_is_shown():
    rows = (
        '<row r="2"><c r="B2" t="s"><v>0</v></c><c r="C2" t="inlineStr"><is><t>in</t></is></c>'
        '<c r="D2" t="b"><v>1</v></c><c r="E2" t="e"><v>#N/A</v></c><c r="F2" t="str"><f>A1</f><v>made</v></c>'
        '<c r="G2"><f>A1*2</f></c>'
        '<c r="H2"><v>0.30000000000000004</v></c><c r="I2" t="s"><v>1</v></c></row>'
    )
    shared = "<si><t>one</t></si><si><r><t>rich </t></r><r><t>text</t></r><rPh><t>reading</t></rPh></si>"
    cells = ["one", "in", "TRUE", "#N/A", "made", "=A1*2", "0.3", "rich text"]
    assert shown(workbook(("S", rows), shared=shared)) == [[(2, list(enumerate(cells, 1)))]]


def test_cells_without_places_follow_each_other():
    rows = "<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c></row>"
    assert shown(workbook(("S", rows))) == [[(1, [(0, "1"), (1, "2")]), (2, [(0, "3")])]]


def test_numbers_have_the_format_of_their_cell():
    styles = (
        '<numFmts><numFmt numFmtId="170" formatCode="0.00 &quot;kg&quot;"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs>'
    )
    rows = '<row r="1"><c r="A1" s="1"><v>45413</v></c><c r="B1" s="2"><v>2.5</v></c><c r="C1"><v>45413</v></c></row>'
    assert shown(workbook(("S", rows), styles=styles)) == [[(1, [(0, "2024-05-01"), (1, "2.50 kg"), (2, "45413")])]]


@pytest.mark.parametrize(
    ("code", "value", "expected"),
    [
        ("General", 1234567.891, "1234567.891"),
        ("General", 12.0, "12"),
        ("General", 1e20, "1e+20"),
        ("0%", 0.25, "25%"),
        ("0.0%", 0.333, "33.3%"),
        ('#,##0.00 "€"', 1234.5, "1234.50 €"),
        ('#,##0.00\\ "€";[Red]-#,##0.00', -1234.5, "-1234.50 €"),
        ("[$$-409]#,##0.00", 5.0, "$5.00"),
        ("00000", 123.0, "00123"),
        ("# ?/?", 0.5, "0.5"),
        ("0.00E+00", 12345.0, "12345"),
        ("yyyy-mm-dd", 45413.0, "2024-05-01"),
        ("dd/mm/yyyy hh:mm", 45413.5625, "2024-05-01 13:30"),
        ("h:mm AM/PM", 0.34375, "08:15"),
        ("[h]:mm:ss", 1.25, "30:00:00"),
        ("mmm-yy", 45413.0, "2024-05-01"),
        ("yyyy-mm-dd", 1.0, "1900-01-01"),
        ("yyyy-mm-dd", -5.0, "-5"),
        ("@", 7.0, "7"),
        ('"Nr. "0', 7.0, "Nr. 7"),
        ("[<=100]0;0.0", 7.0, "7"),
    ],
)
def test_number_formats(code, value, expected):
    assert number_format(code).shown(value) == expected


def test_dates_may_count_from_1904():
    assert number_format("yyyy-mm-dd").shown(0.0, since_1904=True) == "1904-01-01"


def test_whole_numbers_have_no_dot():
    assert [general(value) for value in (-3.0, 0.1 + 0.2, 1e-7)] == ["-3", "0.3", "1e-07"]


def test_columns_have_letters():
    assert [column_name(n) for n in (0, 25, 26, 701, 702, 16_383)] == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]
    assert all(column_number(column_name(n)) == n for n in range(0, 16_384, 7))


def test_a_sheet_is_a_table_with_its_place():
    text, sections = text_of((2, ["Item", "Price"]), (3, ["Apples", 3]), name="Budget")
    assert text == "Budget\n\n| Item | Price |\n| --- | --- |\n| Apples | 3 |\n"
    assert [(part.trail, part.kind, part.locator) for part in sections] == [
        (("Budget",), "table", "sheet Budget!A2:B3")
    ]


def test_long_tables_are_cut_by_rows_and_each_part_has_the_header_in_its_trail(covered):
    rows = [(1, ["Town", "Mayor"]), *((n, [f"Town number {n}", f"Mayor of town {n}"]) for n in range(2, 300))]
    text, sections = text_of(*rows)
    document = Document(text, "x", "x", tuple(sections), verbatim=False)
    pieces = ParagraphsChunker().pieces(document)
    covered(document, pieces)
    assert len(pieces) == len(sections) > 5
    assert {part.trail for part in sections[1:]} == {("S", "Town | Mayor")}
    for part in sections:
        first, last = (part.locator or "").partition("!A")[2].split(":B")
        body = text[part.start : part.end].strip().split("\n")
        assert body[-1].startswith(f"| Town number {last} |")
        assert int(first) == 1 or body[0].startswith(f"| Town number {first} |")


def test_groups_of_rows_are_set_apart_and_titles_stand_above_their_table():
    text, sections = text_of((1, ["Costs of 2024"]), (3, ["Item", "Price"]), (4, ["Apples", 3]), (9, ["Note"]))
    assert text == "S\n\nCosts of 2024\n\n| Item | Price |\n| --- | --- |\n| Apples | 3 |\n\nNote\n"
    assert [part.locator for part in sections] == ["sheet S!A1:B9"]


def test_cells_far_apart_cost_no_grid():
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    writer = Writer()
    for sheet in sheets(workbook(("S", rows))):
        write_sheet(writer, sheet)
    text, sections = writer.finished()
    assert text == "S\n\n1\n\n2\n"
    assert sections[0].locator == "sheet S!A1:XFD1048576"


def test_hidden_sheets_are_read_and_named_so():
    row = '<row r="1"><c r="A1"><v>1</v></c></row>'
    found = list(sheets(workbook(("Open", row), ("Shut", row), state="hidden")))
    assert [(sheet.name, sheet.hidden) for sheet in found] == [("Open", False), ("Shut", True)]


def test_comments_have_their_cell_as_place():
    comments = f'<comments {MAIN}><authors><author>Bob</author></authors><commentList><comment ref="C3" authorId="0">'
    comments += "<text><r><t>Ask </t></r><r><t>Anna</t></r></text></comment></commentList></comments>"
    found = workbook(
        ("S", '<row r="1"><c r="A1"><v>1</v></c></row>'),
        **{
            "xl/worksheets/_rels/sheet1.xml.rels": relations(("comments", "../comments1.xml")),
            "xl/comments1.xml": comments,
        },
    )
    writer = Writer()
    for sheet in sheets(found):
        write_sheet(writer, sheet)
    text, sections = writer.finished()
    assert text.endswith("Comment at C3: Bob: Ask Anna\n")
    assert sections[-1].locator == "sheet S!C3"


def test_open_document_sheets_count_repeated_rows_and_cells():
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table")
    )
    rows = (
        '<table:table-row table:number-rows-repeated="3"><table:table-cell/></table:table-row>'
        '<table:table-row><table:table-cell table:number-columns-repeated="2"/>'
        '<table:table-cell office:value-type="float"><text:p>25 %</text:p></table:table-cell></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="1024"/>'
        "</table:table-row>"
    )
    found = package(
        {
            "content.xml": f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="T">{rows}</table:table><table:table table:name="U"><table:table-row>'
            '<table:table-cell office:value-type="string"><text:p>next</text:p></table:table-cell></table:table-row>'
            "</table:table></office:spreadsheet></office:body>"
            "</office:document-content>"
        }
    )
    assert [(sheet.name, list(sheet.rows)) for sheet in open_sheets(found)] == [
        ("T", [(4, [Cell(2, "25 %", False)])]),
        ("U", [(1, [Cell(0, "next", True)])]),
    ]
