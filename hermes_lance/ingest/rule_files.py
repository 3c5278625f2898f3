"""Reading files that say what is left out: rule files, and the marks of caches. Neither link nor pipe is opened."""

from __future__ import annotations

import os

from hermes_lance.ingest import ignore
from hermes_lance.ingest.contents import opened, reason

RULE_FILE_BYTES = 1 << 20
"""A rule file longer than this is not read."""


def rules_in(location: str, shown: str) -> tuple[ignore.RuleFile, list[str]]:
    """The rules of one rule file, and warnings; none of its rules count when it cannot be used."""
    try:
        with os.fdopen(opened(location), "rb") as file:
            data = file.read(RULE_FILE_BYTES + 1)
    except OSError as error:
        return ignore.RuleFile(()), [f"{shown}: {reason(error)}; its rules are not applied"]
    if len(data) > RULE_FILE_BYTES:
        return ignore.RuleFile(()), [f"{shown}: longer than {RULE_FILE_BYTES >> 20} MiB; its rules are not applied"]
    lines, warning = ignore.lines_of(data, shown)
    rules = ignore.RuleFile(lines)
    return rules, [warning] if warning else rules.warnings


def begins(location: str, start: bytes) -> bool:
    """Whether the file begins with these bytes."""
    try:
        with os.fdopen(opened(location), "rb") as file:
            return file.read(len(start)) == start
    except OSError:
        # Unreadable, so it proves nothing: the folder is walked like any other.
        return False
