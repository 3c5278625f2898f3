"""`workspace init|add|mode|watch|search`: folders, files that are taken in, settings, and the files as they are."""

from __future__ import annotations

import os
from typing import Any

import click

from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.interrupt import interruptible
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.output import amount, shown


@click.command("init", cls=Command)
@pass_invocation
def init(invocation: Invocation) -> None:
    """Make the workspace and the folder of the index, each with its usual sub-folders."""
    library = invocation.library()
    made = [printable(os.fspath(folder))[0] for folder in library.make_folders()]
    workspace, knowledge = (str(one) for one in (library.config.workspace_root, library.config.knowledgebase_root))
    if invocation.json:
        invocation.document(workspace_root=workspace, knowledgebase_root=knowledge, created=made)
        return
    console = invocation.console
    console.paragraph(f"Workspace: {workspace}", hanging="  ")
    console.paragraph(f"Index: {knowledge}", hanging="  ")
    console.line(f"{amount(len(made), 'folder')} made." if made else "Everything was there.")
    console.note(
        "Put files there, or add a folder: `hermes-lance workspace roots add PATH`. Then `hermes-lance build`."
    )


@click.command("add", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@pass_invocation
def add(invocation: Invocation, files: tuple[str, ...]) -> None:
    """Copy files into `uploads` of the workspace and index them at once.

    Nothing is overwritten: a name that is taken gets a number. A file that lies in a root already is only indexed.
    """
    library = invocation.library()
    with interruptible(invocation) as cancelled:
        added, report = library.add_files(files, cancelled=cancelled, wait_seconds=invocation.wait)
    rows: list[dict[str, Any]] = [
        {"file": printable(os.path.abspath(one.file))[0], "path": one.path, "copied": one.copied, "state": one.state}
        | {"reason": one.reason, "chunks": one.chunks}
        for one in added
    ]
    if invocation.json:
        invocation.document(added=rows, generation=report.generation, warnings=report.warnings)
        return
    for row in rows:
        what = amount(row["chunks"], "passage") if row["state"] == "indexed" else f"{row['state']}: {row['reason']}"
        where = "copied to" if row["copied"] else "already there as"
        invocation.console.paragraph(f"{where} {row['path']}: {what}", hanging="  ")
    invocation.warn(report.warnings)


@click.command("mode", cls=Command)
@click.argument("mode", type=click.Choice(["off", "gated", "always"]), required=False)
@pass_invocation
def mode(invocation: Invocation, mode: str | None) -> None:
    """Say when an agent gets passages unasked: never, where the message gives reason, or always.

    Without a word, show what is set.
    """
    if mode is None:
        library = invocation.library()
        if invocation.json:
            invocation.document(retrieval_mode=library.config.retrieval_mode, warnings=library.warnings)
            return
        invocation.console.line(f"Retrieval mode: {library.config.retrieval_mode}")
        invocation.warn(library.warnings)
        return
    _set(invocation, "retrieval_mode", mode, f"Retrieval mode: {mode}")


@click.command("watch", cls=Command)
@click.argument("state", type=click.Choice(["on", "off"]))
@pass_invocation
def watch(invocation: Invocation, state: str) -> None:
    """Say whether long-lived hosts follow the folders by themselves."""
    _set(invocation, "watch_for_changes", state == "on", f"Watching for changes: {state}")


def _set(invocation: Invocation, key: str, value: str | bool, said: str) -> None:
    file = invocation.library().set_value(key, value)
    if invocation.json:
        invocation.document(**{key: value}, config=str(file))
        return
    invocation.console.paragraph(f"{said} (knowledgebase.{key} in {file})", hanging="  ")


@click.command("search", cls=Command)
@click.argument("query")
@click.option("--path", metavar="P", help="Only this file or folder.")
@click.option("--file-glob", metavar="G", help="Only files whose name fits, such as '*.md'.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Lines on a page.")
@click.option("--offset", type=click.IntRange(0), default=0, show_default=True, help="Lines to pass over.")
@pass_invocation
def search(
    invocation: Invocation, query: str, path: str | None, file_glob: str | None, limit: int, offset: int
) -> None:
    """Find lines of the files on the disk by a regular expression (Python's), not by the index."""
    with interruptible(invocation):
        found = invocation.library().lines(query, path=path, file_glob=file_glob, limit=limit, offset=offset)
    hint = "Nothing fits. `workspace retrieve` finds passages by words and by meaning." if not found.total else ""
    if invocation.json:
        matches = [
            {"relative_path": one.path, "path": printable(one.location)[0], "line": one.line, "content": one.text}
            for one in found.page
        ]
        invocation.document(
            query=query, matches=matches, count=len(matches), total_count=found.total, offset=offset,
            files_read=found.files, hint=hint,
        )  # fmt: skip
        return
    console = invocation.console
    for one in found.page:
        console.line(f"{console.styled(f'{shown(one.path)}:{one.line}', 'bold')}: {shown(one.text)}")
    if not found.total:
        console.line(hint)
    elif len(found.page) < found.total:
        console.line(f"Showing {offset + 1} to {offset + len(found.page)} of {found.total:,}.")
