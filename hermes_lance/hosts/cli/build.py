"""`hermes-lance build`: brings the dataset in step with the files, and says what was left out and why."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hermes_lance.core.background import lower_process_where_threads_cannot_be
from hermes_lance.core.errors import FileMissing, UsageError
from hermes_lance.core.memory import collector_seldom
from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.interrupt import interruptible
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.cli.progress import Bar
from hermes_lance.hosts.cli.report import print_report, report_document

if TYPE_CHECKING:
    from hermes_lance.library import Library


@click.command("build", cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--recursive", is_flag=True, help="Take the sub-folders of each PATH too.")
@click.option("--once", is_flag=True, help="Index each PATH in this run, without making it a lasting root.")
@click.option("--dry-run", is_flag=True, help="Only count and estimate; nothing is written.")
@click.option("--only", type=click.Choice(["chunks", "artifacts"]), help="Build one kind of row only.")
@click.option("--full", is_flag=True, help="Read every file again.")
@click.option(
    "--time-budget",
    type=click.FloatRange(min=0),
    metavar="S",
    help="Stop embedding after so many seconds; the next run goes on.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Threads that embed (default: one for each core, at most 2; an embedder that cannot be shared takes 1).",
)
@click.option("--background", is_flag=True, help="Give way to all other work: lowest priority, one worker.")
@pass_invocation
def build(
    invocation: Invocation,
    paths: tuple[str, ...],
    recursive: bool,
    once: bool,
    dry_run: bool,
    only: str | None,
    full: bool,
    time_budget: float | None,
    workers: int | None,
    background: bool,
) -> None:
    """Index new and changed files of the workspace and of every root, and what an agent can open.

    Each PATH becomes a lasting root first, unless --once is given. A root is shallow unless --recursive is given.
    Text can be searched as soon as it is read; vectors follow in batches. A run that is stopped goes on where it was.
    """
    library = invocation.library()
    if only == "artifacts":
        _artifacts_alone(invocation, library, paths, full=full, dry_run=dry_run)
        return
    folders = [_folder(path) for path in paths]
    if dry_run:
        from hermes_lance.hosts.cli.preview import preview

        preview(invocation, library, [(folder, recursive) for folder in folders], full=full)
        return
    added, extra, said = _roots(library, folders, recursive=recursive, once=once)
    if not invocation.json and not invocation.quiet:
        for sentence in said:
            invocation.console.paragraph(sentence, hanging="  ")
    if background:
        lower_process_where_threads_cannot_be()
    with (
        collector_seldom() if invocation.own_process else contextlib.nullcontext(),
        interruptible(invocation) as cancelled,
        Bar(invocation.console, wanted=not invocation.json) as bar,
    ):
        report = library.index(
            extra_roots=extra,
            full=full,
            progress=bar.progress,
            cancelled=cancelled,
            time_budget=time_budget,
            wait_seconds=invocation.wait,
            workers=workers,
            background=background,
        )
        routed = None if only == "chunks" else library.index_artifacts(full=full, wait_seconds=invocation.wait)
    if invocation.json:
        invocation.document(**report_document(report, routed), roots_added=added)
    elif not invocation.quiet:
        print_report(invocation.console, report, routed)


def _artifacts_alone(
    invocation: Invocation, library: Library, paths: Sequence[str], *, full: bool, dry_run: bool
) -> None:
    """The other kind of row, which has sources of its own."""
    from hermes_lance.hosts.cli.knowledge import build_and_say

    if paths or dry_run:
        raise UsageError(
            "build --only artifacts takes neither a PATH nor --dry-run",
            hint="Where artifacts come from is set by `local_knowledge` in config.yaml.",
        )
    build_and_say(invocation, library, full=full)


def _folder(given: str) -> Path:
    path = Path(os.path.realpath(Path(given).expanduser()))
    shown_path = printable(os.fspath(path))[0]
    if not path.exists():
        raise FileMissing(f"{shown_path}: no such folder")
    if not path.is_dir():
        raise UsageError(f"{shown_path}: a file, not a folder", hint="Name the folder that holds it.")
    return path


def _roots(
    library: Library, folders: Sequence[Path], *, recursive: bool, once: bool
) -> tuple[list[str], list[tuple[Path, bool]], list[str]]:
    """Labels of the roots that were added, folders for this run only, and sentences about both."""
    added: list[str] = []
    extra: list[tuple[Path, bool]] = []
    said: list[str] = []
    how = "recursive" if recursive else "shallow"
    for folder in folders:
        name = printable(os.fspath(folder))[0]
        known = next((root for root in library.roots() if root.path == folder), None)
        if known is not None and (known.recursive or not recursive):
            said.append(f"{name} is already a root ({known.label}).")
        elif once:
            extra.append((folder, recursive))
            said.append(f"{name} is indexed for this run only ({how}); the next build without it drops its files.")
        else:
            if known is not None:
                library.remove_root(folder)
            root = library.add_root(folder, recursive=recursive)
            added.append(root.label)
            said.append(
                f"{name} is a root from now on ({how}, label {root.label}); "
                "`hermes-lance workspace roots remove` undoes that."
            )
    return added, extra, said
