"""Parser: HTML, through selectolax (Lexbor). Tags, scripts and navigation go, headings become sections."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from hermes_lance.core.encodings import known
from hermes_lance.core.records import Document
from hermes_lance.core.text import Decoded
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.page_text import PageText
from hermes_lance.parse.plain import decoded

_NEVER = (
    "script, style, noscript, template, svg, iframe, object, canvas, button, select, [hidden],"
    ' [style*="display:none" i], [style*="display: none" i]'
)
_FURNITURE = "nav, footer, [role=navigation], [role=contentinfo]"
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_MAX_DEPTH = 1_000
_TITLE_CHARS = 200
_FACT_CHARS = 1_000
_META = frozenset({"description", "author", "keywords"})
_XHTML = re.compile(r"<\?xml\s|xhtml", re.IGNORECASE)
_SELF_CLOSED = re.compile(
    r"<((?:script|style|title|textarea|iframe|template|object|canvas|select|button|svg|a|div|span|p|td|th|li|i|b|em"
    r"|strong|code|pre|h[1-6]))(\s[^<>]*)?(?<!/)/>",
    re.IGNORECASE,
)
# Not those that another of their kind closes (`p`, `li`, `td`), nor those of drawings, which often close themselves.
_NESTING = re.compile(
    r"<(/?)(?:a|address|article|aside|b|bdo|big|blockquote|button|center|cite|code|del|details|dfn|dialog|dir|div|dl|em"
    r"|fieldset|figcaption|figure|font|footer|form|header|hgroup|i|ins|kbd|label|listing|main|map|menu|nav|object|ol|pre"
    r"|q|ruby|s|samp|search|section|small|span|strike|strong|sub|summary|sup|table|tt|u|ul|var)(?=[\s>/])",
    re.IGNORECASE,
)
_SCRIPTS = re.compile(r"<(script|style)\b.*?(?:</\1\b|\Z)", re.IGNORECASE | re.DOTALL)
_TAGS = re.compile(r"</?[A-Za-z!][^<>]*>")
_BLANKS = re.compile(r"\s+")


class HtmlParser:
    """What a reader of the page sees, not what its source says: offsets count characters of the extracted text."""

    name = "html"
    media_types: Sequence[str] = ("text/html",)

    def signature(self) -> str:
        """Name and version."""
        return "html/3"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """The visible text with sections from h1 to h6; raises `Unreadable` (`binary`, `empty`).

        Facts: title, lang, description, author and keywords, as far as the page names them.
        """
        from selectolax.lexbor import LexborHTMLParser

        found = _decoded(data)
        source = _closed(found.text)
        if _too_deep(source):
            return self._crude(found, media_type)
        text, facts = PageText(), {}
        for unwanted in (f"{_NEVER}, {_FURNITURE}", _NEVER):
            tree = LexborHTMLParser(source)
            for node in tree.css(unwanted):
                node.decompose()
            facts = _facts(tree)
            text = PageText()
            if tree.body is not None:
                text.walk(tree.body)
            elif (instead := tree.css_first("noframes")) is not None:
                # Pages of frames hold words only for those who see no frames, as source.
                text.walk(LexborHTMLParser(instead.text()).root)
            # A page whose whole content stands in its navigation is read with it.
            if text.length:
                break
        whole, sections = text.finished(facts.get("title", ""))
        if whole.isspace():
            raise Unreadable("empty", "the page holds no text")
        return Document(
            text=whole,
            media_type=media_type,
            parser=self.signature(),
            sections=sections,
            encoding=found.encoding,
            replaced_chars=found.replaced_chars,
            verbatim=False,
            facts=facts,
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


def _facts(tree: Any) -> dict[str, str]:
    """What the head of the page says of it."""
    facts: dict[str, str] = {}
    title = tree.css_first("title")
    if title is not None:
        facts["title"] = " ".join(title.text().split())[:_TITLE_CHARS]
    root, head = tree.root, tree.head
    if root is not None and root.tag == "html":
        facts["lang"] = (root.attributes.get("lang") or root.attributes.get("xml:lang") or "")[:40].strip()
    node = head.first_child if head is not None else None
    while node is not None:
        if node.tag == "meta":
            said = node.attributes
            name = (said.get("name") or said.get("property") or "").lower().removeprefix("og:")
            if name in _META and not facts.get(name):
                facts[name] = " ".join((said.get("content") or "")[: _FACT_CHARS * 2].split())[:_FACT_CHARS]
        node = node.next
    return {key: value for key, value in facts.items() if value}


def _closed(text: str) -> str:
    """XHTML in the words of HTML: there an element that closes itself is one that never closes."""
    if "/>" not in text or not _XHTML.search(text, 0, 1_000):
        return text
    return _SELF_CLOSED.sub(r"<\1\2></\1>", text)


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
    codec = known(named[1].decode("ascii"))
    if codec is None or codec.startswith("utf"):
        return found
    text = data.decode(codec, "replace")
    return Decoded(text, codec, text.count("�"))
