"""The choice of plugins as it is written: `knowledgebase.<category>`, and the older keys that say the same.

A choice comes only from keys that the user wrote. Options are searched for keys of services, which have no place there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes_lance.core import choices, registry
from hermes_lance.core.config_reader import Reader
from hermes_lance.core.errors import ConfigError
from hermes_lance.core.service_keys import refuse_keys

CATEGORIES = ("parsers", "chunkers", "embedders", "rerankers", "retrievers", "index_stores")
Options = Mapping[str, Any]

_EMBEDDINGS = {"local": "local_sentence_transformers", "openai": "openai", "google": "google"}
_RERANKING = {"": "local_cross_encoder", "local": "local_cross_encoder", "cohere": "cohere", "voyage": "voyage"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """One plugin of a category with its options, and the options of every one that has some."""

    name: str
    options: Options
    blocks: Mapping[str, Options] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PluginReader:
    """Reads the blocks of the six categories of one configuration."""

    reader: Reader
    knowledge: Mapping[str, Any]
    home: Path

    def section(self, category: str) -> Mapping[str, Any]:
        """The block of a category, unknown keys in it reported."""
        found = self.reader.section(self.knowledge, category, "knowledgebase.")
        for key, value in found.items():
            if key != "active" and not (isinstance(value, Mapping) and self._is_plugin(category, str(key))):
                self._report(category, str(key), value)
        return found

    def _is_plugin(self, category: str, name: str) -> bool:
        name = registry.normal(category, name)
        if registry.is_built_in(category, name) or name == "builtin_structural":
            return True
        folder = self.home.joinpath("plugins", "workspace", category)
        there = any((folder / one).is_dir() for one in (name, name.replace("_", "-")))
        return there or registry.entry_point(category, name) is not None

    def _report(self, category: str, key: str, value: Any) -> None:
        prefix = f"knowledgebase.{category}."
        if isinstance(value, Mapping):
            known = [*registry.BUILT_IN.get(category, ()), *registry.WITHOUT_CLASS.get(category, ())]
            self.reader.warn_unknown(key, known, prefix)
        elif value is not None and registry.normal(category, key) in registry.BUILT_IN.get(category, ()):
            self.reader.section({key: value}, key, prefix)  # raises: options are a block
        else:
            self.reader.warn_unknown(key, ["active"], prefix)

    def by_media_type(self, category: str, default: Mapping[str, str]) -> dict[str, str]:
        """Names by media type, for parsers and chunkers."""
        active = self.section(category).get("active")
        if active is None:
            return dict(default)
        key = f"knowledgebase.{category}.active"
        self.reader.note(key)
        if isinstance(active, str):
            return choices.alone(category, registry.normal(category, active), default)
        if isinstance(active, Mapping):
            chosen = {str(kind): registry.normal(category, str(name)) for kind, name in active.items()}
            # The name of what is chosen by media type anyway.
            return {**default, **{kind: name for kind, name in chosen.items() if name != "builtin_structural"}}
        raise ConfigError(f"{self.reader.place(key)}: {key} must be a name or a map of media type to name")

    def one(self, category: str, default: str, older: Chosen | None = None) -> Chosen:
        """What the block of a category names, else what older keys say, else the default."""
        section = self.section(category)
        name, key = older.name if older is not None else default, f"knowledgebase.{category}.active"
        active = section.get("active")
        if active is not None:
            if not isinstance(active, str | bool):
                raise ConfigError(f"{self.reader.place(key)}: {key} must be a name")
            # YAML 1.1 reads a bare `off` as false.
            name = registry.normal(category, "off" if active is False else str(active))
            self.reader.note(key)
        blocks = self.all_options(category)
        written = blocks.get(name, {})
        return Chosen(name, {**(older.options if older is not None and older.name == name else {}), **written}, blocks)

    def all_options(self, category: str) -> dict[str, Options]:
        """The options of every plugin of a category that has some, by normalised name."""
        section = self.reader.section(self.knowledge, category, "knowledgebase.")
        found: dict[str, Options] = {}
        for key, value in section.items():
            if key != "active" and isinstance(value, Mapping):
                where = f"knowledgebase.{category}.{key}"
                # Here, before anything can show or store them: status and every manifest list the options.
                refuse_keys(f"{self.reader.where}: {where}", value)
                name = registry.normal(category, str(key))
                found[name] = dict(value)
                self.reader.note(f"knowledgebase.{category}.{name}")
        return found

    def older_embedder(self) -> Chosen | None:
        """The embedder of an `embeddings` block: its provider, model and dimensions."""
        section = self._older("embeddings", ["provider", "model", "dimensions"])
        if not section:
            return None
        provider = str(section.get("provider") or "local").strip().lower()
        self.reader.note("knowledgebase.embedders.active", " (embeddings.provider)")
        name = _EMBEDDINGS.get(provider, "builtin_hash")
        self._about_provider("embeddings", provider, _EMBEDDINGS, name)
        wanted = {key: section[key] for key in ("model", "dimensions") if section.get(key) is not None}
        return Chosen(name, wanted if provider in _EMBEDDINGS else {})

    def older_reranker(self) -> Chosen | None:
        """The reranker of a `reranker` (or `reranking`) block; on where it says so, or where it names a provider."""
        key = "reranker" if self.knowledge.get("reranker") is not None else "reranking"
        section = self._older(key, ["enabled", "provider", "model", "timeout_seconds"])
        if not section:
            return None
        provider = str(section.get("provider") or "").strip().lower()
        enabled = section.get("enabled")
        if enabled is not None:
            enabled = self.reader.typed(f"knowledgebase.{key}.enabled", enabled, False)
        self.reader.note("knowledgebase.rerankers.active", f" ({key})")
        if not (bool(provider) if enabled is None else enabled):
            return Chosen("disabled", {})
        name = _RERANKING.get(provider, "heuristic")
        self._about_provider(key, provider, _RERANKING, name)
        taken = ("timeout_seconds",) if name == "heuristic" else ("model", "timeout_seconds")
        return Chosen(name, {option: section[option] for option in taken if section.get(option) is not None})

    def _about_provider(self, key: str, provider: str, known: Mapping[str, str], instead: str) -> None:
        if provider not in known and provider != instead:
            words = ", ".join(one for one in known if one)
            said = f"knowledgebase.{key}.provider is {provider!r}; one of {words} ({instead} is taken)"
            self.reader.warnings.append(f"{self.reader.where}: {said}")

    def _older(self, key: str, known: list[str]) -> Mapping[str, Any]:
        section = self.reader.section(self.knowledge, key, "knowledgebase.")
        refuse_keys(f"{self.reader.where}: knowledgebase.{key}", section)
        self.reader.unknown(section, known, f"knowledgebase.{key}.")
        return section
