"""The configuration: a tree of frozen dataclasses whose defaults are the documentation.

How it is read from a file and from the environment is in `config_file.py`. Below `library.py` nothing reads either.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from hermes_lance.core.choices import DEFAULT_CHUNKERS, DEFAULT_PARSERS
from hermes_lance.core.router_config import LocalKnowledgeConfig


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
    """Folder of the user's files; empty = `workspace` in the home. `~` and variables are understood, a relative path
    starts at the home."""
    auto_create: bool = True
    """Make that folder before the first build where it is not there."""
    persist_gateway_uploads: str = "ask"
    """Files that arrive in a chat are kept in `uploads`: `off`, `ask` or `always`."""


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
    code_strategy: str = "structural"
    """How source code is cut: `structural` (one definition a passage), `paragraphs` or `fixed`."""
    markdown_strategy: str = "headings"
    """How Markdown is cut: `headings`, `paragraphs` or `fixed`."""


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
class InjectConfig:
    """What an agent is given unasked. These keys stand in `knowledgebase` itself."""

    max_injected_chunks: int = 6
    """Passages of one block, at most."""
    max_injected_tokens: int = 3200
    """Tokens of one block with its note and headers, estimated, at most."""
    dense_top_k: int = 40
    """Best passages by meaning that compete for a block."""
    sparse_top_k: int = 40
    """Best passages by words that compete for a block."""
    fused_top_k: int = 30
    """How many of them are left after fusion, and are reranked where that is on."""
    final_top_k: int = 8
    """How many of those are chosen from."""
    max_chunks_per_file: int = 3
    """Passages of one file in one block, at most."""
    diversity: float = 0.3
    """How much being unlike the passages before it counts for a passage against its rank: 0 (nothing) to 1 (all)."""
    min_fused_score: float = 0.0
    """Passages with a lower fused score are left out; 0 = none is."""
    injection_route: str = "turn"
    """How a block reaches the model: `turn` (this request only), `hook` (the host stores it) or `tool_only` (never
    unasked)."""
    platforms: tuple[str, ...] = ()
    """Messaging platforms and API servers that may be given passages unasked; a terminal always may."""
    max_wait_ms: int = 1500
    """How long a turn waits for a block while things are being loaded."""


@dataclass(frozen=True, slots=True)
class GateConfig:
    """Which messages are worth a look into the files, in `gated` mode."""

    open_words: tuple[str, ...] = ()
    """Further words or phrases that name the user's files: a message with one is always looked up. Any language."""
    closed_phrases: tuple[str, ...] = ()
    """Further messages that are mere talk and never looked up. Any language."""
    evidence: float = 0.0
    """Evidence that a passage must bring to be given: more gives less, less gives more (docs/BENCHMARKS.md)."""


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set, and where each value came from."""

    home: Path
    workspace: WorkspaceConfig = field(default_factory=WorkspaceConfig)
    knowledgebase_path: str = ""
    """Folder that holds the index; empty = `knowledgebase` in the home. Written as `workspace.path`."""
    enabled: bool = True
    """False: nothing is built; what is indexed can be searched."""
    retrieval_mode: str = "off"
    """`off`, `gated` or `always`: when an agent gets passages unasked. Shown by status."""
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
    inject: InjectConfig = field(default_factory=InjectConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    local_knowledge: LocalKnowledgeConfig = field(default_factory=LocalKnowledgeConfig)
    ocr: bool = False
    """Read the words of images and of scanned PDF pages; needs the extra `ocr`. Pictures are never described."""
    parsers: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_PARSERS))
    """Parser of each media type or suffix (`.dwg`); one name alone serves what that parser can read."""
    sole_parser: str = ""
    """A parser of another package or of this home that was named alone: it serves what it says it can read."""
    chunkers: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_CHUNKERS))
    """Chunker of each media type; one name alone serves all."""
    embedder: str = "minilm"
    """What turns text into vectors: `minilm`, `builtin_hash`, `local_sentence_transformers`, `openai` or `google`."""
    embedder_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the embedder of that name; EMBEDDERS.md lists them."""
    embedder_blocks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options of every embedder that has some, for a change of embedder."""
    reranker: str = "disabled"
    """What orders the best hits anew: `disabled`, `heuristic`, `local_cross_encoder`, `cohere` or `voyage`."""
    reranker_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the reranker of that name; RERANKERS.md lists them."""
    reranker_blocks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options of every reranker that has some, for `--rerank NAME`."""
    retriever: str = "builtin_hybrid"
    """What finds passages: `builtin_hybrid`, or `builtin_hybrid_rrf`, the same with RRF fusion."""
    retriever_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the retriever of that name."""
    index_store: str = "lance"
    """Where the index is kept."""
    index_store_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the index store of that name."""
    parser_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options of parsers, by name."""
    chunker_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options of chunkers, by name."""
    origins: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    config_file: Path | None = None

    @property
    def workspace_root(self) -> Path:
        """Root 0: the user's own files."""
        return self._folder(self.workspace.path or "workspace")

    @property
    def knowledgebase_root(self) -> Path:
        """The parent of the index."""
        return self._folder(self.knowledgebase_path or "knowledgebase")

    @property
    def dataset(self) -> Path:
        """The folder of the dataset."""
        return self.knowledgebase_root / "indexes"

    def _folder(self, text: str) -> Path:
        """A folder as it is written; a relative one starts at the home, wherever the command runs."""
        return Path(os.path.normpath(self.home.absolute() / expanded(text)))


def default_home() -> Path:
    """`$HERMES_HOME`, else `~/.hermes`."""
    named = os.environ.get("HERMES_HOME", "").strip()
    return Path(named).expanduser().absolute() if named else Path.home() / ".hermes"


def expanded(text: str) -> str:
    """A path with `~` and variables of the environment in their places."""
    return os.path.expanduser(os.path.expandvars(text))


KEYS: Mapping[str, str] = {
    "knowledgebase_path": "knowledgebase.path",
    **{name: f"knowledgebase.{name}.active" for name in ("parsers", "chunkers")},
    **{name: f"knowledgebase.{name}s.active" for name in ("embedder", "reranker", "retriever", "index_store")},
    **{f"{name}_options": f"knowledgebase.{name}s.NAME" for name in ("parser", "chunker", "embedder", "reranker")},
    **{f"{name}_options": f"knowledgebase.{name}s.NAME" for name in ("retriever", "index_store")},
}
"""Fields whose key in the file is another word; `NAME` is that of the plugin."""
FLAT: Mapping[str, str] = {
    "workspace": "workspace.",
    "inject": "knowledgebase.",
    "local_knowledge": "local_knowledge.",
}
"""Where the keys of a group stand, if not below its name in `knowledgebase`."""
NO_KEYS = frozenset({"home", "origins", "warnings", "config_file", "sole_parser", "embedder_blocks", "reranker_blocks"})


@dataclass(frozen=True, slots=True)
class Setting:
    """One key as it stands in the file, its value, and where that came from: a file, a variable, or `default`."""

    key: str
    value: Any
    origin: str


def settings(config: Config) -> list[Setting]:
    """Every key, for `doctor` and the manifest."""
    rows: list[Setting] = []

    def walk(piece: Any, prefix: str) -> None:
        for item in fields(piece):
            value = getattr(piece, item.name)
            if piece is config and item.name in NO_KEYS:
                continue
            if is_dataclass(value) and not isinstance(value, type):
                walk(value, FLAT.get(item.name, f"{prefix}{item.name}."))
            else:
                key = KEYS.get(item.name) if piece is config else None
                rows.append(_setting(config, item.name, key or f"{prefix}{item.name}", value))

    walk(config, "knowledgebase.")
    return rows


def settings_rows(config: Config) -> list[list[str]]:
    """Key, value as text and origin of every one, as a manifest keeps them."""
    return [[one.key, str(one.value), one.origin] for one in settings(config)]


def chosen_settings(config: Config) -> list[Setting]:
    """The keys that a file or a variable has set; of what is chosen by media type, what differs from the default."""
    plain = {one.key: one.value for one in settings(Config(home=config.home))}
    found = []
    for one in settings(config):
        if one.origin == "default":
            continue
        usual = plain.get(one.key)
        if isinstance(one.value, Mapping) and isinstance(usual, Mapping):
            own = {key: value for key, value in one.value.items() if usual.get(key) != value}
            one = replace(one, value=own)
        found.append(one)
    return found


def _setting(config: Config, name: str, key: str, value: Any) -> Setting:
    if key.endswith(".NAME"):
        # Options of one plugin stand below its name; those of parsers and chunkers, of several, below theirs.
        chosen = getattr(config, name.removesuffix("_options"), None)
        key = key.removesuffix(".NAME") + (f".{chosen}" if isinstance(chosen, str) else "")
    found = config.origins.get(key)
    if found is None and isinstance(value, Mapping):
        found = next((origin for one, origin in config.origins.items() if value and one.startswith(f"{key}.")), None)
    return Setting(key, value, found or "default")
