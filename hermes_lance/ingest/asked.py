"""Which part of a root a run was asked to look at, given the relative paths (printable form) of files and folders."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_lance.core.names import printable


def asked_for(path: str, is_folder: bool, targets: Sequence[str]) -> bool:
    """Whether a path is one of the targets, lies inside one, or (a folder) leads to one."""
    shown = printable(path)[0]
    for target in targets:
        if not target or shown == target or shown.startswith(target + "/"):
            return True
        if is_folder and target.startswith(shown + "/"):
            return True
    return False


def asked_names(prefix: str, targets: Sequence[str]) -> set[str] | None:
    """The names in a folder that are targets or lead to one; none when the folder lies in a target, so all of it is."""
    shown = printable(prefix)[0]
    if any(not target or shown.startswith(f"{target}/") for target in targets):
        return None
    return {target[len(shown) :].partition("/")[0] for target in targets if target.startswith(shown)}
