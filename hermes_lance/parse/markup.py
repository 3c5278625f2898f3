"""Parser: markup that is read as it stands: reStructuredText, Org, LaTeX, AsciiDoc, wiki pages, manual pages, POD.

The text stays the file's own, so that lines can be cited; a scanner for each language finds the headings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hermes_lance.core.records import Document
from hermes_lance.parse import asciidoc, blocks, latex, org, pod, rst, troff, wiki
from hermes_lance.parse.plain import decoded
from hermes_lance.parse.trail import Blocks, sections


def _no_facts(_: str) -> dict[str, str]:
    return {}


class _Language(NamedTuple):
    scan: Callable[[str], Blocks]
    facts: Callable[[str], dict[str, str]]


LANGUAGES: Mapping[str, _Language] = {
    "text/rst": _Language(rst.scan, rst.facts),
    "text/org": _Language(org.scan, org.facts),
    "text/tex": _Language(latex.scan, latex.facts),
    "text/asciidoc": _Language(asciidoc.scan, asciidoc.facts),
    "text/wiki": _Language(wiki.scan, _no_facts),
    "text/troff": _Language(troff.scan, troff.facts),
    "text/pod": _Language(pod.scan, _no_facts),
}


def whole_blocks(text: str, media_type: str, start: int = 0) -> list[tuple[int, int]]:
    """Spans of code, tables and the like that a cut should not enter; none for languages that are not known here."""
    if media_type in LANGUAGES:
        return LANGUAGES[media_type].scan(text).whole
    # Parsers of office documents write lists, tables and code as Markdown.
    return blocks.scan(text, start).whole if media_type == "text/markdown" or not media_type.startswith("text/") else []


class MarkupParser:
    """Keeps the file's own text; sections begin at its headings."""

    name = "markup"
    media_types: Sequence[str] = tuple(LANGUAGES)

    def signature(self) -> str:
        """Name and version."""
        return "markup/1"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """The text with sections that tile it; raises `Unreadable` (`binary`, `empty`).

        A title that the file gives for itself stands above every trail when no heading repeats it.
        """
        found = decoded(data)
        text = found.text
        language = LANGUAGES.get(media_type)
        if language is None:
            return Document(text, media_type, self.signature(), (), None, found.encoding, found.replaced_chars)
        headings = language.scan(text).headings
        facts = language.facts(text)
        title = facts.get("title", "")
        above = (title,) if title and all(heading.title != title for heading in headings) else ()
        return Document(
            text=text,
            media_type=media_type,
            parser=self.signature(),
            sections=tuple(sections(headings, 0, len(text), kind="text", above=above)),
            encoding=found.encoding,
            replaced_chars=found.replaced_chars,
            facts=facts,
        )
