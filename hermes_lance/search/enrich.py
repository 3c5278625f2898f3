"""A follow-up such as "and the second one?" is asked together with what the person said before.

A rule, no model: short questions and those with a pronoun get the last messages of the person behind them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

LONGEST_CHARS = 500
"""Of the enriched question."""
MESSAGES = 3
"""Earlier messages that are added, at most."""
FEW_WORDS = 5
"""A question of fewer words is taken for a follow-up."""

_WORD = re.compile(r"\w+")
_PRONOUNS = frozenset(
    "it its this that these those they them their he him his she her hers we us our ours one ones".split()  # noqa: SIM905 (read as words)
)

Message = str | Mapping[str, Any]


def enriched(message: str, history: Sequence[Message]) -> str:
    """The question to search with: `message`, and behind it earlier messages of the person, newest first, where it
    needs them. `history` is oldest first; a bare string is a message of the person."""
    message = message.strip()
    if not history or not needs_more(message):
        return message
    parts = [message]
    for earlier in user_messages(history):
        if earlier not in parts:
            parts.append(earlier)
        if len(parts) > MESSAGES:
            break
    return "\n".join(parts)[: max(LONGEST_CHARS, len(message))]


def needs_more(message: str) -> bool:
    """Whether a message can hardly be understood by itself."""
    words = _WORD.findall(message.lower())
    return len(words) < FEW_WORDS or not _PRONOUNS.isdisjoint(words)


def user_messages(history: Sequence[Message]) -> list[str]:
    """What the person said, newest first; parts that are no text are left out."""
    said = []
    for one in reversed(history):
        text = one.strip() if isinstance(one, str) else _text_of(one)
        if text:
            said.append(text)
    return said


def _text_of(message: Mapping[str, Any]) -> str:
    if message.get("role") != "user":
        return ""
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, Sequence):
        return ""
    parts = [part if isinstance(part, str) else part.get("text") for part in content
             if isinstance(part, str | Mapping)]  # fmt: skip
    return "\n".join(part.strip() for part in parts if isinstance(part, str) and part.strip())
