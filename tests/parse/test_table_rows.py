"""Tables in text files are cut between rows, and every group knows its header."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_lance.core.records import Document
from hermes_lance.parse.plain import PlainParser
from hermes_lance.parse.table_rows import RowsChunker, header_of, row_starts


def cut(text: str | bytes, target: int = 60):
    data = text.encode() if isinstance(text, str) else text
    document = PlainParser().parse(data, path="a.csv", media_type="text/csv")
    return document, RowsChunker(target, 10).pieces(document)


def header(text: str) -> str:
    return header_of(text, row_starts(text))


def table(delimiter: str, rows: int, line_end: str = "\n") -> str:
    lines = [["Name", "City", "Age"], *([f"Person {n}", "Kyoto", str(20 + n)] for n in range(rows))]
    return "".join(delimiter.join(line) + line_end for line in lines)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_groups_of_rows_have_the_header_as_trail_and_their_numbers(covered, delimiter, line_end):
    document, pieces = cut(table(delimiter, 40, line_end))
    covered(document, pieces)
    assert pieces[0].trail == () and pieces[0].locator is not None and pieces[0].locator.startswith("rows 1-")
    assert {piece.trail for piece in pieces[1:]} == {("Name, City, Age",)}
    assert {piece.kind for piece in pieces} == {"table"}
    numbers = [piece.locator.removeprefix("rows ").split("-") for piece in pieces if piece.locator]
    assert [int(first) for first, _ in numbers[1:]] == [int(last) + 1 for _, last in numbers[:-1]]
    assert numbers[-1][1] == "41"
    for piece in pieces[1:]:
        assert document.text[piece.start :].startswith("Person")


def test_a_quoted_value_may_hold_line_ends_and_delimiters():
    text = 'id,note\n1,"two\nlines, and ""quotes"""\n2,plain\n3,"more\n\nof it"\n4,x\n'
    assert [text[start:].partition(",")[0] for start in row_starts(text)] == ["id", "1", "2", "3", "4"]


def test_an_open_quote_does_not_swallow_the_rest():
    text = 'a,b\n1,"open\n' + "".join(f"{n},x\n" for n in range(2, 300))
    assert len(row_starts(text)) == 300
    inches = "size,name\n" + "".join(f'{n}" pipe,x\n' if n == 5 else f"{n},y\n" for n in range(50))
    assert len(row_starts(inches)) == 51


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Name,Age\nAnn,4\nBo,5\n", "Name, Age"),
        ("Name;Price\nAnn;4,50\nBo;5,20\n", "Name; Price".replace(";", ",")),
        ("1,2\n3,4\n", ""),
        ("Ann,2024-01-01\nBo,2024-01-02\n", ""),
        ("red,small\nblue,large\nred,large\n", ""),
        ("name,name\na,b\n", ""),
        ("only one row,here\n", ""),
        ("sep=;\nA;B\n1;2\n", "A, B"),
        ('"First name","Last, name"\nx,y\n', "First name, Last, name"),
        ("word\nanother\nthird\n", "word"),
        ("", ""),
    ],
)
def test_a_header_is_told_from_data(text, names):
    assert header(text) == names


def test_a_row_that_is_too_long_is_cut_under_its_own_number():
    document, pieces = cut("id,text\n1,short\n2," + "many words in one value " * 100 + "\n3,last\n")
    long = [piece for piece in pieces if piece.locator == "row 3"]
    assert len(long) > 3
    assert pieces[-1].locator == "row 4" and pieces[-1].trail == ("id, text",)
    assert document.text[pieces[-1].start :] == "3,last\n"


def test_a_mark_and_an_old_encoding_do_not_reach_the_header():
    assert cut(b"\xef\xbb\xbf" + table(",", 30).encode())[1][-1].trail == ("Name, City, Age",)
    japanese = "名前,住所\r\n" + "佐藤太郎,東京都千代田区\r\n" * 40
    assert cut(japanese.encode("shift_jis"))[1][-1].trail == ("名前, 住所",)


def test_a_wide_table_has_a_short_trail():
    text = ",".join(f"column number {n}" for n in range(5_000)) + "\n" + ",".join(map(str, range(5_000))) + "\n"
    _, pieces = cut(text, 512)
    assert all(len(piece.trail[0]) <= 300 for piece in pieces if piece.trail)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n" + "1,2\n" * 200_000, '"' * 300_000, '"\n' * 100_001, ",".join(["x"] * 300_000), "\n" * 200_000 + "x",
        'a"b\n' * 60_001, "x" * 1_000_000,
    ],
    ids=["long", "quotes", "quoted lines", "wide", "empty", "odd", "one value"],
)  # fmt: skip
def test_hostile_tables_are_cut(covered, text):
    document = Document(text, "text/csv", "test")
    covered(document, RowsChunker().pieces(document))


FRAGMENTS = [
    "a",
    "1",
    ",",
    ";",
    "\t",
    "|",
    '"',
    '""',
    "\n",
    "\r\n",
    "\r",
    " ",
    "word word word",
    "é",
    "\x00",
    "sep=;\n",
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=60), st.sampled_from([4, 20, 512]))
def test_any_text_is_covered(covered, fragments, target):
    document = Document("".join(fragments) + "x", "text/csv", "test")
    covered(document, RowsChunker(target, 2).pieces(document))
