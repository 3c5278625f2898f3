"""Fingerprints of what shapes the rows of a file: parser, chunker, the rules of cutting and of suspicion, by
media type.

Built-in parsers and chunkers are not imported for it, so that a run with nothing to read loads none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hermes_lance.core import plugins, registry
from hermes_lance.core.choices import DEFAULT_CHUNKERS, DEFAULT_PARSERS
from hermes_lance.core.config import ChunkingConfig, Config
from hermes_lance.core.errors import UNAVAILABLE, HermesLanceError, PluginMissing
from hermes_lance.core.signature import digest
from hermes_lance.ingest.served import parsers_of
from hermes_lance.models import embed_text
from hermes_lance.parse import suspicion


@dataclass(slots=True)
class PieceSignatures:
    """Which parser and chunker serve a media type, and the fingerprint of both.

    Where a configured one cannot be had, the one that serves the type by default stands in; `troubles` says why.
    """

    parsers: Mapping[str, str]
    chunkers: Mapping[str, str]
    chunking: ChunkingConfig
    options: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    """Category and name to the options that the user wrote."""
    home: Path | None = None
    by_suffix: Mapping[str, str] = field(default_factory=dict)
    """Suffix, with its dot, to the media type that the configuration gives to such files."""
    troubles: dict[tuple[str, str], HermesLanceError] = field(default_factory=dict)
    """Category and name of what was asked for and cannot be had."""
    sole_is_missing: bool = False
    """The parser that was named alone cannot be had, so that nobody knows which files are its own."""
    _made: dict[tuple[str, str], Any] = field(default_factory=dict)
    _signatures: dict[str, str] = field(default_factory=dict)
    _standing_in: set[str] = field(default_factory=set)

    @classmethod
    def of_config(cls, config: Config) -> PieceSignatures:
        """As the configuration says."""
        options = {"parsers": config.parser_options, "chunkers": config.chunker_options}
        served = parsers_of(config)
        made = cls(served.parsers, config.chunkers, config.chunking, options, config.home, served.by_suffix)
        if served.trouble is not None:
            made.troubles["parsers", config.sole_parser] = served.trouble
            made.sole_is_missing = True
        return made

    def parser_name(self, media_type: str) -> str | None:
        """The parser whose pattern fits best."""
        return self._name("parsers", self.parsers, DEFAULT_PARSERS, media_type)

    def chunker_name(self, media_type: str) -> str:
        """The chunker whose pattern fits best."""
        return self._name("chunkers", self.chunkers, DEFAULT_CHUNKERS, media_type) or "paragraphs"

    def _name(
        self, category: str, choices: Mapping[str, str], default: Mapping[str, str], media_type: str
    ) -> str | None:
        name = registry.best_match(choices, media_type)
        if name is None or self.available(category, name):
            return name
        self._standing_in.add(media_type)
        return registry.best_match(default, media_type)

    def available(self, category: str, name: str) -> bool:
        """Whether a parser or chunker can be had. Costs nothing where it is one of ours."""
        if (category, name) in self.troubles:
            return False
        needed = registry.NEEDS.get((category, name))
        if registry.built_in_signature(category, name) is not None and needed is None:
            return True
        try:
            if needed is not None and find_spec(needed[0]) is None:
                raise PluginMissing(
                    f"{name} ({category}): the extra `{needed[1]}` is not installed",
                    hint=f"Run `pip install 'hermes-lance[{needed[1]}]'`, or choose another one.",
                )
            self._own_signature(category, name, {})
        except UNAVAILABLE as error:
            self.troubles[category, name] = error
            return False
        return True

    def warnings(self) -> list[str]:
        """What is to be said of plugins that cannot be had, and of what takes their place."""
        for category, choices in (("parsers", self.parsers), ("chunkers", self.chunkers)):
            for name in choices.values():
                self.available(category, name)
        return [
            f"{error}; the default takes its place for new and changed files. {error.hint}"
            for error in self.troubles.values()
        ]

    def plugin(self, category: str, name: str) -> Any:
        """The parser or chunker of a name, made when it is first asked for."""
        made = self._made.get((category, name))
        if made is None:
            sizes = {"target_tokens": self.chunking.default_tokens, "overlap_tokens": self.chunking.overlap_tokens}
            made = self._made[category, name] = plugins.make(
                category,
                name,
                self.options.get(category, {}).get(name),
                home=self.home,
                offered=sizes if category == "chunkers" else None,
            )
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
                suspicion.signature(),
                self.chunking.window_tokens,
                self.chunking.vectors_per_chunk,
            ]
        )
        return made

    def wanted(self, media_type: str | None) -> str | None:
        """The same for files that are there already: none where something stands in for what was asked for, so that
        what a plugin has made stays until it can be had again."""
        made = self.of(media_type)
        return None if self.sole_is_missing or (media_type or "") in self._standing_in else made

    def all(self) -> dict[str, str]:
        """The fingerprint of each kind of file that the configuration names."""
        return {kind: self.of(kind) for kind in sorted({*self.parsers, *self.chunkers})}

    def _signature(self, category: str, name: str) -> str | list[Any]:
        options = self.options.get(category, {}).get(name)
        built_in = registry.built_in_signature(category, name)
        if built_in is None or options:
            return self._own_signature(category, name, options or {})
        target = self.chunking.default_tokens
        return built_in.format(target=target, overlap=min(self.chunking.overlap_tokens, target - 1))

    def _own_signature(self, category: str, name: str, options: Mapping[str, Any]) -> list[Any]:
        """That of a plugin, and its options: a plugin may forget to name in the one what the others change."""
        try:
            own = str(self.plugin(category, name).signature())
        except HermesLanceError:
            raise
        except Exception as error:
            raise plugins.fault(category, name, error) from error
        return [own, {key: str(value) for key, value in options.items()}]
