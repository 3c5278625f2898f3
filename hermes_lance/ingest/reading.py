"""One file to its rows: media type, parser, chunker. What cannot be read becomes a reason, never the end of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hermes_lance.core.config import Config
from hermes_lance.core.errors import HermesLanceError
from hermes_lance.core.records import ChunkRow, Document, Skipped
from hermes_lance.ingest.rows import Origin, chunk_rows
from hermes_lance.ingest.signatures import PieceSignatures
from hermes_lance.parse import media


@dataclass(frozen=True, slots=True)
class Read:
    """A file that became rows, and what its record says of it."""

    document: Document
    rows: list[ChunkRow]
    kind: str
    """Media type of the fingerprint: that of the suffix where the configuration gives it one, else the document's."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that has no rows. Another parser for the media type that was found is a reason to try again."""

    why: Skipped
    media_type: str


class Reader:
    """Parsers and chunkers of one run, made when the first file needs them."""

    def __init__(self, signatures: PieceSignatures) -> None:
        self._pieces = signatures
        self.chunking = signatures.chunking
        # By media type: matching patterns for every file would cost as much as decoding it.
        self._parser_of: dict[str, Any] = {}
        self._chunker_of: dict[str, Any] = {}

    @classmethod
    def of(cls, config: Config) -> Reader:
        """As the configuration says."""
        return cls(PieceSignatures.of_config(config))

    def parser_for(self, media_type: str) -> Any | None:
        """The parser whose pattern fits best."""
        if media_type not in self._parser_of:
            name = self._pieces.parser_name(media_type)
            self._parser_of[media_type] = None if name is None else self._pieces.plugin("parsers", name)
        return self._parser_of[media_type]

    def chunker_for(self, media_type: str) -> Any:
        """The chunker whose pattern fits best."""
        if media_type not in self._chunker_of:
            self._chunker_of[media_type] = self._pieces.plugin("chunkers", self._pieces.chunker_name(media_type))
        return self._chunker_of[media_type]

    def close(self) -> None:
        """Ends the worker processes of parsers that have some; they start again when the next file needs them."""
        self._pieces.close()

    def signature(self, media_type: str) -> str:
        """Fingerprint of everything that shapes the rows of a file of this type; redone when it changes."""
        return self._pieces.of(media_type)

    def wanted(self, media_type: str | None) -> str | None:
        """The same for files that are there already; none where any will do."""
        return self._pieces.wanted(media_type)

    def read(self, data: bytes, path: str, origin: Origin) -> Read | Unread:
        """The rows of a file, or why it has none."""
        chosen = self._pieces.by_suffix.get("." + media.suffix_of(path))
        kind = chosen or media.media_type(path, data)
        try:
            refused = media.refused_by_name(path) if chosen is None else None
            parser = self.parser_for(kind)
            if refused is not None and not (parser is not None and kind.startswith("image/")):
                raise refused
            if parser is None:
                raise media.unsupported(path, kind)
            document = parser.parse(data, path=path, media_type=kind)
            if not isinstance(document, Document):
                what = "nothing" if document is None else type(document).__name__
                raise TypeError(f"the parser {parser.name} gave {what} where a Document was due")
            chunker = self.chunker_for(document.media_type)
            pieces = chunker.pieces(document)
            label = chunker.chunker_label(document) if hasattr(chunker, "chunker_label") else chunker.signature()
            rows = chunk_rows(document, pieces, origin, chunker=label, chunking=self.chunking)
        except media.Unreadable as reason:
            return Unread(_skipped(reason), kind)
        except HermesLanceError:
            raise
        except Exception as error:
            # A fault of one parser on one file must not end the run; the report carries it in full.
            return Unread(Skipped("parse-error", f"{type(error).__name__}: {error}", failed=True), kind)
        if not rows:
            return Unread(Skipped("empty", "nothing but blanks"), kind)
        return Read(document, rows, chosen or document.media_type)


def _skipped(reason: media.Unreadable) -> Skipped:
    return Skipped(reason.code, reason.detail, failed=reason.failed, remedy=reason.remedy)
