"""What a host does with a library turn by turn: ask for context, see what was given, check what an answer cites.

A part of `Library`, on its own floor. Loading this file loads none of the rooms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.core.injected import InjectedSource
    from hermes_lance.learn.injections import Injection
    from hermes_lance.search.citations import Checked
    from hermes_lance.search.turn import Shelf, Turn


class Turns(ABC):
    """Acts on turns of a conversation."""

    config: Config
    caller_owned: bool

    @abstractmethod
    def shelf(self) -> Shelf:
        """What a turn is served from: the current generation, and how to read it."""

    def context(
        self,
        message: str | Sequence[Any],
        history: Sequence[Any] = (),
        mode: str | None = None,
        *,
        record: bool = False,
        session_id: str | None = None,
        turn_id: str | None = None,
        until: float | None = None,
    ) -> Turn:
        """What an agent is given with `message`: a block, or the stage that ended it. Never raises.

        `message`: text, or a list of parts as chat hosts have them, of which those that are text count. `history`:
        earlier messages, oldest first, as strings of the person or `{"role": …, "content": …}`. `mode` instead of the
        configured one. A host that gives the block to its agent says `record`, and which session and turn it was: then
        `last_turn` and `workspace sources` show it. `until`: a `time.monotonic` by which the block is needed; a
        reranker that takes longer is not waited for, and the block has the fused order.
        """
        from hermes_lance.asking import context

        made = context(self.config, self.shelf, message, history, mode, until)
        if record and not self.caller_owned and made.mode != "off":
            from hermes_lance.recording import record as note

            note(self.config, made, session_id, turn_id)
        return made

    def last_turn(self, session_id: str | None = None) -> Injection | None:
        """The last turn that was recorded, of one session if it is named; none where there is none.

        Raises `DatasetDamaged`, `DatasetNewer` for a ledger that cannot be read.
        """
        from hermes_lance.recording import last

        return last(self.config, session_id)

    def check_citations(
        self, answer: str, given: Sequence[InjectedSource] | None = None, *, session_id: str | None = None
    ) -> Checked:
        """Each `[Source: …]` of an answer against what its agent was given: `given` (sources of a turn), else those
        of the last recorded turn."""
        from hermes_lance.search.citations import check

        if given is None:
            last = self.last_turn(session_id)
            given = last.sources if last is not None else ()
        return check(answer, given)
