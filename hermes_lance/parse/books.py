"""Chapters of an EPUB: anydoc marks where each file of the spine begins, and the contents name those without a title.

Formats: EPUB 3.3 (package document, navigation document) and the NCX of EPUB 2. Worker process only.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.office_blocks import BlockText
from hermes_lance.parse.office_xml import local, tree
from hermes_lance.parse.packages import Package
from hermes_lance.parse.writer import Writer

_CONTAINER = "META-INF/container.xml"
_CONTENTS_CHARS = 200


class Book:
    """What the package document says: title and author, the order of chapters, what the contents call them."""

    def __init__(self, package: Package) -> None:
        """Raises `Unreadable` where there is no package document."""
        roots = [item.get("full-path") for item in tree(package.read(_CONTAINER)).iter() if local(item) == "rootfile"]
        name = next((root for root in roots if root and root in package), None)
        if name is None:
            raise Unreadable("parse_failed", "the file is damaged: it names no package document", failed=True)
        self._folder = posixpath.dirname(name)
        root = tree(package.read(name))
        self.facts: dict[str, str] = {}
        items: dict[str, Any] = {}
        spine: list[str] = []
        for item in root.iter():
            kind = local(item)
            if kind == "item":
                items[item.get("id") or ""] = item
            elif kind == "itemref":
                spine.append(item.get("idref") or "")
            elif kind in ("title", "creator") and (item.text or "").strip():
                self.facts.setdefault("author" if kind == "creator" else kind, " ".join(item.text.split()))
        paths = [self._path(items[name].get("href")) for name in spine if name in items]
        self.order = {path: number for number, path in enumerate(paths, 1)}
        """Path of a chapter to its number in the spine, from 1."""
        navigation = [item for item in items.values() if "nav" in (item.get("properties") or "").split()]
        self.contents = {self._path(item.get("href")) for item in navigation}
        """Files that hold nothing but the list of chapters."""
        tables = [*navigation, *(item for item in items.values() if "dtbncx" in (item.get("media-type") or ""))]
        self.names: dict[str, str] = {}
        for item in tables:
            path = self._path(item.get("href"))
            if path in package:
                self._named(tree(package.read(path)), posixpath.dirname(path))

    def _path(self, href: str | None, folder: str | None = None) -> str:
        plain = unquote((href or "").partition("#")[0])
        return posixpath.normpath(posixpath.join(self._folder if folder is None else folder, plain))

    def _named(self, root: Any, folder: str) -> None:
        """Names of chapters from a navigation document or an NCX; the first one of a file counts."""
        for item in root.iter():
            target, label = None, ""
            if local(item) == "a":
                target, label = item.get("href"), "".join(item.itertext())
            elif local(item) == "navPoint":
                for child in item:
                    if local(child) == "content":
                        target = child.get("src")
                    elif local(child) == "navLabel":
                        label = "".join(child.itertext())
            label = " ".join(label.split())[:_CONTENTS_CHARS]
            if target and label:
                self.names.setdefault(self._path(target, folder), label)


def write_book(writer: Writer, document: Any, book: Book) -> None:
    """Each file of the spine with `chapter <number>` as locator; one without a heading has its name as trail."""
    text = BlockText(writer, document.notes)
    before, chapters = _chapters(document.blocks, book)
    for path, blocks in chapters:
        if path in book.contents:
            continue
        headed = any(block.kind == "heading" for block in blocks)
        name = book.names.get(path)
        writer.place(f"chapter {book.order[path]}", (name,) if name and not headed else ())
        said = {text.inline(block.content) for block in blocks if block.kind == "heading"}
        for title in (text.inline(block.content) for block in before):
            # What anydoc puts in front of the first file: the title of the book, which its first page may repeat.
            writer.block("" if title in said else title)
        before = []
        text.write(blocks)
    text.write(before)


def _chapters(blocks: Iterable[Any], book: Book) -> tuple[list[Any], list[tuple[str, list[Any]]]]:
    before: list[Any] = []
    chapters: list[tuple[str, list[Any]]] = []
    for block in blocks:
        for part in block.content or () if block.kind in ("paragraph", "heading") else ():
            if part.kind == "anchor" and part.anchor in book.order:
                chapters.append((part.anchor, []))
        (chapters[-1][1] if chapters else before).append(block)
    return before, chapters
