"""Rows of an EXPECT.jsonl beside what the product says of the same files: outcome, text that must or must not be there.

Texts are compared after NFKC and with every run of white space as one blank, on all passages of a file in order.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OUTCOMES = {"indexed": "indexed", "skipped": "skipped", "failed": "error-reported"}
"""State of a file in the product's list to the word of the table."""
ABSENT = "absent"
EXPLAINED = Path(__file__).with_name("explained.json")
SHOWN = 60
"""Characters of a text in a miss."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One row of the table."""

    path: str
    kind: str
    outcome: str
    also_ok: Sequence[str]
    must: Sequence[str]
    must_not: Sequence[str]
    should_not: Sequence[str]


@dataclass(frozen=True, slots=True)
class Found:
    """What the product reported of a file, and the text that it indexed. `row` is the path in its list."""

    row: str
    outcome: str
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Miss:
    """A way in which a row is not as expected. `check`: outcome, must_contain or must_not_contain."""

    path: str
    check: str
    detail: str
    reason: str | None = None
    """Why that is right all the same, where somebody has explained it."""


@dataclass(slots=True)
class Judged:
    """One row, judged. Numbers are of texts."""

    expected: Expected
    outcome: str
    misses: list[Miss] = field(default_factory=list)
    found: int = 0
    absent: int = 0
    noise: list[str] = field(default_factory=list)
    """Texts that a good parser leaves out and that are there."""

    @property
    def outcome_right(self) -> bool:
        """Whether the outcome is the expected one or one of those that will do."""
        return self.outcome == self.expected.outcome or self.outcome in self.expected.also_ok


def normal(text: str) -> str:
    """The form in which texts are compared."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text))


def read_table(file: Path) -> list[Expected]:
    """The rows of an EXPECT.jsonl, in their order."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        Expected(
            row["path"],
            row["kind"],
            row["outcome"],
            row.get("also_ok", []),
            row.get("must_contain", []),
            row.get("must_not_contain", []),
            row.get("should_not_contain", []),
        )
        for row in rows
    ]


def joined(chunks: Sequence[Mapping[str, Any]]) -> str:
    """The text of a file from its passages: overlaps once, a gap as a line end."""
    parts: list[str] = []
    end = 0
    for chunk in sorted(chunks, key=lambda one: (one["char_start"], one["char_end"])):
        start = chunk["char_start"]
        if start > end:
            parts.append("\n")
        parts.append(chunk["text"][max(0, end - start) :])
        end = max(end, chunk["char_end"])
    return "".join(parts)


def explained(tree: str, file: Path = EXPLAINED) -> dict[tuple[str, str], str]:
    """Path and check to the reason why the product is right, for one of the two trees."""
    rows = json.loads(file.read_text(encoding="utf-8"))
    return {(row["path"], row["check"]): row["reason"] for row in rows if row["tree"] == tree}


def judged(row: Expected, found: Found, reasons: Mapping[tuple[str, str], str]) -> Judged:
    """A row beside what the product says; a miss that is explained keeps its reason."""
    result = Judged(row, found.outcome)

    def miss(check: str, detail: str) -> None:
        result.misses.append(Miss(row.path, check, detail, reasons.get((row.path, check))))

    if not result.outcome_right:
        miss("outcome", f"{found.outcome}, not {row.outcome}: {found.reason[:SHOWN] or 'no reason given'}")
    if found.outcome != "indexed" and not found.reason:
        miss("outcome", f"{found.outcome} without a reason")
    text = normal(found.text)
    if found.outcome == "indexed" and not found.text:
        miss("outcome", "indexed without a passage")
    for part in row.must if found.outcome == "indexed" else ():
        if normal(part) in text:
            result.found += 1
        else:
            miss("must_contain", f"{part[:SHOWN]!r} is missing")
    for part in row.must_not:
        if normal(part) in text:
            miss("must_not_contain", f"{part[:SHOWN]!r} is there")
        else:
            result.absent += 1
    result.noise = [part for part in row.should_not if normal(part) in text]
    return result
