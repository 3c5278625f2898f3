"""Plugins are named as text, so a test has to follow every name to its class."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_lance.core import config, registry

EVERY = [(category, name) for category, names in registry.BUILT_IN.items() for name in names]


@pytest.mark.parametrize(("category", "name"), EVERY)
def test_every_built_in_plugin_can_be_loaded(category, name):
    assert isinstance(registry.plugin_class(category, name), type)


def test_the_defaults_name_plugins_that_exist():
    chosen = config.Config(home=Path("unused"))
    assert set(chosen.parsers.values()) <= set(registry.names("parsers"))
    assert set(chosen.chunkers.values()) <= set(registry.names("chunkers"))
    assert chosen.embedder in registry.names("embedders")


def test_every_alias_leads_to_a_plugin():
    for category, aliases in registry.ALIASES.items():
        assert set(aliases.values()) <= set(registry.BUILT_IN[category])
