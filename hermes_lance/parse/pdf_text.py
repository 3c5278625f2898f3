"""Text, outline and table candidates of a PDF, through PDFium; pdfminer as second try. Runs in the worker only.

PDFium follows the order of the content, which keeps columns apart, and its word gaps are right where others glue
words; pages whose content jumps are put in order by `pdf_order`. What it gives is cleaned by `pdf_clean`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.pdf_clean import clean_page, cleaned
from hermes_lance.parse.pdf_order import reordered
from hermes_lance.parse.suffixes import OCR_REMEDY

MAX_PAGES = 2_000
MAX_CHARS = 20_000_000
_MAX_OUTLINE = 5_000
_MAX_OBJECTS = 5_000
_MAX_RULED_PAGES = 20
_RULES = 3
_RECTANGLE_SEGMENTS = 6
_PASSWORD_ERROR = 4
_FEW_CHARS = 5
"""Characters for each page under which a file with pictures counts as scanned."""
_NO_TEXT_CHARS = 20
"""Characters under which a page with a picture counts as one without text."""


@dataclass(slots=True)
class PdfText:
    """What was found: text of each page, outline as (level, title, page from 0), pages to look at again."""

    pages: list[str]
    title: str = ""
    outline: list[tuple[int, str, int]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    """What is printed or shown as the number of each page; empty where the file gives no labels."""
    ruled_pages: list[int] = field(default_factory=list)
    """Pages with enough ruled lines for a table, from 0."""
    scanned: list[int] = field(default_factory=list)
    """Pages that hold pictures and hardly a letter, from 1."""
    garbled: list[int] = field(default_factory=list)
    """Pages with glyphs that do not say which letters they are, from 1."""
    unmapped: dict[int, float] = field(default_factory=dict)
    """Page from 1 to the share of its glyphs that name no letter, from one in a hundred on."""
    notes: list[str] = field(default_factory=list)
    """What of the file is not in the text, in words."""


def read_pdf(data: bytes, opened: Callable[[int], None]) -> PdfText:
    """The text of a PDF; `opened` is told the number of pages before the work starts.

    Raises `Unreadable`: `encrypted`, `parse_failed`. Whether there is any text is for `refuse_unread` to say.
    """
    import pypdfium2

    try:
        found = _with_pdfium(pypdfium2, data, opened)
    except pypdfium2.PdfiumError as error:
        found = _with_pdfminer(data, opened, error)
    clean = cleaned(found.pages)
    found.pages, found.unmapped, found.garbled = clean.pages, clean.unmapped, clean.garbled
    return found


def _pages_to_read(count: int, found: PdfText) -> int:
    """How many pages are read, which is said where it is not all of them."""
    if count > MAX_PAGES:
        found.notes.append(f"only the first {MAX_PAGES:,} of {count:,} pages are read")
    return min(count, MAX_PAGES)


def _with_pdfium(pypdfium2: Any, data: bytes, opened: Callable[[int], None]) -> PdfText:
    document = pypdfium2.PdfDocument(data)
    try:
        found = PdfText([], title=clean_page(document.get_metadata_dict().get("Title", "")))
        count = _pages_to_read(len(document), found)
        opened(count)
        if document.get_formtype():
            document.init_forms()
        total = 0
        damaged: list[int] = []
        for index in range(count):
            try:
                page = document[index]
            except pypdfium2.PdfiumError:
                if index + 1 == count and len(damaged) == index:
                    raise
                # One page that cannot be loaded costs itself only.
                found.pages.append("")
                damaged.append(index + 1)
                continue
            try:
                text = _page_text(pypdfium2.raw, page)
                total += len(text)
                if total > MAX_CHARS:
                    found.notes.append(f"only the first {index:,} of {len(document):,} pages are read: too much text")
                    break
                found.pages.append(text)
                _note_objects(pypdfium2.raw, page, index, text, found)
            finally:
                page.close()
        if damaged:
            found.notes.append(f"{named(damaged)} cannot be read: damaged")
        found.outline = _outline(document, len(found.pages))
        found.labels = _labels(document, len(found.pages))
        return found
    finally:
        document.close()


def _page_text(raw: Any, page: Any) -> str:
    text_page = page.get_textpage()
    try:
        return reordered(raw, page, text_page) or str(text_page.get_text_range())
    finally:
        text_page.close()


def _labels(document: Any, pages: int) -> list[str]:
    """Page labels, where they tell more than the number of the page does."""
    labels = [str(document.get_page_label(index) or "").strip()[:40] for index in range(pages)]
    return labels if any(label and label != str(number) for number, label in enumerate(labels, 1)) else []


def _note_objects(raw: Any, page: Any, index: int, text: str, found: PdfText) -> None:
    """Notes whether the page holds pictures without text, or ruled lines enough for a table."""
    count = raw.FPDFPage_CountObjects(page)
    if letters_of(text) < _NO_TEXT_CHARS:
        pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3) if count <= _MAX_OBJECTS else ()
        if next(iter(pictures), None) is not None:
            found.scanned.append(index + 1)
        return
    if count > _MAX_OBJECTS or len(found.ruled_pages) >= _MAX_RULED_PAGES:
        return
    if _has_grid(raw, page):
        found.ruled_pages.append(index)


def _has_grid(raw: Any, page: Any) -> bool:
    """Whether straight lines stand at three heights and three widths at least: a table of two columns.

    Boxes around code have two of each side, and curves are drawings; looking for tables in either costs seconds.
    """
    heights: set[int] = set()
    widths: set[int] = set()
    for item in page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=2):
        if raw.FPDFPath_CountSegments(item) > _RECTANGLE_SEGMENTS:
            continue
        left, bottom, right, top = (round(side / 3) for side in item.get_bounds())
        wide, high = right - left >= 8, top - bottom >= 3
        if wide:
            heights.update((bottom, top))
        if high:
            widths.update((left, right) if wide else (left,))
        if len(heights) >= _RULES and len(widths) >= _RULES:
            return True
    return False


def _outline(document: Any, pages: int) -> list[tuple[int, str, int]]:
    entries: list[tuple[int, str, int]] = []
    for bookmark in document.get_toc(max_depth=6):
        if len(entries) >= _MAX_OUTLINE:
            break
        target = bookmark.get_dest()
        page = target.get_index() if target is not None else None
        title = " ".join(bookmark.get_title().split())[:200]
        if page is not None and 0 <= page < pages and title:
            entries.append((bookmark.level, title, page))
    return entries


def _with_pdfminer(data: bytes, opened: Callable[[int], None], first_error: Exception) -> PdfText:
    """A second try for files that PDFium refuses; slower."""
    import io

    import pdfplumber
    from pdfplumber.utils.exceptions import PdfminerException

    code = getattr(first_error, "err_code", None)
    reason = Unreadable("parse_failed", f"it is damaged ({_plain(first_error)})", failed=True)
    if code == _PASSWORD_ERROR:
        reason = Unreadable("encrypted", "it is encrypted and needs a password", failed=True)
    try:
        with pdfplumber.open(io.BytesIO(data), password="") as document:
            found = PdfText([], title=clean_page(str(document.metadata.get("Title") or "")))
            count = _pages_to_read(len(document.pages), found)
            if count == 0:
                raise reason
            opened(count)
            for page in document.pages[:count]:
                try:
                    text = page.dedupe_chars().extract_text(x_tolerance_ratio=0.15) or ""
                    found.pages.append(text)
                    if page.images and letters_of(text) < _NO_TEXT_CHARS:
                        found.scanned.append(page.page_number)
                finally:
                    page.close()
            return found
    except (MemoryError, Unreadable):
        raise
    except PdfminerException as error:
        if "Password" in repr(error):
            reason = Unreadable("encrypted", "it is encrypted and needs a password", failed=True)
        raise reason from error
    except Exception as error:
        # pdfminer raises whatever its code runs into on a damaged file: KeyError, TypeError, struct.error.
        raise reason from error


def _plain(error: Exception) -> str:
    # PDFium's own words add "Success" where it has no name for what is wrong.
    told = str(error).replace("Failed to load document", "not a readable PDF").replace(" (PDFium: Success)", "")
    return told.strip(" .") or type(error).__name__


def refuse_unread(found: PdfText) -> None:
    """Raises `Unreadable` (`needs_ocr`, `empty`) when no page has a text to speak of."""
    letters = [letters_of(text) for text in found.pages]
    # A stamp that a scanner has put on every page is not the text of any.
    distinct = {re.sub(r"\d+", "#", " ".join(text.split())): text for text in found.pages}
    few = sum(map(letters_of, distinct.values())) < _FEW_CHARS * len(found.pages)
    few = few and max(letters, default=0) < _NO_TEXT_CHARS
    unread = sorted({*found.scanned, *found.garbled})
    if few and found.garbled:
        raise _needs_ocr("its fonts do not say which letters their glyphs stand for", unread)
    if few and unread:
        raise _needs_ocr("its pages are pictures without a text layer", unread)
    if not any(letters):
        raise Unreadable("empty", "its pages hold no text" if found.pages else "it has no pages")


def _needs_ocr(why: str, pages: list[int]) -> Unreadable:
    return Unreadable("needs_ocr", f"{why} ({named(pages)})", remedy=OCR_REMEDY)


def letters_of(text: str) -> int:
    """How many characters are no blanks."""
    return sum(map(len, text.split()))


def named(numbers: Iterable[int]) -> str:
    """`page 3`, `pages 1–4, 7`; at most twelve ranges."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    shown = [str(low) if low == high else f"{low}–{high}" for low, high in parts[:12]]
    several = len(parts) > 1 or parts[0][0] != parts[0][1]
    return f"page{'s' if several else ''} {', '.join(shown)}" + (", …" if len(parts) > 12 else "")
