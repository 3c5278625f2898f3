"""Fingerprints of what shapes the rows of a file: parser, chunker and the rules of cutting, by media type.

Built-in parsers and chunkers are not imported for it, so that a run with nothing to read loads none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes_lance.core import registry
from hermes_lance.core.config import ChunkingConfig, Config
from hermes_lance.core.signature import digest
from hermes_lance.models import embed_text


@dataclass(slots=True)
class PieceSignatures:
    """Which parser and chunker serve a media type, and the fingerprint of both."""

    parsers: Mapping[str, str]
    chunkers: Mapping[str, str]
    chunking: ChunkingConfig
    _made: dict[tuple[str, str], Any] = field(default_factory=dict)
    _signatures: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_config(cls, config: Config) -> PieceSignatures:
        """As the configuration says."""
        return cls(config.parsers, config.chunkers, config.chunking)

    def parser_name(self, media_type: str) -> str | None:
        """The parser whose pattern fits best."""
        return registry.best_match(self.parsers, media_type)

    def chunker_name(self, media_type: str) -> str:
        """The chunker whose pattern fits best."""
        return registry.best_match(self.chunkers, media_type) or "paragraphs"

    def plugin(self, category: str, name: str) -> Any:
        """The parser or chunker of a name, made when it is first asked for."""
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

    def of(self, media_type: str | None) -> str:
        """Fingerprint of everything that shapes the rows of a file of this type; redone when it changes."""
        media_type = media_type or ""
        known = self._signatures.get(media_type)
        if known is not None:
            return known
        parser = self.parser_name(media_type)
        made = self._signatures[media_type] = digest(
            [
                None if parser is None else self._signature("parsers", parser),
                self._signature("chunkers", self.chunker_name(media_type)),
                embed_text.RULES,
                self.chunking.window_tokens,
                self.chunking.vectors_per_chunk,
            ]
        )
        return made

    def all(self) -> dict[str, str]:
        """The fingerprint of each kind of file that the configuration names.

        Raises `PluginMissing` for a parser or chunker that there is not."""
        return {kind: self.of(kind) for kind in sorted({*self.parsers, *self.chunkers})}

    def _signature(self, category: str, name: str) -> str:
        built_in = registry.built_in_signature(category, name)
        if built_in is None:
            return str(self.plugin(category, name).signature())
        target = self.chunking.default_tokens
        return built_in.format(target=target, overlap=min(self.chunking.overlap_tokens, target - 1))
