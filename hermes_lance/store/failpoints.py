"""Named places between two steps of a publication, where tests stop a run.

`HERMES_LANCE_FAILPOINT=name` raises there, `name:kill` ends the process without a word, as SIGKILL would. In
ordinary use the variable is absent and a place costs one dictionary look-up.
"""

from __future__ import annotations

import os

VARIABLE = "HERMES_LANCE_FAILPOINT"
NAMES = (
    "restored",
    "start",
    "intent",
    "vectors",
    "chunks",
    "artifacts",
    "edges",
    "sources",
    "lexical",
    "side",
    "sync",
    "manifest",
    "pointer",
    "intent-removed",
    "cleaned",
    "retention",
    "listed",
    "purged-noted",
    "pinned",
    "settled",
)
"""In the order in which a run reaches them; each is the moment after the step of that name. Only recovery restores
tables, only upkeep cleans them; upkeep shares the names of the tables that it compacts. The last four are those of
forgetting: the list is written, the generations to go are noted, kept copies are gone, the list says it is done."""


class FailpointReached(RuntimeError):
    """Raised on purpose in a test."""


def reach(name: str) -> None:
    """Stops here when the environment says so."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    place, _, action = wanted.partition(":")
    if place != name:
        return
    if action == "kill":
        os._exit(137)
    raise FailpointReached(f"failpoint {name}")
