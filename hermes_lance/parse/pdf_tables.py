"""Tables of PDF pages as Markdown, through pdfplumber. Runs in the worker, and only on pages with ruled lines."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from hermes_lance.parse.pdf_clean import clean_page

_MAX_CELLS = 4_000
_MAX_CELL_CHARS = 400
_FRAMED_CHARS = 200
# A fixed gap between words glues those of small print.
_SETTINGS = {"text_x_tolerance_ratio": 0.15}
_LETTER_PAIRS = re.compile(r"(?:([^\W\d_])\1){3,}")


def tables_of(data: bytes, pages: list[int]) -> Iterator[tuple[int, str]]:
    """(page from 0, Markdown table) for the given pages; pages that pdfplumber cannot read are left out.

    One by one, so that what was found before a page that takes too long is not lost.
    """
    import pdfplumber

    try:
        document = pdfplumber.open(io.BytesIO(data), pages=[index + 1 for index in pages])
    except Exception:
        # pdfminer raises whatever its code runs into; the text of the file is already out, so tables are forgone.
        return
    with document:
        for page in document.pages:
            try:
                tables = page.extract_tables(_SETTINGS)
                if any(_doubled(cell) for table in tables for row in table for cell in row):
                    # Looking for glyphs that were drawn twice takes as long as all the rest, hence not always.
                    tables = page.dedupe_chars().extract_tables(_SETTINGS)
            except Exception:
                # Likewise for a single page.
                continue
            finally:
                page.close()
            yield from ((page.page_number - 1, table) for table in map(as_markdown, tables) if table)


def as_markdown(rows: list[list[str | None]]) -> str:
    """A table in pipes, its first row as head; empty when it is a frame around text rather than a table."""
    cells = [[_cell(cell) for cell in row] for row in rows]
    columns = max((len(row) for row in cells), default=0)
    # One long cell alone in its row is text that a line frames; the page has it already.
    cells = [row for row in cells if sum(map(bool, row)) > (max(map(len, row)) > _FRAMED_CHARS)]
    filled = sum(bool(cell) for row in cells for cell in row)
    if len(cells) < 2 or columns < 2 or filled * 2 < len(cells) * columns or len(cells) * columns > _MAX_CELLS:
        return ""
    lines = ["| " + " | ".join(row + [""] * (columns - len(row))) + " |" for row in cells]
    return "\n".join([lines[0], "|" + " --- |" * columns, *lines[1:]])


def _doubled(cell: str | None) -> bool:
    """Whether a word has each letter twice, as in fake bold that is drawn twice."""
    return cell is not None and _LETTER_PAIRS.search(cell) is not None


def _cell(text: str | None) -> str:
    return " ".join(clean_page(text or "").split()).replace("|", "\\|")[:_MAX_CELL_CHARS]
