"""From a configured name and its options to a working embedder, with errors that name the key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hermes_lance.core import plugins
from hermes_lance.core.errors import HermesLanceError, PluginFailed

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder, Vectors


def embedder(name: str, options: Mapping[str, Any] | None = None, home: Path | None = None) -> Embedder:
    """The embedder of that name, of ours, of a package, or of a folder of this home. Unknown options raise
    `ConfigError`, what is not there `ModelUnavailable` or `PluginMissing`, any other fault of a plugin `PluginFailed`.

    Loads no weights: built-in embedders do that at their first text.
    """
    made: Embedder = plugins.make("embedders", name, options, home=home)
    if plugins.find("embedders", name, home).source != "builtin":
        made = cast("Embedder", Guarded(made, name))
        made.signature()  # one that cannot even say what it is cannot be had
    return made


class Guarded:
    """A plugin whose every exception comes out as `PluginFailed`, so that words are found while vectors wait."""

    def __init__(self, made: Any, name: str) -> None:
        self.plugin = made
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self.plugin, attribute)
        if not callable(value):
            return value

        @wraps(value)
        def call(*arguments: Any, **named: Any) -> Any:
            try:
                return value(*arguments, **named)
            except HermesLanceError:
                raise
            except (Exception, SystemExit) as error:
                raise plugins.fault("embedders", self._name, error) from error

        return call

    def embed_query(self, text: str) -> Vectors:
        """See the contract; another width would look like a damaged dataset, and NaN would find nothing, unsaid."""
        made = self.__getattr__("embed_query")(text)
        return self._checked("embed_query", made, (self.plugin.dimensions,))

    def embed_documents(self, texts: Sequence[str], **named: Any) -> Vectors:
        """See the contract; what is stored is asked for ever after."""
        made = self.__getattr__("embed_documents")(texts, **named)
        return self._checked("embed_documents", made, (len(texts), self.plugin.dimensions))

    def _checked(self, method: str, made: Any, shape: tuple[int, ...]) -> Vectors:
        import numpy as np

        try:
            vectors = np.asarray(made, dtype=np.float32)
        except (TypeError, ValueError):
            vectors = np.empty(0, dtype=np.float32)
        if vectors.shape != shape or not np.isfinite(vectors).all():
            wanted = " x ".join(map(str, shape))
            raise PluginFailed(f"plugin {self._name} (embedders): {method}() did not return {wanted} finite numbers")
        return vectors
