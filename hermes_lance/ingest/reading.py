"""One file to its rows: media type, parser, chunker. What cannot be read becomes a reason, never the end of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes_lance.core import registry
from hermes_lance.core.config import ChunkingConfig, Config
from hermes_lance.core.errors import HermesLanceError
from hermes_lance.core.records import ChunkRow, Document, Skipped
from hermes_lance.core.signature import digest
from hermes_lance.ingest.rows import Origin, chunk_rows
from hermes_lance.models import embed_text
from hermes_lance.parse import media


@dataclass(frozen=True, slots=True)
class Read:
    """A file that became rows, and what its record says of it."""

    document: Document
    rows: list[ChunkRow]


@dataclass(slots=True)
class Reader:
    """Parsers and chunkers of one run, made when the first file needs them."""

    parsers: Mapping[str, str]
    chunkers: Mapping[str, str]
    chunking: ChunkingConfig
    _made: dict[tuple[str, str], Any] = field(default_factory=dict)
    _signatures: dict[str, str] = field(default_factory=dict)
    # By media type: matching patterns for every file would cost as much as decoding it.
    _parser_of: dict[str, Any] = field(default_factory=dict)
    _chunker_of: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, config: Config) -> Reader:
        """As the configuration says."""
        return cls(config.parsers, config.chunkers, config.chunking)

    def parser_for(self, media_type: str) -> Any | None:
        """The parser whose pattern fits best."""
        if media_type not in self._parser_of:
            name = registry.best_match(self.parsers, media_type)
            self._parser_of[media_type] = None if name is None else self._plugin("parsers", name)
        return self._parser_of[media_type]

    def chunker_for(self, media_type: str) -> Any:
        """The chunker whose pattern fits best."""
        if media_type not in self._chunker_of:
            name = registry.best_match(self.chunkers, media_type) or "paragraphs"
            self._chunker_of[media_type] = self._plugin("chunkers", name)
        return self._chunker_of[media_type]

    def _plugin(self, category: str, name: str) -> Any:
        made = self._made.get((category, name))
        if made is None:
            kind = registry.plugin_class(category, name)
            if category == "chunkers":
                made = kind(target_tokens=self.chunking.default_tokens, overlap_tokens=self.chunking.overlap_tokens)
            else:
                made = kind()
            self._made[category, name] = made
        return made

    def close(self) -> None:
        """Ends the worker processes of parsers that have some; they start again when the next file needs them."""
        for made in self._made.values():
            if hasattr(made, "close"):
                made.close()

    def signature(self, media_type: str) -> str:
        """Fingerprint of everything that shapes the rows of a file of this type; redone when it changes."""
        known = self._signatures.get(media_type)
        if known is not None:
            return known
        parser, chunker = self.parser_for(media_type), self.chunker_for(media_type)
        made = self._signatures[media_type] = digest(
            [
                parser.signature() if parser is not None else None,
                chunker.signature(),
                embed_text.RULES,
                self.chunking.window_tokens,
                self.chunking.vectors_per_chunk,
            ]
        )
        return made

    def read(self, data: bytes, path: str, origin: Origin) -> Read | Skipped:
        """The rows of a file, or why it has none."""
        refused = media.refused_by_name(path)
        if refused is not None:
            return _skipped(refused)
        try:
            kind = media.media_type(path, data)
            parser = self.parser_for(kind)
            if parser is None:
                raise media.unsupported(path, kind)
            document = parser.parse(data, path=path, media_type=kind)
            chunker = self.chunker_for(document.media_type)
            pieces = chunker.pieces(document)
            label = chunker.chunker_label(document) if hasattr(chunker, "chunker_label") else chunker.signature()
            rows = chunk_rows(document, pieces, origin, chunker=label, chunking=self.chunking)
        except media.Unreadable as reason:
            return _skipped(reason)
        except HermesLanceError:
            raise
        except Exception as error:
            # A fault of one parser on one file must not end the run; the report carries it in full.
            return Skipped("parse-error", f"{type(error).__name__}: {error}", failed=True)
        if not rows:
            return Skipped("empty", "nothing but blanks")
        return Read(document, rows)


def _skipped(reason: media.Unreadable) -> Skipped:
    return Skipped(reason.code, reason.detail, failed=reason.failed, remedy=reason.remedy)
