"""`hermes-lance export`: a whole table for a notebook or a spreadsheet, in one file or on the output."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import click

from hermes_lance.core.errors import DiskFull, FileMissing, UsageError
from hermes_lance.core.names import printable
from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.output import amount, is_terminal, size_words

SUFFIXES = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".csv": "csv", ".jsonl": "jsonl"}
TEXT_FORMATS = ("csv", "jsonl")
_ROWS = 1024


@click.command("export", cls=Command)
@click.argument("table", type=click.Choice(["chunks", "artifacts", "edges", "files"]))
@click.option(
    "--format",
    "form",
    type=click.Choice(["parquet", "arrow", "csv", "jsonl"]),
    help="Default: by the suffix of FILE, else parquet.",
)
@click.option("-o", "--output", metavar="FILE", help="Default: the standard output.")
@pass_invocation
def export(invocation: Invocation, table: str, form: str | None, output: str | None) -> None:
    """Write a whole table of the current generation.

    Parquet and Arrow hold the vectors too; CSV and JSON lines leave them out, and CSV writes lists as JSON.
    """
    form = form or (SUFFIXES.get(Path(output).suffix.lower()) if output else None) or "parquet"
    if output is None and invocation.json:
        raise UsageError("export: with --json the rows need a file of their own", hint="Name it with -o FILE.")
    if output is None and form not in TEXT_FORMATS and is_terminal(sys.stdout):
        raise UsageError(f"export: {form} is not for a terminal", hint="Name a file with -o FILE, or use --format csv.")
    rows = invocation.library().export(table)
    if form in TEXT_FORMATS and "vectors" in rows.column_names:
        rows = rows.drop_columns(["vectors"])
    if output is None:
        _write(rows, form, sys.stdout.buffer)
        return
    target = Path(output).expanduser()
    with _replacing(target) as stream:
        _write(rows, form, stream)
    size = target.stat().st_size
    shown = printable(os.fspath(target.absolute()))[0]
    if invocation.json:
        invocation.document(table=table, format=form, path=shown, rows=rows.num_rows, bytes=size)
    else:
        invocation.console.note(f"{shown}: {amount(rows.num_rows, 'row')}, {size_words(size)} ({form}).")


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of `target` as a whole, once it is complete."""
    shown = printable(os.fspath(target))[0]
    if target.is_dir():
        raise UsageError(f"{shown}: a folder, not a file", hint="Name a file with -o.")
    try:
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=".export-", suffix=".tmp")
    except OSError as error:
        raise FileMissing(f"{shown}: cannot be written ({error.strerror})", hint="Choose another FILE.") from error
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
        os.replace(temporary, target)
    except OSError as error:
        os.unlink(temporary)
        raise DiskFull(f"{shown}: cannot be written ({error.strerror})", hint="Free some space.") from error
    except BaseException:
        os.unlink(temporary)
        raise


def _write(rows: Any, form: str, stream: IO[bytes]) -> None:
    if form == "parquet":
        import pyarrow.parquet as parquet

        parquet.write_table(rows, stream, compression="zstd")
    elif form == "arrow":
        import pyarrow as pa

        with pa.ipc.new_file(stream, rows.schema) as writer:
            writer.write_table(rows)
    elif form == "jsonl":
        for record in _records(rows):
            stream.write((json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8"))
    else:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        writer = csv.DictWriter(text, rows.column_names, lineterminator="\n")
        writer.writeheader()
        for record in _records(rows):
            writer.writerow({key: _cell(value) for key, value in record.items()})
        text.detach()
    stream.flush()


def _records(rows: Any) -> Iterator[Mapping[str, Any]]:
    for batch in rows.to_batches(max_chunksize=_ROWS):
        yield from batch.to_pylist()


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
