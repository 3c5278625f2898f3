"""The words that rooms use between themselves: small frozen values, no behaviour beyond a property.

Bulk rows travel as Arrow batches; what a person, a host or a plugin touches is one of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes_lance.core.ids import text_sha


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
class KnownFile:
    """What the last published generation says of one file: the columns of `schemas/sources.json`, same order."""

    id: str
    root: str
    path: str
    raw_path: str | None
    state: str
    """indexed, skipped, failed or pending."""
    reason: str | None = None
    rule: str | None = None
    media_type: str | None = None
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    dev: int = 0
    sha256: str | None = None
    encoding: str | None = None
    replaced_chars: int = 0
    parser: str | None = None
    chunks: int = 0
    pieces_signature: str | None = None
    tombstone_sha: str | None = None
    retry_after: int | None = None
    run: str = ""
    indexed_at: str | None = None


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
class ChunkRow:
    """One row of the chunks table: the columns of `schemas/chunks.json`, explained there."""

    id: str
    source_id: str
    root: str
    path: str
    kind: str
    section: tuple[str, ...]
    media_type: str
    text: str
    embed_keys: tuple[str, ...]
    ordinal: int
    char_start: int
    char_end: int
    chunker: str
    parser: str
    symbol: str | None = None
    lang: str | None = None
    parent_id: str | None = None
    byte_start: int | None = None
    byte_end: int | None = None
    line_start: int | None = None
    line_end: int | None = None
    page_start: int | None = None
    page_end: int | None = None
    locator: str | None = None
    embedded_tokens: int | None = None
    flags: tuple[str, ...] = ()
    run: str = ""

    @property
    def text_sha(self) -> str:
        """First 32 hexadecimal digits of the SHA-256 of the text."""
        return text_sha(self.text)


@dataclass(frozen=True, slots=True)
class Query:
    """A question to the dataset. Filters are applied inside every leg, before its first results are cut."""

    text: str
    mode: str = "hybrid"
    limit: int = 8
    offset: int = 0
    path: str | None = None
    """Only this file or folder (display path)."""
    file_glob: str | None = None
    """Only files whose name (or path, if the pattern has a `/`) matches."""
    fusion: str | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage of an answer, with where it stands and why it came."""

    kind: str
    id: str
    path: str
    root: str
    """Label of the root, as reports and file lists have it."""
    text: str
    score: float | None
    scores: Mapping[str, float | None]
    ranks: Mapping[str, int | None]
    freshness: str
    section: tuple[str, ...] = ()
    media_type: str | None = None
    symbol: str | None = None
    chunk_kind: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    page_start: int | None = None
    page_end: int | None = None
    locator: str | None = None
    char_start: int | None = None
    char_end: int | None = None
    flags: tuple[str, ...] = ()
    type: str | None = None
    title: str | None = None
    summary: str | None = None
    source_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """What one stage did to the answer, for `--explain`, doctor and tests."""

    stage: str
    outcome: str
    detail: Mapping[str, Any] = field(default_factory=dict)


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
