"""The configuration as people write it: defaults, older keys, origins, warnings and refusals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hermes_lance.core.config import Config, RootSetting, chosen_settings, settings
from hermes_lance.core.config_file import VARIABLES, from_mapping
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


def test_zero_is_no_way_to_say_the_default_but_for_an_overlap():
    assert read(chunking={"overlap_tokens": 0}).chunking.overlap_tokens == 0
    for block, key in [
        ("chunking", "default_tokens"), ("chunking", "window_tokens"), ("chunking", "vectors_per_chunk"),
        ("indexing", "max_file_mb"), ("search", "candidates"),
    ]:  # fmt: skip
        with pytest.raises(ConfigError, match=rf"config.yaml: knowledgebase.{block}.{key} is 0") as found:
            read(**{block: {key: 0}})
        assert found.value.hint.startswith("Leave it out for the default, ")
    for key in ("watch_interval_seconds", "max_injected_tokens", "max_wait_ms"):
        with pytest.raises(ConfigError, match=f"{key} is 0"):
            read(**{key: 0})


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"chunking": {"default_tokens": "many"}}, "default_tokens is 'many'; a whole number is needed"),
        ({"chunking": {"overlap_tokens": 512}}, "overlap_tokens is 512; 0 to 511 fit default_tokens"),
        ({"chunking": {"code_strategy": "magic"}}, "code_strategy is 'magic'; one of structural, paragraphs, fixed"),
        ({"chunking": 3}, "knowledgebase.chunking is 3, and must be a block of keys"),
        ({"search": {"fusion": "magic"}}, "search.fusion is 'magic'; one of zscore, convex, rrf"),
        ({"search": {"dense_weight": 1.5}}, "dense_weight is 1.5; 0 to 1"),
        ({"diversity": -0.1}, "knowledgebase.diversity is -0.1; 0 to 1"),
        ({"enabled": "perhaps"}, "knowledgebase.enabled is 'perhaps'; true or false is needed"),
        ({"injection_format": "loud"}, "injection_format is 'loud'; one of sourced_note, tool_only"),
        ({"roots": "docs"}, "knowledgebase.roots is 'docs', and must be a list"),
        ({"roots": [{"path": "docs", "recursive": "deep"}]}, "recursive is 'deep'; true or false"),
        ({"platforms": {"a": 1}}, "platforms is {'a': 1}; a list is needed"),
        ({"embedders": {"openai": "gpt"}}, "knowledgebase.embedders.openai is 'gpt', and must be a block"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_key_value_and_what_would_be_right(written, said):
    with pytest.raises(ConfigError) as found:
        read(**written)
    assert said in str(found.value) and str(found.value).startswith("config.yaml: ")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"embedders": {"activ": "openai"}}, "knowledgebase.embedders.activ is not a known key; did you mean kno"),
        ({"embedders": {"opnai": {"model": "x"}}}, "did you mean knowledgebase.embedders.openai?"),
        ({"rerankers": {"active": "off", "coheer": {}}}, "did you mean knowledgebase.rerankers.cohere?"),
        ({"embeddings": {"provder": "local"}}, "did you mean knowledgebase.embeddings.provider?"),
        ({"reranker": {"enable": True}}, "did you mean knowledgebase.reranker.enabled?"),
        ({"indexing": {"maxFileMb": 3}}, "did you mean knowledgebase.indexing.max_file_mb?"),
        ({"gate": {"open_word": []}}, "did you mean knowledgebase.gate.open_words?"),
        ({"search": {"canditates": 3}}, "did you mean knowledgebase.search.candidates?"),
        ({"default_tokens": 300}, "did you mean knowledgebase.chunking.default_tokens?"),
        ({"search": {"max_injected_tokens": 3}}, "did you mean knowledgebase.max_injected_tokens?"),
        ({"roots": [{"path": "x", "recusive": True}]}, "did you mean knowledgebase.roots[0].recursive?"),
        ({"roots": [{"recursive": True}]}, "has an entry without a path"),
        ({"zzz": 1}, "knowledgebase.zzz is not a known key"),
    ],
)
def test_an_unknown_key_at_any_level_is_a_warning_with_the_nearest_known_one(written, said):
    config = read(**written)
    assert any(said in warning for warning in config.warnings), config.warnings


def test_a_section_or_variable_that_is_nearly_ours_is_named_and_those_of_others_are_not():
    data = {"knowledgbase": {"retrieval_mode": "gated"}, "model": {"name": "x"}, "workspaces": {"remote": 1}}
    config = from_mapping(
        Path("home"), data, "config.yaml", environment={"HERMES_LANCE_EMBEDER": "x", "HERMES_HOME": ""}
    )
    assert config.warnings == (
        "config.yaml: knowledgbase is not read; did you mean knowledgebase?",
        "$HERMES_LANCE_EMBEDER is not a variable of ours; did you mean HERMES_LANCE_EMBEDDER?",
    )


def test_a_plugin_of_a_folder_of_the_home_may_have_options(tmp_path):
    (tmp_path / "plugins" / "workspace" / "embedders" / "my-own").mkdir(parents=True)
    data = {"knowledgebase": {"embedders": {"active": "my-own", "my-own": {"size": 3}}}}
    config = from_mapping(tmp_path, data, "config.yaml")
    assert (config.embedder, dict(config.embedder_options), config.warnings) == ("my_own", {"size": 3}, ())


def test_variables_lie_over_the_file_and_are_the_origin_of_what_they_set():
    data = {"knowledgebase": {"embedders": {"active": "openai", "openai": {"model": "x"}}, "retrieval_mode": "off"}}
    environment = {
        "HERMES_LANCE_EMBEDDER": "builtin-hash", "HERMES_LANCE_RETRIEVAL_MODE": "gated", "HERMES_LANCE_OCR": "yes",
        "HERMES_LANCE_PLATFORMS": "telegram, discord", "HERMES_LANCE_MAX_FILE_MB": "2.5", "HERMES_LANCE_WORKSPACE": "~",
        "HERMES_LANCE_RERANKER": "none", "HERMES_LANCE_MAX_INJECTED_TOKENS": "900", "HERMES_LANCE_FUSION": "",
    }  # fmt: skip
    config = from_mapping(Path("home"), data, "config.yaml", environment=environment)
    assert (config.embedder, dict(config.embedder_options)) == ("builtin_hash", {}), "options of another one"
    assert (config.retrieval_mode, config.ocr, config.reranker) == ("gated", True, "disabled")
    assert (config.inject.platforms, config.inject.max_injected_tokens) == (("telegram", "discord"), 900)
    assert (config.indexing.max_file_mb, config.workspace_root) == (2.5, Path.home())
    assert config.origins["knowledgebase.embedders.active"] == "$HERMES_LANCE_EMBEDDER"
    assert config.origins["knowledgebase.embedders.openai"] == "config.yaml"
    assert data["knowledgebase"]["retrieval_mode"] == "off"


def test_a_variable_with_a_wrong_value_is_named_with_its_remedy():
    with pytest.raises(ConfigError) as found:
        from_mapping(Path("home"), {}, "config.yaml", environment={"HERMES_LANCE_MAX_FILE_MB": "0"})
    assert str(found.value).startswith("$HERMES_LANCE_MAX_FILE_MB: knowledgebase.indexing.max_file_mb is 0")
    assert found.value.hint == "Unset that variable for the default, 10.0."


def test_every_variable_sets_a_key_that_there_is():
    keys = {one.key for one in settings(Config(home=Path("home")))}
    assert set(VARIABLES.values()) <= keys


def test_paths_understand_the_home_folder_variables_and_relative_ways(monkeypatch):
    monkeypatch.setenv("SHELF", "/srv/shelf")
    data = {"workspace": {"path": "$SHELF/mine"}, "knowledgebase": {"path": "~/index", "roots": ["${SHELF}/x"]}}
    config = from_mapping(Path("/home/of/agent"), data, "config.yaml")
    assert (config.workspace_root, config.knowledgebase_root) == (Path("/srv/shelf/mine"), Path.home() / "index")
    assert config.warnings == ()
    near = from_mapping(Path("/home/of/agent"), {"workspace": {"path": "../files"}}, "config.yaml")
    assert near.workspace_root == Path("/home/of/files"), "from the home, wherever a command runs"


@pytest.mark.parametrize("section", ["workspace", "knowledgebase"])
def test_a_variable_that_is_not_set_makes_no_folder_of_its_name(section):
    with pytest.raises(ConfigError, match=rf"{section}.path is '\$NOT_SET_HERE/x', and the variable \$NOT_SET_HERE"):
        from_mapping(Path("home"), {section: {"path": "$NOT_SET_HERE/x"}}, "config.yaml")


def test_a_root_behind_a_variable_that_is_not_set_is_a_warning():
    config = read(roots=["$NOT_SET_HERE/x"])
    assert "the variable $NOT_SET_HERE is not set" in config.warnings[0]


def test_strategies_choose_chunkers_where_none_are_named():
    config = read(chunking={"code_strategy": "paragraphs", "markdown_strategy": "fixed"})
    assert (config.chunkers["text/x-*"], config.chunkers["text/markdown"]) == ("paragraphs", "fixed")
    named = read(chunking={"code_strategy": "fixed"}, chunkers={"active": {"text/x-*": "symbols"}})
    assert named.chunkers["text/x-*"] == "symbols"
    assert read(chunking={"code_strategy": "structural"}).chunkers == read().chunkers


def test_the_older_place_of_the_size_limit_is_read_and_the_newer_one_wins():
    assert read(max_file_mb=3).indexing.max_file_mb == 3
    assert read(max_file_mb=3, indexing={"max_file_mb": 4}).indexing.max_file_mb == 4


def test_what_was_set_is_listed_with_the_place_that_set_it():
    data = {
        "workspace": {"auto_create": False},
        "knowledgebase": {
            "roots": ["x"], "parsers": {"active": {"text/html": "builtin_text"}}, "path": "p",
            "embedders": {"active": "builtin_hash", "builtin_hash": {"dims": 64}}, "max_injected_chunks": 3,
        },
    }  # fmt: skip
    found = chosen_settings(from_mapping(Path("home"), data, "file", environment={"HERMES_LANCE_FUSION": "rrf"}))
    assert {one.key: (one.value, one.origin) for one in found} == {
        "workspace.auto_create": (False, "file"),
        "knowledgebase.path": ("p", "file"),
        "knowledgebase.roots": ((RootSetting("x", True),), "file"),
        "knowledgebase.search.fusion": ("rrf", "$HERMES_LANCE_FUSION"),
        "knowledgebase.max_injected_chunks": (3, "file"),
        "knowledgebase.parsers.active": ({"text/html": "builtin_text"}, "file"),
        "knowledgebase.embedders.active": ("builtin_hash", "file"),
        "knowledgebase.embedders.builtin_hash": ({"dims": 64}, "file"),
    }
    assert chosen_settings(from_mapping(Path("home"), {}, "file")) == []


def test_every_key_says_what_it_means():
    page = (Path(__file__).parents[2] / "docs" / "CONFIG.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    meanings = {row[0].strip("| `"): row[-1].strip(" |") for row in rows}
    for one in settings(Config(home=Path("home"))):
        key = re.sub(r"(embedders|rerankers|retrievers|index_stores)\.(?!active).*", r"\1.NAME", one.key)
        key = re.sub(r"^(knowledgebase\.(parsers|chunkers))$", r"\1.NAME", key)
        assert meanings.get(key), key


def test_a_provider_that_is_not_known_is_said_and_what_takes_its_place():
    said = "config.yaml: knowledgebase.embeddings.provider is 'elsewhere'; one of local, openai, google"
    assert read(embeddings={"provider": "elsewhere"}).warnings == (f"{said} (builtin_hash is taken)",)
    assert "heuristic is taken" in read(reranker={"provider": "somebody"}).warnings[0]
    assert read(embeddings={"provider": "local"}, reranker={"provider": "heuristic"}).warnings == ()
