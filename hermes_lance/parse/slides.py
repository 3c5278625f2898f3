"""Slides of a presentation: anydoc tells no slide from the next, so a marked slide is put before each of them.

The marked slides exist only in the copy of the package that anydoc is given. Formats: ECMA-376 part 1, 19.2.1.34 (the
list of slides); ODF 1.3 part 3, 10.2.4 (`draw:page`). Worker process only.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import Any

from hermes_lance.parse.office_blocks import BlockText
from hermes_lance.parse.packages import Package
from hermes_lance.parse.workbook import related
from hermes_lance.parse.writer import Writer

MARK = "hermes-lance-slide-border"
_PART = "hermes-lance-border.xml"
_RELATION = "hermesLanceBorder"
_SLIDE = re.compile(rb"<(?:(\w+):)?sldId\s(?=[^>]*\w:id=)[^>]*>")
"""An entry of the list of slides; those of sections have no relation."""
_REFERENCE = re.compile(rb"\s(\w+):id=")
_RELATIONS_END = re.compile(rb"</(?:\w+:)?Relationships>")
_SLIDE_TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/slide"
_BORDER = (
    '<?xml version="1.0" encoding="UTF-8"?><p:sld xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"><p:cSld><p:spTree><p:nvGrpSpPr>'
    '<p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/><p:sp><p:nvSpPr>'
    '<p:cNvPr id="2" name="border"/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>'
    f"<a:p><a:r><a:t>{MARK}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
).encode()
_PAGE = re.compile(rb"<draw:page[\s>]")
_PAGE_BORDER = (
    f'<draw:page draw:name="border"><draw:frame><draw:text-box><text:p>{MARK}</text:p></draw:text-box></draw:frame>'
    "</draw:page>"
).encode()
_NOTE_FURNITURE = {"<number>", "*", "‹#›"}


def marked_pptx(package: Package) -> bytes:
    """The package with a marked slide before each slide; unchanged where its list of slides is not found."""
    main = next(iter(related(package, "", "/officeDocument").values()), "ppt/presentation.xml")
    folder, name = posixpath.split(main)
    relations = f"{folder}/_rels/{name}.rels"
    if main not in package or relations not in package:
        return package.repacked()
    listed, links = package.read(main), package.read(relations)
    ending = _RELATIONS_END.search(links)
    if ending is None or not _SLIDE.search(listed):
        return package.repacked()
    prefix = ending[0][2:-1].rpartition(b":")[0]
    tag = (prefix + b":" if prefix else b"") + b"Relationship"
    link = b'<%s Id="%s" Type="%s" Target="/%s/%s"/>' % (
        tag, _RELATION.encode(), _SLIDE_TYPE.encode(), folder.encode(), _PART.encode()
    )  # fmt: skip
    count = 0

    def bordered(found: re.Match[bytes]) -> bytes:
        nonlocal count
        count += 1
        reference = _REFERENCE.search(found[0])
        name = found[1] + b":sldId" if found[1] else b"sldId"
        space = reference[1] if reference else b"r"
        return b'<%s id="%d" %s:id="%s"/>' % (name, (1 << 30) + count, space, _RELATION.encode()) + found[0]

    changed = {
        main: _SLIDE.sub(bordered, listed),
        relations: links[: ending.start()] + link + links[ending.start() :],
        f"{folder}/{_PART}": _BORDER,
    }
    return package.repacked(changed)


def marked_odp(package: Package) -> bytes:
    """The package with a marked page before each page."""
    content = package.read("content.xml")
    return package.repacked({"content.xml": _PAGE.sub(lambda found: _PAGE_BORDER + found[0], content)})


def write_slides(writer: Writer, document: Any) -> None:
    """Each slide with its title as trail and `slide <number>` as locator; speaker notes follow as `Notes:`."""
    text = BlockText(writer, document.notes, quote=_notes)
    for number, blocks in enumerate(_slides(document.blocks), 1):
        writer.place(f"slide {number}")
        first = True
        for block in blocks:
            if block.kind == "heading" and not first:
                # A second title on one slide: a line like any other, the trail stays that of the slide.
                writer.block(text.inline(block.content))
            else:
                text.block(block)
            first = first and block.kind != "heading"


def _slides(blocks: Iterable[Any]) -> list[list[Any]]:
    slides: list[list[Any]] = []
    for block in blocks:
        if block.kind == "paragraph" and any(part.text == MARK for part in block.content or ()):
            slides.append([])
        elif slides:
            slides[-1].append(block)
        else:
            slides.append([block])
    return slides


def _notes(text: str) -> str:
    lines = [line for line in text.split("\n") if line.strip() not in _NOTE_FURNITURE]
    return f"Notes: {chr(10).join(lines)}" if any(line.strip() for line in lines) else ""
