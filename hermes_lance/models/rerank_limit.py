"""How long an order is waited for: one check for all rerankers of ours."""

from __future__ import annotations

from hermes_lance.core.errors import ConfigError

LIMIT_SECONDS = 30.0


def checked_limit(name: str, seconds: object) -> float:
    """`timeout_seconds` of a reranker, or `ConfigError`."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0.1 <= seconds <= 600:
        raise ConfigError(
            f"knowledgebase.rerankers.{name}.timeout_seconds is {seconds!r}; a number of seconds from 0.1 to 600"
        )
    return float(seconds)
