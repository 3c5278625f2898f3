"""The block of one turn of a conversation: retrieved once within a time limit, kept until the turn is over.

For hosts in whose process the agent runs. A host says when a message comes and when a request goes out; what it makes
of the block is its own affair. Nothing here raises: a turn without a block is worth more than no turn.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.hosts.tools import Libraries
from hermes_lance.keeping import Keeping

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.library import Library
    from hermes_lance.search.turn import Turn

log = logging.getLogger(__name__)

TURNS_KEPT = 64
"""A turn can die without a word, so old ones make room for new ones."""
MOST_LATE = 4
"""Threads that still look something up for a turn that is over; where there are so many, no further one is begun."""
LOOK_SECONDS = 0.3
"""How long a turn waits for a look at changed files: most are over by then, a longer one goes on behind it."""
OWN_SURFACES = frozenset({"", "cli", "tui", "acp", "desktop", "local"})
"""Where one person sits before their own machine. Anything else is given passages only when it is named."""


def may_have(platform: str, config: Config) -> bool:
    """Whether a conversation on this platform may be given passages of the user's files unasked."""
    named = {one.strip().lower() for one in config.inject.platforms}
    return platform.lower() in OWN_SURFACES | named


class Blocks:
    """Blocks by turn. May be used from several threads, of several homes."""

    def __init__(self, libraries: Libraries, keeping: Keeping) -> None:
        self._libraries, self._keeping = libraries, keeping
        self._blocks: OrderedDict[str, str] = OrderedDict()
        self._late: list[threading.Thread] = []
        self._lock = threading.Lock()

    def begin(
        self,
        home: Path,
        message: str,
        history: Sequence[Any],
        *,
        turn_id: str,
        session_id: str = "",
        platform: str = "",
    ) -> tuple[str, str]:
        """Retrieves for a message; the block (empty where there is none) and the route it takes.

        Waits as long as `knowledgebase.max_wait_ms` says; what comes later belongs to no turn any more.
        """
        from hermes_lance.recording import record

        try:
            library = self._libraries.of(home)
        except Exception as error:
            log.warning("hermes-lance: no context: %s", error)
            return "", "tool_only"
        config = library.config
        route = config.inject.injection_route
        if config.retrieval_mode == "off" or route == "tool_only" or not may_have(platform, config):
            return "", route
        made = self._in_time(library, message, history)
        record(config, made, session_id or None, turn_id or None)
        block = made.block if made.injected else ""
        if block and turn_id and route == "turn":
            self._keep(turn_id, block)
        return block, route

    def _in_time(self, library: Library, message: str, history: Sequence[Any]) -> Turn:
        """The turn as far as it was ready within the limit; one that comes later is given to nobody."""
        from hermes_lance.search.turn import Turn

        done: list[Turn] = []
        mode, milliseconds = library.config.retrieval_mode, library.config.inject.max_wait_ms
        until = time.monotonic() + milliseconds / 1000

        def retrieve() -> None:
            try:
                self._keeping.before_question(library, wait_seconds=LOOK_SECONDS)
                done.append(library.context(message, history, until=until))
            except Exception:
                log.exception("hermes-lance: no context for this turn")

        if self._crowded():
            log.warning("hermes-lance: no context: %d earlier turns are still being looked up", MOST_LATE)
            return Turn(False, "wait", f"{MOST_LATE} earlier turns are still being looked up", mode, message=message)
        thread = threading.Thread(target=retrieve, name="hermes-lance-turn", daemon=True)
        thread.start()
        thread.join(milliseconds / 1000)
        if done:
            return done[0]
        if thread.is_alive():
            with self._lock:
                self._late.append(thread)
            log.info("hermes-lance: no context within %d ms", milliseconds)
            return Turn(False, "wait", f"nothing was ready within {milliseconds} ms", mode, message=message)
        return Turn(False, "error", "see the log of the host", mode, message=message)

    def _crowded(self) -> bool:
        with self._lock:
            self._late = [thread for thread in self._late if thread.is_alive()]
            return len(self._late) >= MOST_LATE

    def block_of(self, turn_id: str) -> str:
        """The block of a turn that is under way; empty where it has none."""
        with self._lock:
            return self._blocks.get(turn_id, "")

    def end(self, turn_id: str) -> None:
        """The turn is over."""
        with self._lock:
            self._blocks.pop(turn_id, None)

    def _keep(self, turn_id: str, block: str) -> None:
        with self._lock:
            self._blocks[turn_id] = block
            while len(self._blocks) > TURNS_KEPT:
                self._blocks.popitem(last=False)
