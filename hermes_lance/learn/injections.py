"""What agents were given unasked, turn by turn, and which stage ended the turns that were given nothing.

For the person who wants to see it, and for checking what an answer cites. Messages pass the redactor first; of a
passage only its place and its hash are kept, never its text.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from hermes_lance.core.injected import InjectedSource
from hermes_lance.core.redact import redact
from hermes_lance.learn import usage

LONGEST_QUERY_CHARS = 1_000
LONGEST_LOOKED_AT_CHARS = 20 * LONGEST_QUERY_CHARS
"""What is cut off anyway need not be looked through for secrets; one that reaches that far is still seen as one."""
MOST_TURNS = 20_000
"""Older ones are removed."""
_CLEANED_EVERY = 500


@dataclass(frozen=True, slots=True)
class Injection:
    """One turn."""

    query: str
    """The message; secret-looking values are masked when it is recorded."""
    mode: str
    stage: str
    """`injected`, or the stage that ended the turn."""
    reason: str
    tokens: int = 0
    generation: str | None = None
    sources: tuple[InjectedSource, ...] = ()
    session_id: str | None = None
    turn_id: str | None = None
    at: str = ""
    """ISO 8601, UTC; set when it is recorded."""


_SOURCE_COLUMNS = tuple(one.name for one in fields(InjectedSource))
_COLUMNS = ("at", "session_id", "turn_id", "query", "query_sha", "mode", "stage", "reason", "tokens", "generation")


def record(file: Path, turn: Injection) -> int:
    """Adds a turn; its number. Raises as `usage.opened` does, and `OSError`."""
    at = turn.at or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    beginning = turn.query[:LONGEST_LOOKED_AT_CHARS]
    query = redact(beginning.encode("utf-8", "replace").decode("utf-8"))[:LONGEST_QUERY_CHARS]
    # Of the masked text: a hash of a short message with a secret in it would give the secret away.
    query_sha = hashlib.sha256(query.encode("utf-8")).hexdigest()
    reason = redact(turn.reason)[:LONGEST_QUERY_CHARS]
    values = (
        at, turn.session_id, turn.turn_id, query, query_sha, turn.mode, turn.stage, reason, turn.tokens, turn.generation
    )  # fmt: skip
    with usage.opened(file) as connection:
        added = connection.execute(
            f"INSERT INTO injections ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})",
            [_storable(one) for one in values],
        )
        number = int(added.lastrowid or 0)
        marks = ", ".join("?" * (2 + len(_SOURCE_COLUMNS)))
        connection.executemany(
            f"INSERT INTO injected_sources (injection_id, ordinal, {', '.join(_SOURCE_COLUMNS)}) VALUES ({marks})",
            [
                (number, place, *(_storable(getattr(one, name)) for name in _SOURCE_COLUMNS))
                for place, one in enumerate(turn.sources)
            ],
        )
        if number % _CLEANED_EVERY == 0:
            connection.execute("DELETE FROM injections WHERE id <= ?", (number - MOST_TURNS,))
    return number


def latest(file: Path, session_id: str | None = None) -> Injection | None:
    """The last turn that was recorded, of one session if it is named; none where there is none."""
    with usage.reading(file) as connection:
        if connection is None:
            return None
        where, values = ("WHERE session_id = ?", (session_id,)) if session_id is not None else ("", ())
        row = connection.execute(f"SELECT * FROM injections {where} ORDER BY id DESC LIMIT 1", values).fetchone()
        return None if row is None else _turn(connection, row)


def _turn(connection: sqlite3.Connection, row: sqlite3.Row) -> Injection:
    sources = connection.execute(
        f"SELECT {', '.join(_SOURCE_COLUMNS)} FROM injected_sources WHERE injection_id = ? ORDER BY ordinal",
        (row["id"],),
    )
    kept = {name: row[name] for name in _COLUMNS if name != "query_sha"}
    return Injection(**kept, sources=tuple(InjectedSource(*one) for one in sources))


def _storable(value: object) -> object:
    """Names that are not UTF-8 reach us with lone surrogates, which SQLite refuses."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value


def purge(file: Path, paths: Collection[str], shas: Collection[str], stretches: Sequence[str] = ()) -> int:
    """Removes every turn that was given one of these documents, or whose message or ending names one; how many.

    `paths`: display paths; `shas`: SHA-256 of whole files, so that copies count; `stretches`: parts of their text that
    no message may quote. No byte of what was removed is left in the file.
    """
    if not file.is_file():
        return 0
    names = {path.rpartition("/")[2] for path in paths}
    named = re.compile(
        "|".join(rf"(?<![\w.\-]){re.escape(one)}(?![\w\-])" for one in sorted(names) if one), re.IGNORECASE
    )
    with usage.opened(file) as connection:
        sources = connection.execute("SELECT DISTINCT injection_id, path, sha256 FROM injected_sources")
        doomed = {row["injection_id"] for row in sources if row["path"] in paths or row["sha256"] in shas}
        for row in connection.execute("SELECT id, query, reason FROM injections"):
            said = f"{row['query']}\n{row['reason']}"
            if (names and named.search(said)) or any(one in said for one in stretches):
                doomed.add(row["id"])
        connection.executemany("DELETE FROM injections WHERE id = ?", [(one,) for one in sorted(doomed)])
    if doomed:
        usage.emptied(file)
    return len(doomed)
