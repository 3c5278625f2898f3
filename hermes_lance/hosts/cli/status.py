"""`hermes-lance status`: what is indexed, with what, and how current it is."""

from __future__ import annotations

from typing import Any

import click

from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.output import Console, amount, shown, size_words, wrapped


@click.command("status", cls=Command)
@click.option("--files", is_flag=True, help="One line for every discovered file.")
@pass_invocation
def status(invocation: Invocation, files: bool) -> None:
    """Show what is indexed, with what, and how current it is."""
    state = invocation.library().status(files=files)
    if invocation.json:
        invocation.console.document({"success": True, **state})
        return
    print_status(invocation.console, state)
    if files:
        _print_files(invocation.console, state.get("files_detail") or [])
    invocation.warn(state.get("warnings") or [])


def print_status(console: Console, state: dict[str, Any]) -> None:
    """The summary."""
    rows = [("Home", state.get("home")), ("Dataset", state.get("dataset"))]
    if state.get("generation") is None:
        rows.append(("Generation", "none yet: run `hermes-lance build`"))
    else:
        unfinished = "; unfinished or made with other settings: run `hermes-lance build`" if state.get("stale") else ""
        rows.append(("Generation", f"{state['generation']}, published {state.get('published_at')}{unfinished}"))
        counts = state.get("files") or {}
        files = f"{counts.get('indexed', 0):,} indexed, {counts.get('skipped', 0):,} skipped"
        rows.append(("Files", f"{files}, {counts.get('failed', 0):,} failed"))
        pending = (state.get("vectors") or {}).get("pending")
        waiting = f", {pending:,} of them without vectors yet" if pending else ""
        rows.append(("Passages", f"{state.get('chunks') or 0:,}{waiting}"))
        if state.get("artifacts"):
            rows.append(("Artifacts", f"{state['artifacts']:,}, {state.get('edges') or 0:,} links"))
        rows.append(("Size", size_words(state.get("size_bytes") or 0)))
    embedder = state.get("embedder") or {}
    if embedder:
        dims = f", {embedder['dims']} dimensions" if embedder.get("dims") else ""
        rows.append(("Embedder", f"{embedder.get('name')}{dims}"))
    rows.append(("Automatic", f"retrieval mode {state.get('retrieval_mode')}"))
    rows.append(("Privacy", state.get("leaves")))
    rows.append(("Plugins", _plugin_words(state.get("plugins") or {})))
    for name, value in rows:
        label = console.styled(f"{name:<12}", "bold")
        first, *rest = _value_lines(str(value), console.width - 12)
        console.line(label + first)
        console.lines(" " * 12 + line for line in rest)
    roots = state.get("roots") or []
    if roots:
        console.line()
        table = [
            [
                str(root.get("label")),
                "recursive" if root.get("recursive") else "shallow",
                str(root.get("path")) + ("" if root.get("exists", True) else "  (not there)"),
            ]
            for root in roots
        ]
        console.table(["root", "depth", "folder"], table, wrap=True)


def _plugin_words(plugins: dict[str, dict[str, Any]]) -> str:
    """The categories where something else than ours was asked for, and what serves them."""
    found = []
    for category, one in plugins.items():
        if one["source"] == "builtin" and one["available"]:
            continue
        asked = one["configured"] if isinstance(one["configured"], str) else ", ".join(_own_choices(one))
        if one["available"]:
            found.append(f"{category}: {asked} ({one['source'].removeprefix('builtin, ')})")
        else:
            instead = one["resolved"] if isinstance(one["resolved"], str) else "ours"
            serves = f"{instead} instead" if one["fallback"] else "waits"
            found.append(f"{category}: {asked} cannot be had, {serves}")
    return "; ".join(found) or "built in"


def _own_choices(one: dict[str, Any]) -> list[str]:
    """Of a map by media type, the names that the person wrote and that are no built-in ones, or cannot be had."""
    kept = {name for kind, name in one["configured"].items() if one["resolved"].get(kind) != name}
    return sorted(kept or set(one["foreign"]))


def _value_lines(value: str, width: int) -> list[str]:
    return wrapped(shown(value), width) or [""]


def _print_files(console: Console, files: list[dict[str, Any]]) -> None:
    console.line()
    if not files:
        console.line(f"{amount(0, 'file')} discovered.")
        return
    rows = [
        [
            str(one["path"]),
            str(one["state"]),
            str(one["chunks"] or ""),
            str(one.get("reason") or one.get("parser") or ""),
        ]
        for one in files
    ]
    console.table(["file", "state", "pieces", "reason or parser"], rows, right=(2,), wrap=True)
