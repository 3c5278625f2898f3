"""Whether a cited source still stands: the part of the file that was indexed, against the disk of today.

What was cited is taken from the newest generation that knows the file (with a hash: from the one that has these
bytes), since the disk may have gone on. Nothing is written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hermes_lance.core.citation import Citation, readings
from hermes_lance.core.config import Config
from hermes_lance.core.errors import DatasetDamaged, FileMissing, GenerationMissing, OutsideRoots, UsageError
from hermes_lance.core.records import ChunkRow, KnownFile, Root, Skipped, SourceFile
from hermes_lance.ingest import contents, standing
from hermes_lance.ingest.forget import file_at, known_at
from hermes_lance.ingest.plan import TO_READ
from hermes_lance.ingest.reading import Read, Reader
from hermes_lance.ingest.roots import Place, located
from hermes_lance.ingest.rows import Origin
from hermes_lance.ingest.standing import CHANGED, EXACT, GONE, MOVED, Standing
from hermes_lance.ingest.survey import survey
from hermes_lance.store import manifest as manifests
from hermes_lance.store.snapshot import Snapshot, open_snapshot

LARGEST_READ_BYTES = 1 << 30
MOST_FILES_SEARCHED = 300
"""New and changed files that are looked into for a passage that is no longer where it was."""
UNKNOWN = "no generation on disk knows it"
SHORTEST_FOUND_CHARS = 24
"""A shorter passage may stand in another file by chance."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a citation stands."""

    citation: Citation
    verdict: str
    """exact, moved, changed or gone."""
    path: str
    """Display path of the file in which the passage is now; that of the citation where it is nowhere."""
    start: int | None = None
    """First line or page there."""
    end: int | None = None
    detail: str = ""
    whitespace_only: bool = False
    generation: str | None = None
    """Generation from which the cited text was taken."""
    sha256: str | None = None
    """Hash of the file of today."""


@dataclass(frozen=True, slots=True)
class _Reference:
    """What a generation knows of the cited file."""

    snapshot: Snapshot
    known: KnownFile
    rows: list[ChunkRow]


@dataclass(slots=True)
class Verifier:
    """Judges citations in one dataset."""

    config: Config
    dataset: Path
    roots: Sequence[Root]
    _reader: Reader | None = None
    _snapshots: list[Snapshot] = field(default_factory=list)

    def verdict(self, text: str, *, sha256: str | None = None, generation: str | None = None) -> Verdict:
        """How the citation stands. `sha256`: hash of the file when it was cited, or its beginning; `generation`: the
        one that was asked then.

        Raises `UsageError` for what is no citation, or where nothing says what was cited; `FileMissing` where the disk
        cannot be looked at; `GenerationMissing`, `Purged`.
        """
        self._snapshots = list(self._generations(generation))
        cited, place = self._meant(text)
        cited = replace(cited, sha256=(sha256 or cited.sha256 or "").lower() or None)
        if not place.root.path.is_dir():
            raise FileMissing(f"root {place.root.label} ({place.root.path}): not there, so nothing can be compared")
        reference = self._reference(cited, place)
        found = contents.read(file_at(place, reference.known.raw_path if reference else None), LARGEST_READ_BYTES)
        if isinstance(found, Skipped) and found.code != "vanished":
            raise FileMissing(f"{place.display_path}: {found.detail}")
        now = None if isinstance(found, Skipped) else found
        try:
            made = self._judged(cited, place, reference, now)
        finally:
            if self._reader is not None:
                self._reader.close()
                self._reader = None
        return replace(
            made,
            generation=reference.snapshot.id if reference else None,
            sha256=now.sha256 if now is not None else None,
        )

    def _generations(self, generation: str | None) -> Iterator[Snapshot]:
        if generation is not None:
            yield open_snapshot(self.dataset, manifests.named(self.dataset, generation))
            return
        if manifests.current_or_none(self.dataset) is None:
            return
        newest = open_snapshot(self.dataset)
        yield newest
        for one in reversed(manifests.known_generations(self.dataset)):
            if one < newest.id:
                # An older one may go, or be damaged, without anybody but `--as-of` missing it.
                with contextlib.suppress(GenerationMissing, DatasetDamaged):
                    yield open_snapshot(self.dataset, one)

    def _meant(self, text: str) -> tuple[Citation, Place]:
        """The reading whose file is known or on the disk; else the first one that names a place in a root."""
        first: tuple[Citation, Place] | None = None
        problem: OutsideRoots | None = None
        for cited in readings(text):
            try:
                place = located(cited.path, self.roots)
            except OutsideRoots as error:
                problem = error
                continue
            if not place.path:
                continue
            if any(known_at(one.files, place) for one in self._snapshots) or _is_file(place):
                return cited, place
            first = first or (cited, place)
        if first is None:
            raise problem or UsageError(f"{text!r}: names no file", hint="Such as `docs/plan.md:10-42`.")
        return first

    def _reference(self, cited: Citation, place: Place) -> _Reference | None:
        for snapshot in self._snapshots:
            known = known_at(snapshot.files, place)
            if known is None or not known.chunks:
                continue
            if cited.sha256 is None or (known.sha256 or "").startswith(cited.sha256):
                return _Reference(snapshot, known, _rows_of(snapshot, known.id))
        return None

    # -- the verdict -------------------------------------------------------------------------------------------

    def _judged(
        self, cited: Citation, place: Place, reference: _Reference | None, now: contents.Contents | None
    ) -> Verdict:
        here = Verdict(cited, EXACT, place.display_path, cited.line_start or cited.page_start)
        here = replace(here, end=cited.line_end or cited.page_end)
        if now is not None and now.sha256.startswith(
            cited.sha256 or (reference.known.sha256 if reference else "") or "-"
        ):
            _check_place(cited, place, reference)
            return here
        if reference is None:
            return self._without_reference(here, place, now)
        if now is None:
            return self._elsewhere(here, reference, gone=True)
        read = self._read(place, now)
        if isinstance(read, Skipped):
            return _with(here, Standing(CHANGED, detail=f"it cannot be read as it is now: {read.detail}"))
        found = _compared(cited, place, reference, read)
        if found.verdict == CHANGED and not found.whitespace_only:
            moved = self._elsewhere(here, reference, gone=False)
            if moved.verdict == MOVED:
                return moved
        return _with(here, found)

    def _without_reference(self, here: Verdict, place: Place, now: contents.Contents | None) -> Verdict:
        """No generation holds what was cited; only a hash can say something."""
        sha = here.citation.sha256
        if now is None:
            for snapshot in self._snapshots[:1] if sha else ():
                for known in snapshot.files.all().values():
                    if sha and (known.sha256 or "").startswith(sha):
                        return replace(here, verdict=MOVED, path=self._shown(snapshot, known), detail="the same bytes")
            return replace(here, verdict=GONE, start=None, end=None, detail=UNKNOWN)
        if sha is None:
            raise UsageError(
                f"{place.display_path}: not indexed, so nothing says what was cited",
                hint="Run `hermes-lance build`, or give the hash: --sha.",
            )
        return replace(here, verdict=CHANGED, start=None, end=None, detail="the file has other bytes now")

    def _read(self, place: Place, now: contents.Contents, path: str | None = None) -> Read | Skipped:
        if self._reader is None:
            self._reader = Reader.of(self.config)
        path = path or place.path
        made = self._reader.read(now.data, path, Origin("", place.root.key, path, ""))
        return made if isinstance(made, Read) else made.why

    # -- somewhere else ----------------------------------------------------------------------------------------

    def _elsewhere(self, here: Verdict, reference: _Reference, *, gone: bool) -> Verdict:
        """The passage in another file that did not hold it when it was cited: the file was renamed, the text moved."""
        lines = _cited_lines(here.citation, reference)
        if gone and (renamed := self._renamed(here, reference)) is not None:
            return renamed
        copy = ""
        if sum(len(line.strip()) for line in lines) >= SHORTEST_FOUND_CHARS:
            for shown, text, held_it in self._other_texts(reference, lines):
                if (at := standing.holds(standing.lines_of(text), lines)) is None:
                    continue
                if not held_it:
                    return replace(here, verdict=MOVED, path=shown, start=at[0], end=at[1])
                copy = copy or f"the same text stands in {shown}:{at[0]}-{at[1]}, as it did then"
        return replace(here, verdict=GONE if gone else CHANGED, start=None, end=None, detail=copy)

    def _renamed(self, here: Verdict, reference: _Reference) -> Verdict | None:
        """The same bytes under a path that the reference did not know: in the index of today, or new on the disk."""
        known, newest = reference.known, self._snapshots[0]
        for other in newest.files.all().values():
            before = reference.snapshot.files.get(other.id)
            if other.sha256 == known.sha256 and (before is None or before.sha256 != known.sha256):
                return replace(here, verdict=MOVED, path=self._shown(newest, other), detail="the file was renamed")
        for file in self._new_files():
            if file.size == known.size:
                found = contents.hashed(file, LARGEST_READ_BYTES)
                if not isinstance(found, Skipped) and found.sha256 == known.sha256:
                    return replace(here, verdict=MOVED, path=file.display_path, detail="the file was renamed")
        return None

    def _other_texts(self, reference: _Reference, lines: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
        """Display path and text of files that may hold the lines, and whether they did when it was cited."""
        longest = max((line.strip() for line in lines), key=len)
        held = {row.source_id for row in _rows_with(reference.snapshot, longest)}
        newest = self._snapshots[0]
        for file in self._new_files():
            found = contents.read(file, LARGEST_READ_BYTES)
            if isinstance(found, Skipped):
                continue
            read = self._read(Place(file.root, file.path), found)
            if not isinstance(read, Skipped):
                yield file.display_path, read.document.text, False
        for source in sorted({row.source_id for row in _rows_with(newest, longest)} - {reference.known.id}):
            other = newest.files.get(source)
            if other is not None:
                yield self._shown(newest, other), standing.old_text(_rows_of(newest, source)), source in held

    def _new_files(self) -> list[SourceFile]:
        """Files on the disk that the newest generation does not know as they are now."""
        reader = self._reader = self._reader or Reader.of(self.config)
        base = self._snapshots[0].manifest if self._snapshots else None
        plan = survey(self.config, self.dataset, self.roots, lambda kind: reader.signature(kind or ""), base).plan
        changed = [item.file for item in plan.items if item.change in TO_READ or item.change == "moved"]
        return changed[:MOST_FILES_SEARCHED]

    def _shown(self, snapshot: Snapshot, known: KnownFile) -> str:
        label = next((root.label for root in self.roots if root.key == known.root and not root.canonical), None)
        return f"{label}/{known.path}" if label else known.path


def _is_file(place: Place) -> bool:
    return (place.root.path / place.path).is_file()


def _rows_of(snapshot: Snapshot, source: str) -> list[ChunkRow]:
    rows = [snapshot.text.row(serial) for serial in snapshot.text.serials_of([source])]
    return sorted((row for row in rows if row.source_id == source), key=lambda row: (row.char_start, row.char_end))


def _rows_with(snapshot: Snapshot, line: str) -> Iterator[ChunkRow]:
    """Living passages whose text holds a line (or a stretch of it)."""
    for _, segment, index in snapshot.text.living():
        if line in segment.text(index):
            yield segment.row(index)


def _with(here: Verdict, found: Standing) -> Verdict:
    return replace(
        here,
        verdict=found.verdict,
        start=found.start,
        end=found.end,
        detail=found.detail,
        whitespace_only=found.whitespace_only,
    )


def _cited_lines(cited: Citation, reference: _Reference) -> list[str]:
    if cited.line_start is not None and cited.line_end is not None:
        return standing.lines_of(standing.old_text(reference.rows))[cited.line_start - 1 : cited.line_end]
    return standing.lines_of("\n".join(row.text for row in _cited_rows(cited, reference)))


def _cited_rows(cited: Citation, reference: _Reference) -> list[ChunkRow]:
    first, last = cited.page_start, cited.page_end
    if first is not None and last is not None:
        return [
            row for row in reference.rows if row.page_start and row.page_start <= last and (row.page_end or 0) >= first
        ]
    if cited.locator is not None:
        return [row for row in reference.rows if row.locator == cited.locator]
    return reference.rows


def _check_place(cited: Citation, place: Place, reference: _Reference | None) -> None:
    """`UsageError` when the file never had the cited lines, page or sheet."""
    if reference is None:
        return
    if cited.line_start is not None:
        lines = standing.lines_of(standing.old_text(reference.rows))
        count = len(lines) - (lines[-1] == "")
        last = cited.line_end or cited.line_start
        # One more than there are is let pass: some count the nothing after the last line end.
        if all(row.line_start is not None for row in reference.rows) and last > len(lines):
            beyond = cited.line_start if cited.line_start > len(lines) else last
            raise UsageError(f"{place.display_path}: has no line {beyond}", hint=f"It has {count}.")
    elif not _cited_rows(cited, reference):
        what = f"page {cited.page_start}" if cited.page_start is not None else f"{cited.locator}"
        raise UsageError(f"{place.display_path}: no passage stands at {what}", hint="Check the citation.")


def _compared(cited: Citation, place: Place, reference: _Reference, read: Read) -> Standing:
    _check_place(cited, place, reference)
    rows = _cited_rows(cited, reference)
    if cited.line_start is not None and cited.line_end is not None:
        old = standing.lines_of(standing.old_text(reference.rows))
        last = min(cited.line_end, len(old))
        return standing.of_lines(old, cited.line_start, last, standing.lines_of(read.document.text))
    if cited.page_start is not None and cited.page_end is not None:
        pages = standing.pages_of(standing.old_text(reference.rows))
        if len(pages) == max(row.page_end or 1 for row in reference.rows) and read.document.page_starts:
            today = standing.pages_of(read.document.text)
            return standing.of_lines(pages, cited.page_start, min(cited.page_end, len(pages)), today, "pages")
        return standing.of_pages(rows, cited.page_start, cited.page_end, read.document.text, read.document.page_starts)
    if cited.locator is not None:
        return standing.of_locator(rows, read.rows)
    return Standing(CHANGED, detail="the file has other bytes now")
