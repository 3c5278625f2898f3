"""The process that reads PDFs: `python -m hermes_lance.parse.pdf_worker`, fed by `isolate.Worker`.

One question is `{"kind": "pdf"}` with the bytes of the file. The answer: `opened` (pages), `text` (all pages) or
`failed` (code, detail), then a `table` for each one, then `done`. The text goes out before tables are tried, so that
a page of lines that cannot be finished costs its tables only.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from hermes_lance.parse import limits
from hermes_lance.parse.isolate import read_message, write_message


def main() -> None:
    """Answer until the pipe closes."""
    questions = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # A library that prints must not print into the answers.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if "--no-memory-limit" not in sys.argv:
        limits.limit_this_process()
    while (message := read_message(questions)) is not None:
        limits.allow_cpu(0)
        _answer(answers, message[1])
        write_message(answers, {"event": "done"})


def _answer(answers: BinaryIO, data: bytes) -> None:
    from hermes_lance.parse.media import Unreadable
    from hermes_lance.parse.pdf_tables import tables_of
    from hermes_lance.parse.pdf_text import read_pdf

    def opened(pages: int) -> None:
        limits.allow_cpu(pages)
        write_message(answers, {"event": "opened", "pages": pages, "seconds": limits.wall_seconds(pages)})

    try:
        found = read_pdf(data, opened)
    except Unreadable as reason:
        told = {"code": reason.code, "detail": reason.detail, "failed": reason.failed, "remedy": reason.remedy}
        write_message(answers, {"event": "failed", **told})
        return
    except MemoryError:
        detail = f"it needs more than {limits.MEMORY_BYTES >> 20} MiB of memory"
        told = {"code": "parse_failed", "detail": detail, "failed": True, "remedy": None}
        write_message(answers, {"event": "failed", **told})
        return
    header = {
        "event": "text",
        "outline": found.outline,
        "title": found.title,
        "labels": found.labels,
        "unread": found.unread_pages,
        "unmapped": list(found.unmapped.items()),
        "notes": found.notes,
    }
    write_message(answers, header, "\f".join(found.pages).encode("utf-8", "replace"))
    for page, table in tables_of(data, found.ruled_pages) if found.ruled_pages else ():
        write_message(answers, {"event": "table", "page": page, "table": table})


if __name__ == "__main__":
    main()
