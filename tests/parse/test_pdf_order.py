"""Pages are read as their content runs, and by their look only where the content jumps about."""

from __future__ import annotations

from hermes_lance.parse.pdf_order import jumps_back
from hermes_lance.parse.pdf_text import read_pdf


def drawn(make_pdf, *lines: tuple[int, int, str]) -> str:
    content = b"".join(b"BT /F 12 Tf %d %d Td (%s) Tj ET " % (x, y, text.encode("latin-1")) for x, y, text in lines)
    return read_pdf(make_pdf.drawn(content), lambda pages: None).pages[0]


LEFT = [(40, 700 - 14 * row, f"left column, row {row}, with words") for row in range(6)]
RIGHT = [(320, 700 - 14 * row, f"right column, row {row}, with words") for row in range(6)]


def expected() -> list[str]:
    return ["A title over both columns", *(text for _, _, text in (*LEFT, *RIGHT)), "a note below them"]


def test_columns_drawn_one_after_the_other_are_read_so(make_pdf):
    text = drawn(make_pdf, (40, 760, "A title over both columns"), *LEFT, *RIGHT, (40, 500, "a note below them"))
    assert text.split("\n") == expected()


def test_a_page_drawn_in_disorder_is_read_by_its_columns(make_pdf):
    shuffled = [line for row in (5, 2, 4, 0, 3, 1) for line in (RIGHT[row], LEFT[row])]
    text = drawn(make_pdf, (40, 500, "a note below them"), *shuffled, (40, 760, "A title over both columns"))
    assert text.split("\n") == expected()


def test_rows_of_short_labels_are_read_row_by_row(make_pdf):
    labels = [(x, y, f"at{x}x{y}") for y in (300, 450, 600) for x in (440, 40, 240)]
    text = drawn(make_pdf, *labels, (40, 720, "Shapes of the drawing"))
    rows = [" ".join(f"at{x}x{y}" for x in (40, 240, 440)) for y in (600, 450, 300)]
    assert text.split("\n") == ["Shapes of the drawing", *rows]


def test_going_to_the_next_column_is_no_jump_and_going_back_is():
    down = [(40.0, 700.0 - 14 * row, 280.0, 712.0 - 14 * row) for row in range(20)]
    beside = [(300.0, bottom, 540.0, top) for _, bottom, _, top in down]
    assert not jumps_back(down + beside)
    assert jumps_back(down[::-1])
