"""The database of what use leaves behind: one SQLite file of a home, for its owner only, never sent anywhere.

Tables are made by numbered steps, so that a later release adds its own; `PRAGMA user_version` says how far a file has
come. Nothing is kept in globals: several profiles may live in one process.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from hermes_lance.core.errors import DatasetBusy, DatasetDamaged, DatasetNewer

FILE = "hermes_lance_usage.sqlite"
BUSY_SECONDS = 1.0
"""How long a writer waits for another process. A turn waits for nothing longer."""

STEPS = (
    """
    CREATE TABLE injections (
        id INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        session_id TEXT,
        turn_id TEXT,
        query TEXT NOT NULL,
        query_sha TEXT NOT NULL,
        mode TEXT NOT NULL,
        stage TEXT NOT NULL,
        reason TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        generation TEXT
    );
    CREATE INDEX injections_by_session ON injections (session_id, id);
    CREATE TABLE injected_sources (
        injection_id INTEGER NOT NULL REFERENCES injections (id) ON DELETE CASCADE,
        ordinal INTEGER NOT NULL,
        root TEXT NOT NULL,
        path TEXT NOT NULL,
        citation TEXT NOT NULL,
        line_start INTEGER,
        line_end INTEGER,
        page_start INTEGER,
        page_end INTEGER,
        text_sha TEXT NOT NULL,
        sha256 TEXT,
        generation TEXT NOT NULL,
        PRIMARY KEY (injection_id, ordinal)
    ) WITHOUT ROWID;
    """,
)
"""Step n makes a file of version n - 1 one of version n. Steps are only ever added."""


def file_in(folder: Path) -> Path:
    """Where the database of a state folder is, whether it is there or not."""
    return folder / FILE


@contextlib.contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    """The database, made or brought up to date where need be; what is done in the block is one transaction.

    Raises `DatasetNewer` for the file of a later release, `DatasetDamaged` for one that is no database, `DatasetBusy`
    where another process writes for longer than a turn can wait, and otherwise what sqlite raises.
    """
    _make_private(file)
    with _explained(file):
        connection = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            _bring_up_to_date(connection, file)
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                yield connection
        finally:
            connection.close()


@contextlib.contextmanager
def _explained(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            raise DatasetDamaged(
                f"{file}: no database, or a damaged one ({error})",
                hint="Move the file aside: a new one is begun; only what was recorded is lost.",
            ) from error
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise DatasetBusy(f"{file}: another process is writing it") from error
        raise


@contextlib.contextmanager
def reading(file: Path) -> Iterator[sqlite3.Connection | None]:
    """The database for reading, which changes nothing; none where nothing was ever recorded. Raises as `opened`."""
    if not file.is_file():
        yield None
        return
    with _explained(file):
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
        try:
            connection.row_factory = sqlite3.Row
            yield connection if _version(connection, file) else None
        finally:
            connection.close()


def emptied(file: Path) -> None:
    """Writes the file anew without what was deleted, and empties its log, so that no byte of it is left."""
    with _explained(file):
        connection = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()


def _make_private(file: Path) -> None:
    """Folder and file for their owner only, whatever the umask; SQLite gives its log files the mode of the file."""
    if file.is_file():
        return
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _version(connection: sqlite3.Connection, file: Path) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(STEPS):
        raise DatasetNewer(f"{file}: version {version}, and this release knows {len(STEPS)}")
    return version


def _bring_up_to_date(connection: sqlite3.Connection, file: Path) -> None:
    if _version(connection, file) == len(STEPS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been here meanwhile.
        version = _version(connection, file)
        for step in STEPS[version:]:
            for statement in filter(None, map(str.strip, step.split(";"))):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
