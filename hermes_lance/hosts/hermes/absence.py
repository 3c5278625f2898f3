"""Is the package there, and what to say when it is not: the one line that installs it for the host's own Python."""

from __future__ import annotations

import importlib
import importlib.util
import shlex
import sys

TOOLS = "hermes_lance.hosts.tools"
COMMANDS = "hermes_lance.hosts.cli.main"


def problem(module: str = TOOLS) -> str | None:
    """Why that part of the package cannot be used in this process, with the remedy; none when it can."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "hermes_lance":
            return f"the Python package hermes-lance is not installed for this host. Install it: {install_command()}"
        return f"hermes-lance needs the package {error.name}, which is missing. Install it: {install_command()}"
    except ImportError as error:
        return f"hermes-lance cannot be imported ({error}). Install it again: {install_command()}"
    return None


def install_command() -> str:
    """What to type into a terminal. Names the interpreter, since a bare `pip` may belong to another one."""
    python = shlex.quote(sys.executable or "python3")
    if importlib.util.find_spec("pip") is None:
        # Environments made by uv have no pip of their own.
        return f"uv pip install --python {python} hermes-lance"
    return f"{python} -m pip install hermes-lance"
