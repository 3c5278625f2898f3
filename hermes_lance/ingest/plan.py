"""What a walk means against the last published state: which files are read, which rows move, which go.

Stat first, hash only where the stat differs or proves nothing; a file that only moved keeps its passages, and
nothing is taken for deleted where the walk could not look. Nothing is parsed or written here.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Literal

from hermes_lance.core.ids import source_id
from hermes_lance.core.names import raw_bytes
from hermes_lance.core.records import KnownFile, Skipped, SourceFile
from hermes_lance.ingest import contents
from hermes_lance.ingest.earlier import RACY_NS, Earlier, SignatureOf, as_wanted
from hermes_lance.ingest.walk import RootReport, Walk
from hermes_lance.parse.media import suffix_of
from hermes_lance.store.files import FilesState, nanoseconds
from hermes_lance.store.forgotten import Forgotten, is_forgotten

Change = Literal["unchanged", "touched", "moved", "added", "changed", "outdated", "retry", "left_out"]
TO_READ: frozenset[Change] = frozenset({"added", "changed", "outdated", "retry"})
"""Changes after which the file is read and parsed."""
DROPPED = Skipped("dropped", "dropped on purpose; it returns when its contents change")
"""Why a file is left out whose row has a `tombstone_sha`."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One file and what is to be done about it.

    unchanged: nothing. touched: new stat columns, same bytes. moved: `known` is the row it comes from, whose rows
    get new keys. added, changed, outdated (made with other settings), retry: to be read. left_out: `skipped` says
    why; where that is a failure, what is known of the file is kept.
    """

    file: SourceFile
    id: str
    change: Change
    known: KnownFile | None = None
    skipped: Skipped | None = None
    sha256: str | None = None
    """Hash of the present bytes where the plan had to find out."""


@dataclass(slots=True)
class Plan:
    """The work of a run, in the order of the walk."""

    items: list[Planned] = field(default_factory=list)
    """Every file but those indexed and unchanged."""
    unchanged: int = 0
    """Files indexed before and unchanged, which are not among the items."""
    removed: list[KnownFile] = field(default_factory=list)
    """Rows whose files are gone (a moved file's old row is not one of them)."""
    unseen: list[KnownFile] = field(default_factory=list)
    """Rows below what could not be looked into; they stay as they are."""
    warnings: list[str] = field(default_factory=list)

    @property
    def to_read(self) -> list[Planned]:
        """The items whose files are to be read and parsed."""
        return [item for item in self.items if item.change in TO_READ]

    @property
    def empty(self) -> bool:
        """True when nothing is to be written."""
        return not self.removed and all(item.change == "unchanged" for item in self.items)


class Planner:
    """Compares files with known rows. `signature_of(media_type)` is the present fingerprint of parser and chunker, none
    where rows of any are to stay."""

    def __init__(
        self,
        state: FilesState,
        signature_of: SignatureOf,
        *,
        max_bytes: int,
        by_suffix: Mapping[str, str] | None = None,
        only: Mapping[str, Sequence[str]] | None = None,
        full: bool = False,
        forgotten: Forgotten | None = None,
        now_ns: int | None = None,
    ) -> None:
        """`only` as for the walk; `full` reads every file again; `max_bytes` ends hashing; `by_suffix`: media types
        that the configuration gives to suffixes (with their dot); `now_ns` is for tests."""
        self.signature_of = signature_of
        self.max_bytes = max_bytes
        self.only = only
        self.full = full
        self.forgotten = forgotten or Forgotten()
        self.now_ns = time.time_ns() if now_ns is None else now_ns
        self.by_suffix = by_suffix or {}
        self.known = Earlier(state, signature_of, now_ns=self.now_ns, by_suffix=self.by_suffix, only=only, full=full)
        self._named = {root: frozenset(targets) for root, targets in (only or {}).items()}

    def plan(self, walk: Walk) -> Plan:
        """The plan for all that a walk finds: files that it saw unchanged, with the stats given to it, and the rest."""
        plan, reports = Plan(), walk.reports
        seen: set[str] = set()
        walk.settled = self.known.settled
        for each in walk:
            file, skipped = each if isinstance(each, tuple) else (each, None)
            key = source_id(file.root.key, raw_bytes(file.path, file.raw_path))
            seen.add(key)
            self.known.meet(file)
            known = self.known.get(key)
            skipped = skipped or self.forgotten.of_file(key)
            item = self._left_out(file, key, known, skipped) if skipped else self._compared(file, key, known)
            if item is None:
                plan.unchanged += 1
            else:
                plan.items.append(item)
        plan.unchanged += sum(report.settled for report in reports.values())
        vanished = self._vanished(plan, seen, reports)
        self._moved(plan, vanished)
        plan.warnings.extend(warning for report in reports.values() for warning in report.warnings)
        return plan

    def _left_out(self, file: SourceFile, key: str, known: KnownFile | None, skipped: Skipped) -> Planned:
        same = (
            known is not None
            and known.state == state_of(skipped)
            and known.reason == reason_of(skipped)
            and known.rule == skipped.rule
            and _same_stat(file, known)
        )
        return Planned(file, key, "unchanged" if same else "left_out", known, skipped)

    def _compared(self, file: SourceFile, key: str, known: KnownFile | None) -> Planned | None:
        """What became of a file that is to be indexed; none when it is indexed and unchanged."""
        if known is None:
            return Planned(file, key, "added")
        if is_forgotten(known.reason) and self.forgotten.of_contents(known.sha256) is None:
            return Planned(file, key, "retry", known)  # lifted since
        if known.tombstone_sha is None:
            if known.sha256 is None:
                return self._never_read(file, key, known)
            if self.full and not is_forgotten(known.reason):
                return Planned(file, key, "outdated", known)
        if _same_stat(file, known) and not self._racy(file, known):
            return self._same_bytes(file, key, known, known.sha256)
        if file.size != known.size and known.tombstone_sha is None:
            return Planned(file, key, "changed", known)
        result = contents.hashed(file, self.max_bytes)
        if isinstance(result, Skipped):
            return self._left_out(file, key, known, result)
        fresh = replace(file, size=result.size, mtime_ns=result.mtime_ns, inode=result.inode, dev=result.dev)
        if result.sha256 == (known.tombstone_sha or known.sha256):
            return self._same_bytes(fresh, key, known, result.sha256)
        return Planned(fresh, key, "changed", known, sha256=result.sha256)

    def _never_read(self, file: SourceFile, key: str, known: KnownFile) -> Planned:
        """A decision or a fault of the past that the walk no longer sees; one that lasts is no news."""
        if known.state == "failed" and _same_stat(file, known):
            result = contents.hashed(file, self.max_bytes)
            if isinstance(result, Skipped):
                return self._left_out(file, key, known, result)
        return Planned(file, key, "retry" if known.state in {"failed", "pending"} else "added", known)

    def _same_bytes(self, file: SourceFile, key: str, known: KnownFile, sha256: str | None) -> Planned | None:
        if forgotten := self.forgotten.of_contents(sha256):
            return replace(self._left_out(file, key, known, forgotten), sha256=sha256)
        if known.tombstone_sha is not None:
            return replace(self._left_out(file, key, known, DROPPED), sha256=sha256)
        if known.state == "pending":
            return Planned(file, key, "retry", known, sha256=sha256)
        if not self._as_wanted(known):
            return Planned(file, key, "outdated", known, sha256=sha256)
        if known.state == "failed" and known.retry_after is not None and known.retry_after * 10**9 <= self.now_ns:
            return Planned(file, key, "retry", known, sha256=sha256)
        if not _same_stat(file, known):
            return Planned(file, key, "touched", known, sha256=sha256)
        # Skipped and failed files are listed in every report, so they stay items.
        return None if known.state == "indexed" else Planned(file, key, "unchanged", known, sha256=sha256)

    def _as_wanted(self, known: KnownFile) -> bool:
        # A suffix that has been given to a parser since makes another media type of the file.
        media_type = self.by_suffix.get("." + suffix_of(known.path), known.media_type)
        return as_wanted(known.pieces_signature, self.signature_of(media_type))

    def _racy(self, file: SourceFile, known: KnownFile) -> bool:
        # Somebody saw a named file change; an edit that keeps the size may have put the old time back.
        if self.now_ns - file.mtime_ns < RACY_NS or file.path in self._named.get(file.root.key, ()):
            return True
        read_ns = nanoseconds(known.indexed_at)
        return read_ns is not None and read_ns - file.mtime_ns < RACY_NS

    def _vanished(self, plan: Plan, seen: set[str], reports: Mapping[str, RootReport]) -> list[KnownFile]:
        """Rows of files that are gone for certain; rows about which nothing is known go to `plan.unseen`."""
        absent: dict[str, list[KnownFile]] = defaultdict(list)
        rows, present = self.known.absent(seen)
        for row in rows:
            absent[row.root].append(row)
        gone: list[KnownFile] = []
        for root_key, missing in sorted(absent.items()):
            report = reports.get(root_key)
            if report is None:  # no longer a root
                gone.extend(missing)
                continue
            if self._whole(root_key, report) and root_key not in present and _unmounted(report, missing):
                report.unread.append("")
                report.warnings.append(f"root {root_key}: empty, and on another device than before; its files are kept")
            for row in missing:
                (gone if report.listed(row.path) else plan.unseen).append(row)
        return gone

    def _whole(self, root_key: str, report: RootReport) -> bool:
        """The root was looked at as a whole, or there is nothing in it that one could look at."""
        return report.bare or not self._named or "" in self._named[root_key]

    def _moved(self, plan: Plan, vanished: list[KnownFile]) -> None:
        """Pair added files with vanished rows of the same bytes and suffix; what stays unpaired is removed."""
        by_size: dict[int, list[KnownFile]] = defaultdict(list)
        for row in vanished:
            if row.state == "indexed" and row.sha256 and self._as_wanted(row) and not self.full:
                by_size[row.size].append(row)
        used: set[str] = set()
        for at, item in enumerate(plan.items):
            rows = by_size.get(item.file.size)
            if item.change != "added" or item.known is not None or not rows:
                continue
            result = contents.hashed(item.file, self.max_bytes)
            if isinstance(result, Skipped):
                continue  # it is read again in its turn, and fails there with its reason
            fits = [
                row
                for row in rows
                if row.sha256 == result.sha256 and row.id not in used and _suffix(row.path) == _suffix(item.file.path)
            ]
            if not fits:
                plan.items[at] = replace(item, sha256=result.sha256)
                continue
            name = PurePosixPath(item.file.path).name
            best = min(
                fits, key=lambda row: (row.inode != result.inode, PurePosixPath(row.path).name != name, row.path)
            )
            used.add(best.id)
            plan.items[at] = replace(item, change="moved", known=best, sha256=result.sha256)
        plan.removed = [row for row in vanished if row.id not in used]


def state_of(skipped: Skipped) -> str:
    """The state that a row gets: `failed` for a fault, `skipped` for a decision."""
    return "failed" if skipped.failed else "skipped"


def reason_of(skipped: Skipped) -> str:
    """The reason that a row gets: a code and a sentence."""
    return f"{skipped.code}: {skipped.detail}"


def _same_stat(file: SourceFile, known: KnownFile) -> bool:
    return (
        file.mtime_ns == known.mtime_ns
        and file.size == known.size
        and file.inode == known.inode
        and file.dev == known.dev
    )


def _unmounted(report: RootReport, rows: Sequence[KnownFile]) -> bool:
    """An empty folder where every known file was on another device: a disk that is not there, not an empty one."""
    return report.files == 0 and not report.unread and all(row.dev not in (0, report.dev) for row in rows)


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower()
