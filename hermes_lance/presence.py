"""`why`: what became of one file, stage by stage, and where a question lost it. Explains absence above all."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Protocol

from hermes_lance.core.ids import source_id
from hermes_lance.core.names import raw_bytes
from hermes_lance.core.records import KnownFile, Query, Skipped, SourceFile, TraceEntry, Verdict
from hermes_lance.ingest import roots as root_list
from hermes_lance.ingest.roots import Place
from hermes_lance.ingest.walk import Walk, settings_from
from hermes_lance.overview import Opened
from hermes_lance.parse.media import remedy_of
from hermes_lance.search.freshness import FRESH, UNVERIFIED, Freshness
from hermes_lance.store import forgotten

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hermes_lance.places import Places
    from hermes_lance.search.page import Answer
    from hermes_lance.store.snapshot import Snapshot


class Searchable(Opened, Protocol):
    """What is asked of an opened dataset here."""

    def snapshot(self) -> Snapshot:
        """The current generation, open."""
        ...

    def search(self, query: Query) -> Answer:
        """The page for a question."""
        ...

    def places(self, snapshot: Snapshot) -> Places:
        """Where the files of a generation are."""
        ...


DEEP = 1_000
"""Hits among which the passages of the file are looked for."""
FOLDER = "a folder"
FORGOTTEN = "it was forgotten; `hermes-lance forget --undo` with its path lifts that"


def why(library: Searchable, path: str | Path, query: str | None = None) -> Verdict:
    """Why a file is or is not found. `path`: a display path or an absolute path; it need not exist.

    Raises `OutsideRoots` for a path in no root.
    """
    place = root_list.located(path, library.roots())
    shown = place.display_path
    stages = [TraceEntry("root", "inside", {"root": place.root.label, "folder": str(place.root.path)})]
    found = _on_disk(library, place)
    stages.append(_disk_stage(place, found))
    entry = _forgotten(library, place, found)
    if entry is not None:
        stages.append(entry)
    manifest = library.manifest_or_none()
    if manifest is None:
        stages.append(TraceEntry("index", "missing", {"remedy": "Run `hermes-lance build`."}))
        return Verdict(shown, "Nothing is indexed here yet.", tuple(stages))
    snapshot = library.snapshot()
    known = _known(snapshot, place, found)
    if known is None and entry is not None:
        return Verdict(shown, f"Not indexed: {FORGOTTEN}.", tuple(stages))
    if known is None:
        return _unknown(shown, found, stages)
    cut = _cut_stage(snapshot, known)
    stages.append(_index_stage(known, cut))
    if known.chunks == 0 and entry is not None:
        return Verdict(shown, f"Not indexed: {FORGOTTEN}.", tuple(stages))
    if known.chunks == 0 and forgotten.is_forgotten(known.reason) and not _copy_of_forgotten(library, known):
        return Verdict(shown, "Not indexed yet: it is no longer forgotten; run `hermes-lance build`.", tuple(stages))
    if known.chunks == 0:
        rule = f" ({known.rule})" if known.rule else ""
        return Verdict(shown, f"Not indexed: {known.reason or known.state}{rule}.", tuple(stages))
    places = library.places(snapshot)
    fresh = Freshness(places.of, places.folder).of(known)
    stages.append(TraceEntry("freshness", fresh, {"indexed_at": known.indexed_at}))
    verdict = f"Indexed as {known.chunks} passage{'' if known.chunks == 1 else 's'}."
    if known.state == "failed":
        verdict += f" They are of an earlier reading: {known.reason}."
    if flags := cut.get("flags"):
        verdict += f" Its passages are flagged: {flags}."
    if fresh == UNVERIFIED:
        verdict += " It could not be compared with the file."
    elif fresh != FRESH:
        verdict += f" The file is {fresh} since; run `hermes-lance build`."
    if query is not None:
        asked, sentence = _asked(library, snapshot, shown, query)
        stages.append(asked)
        verdict = f"{verdict} {sentence}"
    return Verdict(shown, verdict, tuple(stages))


def _copy_of_forgotten(library: Searchable, known: KnownFile) -> bool:
    return forgotten.read(library.dataset).of_contents(known.sha256) is not None


def _on_disk(library: Searchable, place: Place) -> SourceFile | tuple[SourceFile, Skipped] | None:
    """What a walk says of the path today; none when it does not come upon it."""
    settings = settings_from(library.config)
    walk = Walk(library.roots(), settings, {place.root.key: [place.path]})
    best: SourceFile | tuple[SourceFile, Skipped] | None = None
    for each in walk:
        file = each[0] if isinstance(each, tuple) else each
        if file.path == place.path:
            return each
        if file.path.endswith("/") and f"{place.path}/".startswith(file.path):
            best = each  # a folder above it that is left out as a whole
    return best


def _disk_stage(place: Place, found: SourceFile | tuple[SourceFile, Skipped] | None) -> TraceEntry:
    if isinstance(found, tuple):
        file, skipped = found
        detail = {"code": skipped.code, "detail": skipped.detail, "rule": skipped.rule, "remedy": skipped.remedy}
        return TraceEntry("discover", "left out", {"path": file.display_path, **detail})
    if found is not None:
        return TraceEntry("discover", "found", {"bytes": found.size})
    here = os.path.join(place.root.path, place.path)
    if os.path.isdir(here):
        return TraceEntry("discover", FOLDER, {})
    exists = os.path.lexists(here)
    outcome = "in a sub-folder of a shallow root" if exists and not place.root.recursive else "not there"
    return TraceEntry("discover", outcome, {})


def _known(snapshot: Snapshot, place: Place, found: SourceFile | tuple[SourceFile, Skipped] | None) -> KnownFile | None:
    file = found[0] if isinstance(found, tuple) else found
    raw = file.raw_path if file is not None and file.path == place.path else None
    return snapshot.files.get(source_id(place.root.key, raw_bytes(place.path, raw)))


def _forgotten(
    library: Searchable, place: Place, found: SourceFile | tuple[SourceFile, Skipped] | None
) -> TraceEntry | None:
    """The stage of a file that is on the list of what must not come back, for its path."""
    file = found[0] if isinstance(found, tuple) else found
    raw = file.raw_path if file is not None and file.path == place.path else None
    entry = forgotten.read(library.dataset).entries.get(source_id(place.root.key, raw_bytes(place.path, raw)))
    if entry is None:
        return None
    return TraceEntry("forgotten", "purged" if entry.purge else "on the list", {"since": entry.at})


def _unknown(shown: str, found: SourceFile | tuple[SourceFile, Skipped] | None, stages: list[TraceEntry]) -> Verdict:
    stages.append(TraceEntry("index", "unknown", {}))
    if isinstance(found, tuple):
        rule = f" ({found[1].rule})" if found[1].rule else ""
        return Verdict(shown, f"Left out: {found[1].detail}{rule}.", tuple(stages))
    if found is not None:
        return Verdict(shown, "New since the last build; run `hermes-lance build`.", tuple(stages))
    if stages[1].outcome == FOLDER:
        files = " ".join(["hermes-lance workspace list", *([shlex.quote(shown)] if shown else [])])
        return Verdict(shown, f"A folder: ask for one of its files, which `{files}` names.", tuple(stages))
    return Verdict(shown, f"No such file, and none is indexed: {stages[1].outcome}.", tuple(stages))


def _cut_stage(snapshot: Snapshot, known: KnownFile) -> dict[str, str]:
    """By which chunkers the passages of a file were cut, such as `symbols/2:lines`, and what they are flagged as."""
    rows = [snapshot.text.row(serial) for serial in snapshot.text.serials_of([known.id])]
    flags = sorted({flag for row in rows for flag in row.flags})
    detail = {"chunker": ", ".join(sorted({row.chunker for row in rows})), "flags": ", ".join(flags)}
    return {key: value for key, value in detail.items() if value}


def _index_stage(known: KnownFile, cut: Mapping[str, str]) -> TraceEntry:
    detail = {
        "reason": known.reason,
        "rule": known.rule,
        "remedy": None if known.chunks else remedy_of((known.reason or "").partition(":")[0]),
        "media_type": known.media_type,
        "parser": known.parser,
        "passages": known.chunks,
        "encoding": known.encoding,
        "replaced_chars": known.replaced_chars or None,
        **cut,
    }
    return TraceEntry("index", known.state, {key: value for key, value in detail.items() if value is not None})


def _asked(library: Searchable, snapshot: Snapshot, shown: str, query: str) -> tuple[TraceEntry, str]:
    """Where the file stands in the answer to a question, in all and in each leg."""
    detail: dict[str, int | None] = {}
    for mode in ("hybrid", "lexical", "dense"):
        page = library.search(Query(query, mode=mode, limit=DEEP))
        ranks = [number for number, hit in enumerate(page, start=1) if hit.path == shown]
        detail[mode] = ranks[0] if ranks else None
    if detail["hybrid"] is None:
        lost = "no leg found it" if not (detail["lexical"] or detail["dense"]) else "fusion left it out"
        return TraceEntry("search", "absent", detail), f"Not among the first {DEEP} passages: {lost}."
    return TraceEntry("search", "found", detail), f"Its best passage is number {detail['hybrid']} for this question."
