"""Datasets that live as long as one measurement: the settings of the home, and nothing of its files or its index."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_lance.core.config import RootSetting, WorkspaceConfig
from hermes_lance.core.config_file import resolve
from hermes_lance.core.errors import FileMissing
from hermes_lance.core.names import printable

if TYPE_CHECKING:
    from hermes_lance.hosts.cli.invocation import Invocation
    from hermes_lance.library import Library


class Throwaway:
    """Makes libraries in a temporary folder."""

    def __init__(self, invocation: Invocation, folder: Path) -> None:
        self.folder = folder
        self._config = resolve(invocation.home, invocation.config)
        self._made = 0

    def library(self, workspace: Path, *roots: Path) -> Library:
        """A library of its own whose workspace is the given folder, with further recursive roots."""
        from hermes_lance.library import Library

        self._made += 1
        config = replace(
            self._config,
            home=self.folder / f"home{self._made}",
            workspace=WorkspaceConfig(path=str(workspace)),
            knowledgebase_path="",
            roots=tuple(RootSetting(str(root), True) for root in roots),
        )
        return Library(config, config.dataset)


@contextlib.contextmanager
def throwaway(invocation: Invocation) -> Iterator[Throwaway]:
    """The folder goes when the measurement ends, however it ends."""
    with tempfile.TemporaryDirectory(prefix="hermes-lance-") as folder:
        yield Throwaway(invocation, Path(folder).resolve())


def existing_folder(given: str) -> Path:
    """The folder, absolute. Raises `FileMissing`."""
    folder = Path(given).expanduser().resolve()
    if not folder.is_dir():
        raise FileMissing(f"{printable(str(folder))[0]}: no such folder")
    return folder
