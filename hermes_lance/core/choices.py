"""Which parser and which chunker serve a media type, unless the configuration says otherwise.

The most exact pattern wins, see `registry.best_match`.
"""

from __future__ import annotations

from collections.abc import Mapping

from hermes_lance.core import registry

MARKUP = ("text/rst", "text/org", "text/tex", "text/asciidoc", "text/wiki", "text/troff", "text/pod")
DEFAULT_PARSERS: Mapping[str, str] = {
    "text/markdown": "markdown",
    **dict.fromkeys(MARKUP, "markup"),
    "text/html": "html",
    "image/svg+xml": "svg",
    "application/pdf": "pdf",
    "application/x-ipynb+json": "notebook",
    "message/rfc822": "mail",
    "application/mbox": "mail",
    "application/vnd.openxmlformats-officedocument.*": "office",
    "application/vnd.oasis.opendocument.*": "office",
    "application/epub+zip": "office",
    "application/rtf": "office",
    "application/msword": "office",
    "application/vnd.ms-excel*": "office",
    "application/vnd.ms-powerpoint": "office",
    "text/*": "builtin_text",
}
OCR_PARSERS: Mapping[str, str] = {"application/pdf": "pdf_ocr", "image/*": "image"}
"""What takes the place of these with `knowledgebase.ocr`."""
DEFAULT_CHUNKERS: Mapping[str, str] = {
    "text/markdown": "headings",
    **dict.fromkeys(MARKUP, "headings"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.*": "headings",
    "application/vnd.oasis.opendocument.text": "headings",
    "application/epub+zip": "headings",
    "application/rtf": "headings",
    "application/msword": "headings",
    "text/x-*": "symbols",
    "application/x-ipynb+json": "cells",
    "text/csv": "rows",
    "text/json": "keys",
    "text/yaml": "keys",
    "text/toml": "keys",
    "text/ini": "keys",
    "text/xml": "keys",
    "*": "paragraphs",
}
CODE_STRATEGIES: Mapping[str, str] = {"structural": "symbols", "paragraphs": "paragraphs", "fixed": "fixed"}
MARKDOWN_STRATEGIES: Mapping[str, str] = {"headings": "headings", "paragraphs": "paragraphs", "fixed": "fixed"}
"""Words of `knowledgebase.chunking` for how two kinds of text are cut, and the chunkers that they mean."""


def by_strategies(code: str, markdown: str) -> dict[str, str]:
    """The chunkers of all media types with those of the two strategies; an unknown word changes nothing."""
    found = dict(DEFAULT_CHUNKERS)
    found["text/x-*"] = CODE_STRATEGIES.get(code, found["text/x-*"])
    found["text/markdown"] = MARKDOWN_STRATEGIES.get(markdown, found["text/markdown"])
    return found


def alone(category: str, name: str, default: Mapping[str, str]) -> dict[str, str]:
    """What one name means for all media types. A parser serves what it can read, a chunker everything."""
    if category == "chunkers":
        return dict(default) if name == "builtin_structural" else {"*": name}
    both = (*DEFAULT_PARSERS.items(), *OCR_PARSERS.items())
    return {**default, **{kind: own for kind, own in both if own == name}}


def sole_parser(active: object) -> str:
    """A parser that is named alone and is none of ours: only itself knows what it reads."""
    name = registry.normal("parsers", active) if isinstance(active, str) else ""
    return "" if registry.is_built_in("parsers", name) else name
