"""Attacks, look-alikes and plain documents: labelled samples from a folder of reference data, and lists of our own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_lance.parse.suspicion import findings, flags_between

OWN = Path(__file__).resolve().parents[2] / "tests" / "data"


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and where in it the attack stands (all of it where it stands alone)."""

    name: str
    kind: str
    attack: bool
    text: str
    start: int
    end: int
    place: str = "alone"
    source: str = "own"
    origin: str = ""
    """Which list of our own it is from."""
    half: str = ""
    category: str = ""
    language: str = ""

    def marked(self) -> bool:
        """Whether a passage that holds any of the attack is marked."""
        return bool(flags_between(findings(self.text), self.start, self.end))


def reference_cases(file: Path) -> list[Case]:
    """The labelled samples; the half is `tuned` or `held` by a hash of the payload."""
    return [_reference_case(row) for row in _rows(file)]


def _reference_case(row: dict[str, Any]) -> Case:
    text, about = row["text"], row["meta"]
    payload = about.get("payload") or text
    start = max(0, text.find(payload))
    half = "tuned" if hashlib.sha256(payload.encode("utf-8")).digest()[0] % 2 == 0 else "held"
    return Case(
        name=row["id"],
        kind=row["kind"],
        attack=row["label"] == 1,
        text=text,
        start=start,
        end=start + len(payload),
        place=about.get("position") or "alone",
        source="reference",
        half=half,
        category=about.get("category") or "",
    )


def own_cases() -> list[Case]:
    """Our lists; every attack once alone and once at each place of a plain document."""
    plain = list(_rows(OWN / "plain_documents.jsonl"))
    cases = [_alone(row, "plain documents", False, kind="plain") for row in plain]
    for row in _rows(OWN / "harmless.jsonl"):
        quotes = row["kind"] == "quotes-an-attack"
        cases.append(_alone(row, "quotes an attack" if quotes else "harmless", quotes))
    for row in _rows(OWN / "attacks.jsonl"):
        cases.append(_alone(row, "attacks", True))
        cases += _planted(row, plain, "attacks")
    cases += [_alone(row, "later attacks", True) for row in _rows(OWN / "later_attacks.jsonl")]
    return cases


def _alone(row: dict[str, Any], origin: str, attack: bool, kind: str | None = None) -> Case:
    text = row["text"]
    return Case(
        row["id"], kind or row["kind"], attack, text, 0, len(text), origin=origin, language=row.get("language", "")
    )


def _planted(row: dict[str, Any], plain: list[dict[str, Any]], origin: str) -> Iterator[Case]:
    hosts = [one["text"] for one in plain if one["language"] == row["language"]] or [plain[0]["text"]]
    paragraphs = hosts[hashlib.sha256(row["id"].encode()).digest()[0] % len(hosts)].split("\n\n")
    for place, at in (("start", 0), ("middle", len(paragraphs) // 2), ("end", len(paragraphs))):
        text = "\n\n".join([*paragraphs[:at], row["text"], *paragraphs[at:]])
        start = len("\n\n".join(paragraphs[:at])) + (2 if at else 0)
        yield Case(
            f"{row['id']} at the {place}",
            row["kind"],
            True,
            text,
            start,
            start + len(row["text"]),
            place=place,
            origin=origin,
            language=row["language"],
        )


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
