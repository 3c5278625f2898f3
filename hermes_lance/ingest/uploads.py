"""Files that are taken into the workspace: copied into `uploads/`, never over another one."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from hermes_lance.core.config import Config
from hermes_lance.core.errors import FileMissing, OutsideRoots, UsageError
from hermes_lance.core.names import printable
from hermes_lance.core.records import Root
from hermes_lance.ingest.roots import UPLOADS, Place, located
from hermes_lance.store.durable import disk_errors, make_private


def taken_in(config: Config, roots: list[Root], file: str | Path) -> tuple[Place, bool]:
    """Where a file is from now on, and whether it was copied there: not when it lies in a root already, or when
    `uploads` holds the same bytes under its name.

    A name that is taken gets a number: `report-2.pdf`. Raises `FileMissing`, `UsageError` for what is no file.
    """
    source = Path(os.path.abspath(Path(file).expanduser()))
    shown = printable(os.fspath(source))[0]
    if not source.exists():
        raise FileMissing(f"{shown}: no such file")
    if not source.is_file():
        raise UsageError(f"{shown}: not a file", hint="Add a folder with `hermes-lance workspace roots add`.")
    try:
        return located(source, roots), False
    except OutsideRoots:
        place, copied = _copied(source, config.workspace_root / UPLOADS)
    return located(place, roots), copied


def _copied(source: Path, folder: Path) -> tuple[Path, bool]:
    with disk_errors(str(folder)):
        make_private(folder)
        for name in _names(source.name):
            target = folder / name
            try:
                # Made by this call alone: two that add at the same time get a name each.
                with source.open("rb") as old, target.open("xb") as new:
                    try:
                        shutil.copyfileobj(old, new)
                    except BaseException:
                        target.unlink(missing_ok=True)
                        raise
            except FileExistsError:
                if target.is_file() and filecmp.cmp(source, target, shallow=False):
                    return target, False
                continue
            return target, True
    raise AssertionError("names do not end")


def _names(name: str) -> Iterator[str]:
    yield name
    stem, suffix = os.path.splitext(name)
    number = 2
    while True:
        yield f"{stem}-{number}{suffix}"
        number += 1
