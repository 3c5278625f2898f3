"""Parser: Word, PowerPoint, Excel, OpenDocument, EPUB and RTF, read in a worker process with limits.

Text, sections and facts are made there (`office_read.py`); here the answer becomes a document.
"""

from __future__ import annotations

from collections.abc import Sequence

from hermes_lance.core.records import Document, Section
from hermes_lance.parse import limits, suffixes
from hermes_lance.parse.isolate import Worker
from hermes_lance.parse.media import Unreadable

_WORKER = "hermes_lance.parse.office_worker"
_FORMATS = {suffixes.DOCUMENT_TYPES[suffix]: suffix for suffix in suffixes.OFFICE_SUFFIXES}


class OfficeParser:
    """Reads office documents in a child process; one worker is kept for all files of this parser."""

    name = "office"
    media_types: Sequence[str] = tuple(_FORMATS)

    def __init__(self, *, polled_memory: bool | None = None) -> None:
        self._worker = Worker(_WORKER, polled_memory=polled_memory)

    def signature(self) -> str:
        """Name and version."""
        return "office/1"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """The text with sections that tile it; locators are `slide 3`, `sheet Sales!A1:F40`, `chapter 2`.

        Raises `Unreadable` (`encrypted`, `empty`, `too_large`, `unsupported`, `parse_failed`).
        """
        if not data:
            raise Unreadable("empty", "the file has no bytes")
        answer = self._worker.ask({"format": _FORMATS[media_type]}, data, limits.wall_seconds(0))
        for header, body in answer.messages:
            if header["event"] == "failed":
                raise Unreadable(header["code"], header["detail"], failed=header["failed"])
            if header["event"] == "text":
                return Document(
                    text=body.decode("utf-8"),
                    media_type=media_type,
                    parser=self.signature(),
                    sections=tuple(
                        Section(start, end, tuple(trail), kind, locator)
                        for start, end, trail, kind, locator in header["sections"]
                    ),
                    verbatim=False,
                    facts=header["facts"],
                )
        raise Unreadable("parse_failed", answer.died or "the parser gave no answer", failed=True)

    def close(self) -> None:
        """End the worker process."""
        self._worker.close()
