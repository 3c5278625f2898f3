"""The configuration as it is written: `config.yaml` of a home, then variables of the environment.

Resolution, last wins: defaults, the sections `workspace` and `knowledgebase` of the file, `HERMES_LANCE_…` variables,
arguments. Choices of plugins come only from keys that the user wrote; older flat keys are understood beside ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hermes_lance.core import choices
from hermes_lance.core.choices import DEFAULT_PARSERS, OCR_PARSERS
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
    settings,
)
from hermes_lance.core.config_checks import checked
from hermes_lance.core.config_plugins import CATEGORIES, PluginReader
from hermes_lance.core.config_reader import Reader, nearest, overlaid
from hermes_lance.core.errors import ConfigError
from hermes_lance.core.router_config import local_knowledge
from hermes_lance.core.yaml_file import read_yaml

VARIABLES: Mapping[str, str] = {
    "HERMES_LANCE_WORKSPACE": "workspace.path",
    "HERMES_LANCE_KNOWLEDGEBASE": "knowledgebase.path",
    "HERMES_LANCE_ENABLED": "knowledgebase.enabled",
    "HERMES_LANCE_RETRIEVAL_MODE": "knowledgebase.retrieval_mode",
    "HERMES_LANCE_INJECTION_ROUTE": "knowledgebase.injection_route",
    "HERMES_LANCE_PLATFORMS": "knowledgebase.platforms",
    "HERMES_LANCE_MAX_INJECTED_CHUNKS": "knowledgebase.max_injected_chunks",
    "HERMES_LANCE_MAX_INJECTED_TOKENS": "knowledgebase.max_injected_tokens",
    "HERMES_LANCE_AUTO_INDEX": "knowledgebase.auto_index",
    "HERMES_LANCE_WATCH_FOR_CHANGES": "knowledgebase.watch_for_changes",
    "HERMES_LANCE_EMBEDDER": "knowledgebase.embedders.active",
    "HERMES_LANCE_RERANKER": "knowledgebase.rerankers.active",
    "HERMES_LANCE_RETRIEVER": "knowledgebase.retrievers.active",
    "HERMES_LANCE_FUSION": "knowledgebase.search.fusion",
    "HERMES_LANCE_DENSE_WEIGHT": "knowledgebase.search.dense_weight",
    "HERMES_LANCE_MAX_FILE_MB": "knowledgebase.indexing.max_file_mb",
    "HERMES_LANCE_OCR": "knowledgebase.ocr",
}
"""Variable to the key that it sets."""
_PREFIX = "HERMES_LANCE_"
_SECTIONS = ("workspace", "knowledgebase")
_KNOWLEDGEBASE_KEYS = [
    "enabled", "path", "roots", "retrieval_mode", "auto_index", "watch_for_changes", "watch_interval_seconds", "ocr",
    "injection_format", "gate", "chunking", "embeddings", "reranker", "reranking", "indexing", "max_file_mb", "search",
    *(item.name for item in fields(InjectConfig)), *CATEGORIES,
]  # fmt: skip
_FORMATS = {"sourced_note": "turn", "tool_only": "tool_only"}
"""Values of the older key `injection_format` as routes."""


@dataclass(frozen=True, slots=True)
class _Top:
    """Keys that stand in `knowledgebase` itself."""

    enabled: bool = True
    retrieval_mode: str = "off"
    auto_index: bool = True
    watch_for_changes: bool = True
    watch_interval_seconds: float = 10.0
    ocr: bool = False


def from_mapping(
    home: Path,
    data: Mapping[str, Any],
    where: str,
    config_file: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """The configuration that a `config.yaml` (as a mapping) describes for one home, with variables over it."""
    data, variables = overlaid(data, environment or {}, VARIABLES)
    reader = Reader(where, variables, _all_keys)
    _misspelt(reader, data, environment or {})
    knowledge = reader.section(data, "knowledgebase")
    reader.unknown(knowledge, _KNOWLEDGEBASE_KEYS, "knowledgebase.")
    top = reader.fill(_Top(), knowledge, "knowledgebase.")
    plugins = PluginReader(reader, knowledge, home)
    embedder = plugins.one("embedders", "minilm", plugins.older_embedder())
    reranker = plugins.one("rerankers", "disabled", plugins.older_reranker())
    retriever = plugins.one("retrievers", "builtin_hybrid")
    store = plugins.one("index_stores", "lance")
    chunking = _nested(reader, knowledge, ChunkingConfig(), "chunking")
    own_chunkers = choices.by_strategies(chunking.code_strategy, chunking.markdown_strategy)
    config = Config(
        home=home,
        workspace=reader.nested(WorkspaceConfig(), reader.section(data, "workspace"), "workspace."),
        knowledgebase_path=_path(reader, knowledge),
        enabled=top.enabled,
        retrieval_mode=top.retrieval_mode.lower(),
        auto_index=top.auto_index,
        watch_for_changes=top.watch_for_changes,
        watch_interval_seconds=top.watch_interval_seconds,
        roots=_roots(reader, knowledge.get("roots")),
        indexing=_indexing(reader, knowledge),
        chunking=chunking,
        search=_nested(reader, knowledge, SearchConfig(), "search"),
        inject=_injection(reader, knowledge),
        gate=_nested(reader, knowledge, GateConfig(), "gate"),
        local_knowledge=local_knowledge(data.get("local_knowledge"), where, reader.origins, environment),
        ocr=top.ocr,
        parsers=plugins.by_media_type("parsers", {**DEFAULT_PARSERS, **OCR_PARSERS} if top.ocr else DEFAULT_PARSERS),
        sole_parser=choices.sole_parser(reader.section(knowledge, "parsers").get("active")),
        chunkers=plugins.by_media_type("chunkers", own_chunkers),
        parser_options=plugins.all_options("parsers"),
        chunker_options=plugins.all_options("chunkers"),
        embedder=embedder.name,
        embedder_options=embedder.options,
        embedder_blocks=embedder.blocks,
        reranker=reranker.name,
        reranker_options=reranker.options,
        reranker_blocks=reranker.blocks,
        retriever=retriever.name,
        retriever_options=retriever.options,
        index_store=store.name,
        index_store_options=store.options,
        origins=reader.origins,
        warnings=tuple(reader.warnings),
        config_file=config_file,
    )
    return checked(config, reader)


def _all_keys() -> Iterable[str]:
    return (one.key for one in settings(Config(home=Path())))


def _misspelt(reader: Reader, data: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Sections and variables that are nearly ours. All others are somebody else's, and none of our business."""
    ours = {*_KNOWLEDGEBASE_KEYS, *(item.name for item in fields(WorkspaceConfig))}
    for key, value in data.items():
        if key not in _SECTIONS and isinstance(value, Mapping) and ours & {str(one) for one in value}:
            near = nearest(str(key), _SECTIONS, 0.8)
            if near:
                reader.warnings.append(f"{reader.where}: {key} is not read; did you mean {near}?")
    for name in environment:
        if name.startswith(_PREFIX) and name not in VARIABLES:
            near = nearest(name, VARIABLES, 0.85)
            if near:
                reader.warnings.append(f"${name} is not a variable of ours; did you mean {near}?")


def _nested(reader: Reader, knowledge: Mapping[str, Any], into: Any, key: str) -> Any:
    return reader.nested(into, reader.section(knowledge, key, "knowledgebase."), f"knowledgebase.{key}.")


def _path(reader: Reader, knowledge: Mapping[str, Any]) -> str:
    key, value = "knowledgebase.path", knowledge.get("path")
    if value is None:
        return ""
    reader.note(key)
    return str(reader.typed(key, value, ""))


def _roots(reader: Reader, value: Any) -> tuple[RootSetting, ...]:
    """A bare path is recursive, a block without `recursive` is not; what is neither is passed over with a warning."""
    if not value:
        return ()
    key = "knowledgebase.roots"
    if not isinstance(value, list):
        raise ConfigError(
            f"{reader.where}: {key} is {value!r}, and must be a list",
            hint="Write each folder in a line of its own, with a dash before it.",
        )
    reader.note(key)
    found = []
    for at, entry in enumerate(value):
        if isinstance(entry, str) and entry.strip():
            found.append(RootSetting(entry, True))
        elif isinstance(entry, Mapping) and isinstance(entry.get("path"), str) and entry["path"].strip():
            reader.unknown(entry, ["path", "recursive"], f"{key}[{at}].")
            recursive = entry.get("recursive")
            deep = recursive is not None and reader.typed(f"{key}[{at}].recursive", recursive, False)
            found.append(RootSetting(entry["path"], bool(deep)))
        else:
            reader.warnings.append(f"{reader.where}: {key} has an entry without a path: {entry!r}")
    return tuple(found)


def _injection(reader: Reader, knowledge: Mapping[str, Any]) -> InjectConfig:
    flat = dict(knowledge)
    older = flat.get("injection_format")
    if older is not None and flat.get("injection_route") is None:
        word = str(older).strip().lower()
        if word not in _FORMATS:
            raise reader.wrong(
                "knowledgebase.injection_format", older, f"one of {', '.join(_FORMATS)}", next(iter(_FORMATS))
            )
        flat["injection_route"] = _FORMATS[word]
    return reader.fill(InjectConfig(), flat, "knowledgebase.")


def _indexing(reader: Reader, knowledge: Mapping[str, Any]) -> IndexingConfig:
    section = dict(reader.section(knowledge, "indexing", "knowledgebase."))
    if section.get("max_file_mb") is None and knowledge.get("max_file_mb") is not None:
        section["max_file_mb"] = knowledge["max_file_mb"]  # where older releases of the host had it
    return reader.nested(IndexingConfig(), section, "knowledgebase.indexing.")


def resolve(home: Path | str | None = None, config_file: Path | str | None = None) -> Config:
    """The configuration of a home, from its `config.yaml` and `HERMES_LANCE_…` variables."""
    folder = Path(home).expanduser().absolute() if home is not None else default_home()
    file = Path(config_file).expanduser().absolute() if config_file is not None else folder / "config.yaml"
    if config_file is not None and not file.is_file():
        raise ConfigError(f"{file}: no such configuration file", hint="Check --config.")
    return from_mapping(folder, read_yaml(file), str(file), file, os.environ)
