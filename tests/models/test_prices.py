"""Rough costs of hosted embedders."""

from __future__ import annotations

from datetime import date

import pytest

from hermes_lance.core import registry
from hermes_lance.models import prices
from hermes_lance.models.prices import rough_cost


def test_a_cost_is_the_price_of_the_tokens():
    assert rough_cost("openai", "text-embedding-3-small", 5_000_000) == pytest.approx(0.10)
    assert rough_cost("openai", "", 1_000_000) == rough_cost("openai", "text-embedding-3-small", 1_000_000)
    assert rough_cost("google", "", 0) == 0.0


def test_without_a_known_price_there_is_no_cost():
    assert rough_cost("openai", "nomic-embed-text", 1000) is None
    assert rough_cost("minilm", "", 1000) is None


def test_prices_are_dated_and_of_models_that_the_tiers_know():
    assert date.fromisoformat(prices.AS_OF) and prices.AS_OF in prices.ADVICE and "check" in prices.ADVICE
    for name, model in prices.USD_PER_MILLION_TOKENS:
        assert model in registry.plugin_class("embedders", name).known
