"""The process that reads PDFs: `python -m hermes_lance.parse.pdf_worker`, fed by `isolate.Worker`.

One question is `{"unread": "refused"}`, or `"kept"` where someone else reads pages without text, with the bytes. The
answer: `opened` (pages), `text` (all pages) or `failed` (code, detail), then a `table` for each one, then `done`. The
text goes out before tables are tried, so that a page of lines that cannot be finished costs its tables only.
"""

from __future__ import annotations

from typing import Any

from hermes_lance.parse import limits
from hermes_lance.parse.serving import Send, serve


def main() -> None:
    """Answer until the pipe closes."""
    serve(_answer)


def _answer(send: Send, question: dict[str, Any], data: bytes) -> None:
    from hermes_lance.parse.pdf_tables import tables_of
    from hermes_lance.parse.pdf_text import read_pdf, refuse_unread

    def opened(pages: int) -> None:
        limits.allow_cpu(pages)
        send({"event": "opened", "pages": pages, "seconds": limits.wall_seconds(pages)})

    found = read_pdf(data, opened)
    if question["unread"] == "refused":
        refuse_unread(found)
    header = {
        "event": "text",
        "outline": found.outline,
        "title": found.title,
        "labels": found.labels,
        "scanned": found.scanned,
        "garbled": found.garbled,
        "unmapped": list(found.unmapped.items()),
        "notes": found.notes,
    }
    send(header, "\f".join(found.pages).encode("utf-8", "replace"))
    for page, table in tables_of(data, found.ruled_pages) if found.ruled_pages else ():
        send({"event": "table", "page": page, "table": table})


if __name__ == "__main__":
    main()
