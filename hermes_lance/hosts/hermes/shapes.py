"""A block into a request: after the person's message of this turn, in the shape that the provider's interface has.

Shapes are those that the host builds: chat completions, Anthropic messages, Codex responses. A request of another shape
gets nothing, and the log says so once. The request given is the host's own copy; a new one is made all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KNOWN = {"chat_completions": "messages", "anthropic_messages": "messages", "codex_responses": "input"}
"""Interfaces by the host's name, and the key that holds the conversation."""
_TEXT_PART = {"chat_completions": "text", "anthropic_messages": "text", "codex_responses": "input_text"}
_TOOL_PARTS = frozenset({"tool_result", "function_call_output"})


def with_block(request: Mapping[str, Any], api_mode: str, block: str) -> dict[str, Any] | None:
    """The request with `block` at the end of its last message of a person; none where that cannot be done."""
    key = KNOWN.get(api_mode)
    conversation = request.get(key) if key is not None else None
    if key is None or not isinstance(conversation, Sequence) or isinstance(conversation, str):
        return None
    at = _last_of_a_person(conversation)
    if at is None:
        return None
    content = _with_text(conversation[at].get("content"), block, _TEXT_PART[api_mode])
    if content is None:
        return None
    messages = list(conversation)
    messages[at] = {**messages[at], "content": content}
    return {**request, key: messages}


def _last_of_a_person(conversation: Sequence[Any]) -> int | None:
    for at in range(len(conversation) - 1, -1, -1):
        message = conversation[at]
        if isinstance(message, Mapping) and message.get("role") == "user" and not _is_tool_result(message):
            return at
    return None


def _is_tool_result(message: Mapping[str, Any]) -> bool:
    """Anthropic's interface sends results of tools as messages of the user."""
    content = message.get("content")
    parts = [one for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []
    return bool(parts) and all(one.get("type") in _TOOL_PARTS for one in parts)


def _with_text(content: object, block: str, kind: str) -> object:
    if isinstance(content, str):
        return f"{content}\n\n{block}"
    if isinstance(content, list):
        return [*content, {"type": kind, "text": block}]
    return None
