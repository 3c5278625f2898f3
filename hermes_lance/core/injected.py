"""A passage that an agent was given unasked: what the turn, the ledger and the check of citations call it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InjectedSource:
    """One passage of a block. Its text is not here."""

    root: str
    """Label of the root."""
    path: str
    """Display path."""
    citation: str
    """Path and place, as the header of the passage has them."""
    line_start: int | None
    line_end: int | None
    page_start: int | None
    page_end: int | None
    text_sha: str
    """First 32 hexadecimal digits of the SHA-256 of the passage."""
    sha256: str | None
    """Of the file as it was indexed."""
    generation: str
