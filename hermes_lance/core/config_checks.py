"""Which values of settings can be used: bounds and words, and paths that mean a folder. No zero means a default.

Only a mode that does not exist is taken as off, with a warning: no passage goes anywhere by mistake.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

from hermes_lance.core.choices import CODE_STRATEGIES, MARKDOWN_STRATEGIES
from hermes_lance.core.config import Config
from hermes_lance.core.config_reader import Reader
from hermes_lance.core.errors import ConfigError

MODES = ("off", "gated", "always")
ROUTES = ("turn", "hook", "tool_only")
FUSIONS = ("zscore", "convex", "rrf")
UPLOADS = ("off", "ask", "always")
FEWEST_TOKENS = 16
"""Of a passage and of a window: less holds no sentence."""
_VARIABLE = re.compile(r"\$(\w+|\{[^}]*\})")


def checked(config: Config, reader: Reader) -> Config:
    """The configuration, or `ConfigError` that names key, value and what would be right."""
    plain = Config(home=config.home)
    for key, value, least, default in _least(config, plain):
        if value < least:
            raise reader.wrong(key, value, f"at least {least:g}", default)
    for key, value, default in _above_zero(config, plain):
        if not value > 0:
            raise reader.wrong(key, value, "it must be above 0", default)
    for key, share, default in _shares(config, plain):
        if share is not None and not 0 <= share <= 1:
            raise reader.wrong(key, share, "0 to 1", default)
    for key, word, words in _words(config):
        if word not in words:
            raise reader.wrong(key, word, f"one of {', '.join(words)}", words[0])
    config = _overlap(config, reader)
    _paths(config, reader)
    config = _roots(config, reader)
    if config.retrieval_mode not in MODES:
        said = f"{reader.place('knowledgebase.retrieval_mode')}: knowledgebase.retrieval_mode is "
        said += f"{config.retrieval_mode!r}; {', '.join(MODES[:2])} or {MODES[2]} (taken as off)"
        config = replace(config, retrieval_mode="off", warnings=(*config.warnings, said))
    return config


def _least(config: Config, plain: Config) -> Iterator[tuple[str, float, float, object]]:
    for name in ("default_tokens", "window_tokens"):
        yield (
            f"knowledgebase.chunking.{name}",
            getattr(config.chunking, name),
            FEWEST_TOKENS,
            getattr(plain.chunking, name),
        )
    yield "knowledgebase.chunking.vectors_per_chunk", config.chunking.vectors_per_chunk, 1, 4
    yield "knowledgebase.search.candidates", config.search.candidates, 1, plain.search.candidates
    for name in (
        "max_injected_chunks", "max_injected_tokens", "max_chunks_per_file", "dense_top_k", "sparse_top_k",
        "fused_top_k", "final_top_k", "max_wait_ms",
    ):  # fmt: skip
        yield f"knowledgebase.{name}", getattr(config.inject, name), 1, getattr(plain.inject, name)


def _above_zero(config: Config, plain: Config) -> Iterator[tuple[str, float, object]]:
    yield "knowledgebase.indexing.max_file_mb", config.indexing.max_file_mb, plain.indexing.max_file_mb
    yield "knowledgebase.watch_interval_seconds", config.watch_interval_seconds, plain.watch_interval_seconds


def _shares(config: Config, plain: Config) -> Iterator[tuple[str, float | None, object]]:
    yield "knowledgebase.search.dense_weight", config.search.dense_weight, "the embedder's own"
    yield "knowledgebase.diversity", config.inject.diversity, plain.inject.diversity


def _words(config: Config) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    yield "knowledgebase.chunking.code_strategy", config.chunking.code_strategy, tuple(CODE_STRATEGIES)
    yield "knowledgebase.chunking.markdown_strategy", config.chunking.markdown_strategy, tuple(MARKDOWN_STRATEGIES)
    yield "knowledgebase.search.fusion", config.search.fusion, FUSIONS
    yield "knowledgebase.injection_route", config.inject.injection_route, ROUTES
    yield "workspace.persist_gateway_uploads", config.workspace.persist_gateway_uploads, UPLOADS


def _overlap(config: Config, reader: Reader) -> Config:
    """0 is none; one that is larger than a passage is refused where it was written, and shortened where not."""
    chunking = config.chunking
    if 0 <= chunking.overlap_tokens < chunking.default_tokens:
        return config
    key = "knowledgebase.chunking.overlap_tokens"
    if key in reader.origins:
        most = chunking.default_tokens - 1
        raise reader.wrong(key, chunking.overlap_tokens, f"0 to {most} fit default_tokens", 80)
    return replace(config, chunking=replace(chunking, overlap_tokens=chunking.default_tokens - 1))


def _paths(config: Config, reader: Reader) -> None:
    """A variable that is not set would be taken as a name, and a folder of that name be made."""
    for key, text in (("workspace.path", config.workspace.path), ("knowledgebase.path", config.knowledgebase_path)):
        left = unset_variable(text)
        if left is not None:
            raise ConfigError(
                f"{reader.place(key)}: {key} is {text!r}, and the variable {left} is not set",
                hint=f"Set it where hermes-lance and the agent are started, or write the path itself into {key}.",
            )


def _roots(config: Config, reader: Reader) -> Config:
    """A root that cannot be found is one that is away, whose passages are kept; the reason is said."""
    said = [
        f"{reader.where}: knowledgebase.roots has {root.path!r}, and the variable {left} is not set"
        for root in config.roots
        if (left := unset_variable(root.path)) is not None
    ]
    return replace(config, warnings=(*config.warnings, *said)) if said else config


def unset_variable(text: str) -> str | None:
    """`$NAME` in a path, where there is no such variable and no such folder either."""
    expanded = os.path.expanduser(os.path.expandvars(text))
    left = _VARIABLE.search(expanded)
    return left[0] if left is not None and not os.path.lexists(expanded) else None
