"""`hermes-lance build --dry-run`: what a build would read, how long it may take, how large the index may get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_lance.core.config import RootSetting
from hermes_lance.core.errors import UsageError
from hermes_lance.hosts.cli.invocation import Invocation
from hermes_lance.hosts.cli.report import file_counts, print_problems, print_warnings
from hermes_lance.hosts.output import Console, amount, size_words, time_words

if TYPE_CHECKING:
    from hermes_lance.ingest.estimate import Estimate
    from hermes_lance.library import Library


def preview(invocation: Invocation, library: Library, extra: Sequence[tuple[Path, bool]], *, full: bool) -> None:
    """Prints the estimate. Nothing is written: no root, no folder, no index."""
    from hermes_lance.ingest import roots as root_list
    from hermes_lance.ingest.estimate import estimate
    from hermes_lance.ingest.signatures import PieceSignatures

    if library.caller_owned:
        raise UsageError(f"{library.dataset}: a dataset named by --dataset is never rebuilt", hint="Use --home.")
    added = tuple(RootSetting(str(path), recursive) for path, recursive in extra)
    config = replace(library.config, roots=(*library.config.roots, *added))
    found = estimate(
        config,
        library.dataset,
        root_list.active_roots(config),
        PieceSignatures.of_config(config).wanted,
        full=full,
    )
    found.warnings = [*library.warnings, *found.warnings]
    if not invocation.json:
        print_estimate(invocation.console, found)
        return
    invocation.document(
        dry_run=True,
        files=asdict(found.files),
        to_read={"files": found.to_read, "bytes": found.bytes_to_read},
        bytes_in_all=found.bytes_in_all,
        largest_folders=[asdict(folder) for folder in found.largest_folders],
        estimate={"seconds": found.seconds, "index_bytes": found.index_bytes},
        embedder=found.embedder,
        warnings=found.warnings,
        problems=[asdict(problem) for problem in found.problems],
    )


def print_estimate(console: Console, found: Estimate) -> None:
    """The same for people."""
    console.paragraph(f"{amount(found.files.seen, 'file')} seen: {file_counts(found.files)}.", hanging="  ")
    if found.to_read:
        reading = f"{amount(found.to_read, 'file')}, {size_words(found.bytes_to_read)} to read"
        console.paragraph(
            f"{reading}: about {time_words(found.seconds)} with {found.embedder}, "
            f"and {size_words(found.index_bytes)} of index.",
            hanging="  ",
        )
        console.line()
        rows = [[folder.path, f"{folder.files:,}", size_words(folder.bytes)] for folder in found.largest_folders]
        console.table(["largest folders", "files", "size"], rows, right=(1, 2))
    print_warnings(console, found.warnings)
    print_problems(console, found.problems)
    console.line()
    console.line("Nothing was written: this was a dry run.")
