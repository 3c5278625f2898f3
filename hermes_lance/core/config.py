"""The configuration: a tree of frozen dataclasses whose defaults are the documentation.

Resolution, last wins: defaults, `config.yaml` of the home (its `workspace` and `knowledgebase` sections),
`HERMES_LANCE_…` variables, arguments. Below `library.py` nothing reads the environment or files for settings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from hermes_lance.core import registry
from hermes_lance.core.choices import DEFAULT_CHUNKERS, DEFAULT_PARSERS, OCR_PARSERS
from hermes_lance.core.errors import ConfigError
from hermes_lance.core.yaml_file import read_yaml


@dataclass(frozen=True, slots=True)
class RootSetting:
    """One extra folder. A dictionary without `recursive` means shallow; a bare string in the file means recursive."""

    path: str
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    """Where the user's files are."""

    enabled: bool = True
    """False: nothing is built; what is indexed can be searched."""
    path: str = ""
    """Folder of the user's files; empty = `workspace` in the home."""


@dataclass(frozen=True, slots=True)
class IndexingConfig:
    """Which files are read."""

    max_file_mb: float = 10.0
    """Larger files are skipped."""
    respect_gitignore: bool = True
    """Leave out what `.gitignore` files name."""
    respect_hermesignore: bool = True
    """Leave out what `.hermesignore` files name; same rules."""
    include_hidden: bool = False
    """Read files and folders whose names begin with a dot."""
    exclude_suffixes: tuple[str, ...] = ()
    """Suffixes that are left out beside the built-in list."""


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """How documents are cut. Tokens are those of the default embedder, estimated."""

    default_tokens: int = 512
    """Size that passages are packed to."""
    overlap_tokens: int = 80
    """Repeated from the passage before where a cut falls inside a section."""
    window_tokens: int = 256
    """Tokens of one vector; a longer passage gets several."""
    vectors_per_chunk: int = 4
    """Vectors of one passage, at most."""


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How legs are asked and fused."""

    fusion: str = "zscore"
    """How both rankings become one: `zscore`, `convex` (min-max) or `rrf`."""
    dense_weight: float | None = None
    """Weight of the dense leg; none = the embedder's own."""
    candidates: int = 100
    """Best passages that each leg gives to the fusion, at least."""


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set, and where each value came from."""

    home: Path
    workspace: WorkspaceConfig = field(default_factory=WorkspaceConfig)
    knowledgebase_path: str = ""
    """Folder that holds the index; empty = `knowledgebase` in the home."""
    enabled: bool = True
    """False: nothing is built; what is indexed can be searched."""
    retrieval_mode: str = "off"
    """`off`, `gated` or `always`: when an agent gets passages unasked. Shown by status; no host acts on it yet."""
    auto_index: bool = True
    """An agent's question looks for changed files first, where nobody has looked for 30 seconds."""
    watch_for_changes: bool = True
    """An agent that lives on follows the folders, once an index is there; `hermes-lance watch` always does."""
    watch_interval_seconds: float = 10.0
    """Seconds between two looks where the system tells nothing of changes (network folders, spent limits)."""
    roots: tuple[RootSetting, ...] = ()
    """Further folders: `{path: …, recursive: true}` each; a bare path is recursive."""
    indexing: IndexingConfig = field(default_factory=IndexingConfig)
    chunking: ChunkingConfig = field(default_factory=ChunkingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    ocr: bool = False
    """Read the words of images and of scanned PDF pages; needs the extra `ocr`. Pictures are never described."""
    parsers: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_PARSERS))
    """Parser of each media type; one name alone serves all."""
    chunkers: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_CHUNKERS))
    """Chunker of each media type; one name alone serves all."""
    embedder: str = "minilm"
    """What turns text into vectors: `minilm`, `builtin_hash` or `local_sentence_transformers`."""
    embedder_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the embedder of that name."""
    origins: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    config_file: Path | None = None

    @property
    def workspace_root(self) -> Path:
        """Root 0: the user's own files."""
        return _expanded(self.workspace.path) if self.workspace.path else self.home / "workspace"

    @property
    def knowledgebase_root(self) -> Path:
        """The parent of the index."""
        return _expanded(self.knowledgebase_path) if self.knowledgebase_path else self.home / "knowledgebase"

    @property
    def dataset(self) -> Path:
        """The folder of the dataset."""
        return self.knowledgebase_root / "indexes"


def default_home() -> Path:
    """`$HERMES_HOME`, else `~/.hermes`."""
    named = os.environ.get("HERMES_HOME", "").strip()
    return Path(named).expanduser().absolute() if named else Path.home() / ".hermes"


def _expanded(text: str) -> Path:
    return Path(os.path.expandvars(text)).expanduser().absolute()


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
            if isinstance(value, bool):
                raise wrong
            return int(number) if isinstance(default, int) else number
        if isinstance(default, tuple):
            if isinstance(value, str):
                return tuple(part.strip() for part in value.split(",") if part.strip())
            if not isinstance(value, list):
                raise wrong
            return tuple(str(part) for part in value)
        if not isinstance(value, str):
            raise wrong
        return value


_KNOWLEDGEBASE_KEYS = [
    "enabled", "path", "roots", "retrieval_mode", "auto_index", "watch_for_changes", "watch_interval_seconds",
    "max_injected_chunks", "max_injected_tokens", "dense_top_k", "sparse_top_k", "fused_top_k", "final_top_k",
    "min_fused_score", "injection_format", "injection_route", "platforms", "chunking", "embeddings", "reranker",
    "reranking", "indexing", "max_file_mb", "search", "parsers", "chunkers", "embedders", "rerankers", "retrievers",
    "index_stores", "ocr",
]  # fmt: skip


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
        name = registry.normal(category, active)
        return dict(default) if name == "builtin_structural" else {"*": name}
    if isinstance(active, Mapping):
        return {**default, **{str(key): registry.normal(category, str(name)) for key, name in active.items()}}
    raise ConfigError(f"{reader.where}: knowledgebase.{category}.active must be a name or a map of media type to name")


def from_mapping(home: Path, data: Mapping[str, Any], where: str, config_file: Path | None = None) -> Config:
    """The configuration that a `config.yaml` (as a mapping) describes, for one home."""
    reader = _Reader(where)
    workspace_section = reader.section(data, "workspace")
    knowledge = reader.section(data, "knowledgebase")
    reader.unknown(knowledge, _KNOWLEDGEBASE_KEYS, "knowledgebase.")
    indexing = reader.fill(
        IndexingConfig(), reader.section(knowledge, "indexing", "knowledgebase."), "knowledgebase.indexing."
    )
    flat = {"max_file_mb": knowledge["max_file_mb"]} if "max_file_mb" in knowledge else {}
    if flat and "max_file_mb" not in reader.section(knowledge, "indexing"):
        indexing = reader.fill(indexing, flat, "knowledgebase.")
    flat_keys = {**knowledge, "knowledgebase_path": knowledge.get("path")}
    if flat_keys.get("retrieval_mode") is False:
        flat_keys["retrieval_mode"] = "off"  # what YAML 1.1 makes of the bare word
    top = reader.fill(_Top(), flat_keys, "knowledgebase.")
    embedders = reader.section(knowledge, "embedders", "knowledgebase.")
    embedder = registry.normal("embedders", str(embedders.get("active") or "minilm"))
    if "active" in embedders:
        reader.origins["knowledgebase.embedders.active"] = where
    options = embedders.get(embedder) or embedders.get(embedder.replace("_", "-")) or {}
    config = Config(
        home=home,
        workspace=reader.fill(WorkspaceConfig(), workspace_section, "workspace."),
        knowledgebase_path=top.knowledgebase_path,
        enabled=top.enabled,
        retrieval_mode=top.retrieval_mode.strip().lower(),
        auto_index=top.auto_index,
        watch_for_changes=top.watch_for_changes,
        watch_interval_seconds=top.watch_interval_seconds,
        roots=_roots(reader, knowledge.get("roots")),
        indexing=indexing,
        chunking=reader.fill(ChunkingConfig(), reader.section(knowledge, "chunking"), "knowledgebase.chunking."),
        search=reader.fill(SearchConfig(), reader.section(knowledge, "search"), "knowledgebase.search."),
        ocr=top.ocr,
        parsers=_plugin_map(
            reader,
            "parsers",
            reader.section(knowledge, "parsers"),
            {**DEFAULT_PARSERS, **OCR_PARSERS} if top.ocr else DEFAULT_PARSERS,
        ),
        chunkers=_plugin_map(reader, "chunkers", reader.section(knowledge, "chunkers"), DEFAULT_CHUNKERS),
        embedder=embedder,
        embedder_options=dict(options) if isinstance(options, Mapping) else {},
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
    if config.retrieval_mode not in {"off", "gated", "always"}:
        message = (
            f"{where}: knowledgebase.retrieval_mode is {config.retrieval_mode!r}; off, gated or always (taken as off)"
        )
        config = replace(config, retrieval_mode="off", warnings=(*config.warnings, message))
    return config


def resolve(home: Path | str | None = None, config_file: Path | str | None = None) -> Config:
    """The configuration of a home, from its `config.yaml` and `HERMES_LANCE_…` variables."""
    folder = Path(home).expanduser().absolute() if home is not None else default_home()
    file = Path(config_file).expanduser().absolute() if config_file is not None else folder / "config.yaml"
    if config_file is not None and not file.is_file():
        raise ConfigError(f"{file}: no such configuration file", hint="Check --config.")
    config = from_mapping(folder, read_yaml(file), str(file), file)
    return with_environment(config, os.environ)


_VARIABLES = {
    "HERMES_LANCE_EMBEDDER": "embedder",
    "HERMES_LANCE_FUSION": "search.fusion",
    "HERMES_LANCE_MAX_FILE_MB": "indexing.max_file_mb",
}


def with_environment(config: Config, environment: Mapping[str, str]) -> Config:
    """The configuration with the values of our variables laid over it."""
    for variable, target in _VARIABLES.items():
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


def settings(config: Config) -> list[tuple[str, str, str]]:
    """Every key with its value and origin, for `doctor` and the manifest."""
    rows: list[tuple[str, str, str]] = []

    def walk(piece: Any, prefix: str) -> None:
        for item in fields(piece):
            value = getattr(piece, item.name)
            if item.name in {"origins", "warnings", "config_file"}:
                continue
            if is_dataclass(value) and not isinstance(value, type):
                walk(value, f"{prefix}{item.name}.")
            else:
                name = f"{prefix}{item.name}"
                origin = config.origins.get(f"knowledgebase.{name}", config.origins.get(name, "default"))
                rows.append((name, str(value), origin))

    walk(config, "")
    return rows
