"""From a configured name and its options to a working embedder, with errors that name the key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core import plugins

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder


def embedder(name: str, options: Mapping[str, Any] | None = None, home: Path | None = None) -> Embedder:
    """The embedder of that name, of ours, of a package, or of a folder of this home. Unknown options raise
    `ConfigError`, what is not there `ModelUnavailable` or `PluginMissing`, any other fault of a plugin `PluginFailed`.

    Loads no weights: built-in embedders do that at their first text.
    """
    made: Embedder = plugins.make("embedders", name, options, home=home)
    return made
