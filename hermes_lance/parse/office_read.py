"""One office document to text, sections and facts: which reader serves which format. Worker process only.

Running text comes from anydoc; workbooks and the borders of slides and chapters are read here, because anydoc tells
nothing of cells, slides and files. Page headers and footers are left out; comments follow at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from hermes_lance.core.records import Section
from hermes_lance.parse import open_sheets, workbook
from hermes_lance.parse.books import Book, write_book
from hermes_lance.parse.media import ENCRYPTED, Unreadable
from hermes_lance.parse.office_blocks import BlockText
from hermes_lance.parse.office_xml import local, tree
from hermes_lance.parse.packages import Package
from hermes_lance.parse.rtf import without_deleted
from hermes_lance.parse.sheet_text import write_sheet
from hermes_lance.parse.slides import marked_odp, marked_pptx, write_slides
from hermes_lance.parse.writer import MAX_CHARS, TooLong, Writer

_FACT_CHARS = 300
_FORMULA = re.compile(rb"<m:oMathPara[ >].*?</m:oMathPara>|<m:oMath[ >].*?</m:oMath>", re.DOTALL)
_FORMULA_TEXT = re.compile(rb"<m:t(?:\s[^>]*)?>([^<]*)</m:t>")
_WORKBOOKS = ("xls", "xlsb")
"""Workbooks that anydoc reads; it takes them under the name of the newer format."""
_OPEN = ("odt", "ods", "odp")
_MANIFEST, _LOCKS = "META-INF/manifest.xml", "META-INF/encryption.xml"
_ZIPPED = frozenset({"docx", "pptx", "xlsx", "odt", "ods", "odp", "epub"})


class Found:
    """What was read: `text` with `sections` that tile it, and `facts`."""

    def __init__(self, text: str, sections: list[Section], facts: dict[str, str]) -> None:
        self.text, self.sections, self.facts = text, sections, facts


def read_office(data: bytes, suffix: str, opened: Callable[[int], None]) -> Found:
    """The document in `data`, of the format that `suffix` usually names; `opened` hears its unpacked size in bytes.

    Raises `Unreadable`: `encrypted`, `empty`, `too_large`, `unsupported`, `parse_failed`.
    """
    writer = Writer()
    facts: dict[str, str] = {}
    try:
        if suffix in _ZIPPED:
            package = Package(data, doctypes=suffix == "epub")
            opened(package.text_bytes)
            if suffix in _OPEN and b"encryption-data" in package.get(_MANIFEST):
                raise Unreadable("encrypted", ENCRYPTED, failed=True)
            facts = _ZIPPED_READERS[suffix](writer, package)
        else:
            opened(len(data))
            if suffix == "xlsb":
                Package(data)  # for its checks
            _plain(writer, data, suffix)
        text, sections = writer.finished()
    except TooLong as error:
        raise Unreadable("too_large", f"it holds more than {MAX_CHARS:,} characters", failed=True) from error
    if not text or text.isspace():
        raise Unreadable("empty", "it holds no text")
    return Found(text, sections, {key: value[:_FACT_CHARS] for key, value in facts.items() if value})


def converted(data: bytes, suffix: str) -> Any:
    """What anydoc makes of a file; its typed errors become reasons, one to one."""
    import anydoc

    try:
        return anydoc.to_document(data, "xlsx" if suffix in _WORKBOOKS else suffix)
    except anydoc.EncryptedError as error:
        raise Unreadable("encrypted", ENCRYPTED, failed=True) from error
    except anydoc.ResourceLimitError as error:
        raise Unreadable("too_large", f"it is beyond a limit of safety ({error.limit})", failed=True) from error
    except anydoc.MissingPartError as error:
        raise Unreadable(
            "parse_failed", f"the file is damaged: its part {error.part} is missing", failed=True
        ) from error
    except anydoc.MalformedError as error:
        raise Unreadable("parse_failed", f"the file is damaged ({error})", failed=True) from error
    except anydoc.NeedsOcrError as error:
        raise Unreadable("needs_ocr", "it holds pictures of text only") from error
    except anydoc.UnsupportedError as error:
        raise Unreadable("unsupported", f"this kind of .{suffix} file cannot be read ({error})") from error
    except anydoc.ConvertError as error:
        raise Unreadable("parse_failed", str(error), failed=True) from error


def _docx(writer: Writer, package: Package) -> dict[str, str]:
    main = next(iter(workbook.related(package, "", "/officeDocument").values()), "word/document.xml")
    content = package.read(main)
    changed = {main: _with_plain_formulas(content)} if b"<m:oMath" in content else None
    document = converted(package.repacked(changed), "docx")
    BlockText(writer, document.notes).write(document.blocks)
    remarks = [
        item for part in workbook.related(package, main, "/comments").values() for item in _remarks(package, part)
    ]
    if remarks:
        writer.place(None, ("Comments",))
        for remark in remarks:
            writer.block(remark)
    return _core_facts(package)


def _with_plain_formulas(content: bytes) -> bytes:
    """Before each formula its characters as a run of text: LaTeX keeps its meaning, and these can be looked for."""

    def doubled(found: re.Match[bytes]) -> bytes:
        words = b"".join(_FORMULA_TEXT.findall(found[0]))
        return b'<w:r><w:t xml:space="preserve">%s </w:t></w:r>' % words + found[0] if words.strip() else found[0]

    return _FORMULA.sub(doubled, content)


def _remarks(package: Package, part: str) -> list[str]:
    if part not in package:
        return []
    found = []
    for item in tree(package.read(part)).iter():
        if local(item) != "comment":
            continue
        lines = ("".join(text.text or "" for text in line.iter() if local(text) == "t") for line in item if line.tag)
        text = "\n".join(line.strip() for line in lines if line.strip())
        author = next((value.strip() for key, value in item.attrib.items() if key.endswith("author")), "")
        if text:
            found.append(f"{author}: {text}" if author else text)
    return found


def _odt(writer: Writer, package: Package) -> dict[str, str]:
    document = converted(package.repacked(), "odt")
    BlockText(writer, document.notes).write(document.blocks)
    return _meta_facts(package)


def _pptx(writer: Writer, package: Package) -> dict[str, str]:
    write_slides(writer, converted(marked_pptx(package), "pptx"))
    return _core_facts(package)


def _odp(writer: Writer, package: Package) -> dict[str, str]:
    write_slides(writer, converted(marked_odp(package), "odp"))
    return _meta_facts(package)


def _xlsx(writer: Writer, package: Package) -> dict[str, str]:
    for sheet in workbook.sheets(package):
        write_sheet(writer, sheet)
    return _core_facts(package)


def _ods(writer: Writer, package: Package) -> dict[str, str]:
    for sheet in open_sheets.sheets(package):
        write_sheet(writer, sheet)
    return _meta_facts(package)


def _epub(writer: Writer, package: Package) -> dict[str, str]:
    book = Book(package)
    locked = package.get(_LOCKS)
    # Most books of which this file speaks have disguised fonts and nothing else; those can be read.
    if locked and any(unquote(item.get("URI") or "") in book.order for item in tree(locked).iter()):
        raise Unreadable(
            "encrypted", "its chapters are locked (DRM); a copy without a lock can be indexed", failed=True
        )
    unlocked = {_LOCKS: b'<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"/>'} if locked else None
    write_book(writer, converted(package.repacked(unlocked), "epub"), book)
    return book.facts


def _plain(writer: Writer, data: bytes, suffix: str) -> None:
    """Formats of which anydoc alone knows: RTF, the old binary ones."""
    document = converted(without_deleted(data) if suffix == "rtf" else data, suffix)
    text = BlockText(writer, document.notes)
    for block in document.blocks:
        if suffix in _WORKBOOKS and block.kind == "heading":
            name = text.inline(block.content).strip()
            writer.place(f"sheet {name}", (name,))
            writer.block(name)
        else:
            text.block(block)


def _core_facts(package: Package) -> dict[str, str]:
    """Title, author and key words of an OOXML document."""
    return _facts(package, *workbook.related(package, "", "/core-properties").values())


def _meta_facts(package: Package) -> dict[str, str]:
    """The same of an OpenDocument file."""
    return _facts(package, "meta.xml")


_FACT_OF = {"title": "title", "creator": "author", "initial-creator": "author", "keywords": "tags", "keyword": "tags"}


def _facts(package: Package, *parts: str) -> dict[str, str]:
    facts: dict[str, str] = {}
    for part in parts:
        for item in tree(package.read(part)).iter() if part in package else ():
            name, text = _FACT_OF.get(local(item)), " ".join((item.text or "").split())
            if name and text:
                facts.setdefault(name, text)
    return facts


_ZIPPED_READERS: Mapping[str, Callable[[Writer, Package], dict[str, str]]] = {
    "docx": _docx, "pptx": _pptx, "xlsx": _xlsx, "odt": _odt, "ods": _ods, "odp": _odp, "epub": _epub,
}  # fmt: skip
