"""What the rerankers of ours have in common: how long they are waited for, and what they read of a passage."""

from __future__ import annotations

import re

from hermes_lance.core.errors import ConfigError
from hermes_lance.core.records import Candidate

LIMIT_SECONDS = 30.0
_HEADING = re.compile(r"\s*#{1,6}[ \t]+([^\n]*?)[ \t#]*\n")


def checked_limit(name: str, seconds: object) -> float:
    """`timeout_seconds` of a reranker, or `ConfigError`."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0.1 <= seconds <= 600:
        raise ConfigError(
            f"knowledgebase.rerankers.{name}.timeout_seconds is {seconds!r}; a number of seconds from 0.1 to 600"
        )
    return float(seconds)


def passage_of(candidate: Candidate) -> str:
    """The text below its section trail, which often says what the text is about; never the path: where a file lies
    says more of its owner than of the answer. Blank where the text is."""
    if not candidate.text or candidate.text.isspace():
        return ""
    trail = [" ".join(part.split()) for part in candidate.section if part and not part.isspace()]
    own = _HEADING.match(candidate.text)
    if trail and own is not None and " ".join(own[1].split()) == trail[-1]:
        trail.pop()  # the text says it itself
    return f"{' > '.join(trail)}\n\n{candidate.text}" if trail else candidate.text
