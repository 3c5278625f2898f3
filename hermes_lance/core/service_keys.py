"""Keys of services: from the environment and from nowhere else. They are never stored, logged or shown."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_lance.core.errors import ConfigError, ModelUnavailable
from hermes_lance.core.redact import mask_shapes

_NAMES_OF_KEYS = frozenset(
    {"api_key", "apikey", "access_key", "secret_key", "token", "api_token", "access_token", "auth_token"}
    | {"bearer_token", "secret", "password", "authorization"}
)
NO_KEY = "none"
"""Sent in place of a key to a server on this machine that asks for none."""


def key_from_environment(plugin: str, variables: Sequence[str]) -> tuple[str, str]:
    """The first of `variables` that is set, and its value. `ModelUnavailable`, which names them, if none is.

    A value that cannot stand in a header is refused here: the HTTP library would quote it in its own error.
    """
    for variable in variables:
        value = os.environ.get(variable, "").strip()
        if not value:
            continue
        if not all("!" <= character <= "~" for character in value):
            raise ModelUnavailable(
                f"{plugin}: the value of {variable} is no key: it holds a blank or a letter that no key has",
                hint=f"Copy the key once more, and export it as {variable}.",
            )
        return variable, value
    named = " or ".join(variables)
    raise ModelUnavailable(
        f"{plugin}: {named} is not set, so that the service cannot be asked",
        hint=f"Export the key of the service as {variables[0]}, where hermes-lance and the agent are started. "
        "It is read from the environment only, never from a file of ours.",
    )


def refuse_keys(where: str, options: Mapping[str, Any]) -> None:
    """`ConfigError` where an option of a plugin is called or looks like a key; its value is not shown."""
    for option, value in options.items():
        named = str(option).strip().lower().replace("-", "_") in _NAMES_OF_KEYS
        if named or (isinstance(value, str) and mask_shapes(value) != value):
            raise ConfigError(
                f"{where}.{option}: keys are not read from the configuration",
                hint="Remove that line and export the key as a variable of the environment, such as OPENAI_API_KEY, "
                "GOOGLE_API_KEY, COHERE_API_KEY or VOYAGE_API_KEY. Where the file may have been seen by others, have "
                "the provider replace the key.",
            )
