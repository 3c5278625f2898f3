"""Parser: Markdown, with its front matter as facts and one section for each heading."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hermes_lance.core.records import Document, Section
from hermes_lance.core.text import FrontMatter, front_matter
from hermes_lance.parse.blocks import scan
from hermes_lance.parse.markdown_parts import without_mdx
from hermes_lance.parse.plain import decoded
from hermes_lance.parse.trail import Heading, one_line, sections

_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:[ \t]+\"[^\"]*\")?\)|\[[^\[\]]*\])")
_WIKI_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]*+\{[#.:][^{}]*\}[ \t]*+$")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_FACTS = ("title", "description", "summary", "tags", "keywords", "categories", "author", "date", "name", "owner")


def readable_title(title: str) -> str:
    """A heading as a reader sees it: links as their text, no tags, no `{#anchor}`, no backslashes, one line."""
    if "[[" in title:
        title = _WIKI_LINK.sub(r"\1", title)
    if "[" in title:
        title = _LINK.sub(r"\1", title)
    if "{" in title:
        title = _ATTRIBUTES.sub("", title)
    if "<" in title:
        title = _TAG.sub("", title)
    if "\\" in title:
        title = _ESCAPE.sub(r"\1", title)
    return one_line(title)


class MarkdownParser:
    """Keeps the file's own text; sections begin at its top-level headings."""

    name = "markdown"
    media_types: Sequence[str] = ("text/markdown",)

    def signature(self) -> str:
        """Name and version."""
        return "markdown/2"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """The text with sections that tile it; raises `Unreadable` (`binary`, `empty`).

        The front matter is a section of kind `front_matter`. Its title stands above every trail when the document has
        no heading of level 1.
        """
        found = decoded(data)
        matter = front_matter(found.text)
        is_mdx = path.lower().endswith(".mdx")
        scanned = without_mdx(found.text, matter.body_start) if is_mdx else found.text
        headings = scan(scanned, matter.body_start).headings
        return Document(
            text=found.text,
            media_type=media_type,
            parser=self.signature(),
            sections=tuple(_sections(found.text, matter, headings)),
            encoding=found.encoding,
            replaced_chars=found.replaced_chars,
            facts={key: matter.fields[key] for key in _FACTS if key in matter.fields},
        )


def _sections(text: str, matter: FrontMatter, headings: list[Heading]) -> list[Section]:
    title = readable_title(matter.fields.get("title", ""))
    above = (title,) if title and all(heading.level > 1 for heading in headings) else ()
    # Without a trail: the title stands in it.
    head = [Section(0, matter.body_start, (), "front_matter")] if matter.body_start else []
    readable = [Heading(heading.start, heading.level, readable_title(heading.title)) for heading in headings]
    return head + sections(readable, matter.body_start, len(text), kind="markdown", above=above)
