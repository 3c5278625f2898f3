"""Tables of PDF pages as Markdown, through pdfplumber. Runs in the worker, and only on pages with ruled lines."""

from __future__ import annotations

import io

_MAX_CELLS = 4_000
_MAX_CELL_CHARS = 400


def tables_of(data: bytes, pages: list[int]) -> list[tuple[int, str]]:
    """(page from 0, Markdown table) for the given pages; pages that pdfplumber cannot read are left out."""
    import pdfplumber

    found: list[tuple[int, str]] = []
    try:
        document = pdfplumber.open(io.BytesIO(data), pages=[index + 1 for index in pages])
    except Exception:
        # pdfminer raises whatever its code runs into; the text of the file is already out, so tables are forgone.
        return []
    with document:
        for page in document.pages:
            try:
                tables = page.extract_tables()
            except Exception:
                # Likewise for a single page.
                continue
            finally:
                page.close()
            found.extend((page.page_number - 1, table) for table in map(as_markdown, tables) if table)
    return found


def as_markdown(rows: list[list[str | None]]) -> str:
    """A table in pipes, its first row as head; empty when it is a frame around text rather than a table."""
    cells = [[_cell(cell) for cell in row] for row in rows]
    cells = [row for row in cells if any(row)]
    columns = max((len(row) for row in cells), default=0)
    filled = sum(bool(cell) for row in cells for cell in row)
    if len(cells) < 2 or columns < 2 or filled * 2 < len(cells) * columns or len(cells) * columns > _MAX_CELLS:
        return ""
    lines = ["| " + " | ".join(row + [""] * (columns - len(row))) + " |" for row in cells]
    return "\n".join([lines[0], "|" + " --- |" * columns, *lines[1:]])


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")[:_MAX_CELL_CHARS]
