"""Notebooks are read cell by cell, and what only a machine needs is left out."""

from __future__ import annotations

import json

import pytest

from hermes_lance.parse.cells import CellsChunker
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.notebook import OUTPUT_CHARS, NotebookParser

PICTURE = "iVBORw0KGgo" * 400


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs), "execution_count": 7, "metadata": {}}


def words(source):
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def parsed(*cells, **extra):
    about = {"kernelspec": {"name": "python3", "language": "python"}}
    notebook = {"cells": list(cells), "metadata": about, "nbformat": 4, "nbformat_minor": 5, **extra}
    return read(json.dumps(notebook).encode())


def read(data):
    return NotebookParser().parse(data, path="a.ipynb", media_type="application/x-ipynb+json")


def test_cells_come_in_order_with_their_numbers_kinds_and_trail():
    document = parsed(
        words(["# Sales\n", "About it.\n"]), code("load()\n"), words("## By year"), code("plot()"), words("text")
    )
    assert [(part.locator, part.kind, part.trail) for part in document.sections] == [
        ("cell 1", "markdown", ("Sales",)),
        ("cell 2", "code", ("Sales",)),
        ("cell 3", "markdown", ("Sales", "By year")),
        ("cell 4", "code", ("Sales", "By year")),
        ("cell 5", "markdown", ("Sales", "By year")),
    ]
    assert document.text == "# Sales\nAbout it.\n\nload()\n\n## By year\n\nplot()\n\ntext\n\n"
    assert (document.lang, document.facts["title"]) == ("python", "Sales")


def test_a_cell_with_several_headings_has_a_section_for_each():
    document = parsed(words("intro\n\n# A\n\none\n\n## B\n\ntwo\n"))
    assert [part.trail for part in document.sections] == [(), ("A",), ("A", "B")]
    assert "".join(document.text[part.start : part.end] for part in document.sections) == document.text


def test_outputs_are_text_shortened_and_never_pictures():
    document = parsed(
        code("a", {"output_type": "stream", "text": ["line\n"] * 900}),
        code("b", {"output_type": "display_data", "data": {"image/png": PICTURE, "text/plain": ["<Figure>"]}}),
        code("c", {"output_type": "display_data", "data": {"image/png": PICTURE}}),
        code("d", {"output_type": "error", "ename": "ValueError", "evalue": "no such year", "traceback": ["\x1b[31m"]}),
        words(f"![x](data:image/png;base64,{PICTURE}) seen"),
    )
    text = document.text
    assert text.count("line\n") <= OUTPUT_CHARS // 5
    assert "iVBOR" not in text and "\x1b" not in text
    assert "<Figure>" in text and "ValueError: no such year" in text and "seen" in text
    assert "execution_count" not in text


def test_the_older_format_with_worksheets_is_read():
    sheet = {
        "cells": [
            {"cell_type": "heading", "level": 2, "source": ["Old title"]},
            {"cell_type": "code", "input": ["x = 1\n"], "outputs": [{"output_type": "pyout", "text": ["1"]}]},
        ]
    }
    document = read(json.dumps({"worksheets": [sheet], "nbformat": 3, "metadata": {"name": "n"}}).encode())
    assert document.text == "## Old title\n\nx = 1\n\nOutput:\n1\n\n"
    assert document.sections[1].trail == ("Old title",)


def test_broken_json_says_where():
    with pytest.raises(Unreadable) as caught:
        read(b'{"cells": [\n{"cell_type": "code", ')
    assert (caught.value.code, caught.value.failed) == ("parse_failed", True)
    assert "line 2, column" in caught.value.detail


@pytest.mark.parametrize("data", [b"[]", b"{}", b"7", b"[" * 200_000, b'{"cells": 1' + b"0" * 9_000 + b"}"], ids=len)
def test_what_is_no_notebook_fails_by_name(data):
    with pytest.raises(Unreadable) as caught:
        read(data)
    assert caught.value.failed


def test_a_notebook_without_words_is_empty():
    with pytest.raises(Unreadable) as caught:
        parsed(code(" \n"), words(""))
    assert caught.value.code == "empty"


@pytest.mark.parametrize(
    "cell",
    [None, 3, [], {}, {"source": 3}, {"cell_type": [], "source": ["x", 4, None]}, {"outputs": 5}, {"outputs": [[]]}],
)
def test_odd_cells_do_not_stop_the_others(cell):
    assert "kept" in parsed(cell, words("kept"), metadata=[]).text


def test_half_a_character_becomes_a_mark_that_can_be_stored():
    assert read(b'{"cells": [{"cell_type": "raw", "source": "half \\ud83d, nul \\u0000"}]}').text == "half �, nul �\n\n"


def test_small_cells_share_a_passage_and_say_which_they_are(covered):
    cells = [words("# Part"), code("x = 1"), code("y = 2"), words("# Next"), code("z = " + "+".join(["value"] * 400))]
    document = parsed(*cells)
    pieces = CellsChunker(128, 16).pieces(document)
    covered(document, pieces)
    assert [(piece.locator, piece.kind, piece.trail) for piece in pieces[:2]] == [
        ("cells 1-4", "markdown", ("Part",)),
        ("cell 5", "code", ("Next",)),
    ]
    assert {piece.locator for piece in pieces[1:]} == {"cell 5"}
