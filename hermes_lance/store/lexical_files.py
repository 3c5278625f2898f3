"""Snapshots of a Tantivy directory by hard links, and the list of its files for the manifest.

Tantivy writes every file once but the two lists `meta.json` and `.managed.json`, so a folder of links is a safe copy.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.store.durable import link_or_copy
from hermes_lance.store.segment import file_sha256

REWRITTEN = frozenset({"meta.json", ".managed.json"})
"""Replaced at every commit: copied, since a link would tie the two folders together."""


READERS_LOCK = ".tantivy-meta.lock"


def _is_lock(name: str) -> bool:
    return name.endswith(".lock")


def clone(from_folder: Path, to_folder: Path) -> None:
    """Makes `to_folder` (which must not exist) a writable twin of a committed index.

    Where the file system has no hard links the files are copied.
    """
    if not (from_folder / "meta.json").is_file():
        raise DatasetDamaged(f"lexical index at {from_folder}: meta.json is missing")
    import shutil

    to_folder.mkdir(parents=True)
    for file in sorted(from_folder.iterdir()):
        if _is_lock(file.name) or not file.is_file():
            continue
        if file.name in REWRITTEN:
            shutil.copyfile(file, to_folder / file.name)
        else:
            link_or_copy(file, to_folder / file.name)


@contextlib.contextmanager
def for_reading(folder: Path) -> Iterator[Path]:
    """A folder in which Tantivy opens the index: it takes a lock file beside an index even to read it.

    Where this user may not write that, a folder of symbolic links stands in until everything is open and mapped.
    """
    lock = folder / READERS_LOCK
    if os.access(lock if lock.exists() else folder, os.W_OK):
        yield folder
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="hermes-lance-") as place:
        for file in folder.absolute().iterdir():
            if not _is_lock(file.name):
                (Path(place) / file.name).symlink_to(file)
        yield Path(place)


def file_sizes(folder: Path) -> dict[str, int]:
    """File name to bytes of everything that belongs to the index; a cut file shows here, a flipped bit does not."""
    return {
        file.name: file.stat().st_size
        for file in sorted(folder.iterdir())
        if file.is_file() and not _is_lock(file.name)
    }


def file_hashes(folder: Path) -> dict[str, str]:
    """File name to SHA-256 (64 hexadecimal digits); reads everything."""
    return {name: file_sha256(folder / name) for name in file_sizes(folder)}


def file_entries(folder: Path, before: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """File name to `{size, sha256}` for the manifest. Files that `before` has with the same size are not read again:
    Tantivy names a file by a random id and never writes it twice.
    """
    entries: dict[str, dict[str, Any]] = {}
    for name, size in file_sizes(folder).items():
        known = before.get(name)
        if known is not None and known["size"] == size and name not in REWRITTEN:
            entries[name] = dict(known)
        else:
            entries[name] = {"size": size, "sha256": file_sha256(folder / name)}
    return entries
