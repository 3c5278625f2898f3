"""Parser: PDF. The file is read in a worker process with limits; here its answer becomes a document.

Pages are joined with a form feed. The outline of the file gives the sections; tables follow the text of their page
as Markdown, in sections of their own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hermes_lance.core.records import Document, Section
from hermes_lance.parse import limits
from hermes_lance.parse.isolate import Worker
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.pdf_text import named

_WORKER = "hermes_lance.parse.pdf_worker"
_TITLE_WORDS = 12
_MOST_NAMED = 50
_FEW_NAMED = 8


class PdfPages:
    """The pages of a file, as the worker has found them: texts, (page from 0, table), and what it says of them."""

    def __init__(self, pages: list[str], tables: list[tuple[int, str]], header: dict[str, Any]) -> None:
        self.pages = pages
        self.tables = tables
        self.title: str = header["title"].strip()
        self.outline: list[list[Any]] = header["outline"]
        self.labels: list[str] = header["labels"]
        self.scanned: list[int] = header["scanned"]
        self.garbled: list[int] = header["garbled"]
        self.unmapped: list[tuple[int, float]] = header["unmapped"]
        self.notes: list[str] = header["notes"]
        self.ocr_pages: list[int] = []
        """Pages whose text was recognised, from 1."""


class PdfParser:
    """Reads PDFs in a child process; one worker is kept for all files of this parser."""

    name = "pdf"
    media_types: Sequence[str] = ("application/pdf",)

    def __init__(self, *, polled_memory: bool | None = None) -> None:
        self._worker = Worker(_WORKER, polled_memory=polled_memory)

    def signature(self) -> str:
        """Name and version."""
        return "pdf/2"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """Text of all pages; raises `Unreadable` (`encrypted`, `needs_ocr`, `empty`, `parse_failed`)."""
        return document_of(self.read(data, "refused"), media_type, self.signature())

    def read(self, data: bytes, unread: str) -> PdfPages:
        """What the worker says. `unread` is `refused`, or `kept` to have files whose pages all lack a text as well."""
        if not data:
            raise Unreadable("empty", "the file has no bytes")
        answer = self._worker.ask({"unread": unread}, data, limits.wall_seconds(0))
        for header, body in answer.messages:
            if header["event"] == "failed":
                raise Unreadable(header["code"], header["detail"], failed=header["failed"], remedy=header["remedy"])
            if header["event"] == "text":
                tables = [(head["page"], head["table"]) for head, _ in answer.messages if head["event"] == "table"]
                found = PdfPages(body.decode("utf-8").split("\f"), tables, header)
                if answer.died:
                    found.notes.append(f"tables are left out: {answer.died}")
                return found
        raise Unreadable("parse_failed", answer.died or "the parser gave no answer", failed=True)

    def close(self) -> None:
        """End the worker process."""
        self._worker.close()


def document_of(found: PdfPages, media_type: str, parser: str) -> Document:
    """Pages as a document: joined, with sections by page, outline and table, and facts."""
    whole, page_starts, table_spans = _joined(found.pages, found.tables)
    headings = _placed(whole, page_starts, found.outline)
    return Document(
        text=whole,
        media_type=media_type,
        parser=parser,
        sections=tuple(_sections(whole, page_starts, headings, table_spans, found.labels)),
        replaced_chars=whole.count("\ufffd"),
        page_starts=tuple(page_starts),
        verbatim=False,
        facts=_facts(found),
    )


def _facts(found: PdfPages) -> dict[str, str]:
    """What is told of the file beside its text; `partial` is what of it is not in the text."""
    unmapped = [f"page {page}: {share:.0%}" for page, share in found.unmapped]
    notes = list(found.notes)
    if found.scanned:
        notes.append(f"{named(found.scanned)}: pictures without a text layer")
    if found.garbled:
        notes.append(f"{named(found.garbled)}: glyphs that do not say which letters they are")
    elif unmapped:
        more = ", …" if len(unmapped) > _FEW_NAMED else ""
        notes.append(f"glyphs that name no letter, {', '.join(unmapped[:_FEW_NAMED])}{more}")
    unread = sorted({*found.scanned, *found.garbled})
    facts = {
        "title": found.title,
        "pages_without_text": ", ".join(map(str, unread[:_MOST_NAMED])),
        "ocr_pages": ", ".join(map(str, found.ocr_pages[:_MOST_NAMED])),
        "unmapped_glyphs": "; ".join(unmapped[:_MOST_NAMED]),
        "partial": "; ".join(notes),
    }
    return {name: value for name, value in facts.items() if value}


def _joined(pages: list[str], tables: list[tuple[int, str]]) -> tuple[str, list[int], list[tuple[int, int]]]:
    """The whole text, where each page starts, and the spans of the tables in it."""
    parts: list[str] = []
    starts: list[int] = []
    spans: list[tuple[int, int]] = []
    length = 0
    for index, page in enumerate(pages):
        starts.append(length)
        parts.append(page)
        length += len(page)
        for table in (markdown for number, markdown in tables if number == index):
            parts.append(f"\n\n{table}\n")
            spans.append((length + 2, length + len(table) + 3))
            length += len(table) + 3
        if index + 1 < len(pages):
            parts.append("\f")
            length += 1
    return "".join(parts), starts, spans


def _placed(text: str, page_starts: list[int], outline: list[list[Any]]) -> list[tuple[int, int, str]]:
    """(offset, level, title) of the outline's entries, rising; each at its words on its page, else at the page."""
    placed: list[tuple[int, int, str]] = []
    after = 0
    for level, title, page in outline:
        start = page_starts[page]
        end = page_starts[page + 1] if page + 1 < len(page_starts) else len(text)
        words = title.split()[:_TITLE_WORDS]
        found = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE).search(text, max(start, after), end)
        offset = found.start() if found else max(start, after)
        if offset >= after:
            placed.append((offset, int(level), title))
            after = found.end() if found else offset
    return placed


def _sections(
    text: str,
    page_starts: list[int],
    headings: list[tuple[int, int, str]],
    tables: list[tuple[int, int]],
    labels: list[str],
) -> list[Section]:
    """Sections that tile the text: a page each, cut further at the entries of the outline and around tables.

    A page whose label is not its number has the label as locator. Passages then end with their page wherever they are
    long enough, so that most citations name one page.
    """
    trails = _trails(headings)
    borders = sorted({0, *trails, *page_starts, len(text), *(place for span in tables for place in span)})
    inside = dict(tables)
    sections: list[Section] = []
    trail: tuple[str, ...] = ()
    table_end = page = 0
    for start, end in pairwise(borders):
        trail = trails.get(start, trail)
        table_end = inside.get(start, table_end)
        page = bisect_right(page_starts, start)
        label = labels[page - 1] if labels else ""
        locator = f"page {label}" if label and label != str(page) else None
        sections.append(Section(start, end, trail, "table" if start < table_end else "page", locator))
    return sections


def _trails(headings: list[tuple[int, int, str]]) -> dict[int, tuple[str, ...]]:
    """Where the trail changes, and to what."""
    found: dict[int, tuple[str, ...]] = {}
    trail: list[tuple[int, str]] = []
    for offset, level, title in headings:
        while trail and trail[-1][0] >= level:
            trail.pop()
        trail.append((level, title))
        found[offset] = tuple(name for _, name in trail)
    return found
