"""`hermes-lance workspace …`: the folders that are indexed, and the everyday commands under their other names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.groups import LazyGroup
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.output import shown

if TYPE_CHECKING:
    from hermes_lance.core.records import Root
    from hermes_lance.library import Library

_CLI = "hermes_lance.hosts.cli"


@click.group(
    "workspace",
    cls=LazyGroup,
    lazy={
        "status": (f"{_CLI}.status:status", "What is indexed, and how current it is."),
        "setup": (f"{_CLI}.setup:setup", "Answer a few questions: mode, embedder, reranker, extras."),
        "init": (f"{_CLI}.workspace_changes:init", "Make the usual folders."),
        "index": (f"{_CLI}.build:build", "Index new and changed files (the same as `build`)."),
        "delete": (f"{_CLI}.removal:delete", "Drop a document from the index until its file changes."),
        "add": (f"{_CLI}.workspace_changes:add", "Copy files into the workspace and index them."),
        "search": (f"{_CLI}.workspace_changes:search", "Find lines of the files by a regular expression."),
        "retrieve": (f"{_CLI}.search:search", "Find passages (the same as `search`)."),
        "context": (f"{_CLI}.context:context", "What an agent would be given with a message."),
        "sources": (f"{_CLI}.sources:sources", "What the last turn was given unasked."),
        "mode": (f"{_CLI}.workspace_changes:mode", "When an agent gets passages unasked."),
        "embedder": (f"{_CLI}.embedder:embedder", "What turns text into vectors: see it, change it, go back."),
        "watch": (f"{_CLI}.workspace_changes:watch", "Whether hosts follow the folders by themselves."),
    },
)
def workspace() -> None:
    """The user's folders and files."""


@workspace.command("list")
@click.argument("path", default="")
@click.option("--recursive/--no-recursive", default=True, show_default=True, help="Files in sub-folders too.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@click.option("--offset", type=click.IntRange(0), default=0, show_default=True)
@pass_invocation
def list_files(invocation: Invocation, path: str, recursive: bool, limit: int, offset: int) -> None:
    """List the files that the last build discovered, below PATH (a path as results show it)."""
    base = printable(path)[0].strip("/").removeprefix("./")
    library = invocation.library()
    library.manifest()
    rows = [row for row in library.status(files=True)["files_detail"] if _below(row["path"], base, recursive)]
    page = rows[offset : offset + limit]
    if invocation.json:
        invocation.document(entries=page, count=len(page), total_count=len(rows), offset=offset, base_path=base)
        return
    console = invocation.console
    if not page:
        console.line(f"No files{f' below {shown(base)}' if base else ''}.")
        return
    console.table(
        ["file", "state", "bytes"], [[row["path"], row["state"], f"{row['bytes']:,}"] for row in page], right=(2,)
    )
    if len(page) < len(rows):
        console.line(f"Showing {offset + 1} to {offset + len(page)} of {len(rows):,}.")


def _below(path: str, base: str, recursive: bool) -> bool:
    if base and path != base and not path.startswith(f"{base}/"):
        return False
    inner = path[len(base) :].strip("/")
    return recursive or "/" not in inner


@workspace.group("roots", cls=LazyGroup)
def roots() -> None:
    """The folders that are indexed: the workspace and those that were added."""


@roots.command("list")
@pass_invocation
def list_roots(invocation: Invocation) -> None:
    """List them in the order of the configuration."""
    library = invocation.library()
    found = library.roots()
    if invocation.json:
        invocation.document(roots=[root_document(root) for root in found], warnings=library.warnings)
        return
    rows = [
        [root.label, _depth(root), str(root.path) + ("" if root.path.is_dir() else "  (not there)")] for root in found
    ]
    invocation.console.table(["root", "depth", "folder"], rows, wrap=True)
    invocation.warn(library.warnings)


@roots.command("add")
@click.argument("path")
@click.option("--recursive", is_flag=True, help="With its sub-folders.")
@pass_invocation
def add_root(invocation: Invocation, path: str, recursive: bool) -> None:
    """Make a folder a lasting root. Its files are read by the next build."""
    root = invocation.library().add_root(os.path.abspath(os.path.expanduser(path)), recursive=recursive)
    if invocation.json:
        invocation.document(root=root_document(root))
        return
    invocation.console.paragraph(f"Added {root.label} ({_depth(root)}): {root.path}")
    invocation.console.note("Run `hermes-lance build` to index it.")


@roots.command("remove")
@click.argument("path_or_label")
@pass_invocation
def remove_root(invocation: Invocation, path_or_label: str) -> None:
    """Take a root out of the configuration. The files stay; their passages go with the next build."""
    library = invocation.library()
    root = library.remove_root(_identifier(library, path_or_label))
    if invocation.json:
        invocation.document(root=root_document(root))
        return
    invocation.console.paragraph(f"Removed {root.label}: {root.path}")
    invocation.console.note("Its files are untouched; the next build drops their passages.")


@roots.command("move")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@pass_invocation
def move_root(invocation: Invocation, old: str, new: str) -> None:
    """Say that the folder of root OLD (path or label) now stands at NEW. Nothing is embedded again."""
    library = invocation.library()
    before, root = library.move_root(_identifier(library, old), os.path.abspath(os.path.expanduser(new)))
    if invocation.json:
        invocation.document(root=root_document(root), before=root_document(before))
        return
    invocation.console.paragraph(f"Moved {before.label} ({before.path}): now {root.label} ({root.path})")
    invocation.console.note("Run `hermes-lance build`: it knows the files again and embeds nothing anew.")


def _identifier(library: Library, given: str) -> str:
    """A label as it is, a path of the shell as an absolute one."""
    labels = {root.label for root in library.roots()}
    identifier = given if given.rstrip("/") in labels else os.path.expanduser(given)
    if identifier not in labels and os.path.isdir(identifier):
        return os.path.abspath(identifier)
    return identifier


def root_document(root: Root) -> dict[str, Any]:
    """A root as JSON has it."""
    return {
        "key": root.key,
        "label": root.label,
        "path": printable(os.fspath(root.path))[0],
        "recursive": root.recursive,
        "exists": root.path.is_dir(),
        "canonical": root.canonical,
    }


def _depth(root: Root) -> str:
    return "recursive" if root.recursive else "shallow"
