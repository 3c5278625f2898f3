"""Text, outline and table candidates of a PDF, through PDFium; pdfminer as second try. Runs in the worker only.

PDFium follows the order of the content, which keeps columns apart, and its word gaps are right where others glue
words. It marks a hyphen at a line end with U+FFFE and joins the lines; the hyphen is put back where the document
itself, or both halves as words of it, say that it is a true one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hermes_lance.parse.media import Unreadable

MAX_PAGES = 2_000
MAX_CHARS = 20_000_000
_MAX_OUTLINE = 5_000
_MAX_OBJECTS = 5_000
_MAX_RULED_PAGES = 20
_RULES = 3
_RECTANGLE_SEGMENTS = 6
_PASSWORD_ERROR = 4
_FEW_CHARS = 5


@dataclass(slots=True)
class PdfText:
    """What was found: text of each page, outline as (level, title, page from 0), pages to look at again."""

    pages: list[str]
    title: str = ""
    outline: list[tuple[int, str, int]] = field(default_factory=list)
    ruled_pages: list[int] = field(default_factory=list)
    """Pages with enough ruled lines for a table, from 0."""
    unread_pages: list[int] = field(default_factory=list)
    """Pages that hold pictures and hardly a letter, from 1."""


def read_pdf(data: bytes, opened: Callable[[int], None]) -> PdfText:
    """The text of a PDF; `opened` is told the number of pages before the work starts.

    Raises `Unreadable`: `encrypted`, `needs_ocr`, `empty`, `too_large`, `parse_failed`.
    """
    import pypdfium2

    try:
        found = _with_pdfium(pypdfium2, data, opened)
    except pypdfium2.PdfiumError as error:
        found = _with_pdfminer(data, opened, error)
    _refuse_pictures(found)
    found.pages = clean_pages(found.pages)
    return found


def _with_pdfium(pypdfium2: Any, data: bytes, opened: Callable[[int], None]) -> PdfText:
    document = pypdfium2.PdfDocument(data)
    try:
        count = len(document)
        _refuse_many(count)
        opened(count)
        if document.get_formtype():
            document.init_forms()
        found = PdfText([], title=document.get_metadata_dict().get("Title", ""))
        total = 0
        for index in range(count):
            try:
                page = document[index]
            except pypdfium2.PdfiumError:
                if index + 1 == count and len(found.unread_pages) == index:
                    raise
                # One page that cannot be loaded costs itself only.
                found.pages.append("")
                found.unread_pages.append(index + 1)
                continue
            try:
                text = _page_text(page)
                total += len(text)
                if total > MAX_CHARS:
                    raise Unreadable("too_large", f"it holds more than {MAX_CHARS:,} characters", failed=True)
                found.pages.append(text)
                _note_objects(pypdfium2.raw, page, index, text, found)
            finally:
                page.close()
        found.outline = _outline(document, count)
        return found
    finally:
        document.close()


def _page_text(page: Any) -> str:
    text_page = page.get_textpage()
    try:
        return str(text_page.get_text_range())
    finally:
        text_page.close()


def _note_objects(raw: Any, page: Any, index: int, text: str, found: PdfText) -> None:
    """Notes whether the page holds pictures without text, or ruled lines enough for a table."""
    count = raw.FPDFPage_CountObjects(page)
    if len(text.strip()) < 4 * _FEW_CHARS:
        pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3) if count <= _MAX_OBJECTS else ()
        if next(iter(pictures), None) is not None:
            found.unread_pages.append(index + 1)
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
    """A second try for files that PDFium refuses; slower, and it needs its `(cid:N)` marks taken out."""
    import io

    import pdfplumber
    from pdfplumber.utils.exceptions import PdfminerException

    code = getattr(first_error, "err_code", None)
    reason = Unreadable("parse_failed", f"it is damaged ({_plain(first_error)})", failed=True)
    if code == _PASSWORD_ERROR:
        reason = Unreadable("encrypted", "it is encrypted and needs a password", failed=True)
    try:
        with pdfplumber.open(io.BytesIO(data), password="") as document:
            count = len(document.pages)
            if count == 0:
                raise reason
            _refuse_many(count)
            opened(count)
            found = PdfText([], title=str(document.metadata.get("Title") or ""))
            for page in document.pages:
                try:
                    text = page.extract_text(x_tolerance_ratio=0.15) or ""
                    found.pages.append(_CID.sub("", text))
                    if page.images and len(text.strip()) < 4 * _FEW_CHARS:
                        found.unread_pages.append(page.page_number)
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


def _refuse_many(pages: int) -> None:
    if pages > MAX_PAGES:
        raise Unreadable("too_large", f"it has {pages:,} pages; at most {MAX_PAGES:,} are read", failed=True)


def _refuse_pictures(found: PdfText) -> None:
    letters = sum(len(text) - text.count(" ") - text.count("\r\n") * 2 for text in found.pages)
    if found.unread_pages and letters < _FEW_CHARS * max(1, len(found.pages)) * 2 and letters < 200:
        if letters >= _FEW_CHARS * len(found.pages) and len(found.pages) == 1:
            return
        pages = _ranges(found.unread_pages)
        raise Unreadable("needs_ocr", f"its pages are pictures without a text layer (pages {pages})")
    if not any(text.strip() for text in found.pages):
        raise Unreadable("empty", "its pages hold no text")


def _ranges(numbers: list[int]) -> str:
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    shown = [str(low) if low == high else f"{low}–{high}" for low, high in parts[:12]]
    return ", ".join(shown) + (", …" if len(parts) > 12 else "")


_CID = re.compile(r"\(cid:\d+\)")
_HYPHEN = re.compile(r"(\w+)[\ufffe\x02](?:\r\n|\n)?(\w*)")
_WORD = re.compile(r"[^\W\d_]{2,}")
# Ligatures and Arabic shapes: glyphs of print that nobody types in a question.
_GLYPHS = re.compile(r"[\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]+")
_CONTROLS = {code: None for code in range(32) if code not in (9, 10)} | {0xFFFE: None, 0xFFFF: None, 0x7F: None}


def clean_pages(pages: list[str]) -> list[str]:
    """Pages with line-end hyphens resolved, line ends as newlines, ligatures and Arabic shapes as letters."""
    words = {word.lower() for text in pages for word in _WORD.findall(text)}
    hyphenated = {word.lower() for text in pages for word in re.findall(r"[^\W\d_]+-[^\W\d_]+", text)}

    def joined(found: re.Match[str]) -> str:
        left, right = found[1], found[2]
        if not right:
            return left
        left_word, right_word = left.lower(), right.lower()
        if left_word + right_word in words:
            return left + right
        true_hyphen = f"{left_word}-{right_word}" in hyphenated or (
            len(left) > 2 and len(right) > 2 and left_word in words and right_word in words
        )
        return f"{left}-{right}" if true_hyphen else left + right

    cleaned = []
    for text in pages:
        if "\ufffe" in text or "\x02" in text:
            text = _HYPHEN.sub(joined, text)
        text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)
        cleaned.append(_GLYPHS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text))
    return cleaned
