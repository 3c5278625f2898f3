"""Decoding by an encoding that the file itself names, such as a mail part or a web page does."""

from __future__ import annotations

from hermes_lance.core.encodings import known
from hermes_lance.core.text import decode


def declared_text(data: bytes, charset: str | None) -> str:
    """The text of `data`: strict UTF-8 first, then as declared, then by what the bytes look like; never fails."""
    name = known(charset.strip().strip("\"'")[:40]) if charset else None
    # Encodings of seven bits look like ASCII, and wide ones may, so that they are asked before UTF-8.
    if name is None or not name.startswith(("iso2022", "hz", "utf-16", "utf-32")):
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            pass  # the declaration, or else a guess, has to tell
    if name is not None:
        try:
            return data.decode(name, "replace")
        except (LookupError, UnicodeError):
            pass  # a codec that this system lacks, or one that cannot replace: go on with a guess
    found = decode(data)
    return data.decode("latin-1") if found is None else found.text
