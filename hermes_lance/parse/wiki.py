"""Sections of wiki pages: MediaWiki's titles between equals signs, Textile's `h2. Title`.

Sources: mediawiki.org, "Help:Formatting"; the Textile reference, "Headings".
"""

from __future__ import annotations

import re

from hermes_lance.parse.trail import Blocks, Heading, one_line, same_length_newlines

_PART = re.compile(
    r"<!--(?:.*?-->|.*\Z)|<(nowiki|pre|syntaxhighlight|source)\b[^>]*>(?:.*?</\1>|.*\Z)"
    r"|^\{\|(?:.*?^\|\}|.*\Z)"
    r"|^(={1,6})(?!=)([^\n]*?[^=\n])\2[ \t]*(?:<!--[^\n]*?-->[ \t]*)*$"
    r"|^h([1-6])(?:\([^)\n]*\))?\.[ \t]+(\S[^\n]*)$",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")


def scan(text: str) -> Blocks:
    """Headings, and the comments, code and tables to keep whole, in offsets of `text`."""
    text = same_length_newlines(text)
    headings: list[Heading] = []
    whole: list[tuple[int, int]] = []
    for found in _PART.finditer(text):
        title = found[3] or found[5]
        if title is None:
            whole.append(found.span())
        else:
            level = len(found[2]) if found[2] else int(found[4])
            headings.append(Heading(found.start(), level, one_line(_LINK.sub(r"\1", title).replace("''", ""))))
    return Blocks(headings, whole)
