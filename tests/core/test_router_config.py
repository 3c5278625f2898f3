"""The section `local_knowledge`, as leniently as its users have written it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_lance.core.config_file import from_mapping
from hermes_lance.core.errors import ConfigError
from hermes_lance.core.router_config import LocalKnowledgeConfig, local_knowledge

HOME = Path("/h")


def read(section, **environment):
    return local_knowledge(section, "config.yaml", {}, environment)


def test_nothing_written_is_the_default():
    assert read(None) == read({}) == LocalKnowledgeConfig()
    assert read({}).root(HOME) == HOME and read({}).state(HOME) == HOME / "local_knowledge"


@pytest.mark.parametrize("value", [["a", "b c"], "[a, 'b c']", 'a, "b c"', "a,b c,,"])
def test_lists_are_understood_in_every_form(value):
    assert read({"script_dirs": value}).script_dirs == ("a", "b c")


def test_empty_lists_and_texts_are_no_values():
    assert read({"script_dirs": [], "source_root": "", "state_dir": None}) == LocalKnowledgeConfig()


def test_older_names_are_understood_and_the_environment_comes_first():
    found = read({"root": "~/x", "index_dir": "s", "entities": "A"}, LOCAL_KNOWLEDGE_STATE_DIR="/t")
    assert (found.source_root, found.state_dir, found.known_entities) == ("~/x", "/t", ("A",))
    assert read({"source_root": "/a", "root": "/b"}, LOCAL_KNOWLEDGE_ROOT="/c").root(HOME) == Path("/c")


def test_markdown_is_taken_where_a_root_is_named_unless_told_otherwise():
    assert not read({}).include_markdown_docs and read({"root": "/a"}).include_markdown_docs
    assert not read({"root": "/a", "include_markdown_docs": "off"}).include_markdown_docs
    assert read({"include_markdown_docs": "yes"}).include_markdown_docs


def test_a_section_that_is_no_mapping_is_an_error_that_names_it():
    with pytest.raises(ConfigError, match="local_knowledge"):
        read(["a"])


def test_it_is_a_part_of_the_configuration_with_the_origin_of_each_value(monkeypatch):
    monkeypatch.delenv("LOCAL_KNOWLEDGE_ROOT", raising=False)
    config = from_mapping(HOME, {"local_knowledge": {"source_root": "/a"}}, "config.yaml")
    assert config.local_knowledge.source_root == "/a"
    assert config.origins["local_knowledge.source_root"] == "config.yaml" and config.warnings == ()
