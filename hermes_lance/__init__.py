"""hermes-lance: a local, private memory of files. `open(home)` is the way in; the rest loads when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_lance.core.errors import HermesLanceError

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_lance.library import Library

__version__ = "0.1.0"
__all__ = ["HermesLanceError", "__version__", "open"]


def open(
    home: str | Path | None = None, *, config: str | Path | None = None, dataset: str | Path | None = None
) -> Library:
    """The library of a home (`$HERMES_HOME`, else `~/.hermes`), or of a dataset folder outside any home.

    Nothing is created until something is built. Raises `ConfigError` for an unusable configuration file.
    """
    from hermes_lance.library import Library

    return Library.open(home, config=config, dataset=dataset)
