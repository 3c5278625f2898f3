"""Passages with a message of this turn and with no other: retrieved when it comes, put into requests as they go out.

The host stores what a `pre_llm_call` hook returns and sends it again in every later turn. So the hook keeps the block
under the id of the turn, and the `llm_request` middleware adds it to the copy that is sent. Where the route is `hook`,
or the host has no such middleware and the user has chosen that route, the hook returns it.
"""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any, Protocol

from . import shapes
from .home import hermes_home

log = logging.getLogger(__name__)

REVIEW_THREAD = "bg-review"
REVIEW_WORDS = "Review the conversation above"
"""How the host's own review of a conversation begins; it runs under the session and platform of the person."""


class Blocks(Protocol):
    """What is asked of `hermes_lance.hosts.blocks.Blocks`, which this folder may not import when it is loaded."""

    def begin(
        self, home: Path, message: str, history: Any, *, turn_id: str, session_id: str, platform: str
    ) -> tuple[str, str]:
        """The block for a message, and its route."""
        ...

    def block_of(self, turn_id: str) -> str:
        """The block of a turn that is under way."""
        ...

    def end(self, turn_id: str) -> None:
        """The turn is over."""
        ...


class Injection:
    """The hooks and the middleware of one registration."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._told: set[str] = set()

    def register(self, ctx: Any) -> None:
        """Offers them to the host, as far as it takes such."""
        hook, middleware = getattr(ctx, "register_hook", None), getattr(ctx, "register_middleware", None)
        if hook is None:
            return
        hook("pre_llm_call", self.before_turn)
        hook("on_session_end", self.after_turn)
        if middleware is not None:
            middleware("llm_request", self.request)

    def before_turn(
        self,
        user_message: object = "",
        conversation_history: object = (),
        session_id: str = "",
        turn_id: str = "",
        platform: str = "",
        **_: Any,
    ) -> dict[str, str] | None:
        """A message of a person has come. Returns the block only on the route `hook`."""
        from hermes_lance.search.enrich import text_of

        message = text_of(user_message)
        if not message.strip() or is_review(message):
            return None
        history = conversation_history if isinstance(conversation_history, list | tuple) else ()
        block, route = self._blocks.begin(
            hermes_home(), message, history, turn_id=str(turn_id), session_id=str(session_id), platform=str(platform)
        )
        return {"context": block} if block and route == "hook" else None

    def request(self, request: object = None, turn_id: str = "", api_mode: str = "", **_: Any) -> dict[str, Any] | None:
        """A request of the turn goes out: with the block, where the turn has one for this route."""
        block = self._blocks.block_of(str(turn_id))
        if not block or not isinstance(request, dict):
            return None
        made = shapes.with_block(request, str(api_mode), block)
        if made is None:
            if api_mode not in self._told:
                self._told.add(str(api_mode))
                log.warning("hermes-lance: requests of the kind %r cannot be given passages", api_mode)
            return None
        return {"request": made, "source": "hermes-lance"}

    def after_turn(self, turn_id: str = "", **_: Any) -> None:
        """The turn is over; the next one begins with nothing."""
        self._blocks.end(str(turn_id))


def is_review(message: str) -> bool:
    """Whether the host itself asks, to look back on a conversation."""
    return threading.current_thread().name.startswith(REVIEW_THREAD) or message.lstrip().startswith(REVIEW_WORDS)
