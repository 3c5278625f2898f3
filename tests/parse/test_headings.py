"""Markdown is packed by sections: full enough, never across what fits."""

from __future__ import annotations

from itertools import pairwise

import pytest

from hermes_lance.parse.headings import HeadingsChunker
from hermes_lance.parse.markdown import MarkdownParser

SENTENCE = "The quick survey of canal locks was filed under marigold in spring. "


def cut(text: str, target: int = 200, overlap: int = 20):
    document = MarkdownParser().parse(text.encode(), path="a.md", media_type="text/markdown")
    pieces = HeadingsChunker(target, overlap).pieces(document)
    return pieces, [text[piece.start : piece.end] for piece in pieces]


def section(name: str, sentences: int, level: int = 2) -> str:
    return f"{'#' * level} {name}\n\n{SENTENCE * sentences}\n\n"


def test_small_sections_are_packed_together():
    pieces, texts = cut("# Top\n\n" + "".join(section(f"S{i}", 2) for i in range(12)))
    assert 2 <= len(pieces) <= 4
    assert all(text.startswith("#") for text in texts)


def test_a_section_that_fits_is_never_cut():
    text = "# Top\n\n" + "".join(section(f"S{i}", 7 + i % 4) for i in range(9))
    pieces, _ = cut(text)
    starts = {piece.start for piece in pieces}
    assert all(place == 0 or text[place : place + 2] == "##" for place in starts)


def test_a_passage_is_not_left_half_empty_when_the_next_section_fits():
    pieces, _ = cut(section("A", 1) + section("B", 1) + section("C", 1))
    assert len(pieces) == 1


def test_a_new_chapter_starts_a_new_passage_once_the_last_is_full_enough():
    text = "# One\n\n" + section("Sub", 8) + "# Two\n\n" + SENTENCE + "\n"
    pieces, texts = cut(text)
    assert texts[1].startswith("# Two") and pieces[1].trail == ("Two",)


def test_the_trail_is_that_of_the_first_section():
    pieces, _ = cut("# Top\n\n" + section("Long", 11) + section("Next", 11))
    assert [piece.trail for piece in pieces] == [("Top", "Long"), ("Top", "Next")] or pieces[0].trail == ("Top",)


def test_front_matter_is_a_passage_of_its_own():
    pieces, texts = cut("---\ntitle: Key\n---\n\nSteps follow.\n")
    assert [piece.kind for piece in pieces] == ["front_matter", "markdown"]
    assert "Steps" not in texts[0]


def test_a_fence_that_fits_stays_whole():
    fence = "```python\n" + "".join(f"value_{i} = {i}\n\n" for i in range(12)) + "```\n"
    text = f"# A\n\n{SENTENCE * 6}\n\n{SENTENCE * 5}\n\n{fence}\n{SENTENCE * 9}\n\n{SENTENCE * 6}\n"
    _, texts = cut(text)
    assert any(fence in text for text in texts)


def test_a_list_is_cut_between_items():
    items = "".join(f"- item {i}: {SENTENCE}\n  continued here\n" for i in range(40))
    _, texts = cut(f"# A\n\n{items}")
    assert all(text.startswith(("#", "- item")) for text in texts)


def test_a_table_is_cut_between_rows():
    rows = "".join(f"| sku-{i:05d} | {i}.00 |\n" for i in range(300))
    _, texts = cut(f"# Prices\n\n| sku | price |\n| --- | --- |\n{rows}")
    assert all(text.startswith(("#", "| sku-")) for text in texts)
    assert "".join(texts).count("| sku-") == 300


def test_windows_overlap_only_inside_a_paragraph():
    paragraphs, _ = cut("# A\n\n" + (SENTENCE * 4 + "\n\n") * 20)
    assert all(a.end == b.start for a, b in pairwise(paragraphs))
    unbroken, _ = cut("# A\n\n" + SENTENCE * 80)
    assert all(a.end > b.start for a, b in pairwise(unbroken[1:]))


def test_twenty_thousand_headings_make_few_passages():
    pieces, _ = cut("".join(f"# H{i}\n" for i in range(20_000)), 512)
    assert len(pieces) < 400


def test_rows_of_a_long_table_carry_the_names_of_its_columns():
    rows = "".join(f"| sku-{i:05d} | {i}.00 |\n" for i in range(300))
    pieces, texts = cut(f"# Prices\n\n| article | price |\n| --- | ---: |\n{rows}\nAfter the table.\n")
    assert pieces[0].trail == ("Prices",) and "article" in texts[0]
    assert {piece.trail for piece in pieces[1:]} == {("Prices", "article, price")}


def test_a_table_that_fits_stays_whole():
    table = "| article | price |\n|---|---|\n" + "".join(f"| sku-{i:03d} | {i}.00 |\n" for i in range(9))
    filler = SENTENCE * 9
    for size in range(3, 12):
        _, texts = cut(f"# A\n\n{SENTENCE * size}\n\n{table}\n{filler}\n\n{filler}\n", target=200)
        assert any(table in text for text in texts), size


def test_a_list_item_that_fits_stays_whole_with_its_paragraphs_and_code():
    item = "{n}. Step {n}: {s}\n\n   {s}\n\n   ```sh\n   make {n}\n\n   make test\n   ```\n\n"
    listed = "".join(item.format(n=n, s=SENTENCE) for n in range(1, 15))
    _, texts = cut(f"# A\n\n{listed}The end.\n")
    assert len(texts) > 3
    assert all(text.startswith(("#", *(f"{n}. Step" for n in range(1, 15)))) for text in texts)


def test_an_item_beyond_the_target_still_keeps_its_code_whole():
    fence = "  ```\n" + "  line\n\n" * 20 + "  ```\n"
    _, texts = cut(f"# A\n\n- {SENTENCE * 5}\n\n  {SENTENCE * 5}\n\n{fence}\n  {SENTENCE * 9}\n")
    assert any(fence in text for text in texts)


HARM = ["- x\n", "- x\n\n", " \n", "|-\n", "| a |\n|---|\n", "a | b\n- | -\n", "-|" * 99 + "\n", "1. \n", "```\n"]


@pytest.mark.parametrize("line", [*HARM, "- x\n" + "\n" * 999 + "  y\n"])
def test_long_files_of_lists_and_tables_are_cut_at_once(covered, line):
    text = "# A\n\n" + line * (200_000 // len(line)) + "end\n"
    document = MarkdownParser().parse(text.encode(), path="a.md", media_type="text/markdown")
    covered(document, HeadingsChunker().pieces(document))
