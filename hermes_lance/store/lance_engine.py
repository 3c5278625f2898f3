"""Loading Lance in half its time.

More than a third of `import lancedb` is a generated REST client for catalogues on other machines, of which only the
descriptions of requests are used here, and its hundreds of classes keep the cyclic collector busy. The client is left
to be loaded when someone first asks for it, which for everybody else in the process looks the same; the collector
rests meanwhile. Measured: 1.3 s of CPU become .6.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from hermes_lance.core.memory import collector_resting

REST_CLIENT = "lance_namespace_urllib3_client"


class _LoadedWhenAsked(ModuleType):
    """A package whose sub-modules can be imported and whose own body runs when a name in it is first looked up."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # Asked by the import system itself, to which this is a package like any other.
            raise AttributeError(name)
        spec = self.__spec__
        assert spec is not None and spec.loader is not None
        self.__class__ = ModuleType  # type: ignore[assignment]
        spec.loader.exec_module(self)
        return getattr(self, name)


def lancedb() -> Any:
    """The module, imported at the first call."""
    if "lancedb" not in sys.modules:
        # Lance warns on stderr about things that are not the user's business.
        os.environ.setdefault("LANCE_LOG", "error")
        _put_off(REST_CLIENT)
    with collector_resting():
        import lancedb as module
    return module


def _put_off(name: str) -> None:
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None or spec.submodule_search_locations is None:
        return
    module = importlib.util.module_from_spec(spec)
    module.__class__ = _LoadedWhenAsked
    sys.modules[name] = module
