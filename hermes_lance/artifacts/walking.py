"""Which files are looked at: in stable order, each once, inside the roots that were named, and read only so far.

Names of folders to leave out count below a root only: a root that itself stands in a folder `logs` is a root.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

EXCLUDED = frozenset(
    {
        ".archive", ".git", ".github", ".hub", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".tox", ".venv",
        ".worktrees", "__pycache__", "htmlcov", "logs", "node_modules", "site-packages", "venv", "worktrees",
    }
)  # fmt: skip
"""Names of folders that hold nothing to route to."""
TEXT_CHARS = 200_000
SCRIPT_CHARS = 50_000
JOBS_CHARS = 2_000_000
_BLOCK_BYTES = 1 << 20


class Read(NamedTuple):
    """The text of a file, as far as it is looked at, and the SHA-256 of all its bytes."""

    text: str
    sha: str


@dataclass(slots=True)
class Walk:
    """The rules of one walk. `allowed`: the folders that a resolved path must stay inside."""

    allowed: tuple[Path, ...]
    excluded: Collection[str] = EXCLUDED
    skipped: Collection[Path] = ()
    """Folders that somebody else answers for."""
    forgotten: frozenset[str] = frozenset()
    """SHA-256 of files that are passed over."""
    problems: list[str] = field(default_factory=list)

    def files(self, folder: Path, *, links: bool = True, wanted: Callable[[str], bool] | None = None) -> Iterator[Path]:
        """The files below a folder whose name is `wanted`, in stable order; links are followed where `links` says so,
        but never out of the allowed folders and never twice to the same place."""
        seen: set[tuple[int, int]] = set()
        yield from self._below(folder, links, wanted, seen)

    def _below(
        self, folder: Path, links: bool, wanted: Callable[[str], bool] | None, seen: set[tuple[int, int]]
    ) -> Iterator[Path]:
        if not self._may_enter(folder, seen):
            return
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self.problems.append(f"{folder}: cannot be listed ({error.strerror})")
            return
        folders: list[tuple[bool, str]] = []
        for entry in entries:
            link = entry.is_symlink()
            if link and not links:
                continue
            try:
                if entry.is_dir():
                    if entry.name not in self.excluded:
                        folders.append((link, entry.name))
                elif entry.is_file() and (wanted is None or wanted(entry.name)):
                    path = folder / entry.name
                    wished = self._first_visit(entry.stat(), seen) and (not link or self.inside(path))
                    if wished and not (self.forgotten and _sha256(path) in self.forgotten):
                        yield path
            except OSError as error:
                self.problems.append(f"{folder / entry.name}: cannot be read ({error.strerror})")
        for _, name in sorted(folders):  # real folders before links to them
            yield from self._below(folder / name, links, wanted, seen)

    def _may_enter(self, folder: Path, seen: set[tuple[int, int]]) -> bool:
        try:
            state = os.stat(folder)
        except OSError:
            return False
        return self._first_visit(state, seen) and folder not in self.skipped and self.inside(folder)

    @staticmethod
    def _first_visit(state: os.stat_result, seen: set[tuple[int, int]]) -> bool:
        place = (state.st_dev, state.st_ino)
        if place in seen:
            return False
        seen.add(place)
        return True

    def inside(self, path: Path) -> bool:
        """The resolved path is in an allowed folder, and no folder on the way there is left out."""
        real = Path(os.path.realpath(path))
        inside = [root for one in self.allowed if real.is_relative_to(root := Path(os.path.realpath(one)))]
        if not inside:
            return False
        nearest = max(inside, key=lambda root: len(root.parts))
        return not any(part in self.excluded for part in real.relative_to(nearest).parts[:-1])

    def read(self, path: Path, most: int = TEXT_CHARS) -> Read:
        """The first characters of a file; what cannot be decoded is replaced, a file that cannot be read is empty."""
        try:
            with path.open("rb") as file:
                data = file.read(most * 4)
                sha = hashlib.sha256(data)
                while block := file.read(_BLOCK_BYTES):
                    sha.update(block)
        except OSError as error:
            self.problems.append(f"{path}: cannot be read ({error.strerror})")
            return Read("", "")
        return Read(data.decode("utf-8-sig", "replace")[:most].replace("\r\n", "\n"), sha.hexdigest())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
