"""Turns after they were served: recorded, shown, checked against an answer, and forgotten with their documents.

On the library's own floor: it knows the turn of `search` and the ledger of `learn`, which do not know each other.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_lance.core.errors import HermesLanceError
from hermes_lance.core.router_config import LocalKnowledgeConfig
from hermes_lance.learn import injections, usage
from hermes_lance.learn.injections import Injection

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.search.turn import Turn
    from hermes_lance.store.forgotten import Forgotten
    from hermes_lance.store.proof import Traces

log = logging.getLogger(__name__)


def record(config: Config, turn: Turn, session_id: str | None, turn_id: str | None) -> None:
    """Notes a turn. A ledger that cannot be written costs the note, not the turn: one line in the log."""
    noted = Injection(
        turn.message,
        turn.mode,
        turn.stage,
        turn.reason,
        turn.tokens,
        turn.generation,
        turn.sources,
        session_id,
        turn_id,
    )
    try:
        injections.record(_file(config), noted)
    except (HermesLanceError, sqlite3.Error, OSError) as error:
        log.warning("this turn could not be recorded: %s", error)


def last(config: Config, session_id: str | None = None) -> Injection | None:
    """The last turn that was recorded, of one session if it is named. Raises `DatasetDamaged`, `DatasetNewer`."""
    return injections.latest(_file(config), session_id)


def _file(config: Config) -> Path:
    return usage.file_in(config.local_knowledge.state(config.home))


class Purging:
    """Removes what is recorded of documents that are purged."""

    def __init__(self, config: Config) -> None:
        # Turns from before `state_dir` was set lie where they were recorded.
        usual = usage.file_in(LocalKnowledgeConfig().state(config.home))
        self._ledgers = tuple(dict.fromkeys((_file(config), usual)))
        self.files: Sequence[Path] = [
            file.with_name(file.name + end) for file in self._ledgers for end in ("", "-wal", "-shm")
        ]
        """What may hold something of it."""

    def named(self, paths: Iterable[str]) -> int:
        """Removes turns that name one of these display paths or were given a part of one; how many."""
        shown = set(paths)
        return sum(injections.purge(file, shown, frozenset()) for file in self._ledgers)

    def __call__(self, listed: Forgotten, traces: Traces) -> int:
        """The same for all that is to be purged: by contents, and by what a message quotes."""
        from hermes_lance.store.proof import stretches

        entries = [entry for entry in listed.entries.values() if entry.purge]
        shas = {sha for entry in entries for sha in entry.shas}
        quoted = [one.decode("utf-8", "ignore") for text in traces.texts for one in stretches(text)]
        shown = {entry.shown for entry in entries}
        return sum(injections.purge(file, shown, shas, quoted) for file in self._ledgers)
