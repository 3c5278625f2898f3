"""The door into the Hermes Agent: the tool `workspace`, `hermes workspace`, `/workspace`, and passages with a turn.

The host loads this folder in two ways: as the module that the entry point names, or as a copy of the folder alone,
under another name and perhaps without the package. So nothing of hermes_lance is imported here but inside functions,
and without the package the two commands still answer, with the line that installs it.
"""

from __future__ import annotations

import logging
from typing import Any

from . import absence, commands, injection
from .home import hermes_home

log = logging.getLogger(__name__)

SUMMARY = "Search your own files: status, index, retrieve, list, roots."


def register(ctx: Any) -> None:
    """Called by the host in every process. Reads one small file, starts nothing, and asks no network."""
    problem = absence.problem()
    if problem is None:
        _register_tools(ctx)
    else:
        log.warning("hermes-lance: %s", problem)
    # A host may lack any of these; the others work all the same.
    register_cli_command = getattr(ctx, "register_cli_command", None)
    if register_cli_command is not None:
        register_cli_command(
            name="workspace",
            help=SUMMARY,
            setup_fn=commands.set_up,
            handler_fn=commands.run_in_terminal,
            description=SUMMARY,
        )
    register_command = getattr(ctx, "register_command", None)
    if register_command is not None:
        register_command(
            name="workspace",
            handler=commands.run_in_chat,
            description=SUMMARY,
            args_hint="status | retrieve QUESTION | index | list | roots list",
        )


def _register_tools(ctx: Any) -> None:
    from hermes_lance.hosts.blocks import Blocks
    from hermes_lance.hosts.tools import Libraries, tools
    from hermes_lance.keeping import Keeping

    libraries, keeping = Libraries(), Keeping()
    injection.Injection(Blocks(libraries, keeping)).register(ctx)
    register_tool = getattr(ctx, "register_tool", None)
    if register_tool is None:
        return
    for tool in tools(hermes_home, libraries, keeping):
        register_tool(
            name=tool.name,
            toolset=tool.toolset,
            schema=dict(tool.schema),
            handler=tool.handler,
            description=str(tool.schema["description"]),
            emoji="📁",
        )
