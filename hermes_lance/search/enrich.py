"""A follow-up such as "and the second one?" is asked together with what the person said before.

A rule, no model: messages that are short, point at something or go on with something get the last messages of the
person behind them. The idea is that of Khoj's query enrichment; what is asked with the longer question is added to the
ranking of the message as it stands (see `ranking`), so that a change of subject does little harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hermes_lance.core.scripts import runs_without_spaces
from hermes_lance.core.words import Analyser
from hermes_lance.search.pronouns import OPENERS, POINTERS, PRONOUNS
from hermes_lance.search.render import BLOCK_BEGINS

LONGEST_CHARS = 500
"""Of the enriched question; a longer message stays as long as it is."""
MESSAGES = 3
"""Earlier messages that are added, at most."""
FEW_WORDS = 5
"""A message of fewer words is taken for a follow-up."""
FEW_TERMS = 3
"""So is one with so few words that tell something, or fewer."""
FEW_CHARACTERS = 8
"""So is one of fewer characters in a script without spaces."""

_WORD = re.compile(r"\w+")

Message = str | Mapping[str, Any]


def enriched(message: str, history: Sequence[Message]) -> str:
    """The question with its context: `message`, and behind it earlier messages of the person, newest first, where it
    needs them; otherwise `message`. `history` is oldest first; a bare string is a message of the person."""
    message = message.strip()
    if not history or not needs_more(message):
        return message
    parts, known = [message], {_plain(message), _plain(message[:LONGEST_CHARS])}
    for earlier in user_messages(history):
        plain = _plain(earlier)
        # A host may have appended the current message already; and "ok, thanks" tells nothing.
        if plain in known or not _tells_something(earlier):
            continue
        known.add(plain)
        parts.append(earlier)
        if len(parts) > MESSAGES:
            break
    return "\n".join(parts)[: max(LONGEST_CHARS, len(message))].rstrip()


def needs_more(message: str) -> bool:
    """Whether a message can hardly be understood by itself."""
    lowered = message.lower()
    words = _WORD.findall(lowered)
    analysed = Analyser().query(message)
    if analysed.identifier is not None:
        return False
    runs = "".join(runs_without_spaces().findall(lowered))
    if runs:
        return len(runs) < FEW_CHARACTERS or any(pointer in lowered for pointer in POINTERS)
    if len(words) < FEW_WORDS or words[0] in OPENERS or not PRONOUNS.isdisjoint(words):
        return True
    return len(analysed.terms) <= FEW_TERMS


def user_messages(history: Sequence[Message]) -> Iterator[str]:
    """What the person said, newest first, without blocks of ours that a host has stored with it; of each the beginning,
    since no more of it can be used."""
    for one in reversed(history):
        text = one if isinstance(one, str) else _text_of(one) if isinstance(one, Mapping) else ""
        text = text.partition(BLOCK_BEGINS)[0].strip()[:LONGEST_CHARS]
        if text:
            yield text


def _text_of(message: Mapping[str, Any]) -> str:
    """The text of a message of the person: a string, or a list of parts of which some are text."""
    if message.get("role") != "user":
        return ""
    return text_of(message.get("content"))


def text_of(content: object) -> str:
    """The text of what a message holds: a string, or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = [part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | Mapping)]
    return "\n".join(part for part in parts if isinstance(part, str))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _tells_something(text: str) -> bool:
    analysed = Analyser().query(text)
    return not analysed.empty and not analysed.only_stop_words
