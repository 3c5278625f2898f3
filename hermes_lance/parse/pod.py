"""Sections of Perl's documentation format: `=head1` to `=head4`. Source: perlpod(1)."""

from __future__ import annotations

import re

from hermes_lance.parse.trail import Blocks, Heading, one_line, same_length_newlines

_HEAD = re.compile(r"^=head([1-6])[ \t]+(\S[^\n]*)$", re.MULTILINE)
_BLOCK = re.compile(r"^=begin\b[^\n]*\n(?:.*?^=end\b[^\n]*$|.*\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"[A-Z]<(?:<+ )?([^<>|]*)(?:\|[^<>]*)?(?: >+)?>")


def scan(text: str) -> Blocks:
    """Headings, and the blocks for other formatters to keep whole, in offsets of `text`."""
    text = same_length_newlines(text)
    headings = [Heading(found.start(), int(found[1]), readable(found[2])) for found in _HEAD.finditer(text)]
    return Blocks(headings, [found.span() for found in _BLOCK.finditer(text)])


def readable(title: str) -> str:
    """A title without formatting codes: `C<open>` is `open`, a link its text."""
    for _ in range(3):
        title, changed = _CODE.subn(r"\1", title)
        if not changed:
            break
    return one_line(title)
