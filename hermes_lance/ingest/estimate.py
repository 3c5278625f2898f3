"""What a build would do, without doing any of it: files and bytes to read, the largest folders, time and size.

The walk and the plan are the real ones; only time and size are guessed, from rates measured on mixed text and code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hermes_lance.core.config import Config
from hermes_lance.core.records import FileCounts, IndexReport, Problem, Root, SourceFile
from hermes_lance.ingest.earlier import SignatureOf
from hermes_lance.ingest.plan import TO_READ, Planned, Planner
from hermes_lance.ingest.survey import files_words
from hermes_lance.ingest.tally import Tally
from hermes_lance.ingest.walk import Walk, settings_from
from hermes_lance.store import manifest as manifests
from hermes_lance.store.files import FilesState

TEXT_BYTES_PER_SECOND = 6_000_000
"""Reading, cutting and the lexical index."""
BYTES_PER_VECTOR = 900
VECTORS_PER_SECOND = {"minilm": 60, "builtin_hash": 6_000}
OTHER_VECTORS_PER_SECOND = 20
START_SECONDS = 1.5
INDEX_BYTES_PER_TEXT_BYTE = 2.5
"""Text, lexical index and tables, without vectors."""
BYTES_OF_A_VECTOR = {"minilm": 384 * 4, "builtin_hash": 1024 * 4}
"""Two copies in half precision: the table, and the file that queries read."""
OTHER_BYTES_OF_A_VECTOR = 768 * 4
TEXT_SHARE = {".pdf": 0.1, ".docx": 0.2, ".pptx": 0.05, ".xlsx": 0.5, ".epub": 0.6, ".odt": 0.2}
"""Text in a byte of such a file."""
FOLDERS = 8


@dataclass(frozen=True, slots=True)
class Folder:
    """What would be read in one folder, sub-folders not counted."""

    path: str
    files: int
    bytes: int


@dataclass(slots=True)
class Estimate:
    """What a build would do."""

    files: FileCounts = field(default_factory=FileCounts)
    to_read: int = 0
    bytes_to_read: int = 0
    bytes_in_all: int = 0
    largest_folders: list[Folder] = field(default_factory=list)
    seconds: float = 0.0
    index_bytes: int = 0
    text_bytes: int = 0
    """Of what would be read, without pictures and markup of office files."""
    embedder: str = ""
    warnings: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def estimate(
    config: Config,
    dataset: Path,
    roots: Sequence[Root],
    signature_of: SignatureOf,
    *,
    full: bool = False,
) -> Estimate:
    """The estimate for a build of these roots. Reads folders, and only those files that may have moved."""
    base = manifests.current_or_none(dataset)
    state = FilesState(dataset / manifests.SIDE, base.files if base else None)
    settings = settings_from(config)
    walk = Walk(roots, settings)
    planner = Planner(state, signature_of, max_bytes=settings.max_bytes, by_suffix=settings.by_suffix, full=full)
    plan = planner.plan(walk)
    report = IndexReport()
    Tally(report).plan(plan)
    result = Estimate(files=report.files, embedder=config.embedder, warnings=report.warnings, problems=report.problems)
    folders: dict[str, list[int]] = defaultdict(list)
    text_bytes = 0.0
    for item in plan.items:
        _count(item, result, Tally(report))
        if item.change in TO_READ:
            result.to_read += 1
            result.bytes_to_read += item.file.size
            folders[_folder(item.file)].append(item.file.size)
            text_bytes += item.file.size * TEXT_SHARE.get(Path(item.file.path).suffix.lower(), 1.0)
    indexed = state.bytes_in("indexed")
    result.bytes_in_all = indexed + sum(item.file.size for item in plan.items if item.change == "added")
    result.largest_folders = sorted(
        (Folder(path, len(sizes), sum(sizes)) for path, sizes in folders.items()),
        key=lambda one: (-one.bytes, one.path),
    )[:FOLDERS]
    for root_report in walk.reports.values():
        if root_report.left_out:
            result.warnings.append(
                f"{root_report.root.label}: would leave out {files_words(root_report.left_out)} in sub-folders; "
                "add --recursive to index them"
            )
    result.text_bytes = int(text_bytes)
    if result.to_read:
        rate = VECTORS_PER_SECOND.get(config.embedder, OTHER_VECTORS_PER_SECOND)
        vectors = text_bytes / BYTES_PER_VECTOR
        result.seconds = round(START_SECONDS + text_bytes / TEXT_BYTES_PER_SECOND + vectors / rate, 1)
        of_a_vector = BYTES_OF_A_VECTOR.get(config.embedder, OTHER_BYTES_OF_A_VECTOR)
        result.index_bytes = int(text_bytes * INDEX_BYTES_PER_TEXT_BYTE + vectors * of_a_vector)
    counts = result.files
    counts.seen = counts.added + counts.changed + counts.moved + counts.unchanged + counts.skipped + counts.failed
    return result


def _count(item: Planned, result: Estimate, tally: Tally) -> None:
    counts = result.files
    if item.change == "added":
        counts.added += 1
    elif item.change == "moved":
        counts.moved += 1
    elif item.change in TO_READ:
        counts.changed += 1
    elif item.change == "left_out" and item.skipped is not None:
        tally.not_indexed(item, item.skipped, "walk")


def _folder(file: SourceFile) -> str:
    folder = file.display_path.rpartition("/")[0]
    return f"{folder}/" if folder else f"{file.root.label}/"
