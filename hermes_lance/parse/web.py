"""Parser: HTML, through selectolax (Lexbor). Tags, scripts and navigation go, headings become sections."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from hermes_lance.core.records import Document, Section
from hermes_lance.core.text import Decoded
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.plain import decoded

_NEVER = "script, style, noscript, template, svg, iframe, object, canvas, button, select, [hidden]"
_FURNITURE = "nav, footer, [role=navigation], [role=contentinfo]"
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "li", "main", "menu", "nav", "ol",
    "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
})  # fmt: skip
_SPACED = _HEADINGS.keys() | {
    "article", "blockquote", "details", "dl", "figure", "ol", "p", "pre", "section", "table", "ul",
}  # fmt: skip
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_MAX_DEPTH = 1_000
_NESTING = re.compile(
    r"<(/?)(?:a|article|b|big|blockquote|center|code|div|dl|em|font|form|i|main|ol|section|small|span|strong|table|tt|u"
    r"|ul)(?=[\s>/])",
    re.IGNORECASE,
)
_SCRIPTS = re.compile(r"<(script|style)\b.*?(?:</\1\b|\Z)", re.IGNORECASE | re.DOTALL)
_TAGS = re.compile(r"</?[A-Za-z!][^<>]*>")
_BLANK = " \t\r\n\f"
_BLANKS = re.compile(r"[ \t\r\n\f]{2,}|[\t\r\n\f]")
"""What has to become one blank; a single blank is one already."""
_BREAKS = ("", " ", "\t", "\n", "\n\n")
"""What may stand between two texts. Of several that meet, the strongest stands."""
_BY_BLANK, _BY_TAB, _BY_LINE, _BY_EMPTY_LINE = range(1, 5)
_BREAK_AT = {**dict.fromkeys(_BLOCKS | {"br"}, _BY_LINE), **dict.fromkeys(_SPACED, _BY_EMPTY_LINE)}


class HtmlParser:
    """What a reader of the page sees, not what its source says: offsets count characters of the extracted text."""

    name = "html"
    media_types: Sequence[str] = ("text/html",)

    def signature(self) -> str:
        """Name and version."""
        return "html/2"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """The visible text with sections from h1 to h6; raises `Unreadable` (`binary`, `empty`)."""
        from selectolax.lexbor import LexborHTMLParser

        found = _decoded(data)
        text = _Text()
        if _too_deep(found.text):
            return self._crude(found, media_type)
        for unwanted in (f"{_NEVER}, {_FURNITURE}", _NEVER):
            tree = LexborHTMLParser(found.text)
            title_node = tree.css_first("title")
            title = " ".join(title_node.text().split())[:200] if title_node is not None else ""
            for node in tree.css(unwanted):
                node.decompose()
            text = _Text()
            if tree.body is not None:
                text.walk(tree.body)
            # A page whose whole content stands in its navigation is read with it.
            if text.length:
                break
        if not text.length and not title:
            raise Unreadable("empty", "the page holds no text")
        whole, sections = text.finished(title)
        return Document(
            text=whole,
            media_type=media_type,
            parser=self.signature(),
            sections=sections,
            encoding=found.encoding,
            replaced_chars=found.replaced_chars,
            verbatim=False,
            facts={"title": title} if title else {},
        )

    def _crude(self, found: Decoded, media_type: str) -> Document:
        """The text between the tags, without structure, for pages that would take the parser minutes."""
        text = _BLANKS.sub(" ", html.unescape(_TAGS.sub(" ", _SCRIPTS.sub(" ", found.text)))).strip()
        if not text:
            raise Unreadable("empty", "the page holds no text")
        return Document(
            text=text,
            media_type=media_type,
            parser=self.signature(),
            encoding=found.encoding,
            replaced_chars=found.replaced_chars,
            verbatim=False,
        )


def _too_deep(text: str) -> bool:
    """Whether elements are nested beyond `_MAX_DEPTH`, counted from tags alone; building the tree costs the square."""
    if text.count("<") - text.count("</") <= _MAX_DEPTH:
        return False
    depth = 0
    for found in _NESTING.finditer(text):
        if found[1]:
            depth = max(0, depth - 1)
        else:
            depth += 1
            if depth > _MAX_DEPTH:
                return True
    return False


def _decoded(data: bytes) -> Decoded:
    found = decoded(data)
    named = _META_CHARSET.search(data[:4096])
    if named is None or found.encoding.startswith(("utf", "ascii")):
        return found
    # Not UTF-8, so that what the page says of itself is better than a guess.
    try:
        text = data.decode(named[1].decode("ascii"), "replace")
    except LookupError:
        return found
    return Decoded(text, named[1].decode("ascii").lower(), text.count("�"))


class _Text:
    """Collects text in reading order: blanks folded, blocks on lines of their own, cells apart by tabs."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.headings: list[tuple[int, int, str]] = []
        self._owed = 0
        """The break that is due before the next text, as its place in `_BREAKS`."""
        self._heading_part = 0

    def walk(self, root: Any) -> None:
        """Depth first without recursion: nesting is as deep as the page likes."""
        node, preformatted, heading_start = root, 0, 0
        while True:
            tag = node.tag
            if tag == "-text":
                self._add(node.text_content or "", preformatted > 0)
            else:
                if tag in _HEADINGS:
                    self._break(_BY_EMPTY_LINE)
                    heading_start = self.length + (len(_BREAKS[self._owed]) if self.length else 0)
                    self._heading_part = len(self.parts)
                elif tag == "pre":
                    preformatted += 1
                self._open(tag)
            child = node.first_child
            if child is not None:
                node = child
                continue
            while True:
                if node.tag != "-text":
                    preformatted -= self._close(node.tag, heading_start)
                if node.mem_id == root.mem_id:
                    return
                following = node.next
                if following is not None:
                    node = following
                    break
                node = node.parent

    def _open(self, tag: str) -> None:
        self._break(_BREAK_AT.get(tag, 0))

    def _close(self, tag: str, heading_start: int) -> int:
        """Ends a node; 1 when it was preformatted."""
        if tag in _HEADINGS:
            title = " ".join("".join(self.parts[self._heading_part :]).split()) if self.length > heading_start else ""
            if title:
                self.headings.append((heading_start, _HEADINGS[tag], title[:200]))
        if tag in ("td", "th"):
            self._break(_BY_TAB)
        else:
            self._open(tag)
        return 1 if tag == "pre" else 0

    def _break(self, kind: int) -> None:
        if kind > self._owed:
            self._owed = kind

    def _add(self, raw: str, preformatted: bool) -> None:
        if preformatted:
            if raw:
                self._put(raw.replace("\r\n", "\n").replace("\r", "\n"))
            return
        stripped = raw.strip(_BLANK)
        if not stripped:
            self._break(_BY_BLANK if raw else 0)
            return
        if raw[0] in _BLANK:
            self._break(_BY_BLANK)
        self._put(_BLANKS.sub(" ", stripped))
        if raw[-1] in _BLANK:
            self._break(_BY_BLANK)

    def _put(self, text: str) -> None:
        if self.length and self._owed:
            self.parts.append(_BREAKS[self._owed])
            self.length += len(_BREAKS[self._owed])
        self._owed = 0
        self.parts.append(text)
        self.length += len(text)

    def finished(self, title: str) -> tuple[str, tuple[Section, ...]]:
        """The text, headed by the title of the page, and the sections that tile it."""
        body = "".join(self.parts)
        lead = f"{title}\n\n" if title else ""
        above = (title,) if title and all(level > 1 for _, level, _ in self.headings) else ()
        whole = f"{lead}{body}\n"
        starts: list[tuple[int, tuple[str, ...]]] = [(0, above)]
        trail: list[tuple[int, str]] = []
        for offset, level, name in self.headings:
            while trail and trail[-1][0] >= level:
                trail.pop()
            trail.append((level, name))
            place = offset + len(lead) if offset else 0
            if place <= starts[-1][0]:
                starts.pop()
            starts.append((place, above + tuple(part for _, part in trail)))
        ends = [start for start, _ in starts[1:]] + [len(whole)]
        return whole, tuple(
            Section(start, end, names, "text") for (start, names), end in zip(starts, ends, strict=True)
        )
