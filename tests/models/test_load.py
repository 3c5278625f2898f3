"""From a configured name to an embedder."""

from __future__ import annotations

import pytest

from hermes_lance.core.errors import ConfigError, PluginMissing
from hermes_lance.models.load import embedder


def test_a_name_with_options_gives_that_embedder():
    assert embedder("builtin-hash", {"dims": 64}).dimensions == 64
    assert embedder("minilm").dimensions == 384


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(PluginMissing) as caught:
        embedder("nonsense")
    assert "minilm" in caught.value.hint


def test_an_unknown_option_is_named_with_the_nearest_known():
    with pytest.raises(ConfigError, match=r"builtin_hash\.dim .*did you mean dims"):
        embedder("builtin_hash", {"dim": 64})
