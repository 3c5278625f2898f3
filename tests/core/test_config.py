"""The configuration as people write it: defaults, older keys, origins, warnings and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hermes_lance.core.config import Config
from hermes_lance.core.config_file import from_mapping
from hermes_lance.core.errors import ConfigError


def read(**knowledgebase: Any) -> Config:
    return from_mapping(Path("home"), {"knowledgebase": knowledgebase}, "config.yaml")


def test_nothing_written_means_the_defaults_and_no_warning() -> None:
    config = from_mapping(Path("home"), {}, "config.yaml")
    assert (config.embedder, config.reranker, config.retriever) == ("minilm", "disabled", "builtin_hybrid")
    assert (config.inject.max_injected_chunks, config.inject.max_injected_tokens) == (6, 3200)
    assert config.warnings == ()
    assert config.origins == {}


@pytest.mark.parametrize(
    ("written", "name", "options"),
    [
        ({"provider": "local"}, "local_sentence_transformers", {}),
        ({"model": "here/it-is"}, "local_sentence_transformers", {"model": "here/it-is"}),
        ({"provider": "openai", "dimensions": 512}, "openai", {"dimensions": 512}),
        ({"provider": "elsewhere", "model": "x"}, "builtin_hash", {}),
    ],
)
def test_an_embeddings_block_chooses_the_embedder(
    written: Mapping[str, Any], name: str, options: Mapping[str, Any]
) -> None:
    config = read(embeddings=written)
    assert (config.embedder, dict(config.embedder_options)) == (name, options)
    assert config.origins["knowledgebase.embedders.active"] == "config.yaml (embeddings.provider)"


def test_the_active_key_wins_over_the_older_block() -> None:
    config = read(embeddings={"provider": "openai"}, embedders={"active": "builtin-hash", "builtin-hash": {"dims": 64}})
    assert (config.embedder, dict(config.embedder_options)) == ("builtin_hash", {"dims": 64})


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ({"enabled": False, "provider": "cohere"}, "disabled"),
        ({"enabled": True}, "local_cross_encoder"),
        ({"provider": "cohere"}, "cohere"),
        ({"provider": "somebody"}, "heuristic"),
        ({"model": "x"}, "disabled"),
    ],
)
def test_a_reranker_block_is_on_where_it_says_so_or_names_a_provider(written: Mapping[str, Any], name: str) -> None:
    assert read(reranker=written).reranker == name
    assert read(reranking=written).reranker == name


def test_options_of_a_reranker_block_go_to_the_one_it_chooses() -> None:
    written = {"provider": "local", "model": "/models/mine", "timeout_seconds": 5}
    assert read(reranker=written).reranker_options == {"model": "/models/mine", "timeout_seconds": 5}
    assert read(reranker={**written, "provider": "somebody"}).reranker_options == {"timeout_seconds": 5}
    with pytest.raises(ConfigError, match="keys are not read from the configuration"):
        read(reranker={"provider": "cohere", "api_key": "abc"})
    with pytest.raises(ConfigError, match="keys are not read from the configuration"):
        read(rerankers={"active": "heuristic", "cohere": {"api_key": "abc"}})


def test_a_bare_off_is_the_word_and_not_a_truth_value() -> None:
    assert read(rerankers={"active": False}).reranker == "disabled"
    assert read(retrieval_mode=False).retrieval_mode == "off"
    uploads = from_mapping(Path("home"), {"workspace": {"persist_gateway_uploads": False}}, "config.yaml")
    assert uploads.workspace.persist_gateway_uploads == "off"


def test_the_older_word_for_the_route_is_understood_and_ours_wins() -> None:
    assert read(injection_format="tool_only").inject.injection_route == "tool_only"
    assert read(injection_format="sourced_note").inject.injection_route == "turn"
    assert read(injection_format="tool_only", injection_route="hook").inject.injection_route == "hook"


@pytest.mark.parametrize(
    ("section", "key", "near"),
    [
        ("workspace", "enabeld", "workspace.enabled"),
        ("knowledgebase", "retreival_mode", "knowledgebase.retrieval_mode"),
    ],
)
def test_an_unknown_key_is_reported_with_the_nearest_one(section: str, key: str, near: str) -> None:
    config = from_mapping(Path("home"), {section: {key: 1}}, "config.yaml")
    assert config.warnings == (f"config.yaml: {section}.{key} is not a known key; did you mean {near}?",)


def test_an_unknown_key_of_a_block_inside_is_reported_too() -> None:
    assert "did you mean knowledgebase.chunking.overlap_tokens?" in read(chunking={"overlap_token": 3}).warnings[0]


@pytest.mark.parametrize("key", ["max_injected_chunks", "dense_top_k", "final_top_k"])
@pytest.mark.parametrize("value", [0, -1, "many", 2.5, float("nan"), True])
def test_a_count_that_is_none_is_refused_by_its_name(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key):
        read(**{key: value})


def test_an_unknown_route_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"injection_route is 'system'; one of turn, hook, tool_only"):
        read(injection_route="system")
