"""Snapshots of a Tantivy directory by hard links, and the list of its files for the manifest.

Tantivy writes every file once but the two lists `meta.json` and `.managed.json`, so a folder of links is a safe copy.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.store.durable import link_or_copy

REWRITTEN = frozenset({"meta.json", ".managed.json"})
"""Replaced at every commit: copied, since a link would tie the two folders together."""


def _is_lock(name: str) -> bool:
    return name.endswith(".lock")


def clone(from_folder: Path, to_folder: Path) -> None:
    """Makes `to_folder` (which must not exist) a writable twin of a committed index.

    Where the file system has no hard links the files are copied.
    """
    if not (from_folder / "meta.json").is_file():
        raise DatasetDamaged(f"lexical index at {from_folder}: meta.json is missing")
    to_folder.mkdir(parents=True)
    for file in sorted(from_folder.iterdir()):
        if _is_lock(file.name) or not file.is_file():
            continue
        if file.name in REWRITTEN:
            shutil.copyfile(file, to_folder / file.name)
        else:
            link_or_copy(file, to_folder / file.name)


def file_sizes(folder: Path) -> dict[str, int]:
    """File name to bytes of everything that belongs to the index; a cut file shows here, a flipped bit does not."""
    return {
        file.name: file.stat().st_size
        for file in sorted(folder.iterdir())
        if file.is_file() and not _is_lock(file.name)
    }


def file_hashes(folder: Path) -> dict[str, str]:
    """File name to SHA-256 (64 hexadecimal digits); reads everything, for `doctor`."""
    found = {}
    for name in file_sizes(folder):
        with (folder / name).open("rb") as stream:
            found[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found
