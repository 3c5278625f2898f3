"""The process that reads office documents: `python -m hermes_lance.parse.office_worker`, fed by `isolate.Worker`.

One question is `{"format": suffix}` with the bytes of the file. The answer: `opened` (more time for much content),
then `text` (sections, facts; the text) or `failed` (code, detail), then `done`.
"""

from __future__ import annotations

from typing import Any

from hermes_lance.parse import limits
from hermes_lance.parse.serving import Send, serve

_BYTES_LIKE_A_PAGE = 200_000
"""So much unpacked content may take as long as a page of a PDF."""


def main() -> None:
    """Answer until the pipe closes."""
    serve(_answer)


def _answer(send: Send, header: dict[str, Any], data: bytes) -> None:
    from hermes_lance.parse.office_read import read_office

    def opened(size: int) -> None:
        pages = size // _BYTES_LIKE_A_PAGE
        limits.allow_cpu(pages)
        send({"event": "opened", "seconds": limits.wall_seconds(pages)})

    found = read_office(data, header["format"], opened)
    sections = [(part.start, part.end, part.trail, part.kind, part.locator) for part in found.sections]
    body = found.text.encode("utf-8", "replace")
    send({"event": "text", "sections": sections, "facts": found.facts}, body)


if __name__ == "__main__":
    main()
