"""The words that rooms use between themselves: small frozen values, no behaviour beyond a property.

Bulk rows travel as Arrow batches; what a person, a host or a plugin touches is one of these. Those that a search
needs stand here; the rest is loaded when it is asked for, since each class takes half a millisecond to be made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_lance.core.ids import text_sha

if TYPE_CHECKING:
    from hermes_lance.core.build_records import ChunkCounts as ChunkCounts
    from hermes_lance.core.build_records import Document as Document
    from hermes_lance.core.build_records import FileChange as FileChange
    from hermes_lance.core.build_records import FileCounts as FileCounts
    from hermes_lance.core.build_records import IndexReport as IndexReport
    from hermes_lance.core.build_records import Piece as Piece
    from hermes_lance.core.build_records import Problem as Problem
    from hermes_lance.core.build_records import Root as Root
    from hermes_lance.core.build_records import Section as Section
    from hermes_lance.core.build_records import Skipped as Skipped
    from hermes_lance.core.build_records import SourceFile as SourceFile
    from hermes_lance.core.build_records import Verdict as Verdict
else:

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):  # the import system asks every module for its path
            raise AttributeError(name)
        from hermes_lance.core import build_records

        if name in build_records.__all__:
            return getattr(build_records, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


WORKSPACE = "workspace"
"""Key and label of the root that is always there: the user's own files."""


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


@dataclass(slots=True)
class ChunkRow:
    """One row of the chunks table: the columns of `schemas/chunks.json`, explained there. Nobody changes one.

    Not frozen, because a frozen class takes three times as long to be filled, which is felt with so many fields and
    so many rows.
    """

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
    rerank: str | None = None
    """The reranker to be used instead of the configured one."""
    in_context: str = ""
    """The question with what was said before it, where it is a follow-up. Its ranking is added to that of `text`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage as a reranker sees it; scores of the legs are none where a leg has not found it."""

    text: str
    path: str
    section: tuple[str, ...] = ()
    lexical: float | None = None
    dense: float | None = None
    fused: float | None = None


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
    """What the page is ordered by, tiers aside: the reranker's, where it gave one, else the fused one."""
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
