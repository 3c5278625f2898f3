"""The list of what must not come back: `forgotten.json` in the dataset, beside everything that a build may make anew.

It names files by root, path and the hashes of their contents, never by their text. An entry is `pending` from the
moment it is written until nothing in the dataset serves the file any more: whoever writes next finishes that first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.store.durable import make_private, write_atomic

if TYPE_CHECKING:
    from hermes_lance.core.records import Skipped

FILE = "forgotten.json"
FORMAT = 1
CODE = "forgotten"
"""Code of the reason that a forgotten file has in reports and in its record."""
_REMEDY = "`hermes-lance forget --undo` with this path"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One forgotten file."""

    id: str
    root: str
    path: str
    raw_path: str | None
    shas: tuple[str, ...]
    """SHA-256 of every content that the file was known with, and of the one it had on the disk then."""
    at: str
    """ISO 8601, UTC."""
    shown: str
    """The display path at that time."""
    pending: bool = True
    purge: bool = False
    """Older generations, and all that is left of its text, are to go too (while pending) or are gone."""


@dataclass(frozen=True, slots=True)
class PurgedGeneration:
    """A generation that a purge has taken away."""

    id: str
    published_at: str
    tags: tuple[str, ...] = ()


@dataclass(slots=True)
class Forgotten:
    """The whole list."""

    entries: dict[str, Tombstone] = field(default_factory=dict)
    """By source id."""
    purged: dict[str, PurgedGeneration] = field(default_factory=dict)
    """By generation."""
    _by_hash: dict[str, Tombstone] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._index()

    def _index(self) -> None:
        self._by_hash = {sha: entry for entry in self.entries.values() for sha in entry.shas}

    def __bool__(self) -> bool:
        return bool(self.entries)

    @property
    def pending(self) -> bool:
        """Something is still to be dropped or purged."""
        return any(entry.pending for entry in self.entries.values())

    def put(self, entries: Iterable[Tombstone]) -> None:
        """Adds entries; what is known of a file that was forgotten before is kept."""
        for entry in entries:
            before = self.entries.get(entry.id)
            if before is not None:
                shas = tuple(dict.fromkeys([*before.shas, *entry.shas]))
                entry = replace(entry, shas=shas, purge=entry.purge or before.purge)
            self.entries[entry.id] = entry
        self._index()

    def lift(self, source_id: str) -> Tombstone | None:
        """Takes an entry off the list."""
        gone = self.entries.pop(source_id, None)
        self._index()
        return gone

    def settle(self) -> None:
        """All that was pending is done."""
        self.entries = {key: replace(entry, pending=False) for key, entry in self.entries.items()}
        self._index()

    def of_file(self, source_id: str) -> Skipped | None:
        """Why a file is left out for its path; none when it is not on the list."""
        if source_id not in self.entries:
            return None
        from hermes_lance.core.records import Skipped  # late: a search opens this list too

        return Skipped(CODE, "forgotten on purpose, whatever it holds", remedy=_REMEDY)

    def of_contents(self, sha256: str | None) -> Skipped | None:
        """Why a file is left out for its contents."""
        entry = self._by_hash.get(sha256) if sha256 is not None else None
        if entry is None:
            return None
        from hermes_lance.core.records import Skipped  # late: a search opens this list too

        return Skipped(
            CODE,
            f"the same contents as {entry.shown}, which was forgotten",
            remedy=f"`hermes-lance forget --undo` with {entry.shown}",
        )


def is_forgotten(reason: str | None) -> bool:
    """Whether the reason in a record is that the file was forgotten."""
    return reason is not None and reason.startswith(f"{CODE}:")


def read(dataset: Path) -> Forgotten:
    """The list; empty where nothing was ever forgotten. `DatasetDamaged` rather than an empty list when it cannot be
    read, since a build would bring back what is on it."""
    path = dataset / FILE
    try:
        body = json.loads(path.read_bytes())
    except FileNotFoundError:
        return Forgotten()
    except (OSError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    try:
        if body["format"] != FORMAT:
            raise _damaged(path, f"format {body['format']}, which this release does not know")
        entries = [Tombstone(**{**one, "shas": tuple(one["shas"])}) for one in body["forgotten"]]
        purged = [PurgedGeneration(one["id"], one["published_at"], tuple(one["tags"])) for one in body["purged"]]
    except (KeyError, TypeError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error
    return Forgotten({one.id: one for one in entries}, {one.id: one for one in purged})


def write(dataset: Path, listed: Forgotten) -> None:
    """Replaces the list, flushed to the disk. Only under the writer lock."""
    body: Mapping[str, Any] = {
        "format": FORMAT,
        "forgotten": [asdict(one) for one in listed.entries.values()],
        "purged": [asdict(one) for one in listed.purged.values()],
    }
    make_private(dataset)
    write_atomic(dataset / FILE, json.dumps(body, indent=1, ensure_ascii=False).encode("utf-8"))


def _damaged(path: Path, why: str) -> DatasetDamaged:
    return DatasetDamaged(
        f"{path}: the list of forgotten files cannot be read ({why})",
        hint="Mend it from a backup. Without the file, the next build brings back what was on the list.",
    )
