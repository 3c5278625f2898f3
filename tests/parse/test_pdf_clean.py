"""PDF text is cleaned of what only print needs, and nothing that a reader would cite is changed."""

from __future__ import annotations

import pytest

from hermes_lance.core.words import Analyser
from hermes_lance.parse.pdf_clean import cleaned, without_running_lines


def page(text: str) -> str:
    return cleaned([text]).pages[0]


def test_line_end_hyphens_are_joined_unless_the_document_knows_them():
    pages = ["genera\ufffetion of line\ufffebased and well\ufffeknown things", "a generation, line, based, well-known"]
    assert cleaned(pages).pages[0] == "generation of line-based and well-known things"


def test_halves_are_no_words_of_the_document_by_themselves():
    assert page("a state of exam\ufffeple things") == "a state of example things"
    assert page("a state of exam\x02\r\nple things") == "a state of example things"
    assert page("a state of exam\xad\nple things") == "a state of example things"


def test_hyphens_beside_numbers_and_capitals_and_after_a_known_first_part_stay():
    assert page("IEEE\ufffe754 in 2018\ufffe19 by Smith\ufffeJones") == "IEEE-754 in 2018-19 by Smith-Jones"
    assert page("over-done, over-long, over\ufffeexuberant") == "over-done, over-long, over-exuberant"


def test_an_unmarked_hyphen_at_a_line_end_is_joined_only_into_a_known_word():
    assert page("the compi-\nlation\nof a compilation") == "the compilation\nof a compilation"
    assert page("a well-\nmade thing") == "a well-\nmade thing"


@pytest.mark.parametrize("glyph", ["o\ufb03ce", "of\ufb01ce", "\ufb01le", "\ufb02ow"])
def test_ligatures_become_the_letters_that_people_type(glyph):
    plain = {"o\ufb03ce": "office", "of\ufb01ce": "office", "\ufb01le": "file", "\ufb02ow": "flow"}[glyph]
    assert page(f"the {glyph}") == f"the {plain}"
    assert Analyser().words(glyph) == Analyser().words(plain)


def test_other_characters_stay_as_printed_and_are_found_in_their_plain_form():
    assert page("x² in ＡＢＣ") == "x² in ＡＢＣ"
    assert Analyser().words("ＡＢＣ") == Analyser().words("ABC")


def test_marks_of_print_vanish():
    assert page("ef\ufb01cient\r\nwork\x00\x02") == "efficient\nwork"
    assert page("\ufe8e\ufedf") == "ال"
    assert page("letters (cid:12)(cid:3) remain") == "letters  remain"


def test_the_share_of_nameless_glyphs_is_told_for_each_page():
    made = cleaned(["all is well here", "nine let" + "\ufffd", "a good line of text\n" + "\x01\x05\x03 \x04\x02x" * 40])
    assert set(made.unmapped) == {2, 3}
    assert made.unmapped[2] == pytest.approx(1 / 8)
    assert made.garbled == [3]
    assert made.pages[2] == "a good line of text"


def test_letters_of_many_scripts_within_words_are_no_text():
    nonsense = "Եʽһߓ ۉĪʷೇ ȥࠨ˖ಮӆ ΗƹΉటӇ ǂ࣎ϞƘѓ ౾̼ϥำ"
    assert cleaned([nonsense * 3]).garbled == [1]
    sound = "データベース検索API и русский текст with Ελληνικά letters αβγ データのABC"
    assert cleaned([sound]).garbled == []


def book(pages: int) -> list[str]:
    return [
        f"The Book of Tests {number}\n{'ab'[number % 2] * number}\nmore\nand more\n{'xy'[number % 2] * number}\nDraft"
        for number in range(1, pages + 1)
    ]


def test_head_and_foot_lines_stay_on_the_first_of_their_pages_only():
    made = without_running_lines(book(8))
    assert made[0].startswith("The Book of Tests 1\n") and made[0].endswith("\nDraft")
    assert made[1] == "aa\nmore\nand more\nxx"
    assert sum("Book of Tests" in text for text in made) == 1


def test_head_lines_of_short_files_and_numbers_alone_stay():
    assert without_running_lines(book(7)) == book(7)
    tables = [f"{number}\n12\n13\n14\n15\n{number}" for number in range(9)]
    assert without_running_lines(tables) == tables
