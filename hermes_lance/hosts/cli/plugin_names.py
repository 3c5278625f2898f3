"""Names of plugins as values of options: ours in the help, those of installed packages and of the home as well."""

from __future__ import annotations

from typing import Any

import click

from hermes_lance.core import registry


class PluginName(click.ParamType):  # type: ignore[type-arg]
    """A name of one category, aliases and either spelling included.

    Only the shape is checked here, since a home may have plugins of its own; the library knows them.
    """

    name = "plugin"

    def __init__(self, category: str) -> None:
        self.category = category
        self._ours = [*registry.WITHOUT_CLASS.get(category, ()), *registry.BUILT_IN.get(category, ())]

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Our names, so that `--help` looks at no installed package."""
        return f"[{'|'.join(self._ours)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name in the spelling of the configuration."""
        return registry.normal(self.category, str(value))
