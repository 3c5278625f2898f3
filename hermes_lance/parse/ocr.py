"""Parsers: images, and PDFs with scanned pages. Words are recognised in a worker process; pictures are not described.

They stand in the place of the others where `knowledgebase.ocr` is on, and need the extra `ocr`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hermes_lance.core.errors import PluginMissing
from hermes_lance.core.records import Document, Section
from hermes_lance.parse import limits
from hermes_lance.parse.isolate import Answer, Worker
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.pdf import PdfPages, PdfParser, document_of
from hermes_lance.parse.pdf_text import letters_of

_WORKER = "hermes_lance.parse.ocr_worker"


def _require_extra() -> None:
    if importlib.util.find_spec("rapidocr") is None:
        raise PluginMissing(
            "knowledgebase.ocr is on, and the extra `ocr` is not installed",
            hint="Run `pip install 'hermes-lance[ocr]'`, or set knowledgebase.ocr to false.",
        )


def _worker(polled_memory: bool | None) -> Worker:
    return Worker(_WORKER, polled_memory=polled_memory, memory_bytes=limits.OCR_MEMORY_BYTES)


class OcrPdfParser(PdfParser):
    """Reads PDFs as their parser does, and the pages without text by their look."""

    name = "pdf_ocr"

    def __init__(self, *, polled_memory: bool | None = None) -> None:
        super().__init__(polled_memory=polled_memory)
        self._ocr = _worker(polled_memory)

    def signature(self) -> str:
        """Name and version."""
        return "pdf_ocr/1"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """Text of all pages; raises `Unreadable` (`encrypted`, `empty`, `parse_failed`), `PluginMissing`."""
        _require_extra()
        found = self.read(data, "kept")
        wanted = sorted({*found.scanned, *found.garbled})
        if len(wanted) > limits.OCR_PAGES:
            found.notes.append(f"only {limits.OCR_PAGES} of {len(wanted)} pages without text are recognised")
        if wanted:
            asked = wanted[: limits.OCR_PAGES]
            _take_in(found, self._ocr.ask({"pages": asked}, data, limits.OCR_WALL_SECONDS_PER_PAGE))
        if not any(map(letters_of, found.pages)):
            raise Unreadable("empty", "neither a text nor words in its pictures" + _why(found.notes))
        return document_of(found, media_type, self.signature())

    def close(self) -> None:
        """End the worker processes."""
        super().close()
        self._ocr.close()


def _why(notes: Sequence[str]) -> str:
    return f" ({'; '.join(notes)})" if notes else ""


def _take_in(found: PdfPages, answer: Answer) -> None:
    """Puts the recognised words in the place of what the pages had, where they are more."""
    read: list[int] = []
    for header, body in answer.messages:
        if header["event"] == "failed":
            found.notes.append(f"OCR: {header['detail']}")
        if header["event"] != "page":
            continue
        number, text = int(header["page"]), body.decode("utf-8")
        if letters_of(text) > letters_of(found.pages[number - 1]):
            found.pages[number - 1] = text
            read.append(number)
    if answer.died:
        found.notes.append(f"OCR: {answer.died}")
    found.ocr_pages = read
    found.scanned = [page for page in found.scanned if page not in read]
    found.garbled = [page for page in found.garbled if page not in read]
    found.unmapped = [(page, share) for page, share in found.unmapped if page not in read]


class ImageParser:
    """Reads the words of images; each section has the box it came from as locator, in pixels from the upper left."""

    name = "image"
    media_types: Sequence[str] = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff")

    def __init__(self, *, polled_memory: bool | None = None) -> None:
        self._ocr = _worker(polled_memory)

    def signature(self) -> str:
        """Name and version."""
        return "image/1"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """The words in reading order; `page_starts` where an image has several frames. Raises `Unreadable`
        (`image` when there is no word in it, `too_large`, `parse_failed`), `PluginMissing`."""
        _require_extra()
        answer = self._ocr.ask({"pages": None}, data, limits.OCR_WALL_SECONDS_PER_PAGE)
        texts: list[str] = []
        starts: list[tuple[int, str]] = []
        page_starts: list[int] = []
        length = 0
        for header, body in answer.messages:
            if header["event"] == "failed":
                raise Unreadable(header["code"], header["detail"], failed=header["failed"], remedy=header["remedy"])
            if header["event"] != "page":
                continue
            text = body.decode("utf-8")
            if texts:
                length += 1
            page_starts.append(length)
            starts += [(length + at, _locator(box)) for at, box in header["blocks"]]
            texts.append(text)
            length += len(text)
        whole = "\f".join(texts)
        if answer.died and not whole.strip():
            raise Unreadable("parse_failed", answer.died, failed=True)
        if not whole.strip():
            raise Unreadable("image", "a picture without words")
        return Document(
            text=whole,
            media_type=media_type,
            parser=self.signature(),
            sections=tuple(_sections(len(whole), starts)),
            page_starts=tuple(page_starts) if len(page_starts) > 1 else (),
            verbatim=False,
            facts={"partial": f"OCR: {answer.died}"} if answer.died else {},
        )

    def close(self) -> None:
        """End the worker process."""
        self._ocr.close()


def _locator(box: Sequence[Any]) -> str:
    return f"box {','.join(str(round(side)) for side in box)}"


def _sections(length: int, starts: Sequence[tuple[int, str]]) -> list[Section]:
    ends = [(0, starts[0][1]), *starts[1:], (length, "")]
    return [Section(start, end, (), "text", locator) for (start, locator), (end, _) in pairwise(ends)]
