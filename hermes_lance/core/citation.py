"""Reading a citation: path and place as answers, headers of injected blocks and people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Citation:
    """A file, and the part of it that is meant; the whole file where no part is named."""

    path: str
    line_start: int | None = None
    line_end: int | None = None
    page_start: int | None = None
    page_end: int | None = None
    locator: str | None = None
    sha256: str | None = None
    """The SHA-256 of the file when it was cited, or the beginning of it."""


_BRACKETS = re.compile(r"^\s*\[?\s*(?:Workspace source|Source)\s*:\s*(.*?)\s*\]?\s*$", re.IGNORECASE | re.DOTALL)
_SHA = re.compile(r"^(.*?)[\s,;@#(]+(?:sha-?256[:= ]\s*)([0-9a-f]{8,64})\)?$", re.IGNORECASE | re.DOTALL)
_RANGE = r"L?(\d{1,9})(?:\s*[-\u2013:]\s*L?(\d{1,9}))?"
_LINES = re.compile(rf"^(.+?)(?::|#(?=L)|,?\s+lines?\s+){_RANGE}$", re.DOTALL)
_PAGES = re.compile(
    r"^(.+?)(?:#page=|,?\s+(?:page|pages|p\.|pp\.)\s*)(\d{1,9})(?:\s*[-\u2013]\s*(\d{1,9}))?$", re.DOTALL
)
_LOCATOR = re.compile(r"^(.+?)#(.+)$", re.DOTALL)


def readings(text: str) -> Iterator[Citation]:
    """What a citation may mean, the most telling reading first and the whole text as a path last: a file may be called
    `a#b.md` or `notes:10`.

    Forms: `docs/plan.md:10-42`, `docs/plan.md#L10-L42`, `report.pdf#page=3`, `deck.pptx#slide 3`, with or without
    `[Workspace source: …]` or `[Source: …]` around it and ` sha256:…` behind it.
    """
    whole, sha = _without_hash(text.strip(), None)
    if inner := _BRACKETS.match(whole):
        whole, sha = _without_hash(inner[1].strip(), sha)
    if found := _PAGES.match(whole):
        first, last = _numbers(found[2], found[3])
        yield Citation(found[1], page_start=first, page_end=last, sha256=sha)
    if found := _LINES.match(whole):
        first, last = _numbers(found[2], found[3])
        yield Citation(found[1], line_start=first, line_end=last, sha256=sha)
    elif found := _LOCATOR.match(whole):
        yield Citation(found[1], locator=found[2], sha256=sha)
    yield Citation(whole, sha256=sha)


def _without_hash(text: str, known: str | None) -> tuple[str, str | None]:
    found = _SHA.match(text)
    return (found[1].rstrip(), found[2].lower()) if found else (text, known)


def _numbers(first: str, last: str | None) -> tuple[int, int]:
    start = max(1, int(first))
    return start, max(start, int(last)) if last else start
