"""MCP servers of the host's configuration: their names, what is started, names of settings. No value is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hermes_lance.artifacts.naming import digest, display_path, entities_in, identifier_terms, significant_words, slug
from hermes_lance.artifacts.safe import clean, command_words, host, program, routable_paths, split_command
from hermes_lance.artifacts.skills import host_section
from hermes_lance.artifacts.sources import RUNTIME, Found, Sources
from hermes_lance.core.artifact import Artifact

_NAME = re.compile(r"[A-Za-z_]\w{0,80}")


def collect(sources: Sources) -> Iterator[Found]:
    """One artifact for each server of `mcp_servers`, then of `mcp.servers`."""
    own = host_section(sources, "mcp_servers")
    older = host_section(sources, "mcp").get("servers")
    shown = display_path(sources.home / "config.yaml", sources.root)
    for name, server in {**(older if isinstance(older, Mapping) else {}), **own}.items():
        if isinstance(server, Mapping):
            yield Found(_artifact(sources, clean(str(name), 120), server, shown), RUNTIME)


def _artifact(sources: Sources, name: str, server: Mapping[str, Any], shown: str) -> Artifact:
    command = _text(server.get("command"))
    arguments = server.get("args")
    words = [*split_command(command), *(arguments if isinstance(arguments, list) else [])]
    address = host(_text(server.get("url")))
    environment = server.get("env")
    variables = (
        [str(key) for key in environment if _NAME.fullmatch(str(key))] if isinstance(environment, Mapping) else []
    )
    started = list(dict.fromkeys(command_words(words)))
    said = " ".join([program(command), *started]) if command else address
    summary = f"MCP server: {said}" if said else "MCP server"
    if variables:
        summary += f"; needs {', '.join(sorted(variables))}"
    if server.get("enabled") is False:
        summary += "; disabled"
    paths = routable_paths(*(word for word in words if isinstance(word, str)))
    return Artifact(
        id=f"mcp:{slug(name)}",
        type="mcp_server",
        title=name,
        path=f"{shown}#mcp_servers.{name}",
        summary=clean(summary, 700),
        triggers=tuple(dict.fromkeys(["mcp", "server", *significant_words(name, said), *identifier_terms([name])])),
        entities=entities_in(sources.settings.known_entities, name, said, "MCP"),
        related=paths,
        source="hermes_config",
        search_text=" ".join([name, *started, *variables, *identifier_terms([name, *started, *variables])]),
        content_sha=digest(name, said, *sorted(variables), *paths, str(server.get("enabled") is False)),
    )


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
