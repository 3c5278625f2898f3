"""Where the files of a generation are on disk, and how people see them: by its roots, and by those of today.

On the library's own floor: the roots of a generation stand in its manifest, the workspace in the configuration.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_lance.core.names import on_disk
from hermes_lance.core.records import WORKSPACE, KnownFile

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.store.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Places:
    """Files of one generation."""

    manifest: Manifest
    config: Config
    _folders: dict[str, str | None] = field(default_factory=dict, compare=False)
    _inside: dict[tuple[str, str], str | None] = field(default_factory=dict, compare=False)

    def folder(self, root: str) -> str | None:
        """The folder of a root, by its key; none for a root that nobody knows any more."""
        if root not in self._folders:
            self._folders[root] = self._folder(root)
        return self._folders[root]

    def _folder(self, root: str) -> str | None:
        # An extra root's key is its path; the workspace alone can be somewhere else than it was. Asking for the active
        # roots would list the workspace at every search.
        if root == WORKSPACE:
            return os.fspath(self.config.workspace_root)
        entry = next((one for one in self.manifest.roots if one["key"] == root), None)
        return None if entry is None else on_disk(entry["path"], entry.get("raw_path"))

    def of(self, known: KnownFile) -> str | None:
        """Where a file is."""
        top = self.folder(known.root)
        return None if top is None else os.path.join(top, on_disk(known.path, known.raw_path))

    def within(self, known: KnownFile, folder: str | Path) -> bool:
        """Whether a file is below a folder, wherever the root that it belongs to begins, links resolved."""
        asked = (known.root, os.fspath(folder))
        if asked not in self._inside:
            top = self.folder(known.root)
            self._inside[asked] = None if top is None else _way(os.path.realpath(top), os.path.realpath(folder))
        way = self._inside[asked]
        return way is not None and known.path.startswith(way)

    def display(self, known: KnownFile) -> str:
        """How a file is shown: its path in the workspace, `label/path` elsewhere."""
        if known.root == WORKSPACE:
            return known.path
        return f"{self.label(known.root)}/{known.path}"

    def label(self, root: str) -> str:
        """The label of a root, by its key; the key where it has none."""
        return next((str(one["label"]) for one in self.manifest.roots if one["key"] == root), root)


def _way(top: str, folder: str) -> str | None:
    """What paths below `top` begin with when they are below `folder`; none where the two lie apart."""
    if f"{top}{os.sep}".startswith(f"{folder}{os.sep}"):
        return ""
    return (
        f"{os.path.relpath(folder, top)}/".replace(os.sep, "/")
        if f"{folder}{os.sep}".startswith(f"{top}{os.sep}")
        else None
    )
