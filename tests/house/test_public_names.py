"""The names that other people's code may rely on. A change here is a change for them."""

from __future__ import annotations

import inspect

import hermes_lance


def test_the_public_names_are_these():
    assert sorted(hermes_lance.__all__) == ["HermesLanceError", "__version__", "open"]


def test_every_public_name_exists():
    assert [name for name in hermes_lance.__all__ if not hasattr(hermes_lance, name)] == []


def test_open_takes_a_home_and_where_its_parts_are():
    parameters = inspect.signature(hermes_lance.open).parameters
    assert list(parameters) == ["home", "config", "dataset"]
    assert all(parameter.default is None for parameter in parameters.values())


def test_the_version_is_the_one_that_is_installed():
    from importlib import metadata

    assert metadata.version("hermes-lance") == hermes_lance.__version__
