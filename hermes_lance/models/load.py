"""From a configured name and its options to a working embedder, with errors that name the key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_lance.core import registry
from hermes_lance.core.errors import ConfigError, HermesLanceError, PluginFailed
from hermes_lance.core.service_keys import refuse_keys

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder


def embedder(name: str, options: Mapping[str, Any] | None = None) -> Embedder:
    """The embedder of that name. Unknown options raise `ConfigError`, what is not there `ModelUnavailable`
    or `PluginMissing`, any other fault of a plugin `PluginFailed`.

    Loads no weights: built-in embedders do that at their first text.
    """
    name = registry.normal("embedders", name)
    made_by = registry.plugin_class("embedders", name)
    options = dict(options or {})
    if options:
        refuse_keys(f"knowledgebase.embedders.{name}", options)
        _check(name, options, made_by)
    try:
        made: Embedder = made_by(**options)
    except HermesLanceError:
        raise
    except Exception as error:
        raise PluginFailed(
            f"embedder {name}: {error}", hint=f"Check the options under knowledgebase.embedders.{name}."
        ) from error
    return made


def _check(name: str, options: Mapping[str, Any], made_by: Any) -> None:
    import difflib
    import inspect

    known = list(inspect.signature(made_by).parameters)
    for option in options:
        if option not in known:
            near = difflib.get_close_matches(str(option), known, 1)
            advice = f"did you mean {near[0]}?" if near else f"known: {', '.join(known) or 'none'}."
            raise ConfigError(f"knowledgebase.embedders.{name}.{option} is not a known key; {advice}")
