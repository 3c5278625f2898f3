"""Which home a call belongs to. Several profiles may live in one process, so it is asked anew for every call."""

from __future__ import annotations

import importlib
from pathlib import Path


def hermes_home() -> Path:
    """The home as the host resolves it in this thread; without the host, as the rest of hermes-lance does."""
    try:
        constants = importlib.import_module("hermes_constants")
    except ModuleNotFoundError:
        constants = None
    resolve = getattr(constants, "get_hermes_home", None)
    if resolve is not None:
        return Path(resolve()).expanduser().absolute()
    from hermes_lance.core.config import default_home

    return default_home()
