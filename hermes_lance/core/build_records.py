"""The records of discovering, reading and cutting files, and of the reports about that: see `records`.

Import them from `records`, where all of them can be had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_lance.core.records import TraceEntry

__all__ = [
    "ChunkCounts",
    "Document",
    "FileChange",
    "FileCounts",
    "IndexReport",
    "Piece",
    "Problem",
    "Root",
    "Section",
    "Skipped",
    "SourceFile",
    "Verdict",
]


@dataclass(frozen=True, slots=True)
class Root:
    """A folder whose files are indexed. `key` names it for ever, `label` is what people see."""

    key: str
    label: str
    path: Path
    recursive: bool
    canonical: bool = False


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A discovered file. `path` is relative to its root, with `/`, printable; `absolute` opens it.

    A folder that was left out as a whole is one too, with a `/` at the end of its path.
    """

    root: Root
    path: str
    location: str
    """The absolute path as the operating system takes it; never stored, since it may hold surrogates."""
    size: int
    mtime_ns: int
    inode: int
    dev: int
    raw_path: str | None = None
    """Hexadecimal bytes of the relative path where these are not valid UTF-8."""

    @property
    def absolute(self) -> Path:
        """`location` as a path. Made on demand: a `Path` for each file would double the time of a walk."""
        return Path(self.location)

    @property
    def display_path(self) -> str:
        """What people and citations see: the path alone in the workspace, `label/path` elsewhere."""
        return self.path if self.root.canonical else f"{self.root.label}/{self.path}"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A discovered file that is not indexed. `failed` separates a fault from a decision."""

    code: str
    detail: str
    failed: bool = False
    rule: str | None = None
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A labelled stretch of a document, `start` to `end` in characters; sections tile the text in order."""

    start: int
    end: int
    trail: tuple[str, ...] = ()
    kind: str = "text"
    locator: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """What a parser made of a file. Every span in the system counts characters of `text`."""

    text: str
    media_type: str
    parser: str
    """Name and version, such as `markdown/1`."""
    sections: tuple[Section, ...] = ()
    lang: str | None = None
    encoding: str | None = None
    replaced_chars: int = 0
    page_starts: tuple[int, ...] = ()
    """Character offset at which each page begins; empty where there are no pages."""
    verbatim: bool = True
    """True when `text` is the decoded file itself, so that lines and bytes can be cited."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Front matter and the like: title, tags."""
    flags: tuple[str, ...] = ()
    """Marks that every passage of it gets, such as `generated`."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One passage as a chunker cuts it: `text[start:end]` of the document."""

    start: int
    end: int
    kind: str
    trail: tuple[str, ...] = ()
    symbol: str | None = None
    locator: str | None = None
    parent: int | None = None
    """Index, in the same list, of the larger piece to return for this one."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a file is or is not found: one sentence, and what each stage said, in order."""

    path: str
    verdict: str
    stages: tuple[TraceEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """A skipped or failed file as the report of a run shows it."""

    path: str
    root: str
    stage: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a run made of one file, told when it is published."""

    kind: str
    """indexed, moved, removed, skipped or failed."""
    path: str
    """As results show it."""
    passages: int = 0
    detail: str = ""
    """moved: where it was; skipped and failed: why."""


@dataclass(slots=True)
class FileCounts:
    """Files of one run; `seen` is the sum of the others but `removed`."""

    seen: int = 0
    added: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: int = 0
    failed: int = 0


@dataclass(slots=True)
class ChunkCounts:
    """Passages of one run."""

    written: int = 0
    reused: int = 0
    removed: int = 0
    total: int = 0


@dataclass(slots=True)
class IndexReport:
    """What a build did. `problems` lists every skipped or failed file."""

    generation: str | None = None
    files: FileCounts = field(default_factory=FileCounts)
    chunks: ChunkCounts = field(default_factory=ChunkCounts)
    vectors_written: int = 0
    vectors_pending: int = 0
    seconds: float = 0.0
    embedder: str = ""
    warnings: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    published: int = 0
    """Generations that this run made visible."""
