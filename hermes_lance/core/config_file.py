"""The configuration as it is written: `config.yaml` of a home, then variables of the environment.

Resolution, last wins: defaults, the sections `workspace` and `knowledgebase` of the file, `HERMES_LANCE_…` variables,
arguments. Choices of plugins come only from keys that the user wrote; older flat keys are understood beside ours.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from hermes_lance.core import choices, registry
from hermes_lance.core.choices import DEFAULT_CHUNKERS, DEFAULT_PARSERS, OCR_PARSERS
from hermes_lance.core.config import (
    ChunkingConfig,
    Config,
    GateConfig,
    IndexingConfig,
    InjectConfig,
    RootSetting,
    SearchConfig,
    WorkspaceConfig,
    default_home,
)
from hermes_lance.core.errors import ConfigError
from hermes_lance.core.router_config import local_knowledge
from hermes_lance.core.service_keys import refuse_keys
from hermes_lance.core.yaml_file import read_yaml


class _Reader:
    """Walks one mapping, checks types, notes origins and unknown keys."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.origins: dict[str, str] = {}
        self.warnings: list[str] = []

    def section(self, parent: Mapping[str, Any], key: str, prefix: str = "") -> Mapping[str, Any]:
        value = parent.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise ConfigError(f"{self.where}: {prefix}{key} must be a mapping, not {type(value).__name__}")
        return value

    def unknown(self, section: Mapping[str, Any], known: list[str], prefix: str) -> None:
        for key in section:
            if key not in known:
                import difflib

                near = difflib.get_close_matches(str(key), known, 1)
                advice = f"; did you mean {prefix}{near[0]}?" if near else ""
                self.warnings.append(f"{self.where}: {prefix}{key} is not a known key{advice}")

    def fill(self, into: Any, section: Mapping[str, Any], prefix: str) -> Any:
        """`into` (a dataclass) with the values of `section`, each of the type of its default."""
        changes: dict[str, Any] = {}
        for item in fields(into):
            if item.name not in section or section[item.name] is None:
                continue
            name = f"{prefix}{item.name}"
            changes[item.name] = self._typed(name, section[item.name], getattr(into, item.name), str(item.type))
            self.origins[name] = self.where
        return replace(into, **changes)

    def nested(self, into: Any, section: Mapping[str, Any], prefix: str) -> Any:
        """The same for a section of its own, whose other keys are not known."""
        self.unknown(section, [item.name for item in fields(into)], prefix)
        return self.fill(into, section, prefix)

    def _typed(self, name: str, value: Any, default: Any, declared: str) -> Any:
        wrong = ConfigError(f"{self.where}: {name} is {value!r}, which is not {declared}")
        if isinstance(default, bool):
            if isinstance(value, str) and value.strip().lower() in {"true", "yes", "on", "1"}:
                return True
            if isinstance(value, str) and value.strip().lower() in {"false", "no", "off", "0"}:
                return False
            if not isinstance(value, bool):
                raise wrong
            return value
        if isinstance(default, int) or (isinstance(default, float) or "float" in declared):
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise wrong from None
            if isinstance(value, bool) or not math.isfinite(number) or (isinstance(default, int) and number % 1):
                raise wrong
            return int(number) if isinstance(default, int) else number
        if isinstance(default, tuple):
            if isinstance(value, str):
                return tuple(part.strip() for part in value.split(",") if part.strip())
            if not isinstance(value, list):
                raise wrong
            return tuple(str(part) for part in value)
        if value is False:
            return "off"  # what YAML 1.1 makes of the bare word
        if not isinstance(value, str):
            raise wrong
        return value.strip()


_PLUGINS = ("parsers", "chunkers", "embedders", "rerankers", "retrievers", "index_stores")
_KNOWLEDGEBASE_KEYS = [
    "enabled", "path", "roots", "retrieval_mode", "auto_index", "watch_for_changes", "watch_interval_seconds", "ocr",
    "injection_format", "gate", "chunking", "embeddings", "reranker", "reranking", "indexing", "max_file_mb", "search",
    *(item.name for item in fields(InjectConfig)), *_PLUGINS,
]  # fmt: skip
_FORMATS = {"sourced_note": "turn", "tool_only": "tool_only"}
"""Values of the older key `injection_format` as routes."""


def _roots(reader: _Reader, value: Any) -> tuple[RootSetting, ...]:
    if not value:
        return ()
    if not isinstance(value, list):
        raise ConfigError(f"{reader.where}: knowledgebase.roots must be a list")
    found = []
    for entry in value:
        if isinstance(entry, str):
            found.append(RootSetting(entry, True))
        elif isinstance(entry, Mapping) and isinstance(entry.get("path"), str):
            found.append(RootSetting(entry["path"], bool(entry.get("recursive", False))))
        else:
            reader.warnings.append(f"{reader.where}: knowledgebase.roots has an entry without a path: {entry!r}")
    return tuple(found)


def _plugin_map(
    reader: _Reader, category: str, section: Mapping[str, Any], default: Mapping[str, str]
) -> dict[str, str]:
    active = section.get("active")
    if active is None:
        return dict(default)
    reader.origins[f"knowledgebase.{category}.active"] = reader.where
    if isinstance(active, str):
        return choices.alone(category, registry.normal(category, active), default)
    if isinstance(active, Mapping):
        chosen = {str(key): registry.normal(category, str(name)) for key, name in active.items()}
        # The name of what is chosen by media type anyway.
        return {**default, **{key: name for key, name in chosen.items() if name != "builtin_structural"}}
    raise ConfigError(f"{reader.where}: knowledgebase.{category}.active must be a name or a map of media type to name")


@dataclass(frozen=True, slots=True)
class _Chosen:
    """One plugin of a category, and its options."""

    name: str
    options: Mapping[str, Any]


def _chosen(
    reader: _Reader, knowledge: Mapping[str, Any], category: str, default: str, older: _Chosen | None
) -> _Chosen:
    """What `knowledgebase.<category>` names, else what older keys say, else the default."""
    section = reader.section(knowledge, category, "knowledgebase.")
    name = older.name if older is not None else default
    if section.get("active") is not None:
        if not isinstance(section["active"], str | bool):
            raise ConfigError(f"{reader.where}: knowledgebase.{category}.active must be a name")
        # YAML 1.1 reads a bare `off` as false.
        name = registry.normal(category, "off" if section["active"] is False else str(section["active"]))
        reader.origins[f"knowledgebase.{category}.active"] = reader.where
    written = _options(reader, section, category, name)
    return _Chosen(name, {**(older.options if older is not None and older.name == name else {}), **written})


def _options(reader: _Reader, section: Mapping[str, Any], category: str, name: str) -> Mapping[str, Any]:
    """The options of one plugin, under its name in either spelling."""
    for key in (name, name.replace("_", "-")):
        if section.get(key) is not None:
            found = dict(reader.section(section, key, f"knowledgebase.{category}."))
            # Here, before anything can show or store them: status and every manifest list the options.
            refuse_keys(f"{reader.where}: knowledgebase.{category}.{key}", found)
            return found
    return {}


def _all_options(reader: _Reader, section: Mapping[str, Any], category: str) -> dict[str, Mapping[str, Any]]:
    names = [str(key) for key in section if key != "active"]
    return {registry.normal(category, name): _options(reader, section, category, name) for name in names}


_EMBEDDINGS = {"local": "local_sentence_transformers", "openai": "openai", "google": "google"}
_RERANKING = {
    "": "local_cross_encoder",
    "local": "local_cross_encoder",
    "cohere": "cohere",
    "voyage": "voyage",
}


def _older_embedder(reader: _Reader, knowledge: Mapping[str, Any]) -> _Chosen | None:
    """The embedder of an `embeddings` block: its provider, model and dimensions."""
    section = reader.section(knowledge, "embeddings", "knowledgebase.")
    if not section:
        return None
    refuse_keys(f"{reader.where}: knowledgebase.embeddings", section)
    reader.unknown(section, ["provider", "model", "dimensions"], "knowledgebase.embeddings.")
    provider = str(section.get("provider") or "local").strip().lower()
    reader.origins["knowledgebase.embedders.active"] = f"{reader.where} (embeddings.provider)"
    name = _EMBEDDINGS.get(provider, "builtin_hash")
    wanted = {key: section[key] for key in ("model", "dimensions") if section.get(key) is not None}
    return _Chosen(name, wanted if provider in _EMBEDDINGS else {})


def _older_reranker(reader: _Reader, knowledge: Mapping[str, Any]) -> _Chosen | None:
    """The reranker of a `reranker` (or `reranking`) block; on where it says so, or where it names a provider."""
    key = "reranker" if knowledge.get("reranker") is not None else "reranking"
    section = reader.section(knowledge, key, "knowledgebase.")
    if not section:
        return None
    refuse_keys(f"{reader.where}: knowledgebase.{key}", section)
    reader.unknown(section, ["enabled", "provider", "model", "timeout_seconds"], f"knowledgebase.{key}.")
    provider = str(section.get("provider") or "").strip().lower()
    enabled = section.get("enabled")
    reader.origins["knowledgebase.rerankers.active"] = f"{reader.where} ({key})"
    if not (bool(provider) if enabled is None else enabled is True):
        return _Chosen("disabled", {})
    name = _RERANKING.get(provider, "heuristic")
    taken = ("timeout_seconds",) if name == "heuristic" else ("model", "timeout_seconds")
    return _Chosen(name, {key: section[key] for key in taken if section.get(key) is not None})


def _injection(reader: _Reader, knowledge: Mapping[str, Any]) -> InjectConfig:
    flat = dict(knowledge)
    older = flat.get("injection_format")
    if older is not None and flat.get("injection_route") is None:
        flat["injection_route"] = _FORMATS.get(str(older).strip().lower(), str(older))
    return reader.fill(InjectConfig(), flat, "knowledgebase.")  # type: ignore[no-any-return]


def _indexing(reader: _Reader, knowledge: Mapping[str, Any]) -> IndexingConfig:
    section = dict(reader.section(knowledge, "indexing", "knowledgebase."))
    if knowledge.get("max_file_mb") is not None:
        section.setdefault("max_file_mb", knowledge["max_file_mb"])
    return reader.nested(IndexingConfig(), section, "knowledgebase.indexing.")  # type: ignore[no-any-return]


def from_mapping(home: Path, data: Mapping[str, Any], where: str, config_file: Path | None = None) -> Config:
    """The configuration that a `config.yaml` (as a mapping) describes, for one home."""
    reader = _Reader(where)
    knowledge = reader.section(data, "knowledgebase")
    reader.unknown(knowledge, _KNOWLEDGEBASE_KEYS, "knowledgebase.")
    top = reader.fill(_Top(), {**knowledge, "knowledgebase_path": knowledge.get("path")}, "knowledgebase.")
    embedder = _chosen(reader, knowledge, "embedders", "minilm", _older_embedder(reader, knowledge))
    reranker = _chosen(reader, knowledge, "rerankers", "disabled", _older_reranker(reader, knowledge))
    retriever = _chosen(reader, knowledge, "retrievers", "builtin_hybrid", None)
    store = _chosen(reader, knowledge, "index_stores", "lance", None)
    parsers = reader.section(knowledge, "parsers", "knowledgebase.")
    chunkers = reader.section(knowledge, "chunkers", "knowledgebase.")
    default_parsers = {**DEFAULT_PARSERS, **OCR_PARSERS} if top.ocr else DEFAULT_PARSERS

    def nested(into: Any, key: str) -> Any:
        return reader.nested(into, reader.section(knowledge, key, "knowledgebase."), f"knowledgebase.{key}.")

    config = Config(
        home=home,
        workspace=reader.nested(WorkspaceConfig(), reader.section(data, "workspace"), "workspace."),
        knowledgebase_path=top.knowledgebase_path,
        enabled=top.enabled,
        retrieval_mode=top.retrieval_mode.lower(),
        auto_index=top.auto_index,
        watch_for_changes=top.watch_for_changes,
        watch_interval_seconds=top.watch_interval_seconds,
        roots=_roots(reader, knowledge.get("roots")),
        indexing=_indexing(reader, knowledge),
        chunking=nested(ChunkingConfig(), "chunking"),
        search=nested(SearchConfig(), "search"),
        inject=_injection(reader, knowledge),
        gate=nested(GateConfig(), "gate"),
        local_knowledge=local_knowledge(data.get("local_knowledge"), where, reader.origins),
        ocr=top.ocr,
        parsers=_plugin_map(reader, "parsers", parsers, default_parsers),
        sole_parser=choices.sole_parser(parsers.get("active")),
        chunkers=_plugin_map(reader, "chunkers", chunkers, DEFAULT_CHUNKERS),
        parser_options=_all_options(reader, parsers, "parsers"),
        chunker_options=_all_options(reader, chunkers, "chunkers"),
        embedder=embedder.name,
        embedder_options=embedder.options,
        embedder_blocks=_all_options(reader, reader.section(knowledge, "embedders", "knowledgebase."), "embedders"),
        reranker=reranker.name,
        reranker_options=reranker.options,
        reranker_blocks=_all_options(reader, reader.section(knowledge, "rerankers", "knowledgebase."), "rerankers"),
        retriever=retriever.name,
        retriever_options=retriever.options,
        index_store=store.name,
        index_store_options=store.options,
        origins=reader.origins,
        warnings=tuple(reader.warnings),
        config_file=config_file,
    )
    return _checked(config, where)


@dataclass(frozen=True, slots=True)
class _Top:
    enabled: bool = True
    knowledgebase_path: str = ""
    retrieval_mode: str = "off"
    auto_index: bool = True
    watch_for_changes: bool = True
    watch_interval_seconds: float = 10.0
    ocr: bool = False


def _checked(config: Config, where: str) -> Config:
    chunking, indexing = config.chunking, config.indexing
    if chunking.default_tokens < 16:
        raise ConfigError(f"{where}: knowledgebase.chunking.default_tokens is {chunking.default_tokens}; at least 16")
    if not 0 <= chunking.overlap_tokens < chunking.default_tokens:
        if "knowledgebase.chunking.overlap_tokens" in config.origins:
            raise ConfigError(
                f"{where}: knowledgebase.chunking.overlap_tokens is {chunking.overlap_tokens}; "
                f"0 to {chunking.default_tokens - 1} fit default_tokens"
            )
        chunking = replace(chunking, overlap_tokens=min(chunking.overlap_tokens, chunking.default_tokens - 1))
        config = replace(config, chunking=chunking)
    if indexing.max_file_mb <= 0:
        raise ConfigError(f"{where}: knowledgebase.indexing.max_file_mb is {indexing.max_file_mb}; it must be above 0")
    if not config.watch_interval_seconds > 0:
        interval = config.watch_interval_seconds
        raise ConfigError(f"{where}: knowledgebase.watch_interval_seconds is {interval}; it must be above 0")
    if config.search.fusion not in {"zscore", "convex", "rrf"}:
        raise ConfigError(f"{where}: knowledgebase.search.fusion is {config.search.fusion!r}; zscore, convex or rrf")
    if config.search.dense_weight is not None and not 0 <= config.search.dense_weight <= 1:
        raise ConfigError(f"{where}: knowledgebase.search.dense_weight is {config.search.dense_weight}; 0 to 1")
    _check_injection(config, where)
    if config.retrieval_mode not in {"off", "gated", "always"}:
        message = (
            f"{where}: knowledgebase.retrieval_mode is {config.retrieval_mode!r}; off, gated or always (taken as off)"
        )
        config = replace(config, retrieval_mode="off", warnings=(*config.warnings, message))
    return config


_COUNTS = (
    "max_injected_chunks", "max_injected_tokens", "max_chunks_per_file", "dense_top_k", "sparse_top_k", "fused_top_k",
    "final_top_k",
)  # fmt: skip
_ROUTES = ("turn", "hook", "tool_only")


def _check_injection(config: Config, where: str) -> None:
    inject = config.inject
    for name in _COUNTS:
        if getattr(inject, name) < 1:
            raise ConfigError(f"{where}: knowledgebase.{name} is {getattr(inject, name)}; at least 1")
    if not 0 <= inject.diversity <= 1:
        raise ConfigError(f"{where}: knowledgebase.diversity is {inject.diversity}; 0 to 1")
    if inject.max_wait_ms < 0:
        raise ConfigError(f"{where}: knowledgebase.max_wait_ms is {inject.max_wait_ms}; at least 0")
    if inject.injection_route not in _ROUTES:
        routes = ", ".join(_ROUTES)
        raise ConfigError(f"{where}: knowledgebase.injection_route is {inject.injection_route!r}; one of {routes}")
    if config.workspace.persist_gateway_uploads not in {"off", "ask", "always"}:
        wrong = config.workspace.persist_gateway_uploads
        raise ConfigError(f"{where}: workspace.persist_gateway_uploads is {wrong!r}; off, ask or always")


def resolve(home: Path | str | None = None, config_file: Path | str | None = None) -> Config:
    """The configuration of a home, from its `config.yaml` and `HERMES_LANCE_…` variables."""
    folder = Path(home).expanduser().absolute() if home is not None else default_home()
    file = Path(config_file).expanduser().absolute() if config_file is not None else folder / "config.yaml"
    if config_file is not None and not file.is_file():
        raise ConfigError(f"{file}: no such configuration file", hint="Check --config.")
    config = from_mapping(folder, read_yaml(file), str(file), file)
    return with_environment(config, os.environ)


VARIABLES = {
    "HERMES_LANCE_EMBEDDER": "embedder",
    "HERMES_LANCE_FUSION": "search.fusion",
    "HERMES_LANCE_MAX_FILE_MB": "indexing.max_file_mb",
}


def with_environment(config: Config, environment: Mapping[str, str]) -> Config:
    """The configuration with the values of our variables laid over it."""
    for variable, target in VARIABLES.items():
        value = environment.get(variable, "").strip()
        if not value:
            continue
        outer, _, inner = target.partition(".")
        reader = _Reader(f"${variable}")
        if inner:
            piece = reader.fill(getattr(config, outer), {inner: value}, f"knowledgebase.{outer}.")
            config = replace(config, **{outer: piece})
        else:
            config = replace(config, embedder=registry.normal("embedders", value))
        config = replace(config, origins={**config.origins, f"knowledgebase.{target}": f"${variable}"})
        config = _checked(config, f"${variable}")
    return config
