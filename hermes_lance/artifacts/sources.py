"""What every collector is given, and how it hands over what it has found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from hermes_lance.artifacts.walking import EXCLUDED, Walk
from hermes_lance.core.artifact import Artifact
from hermes_lance.core.router_config import LocalKnowledgeConfig

SOURCE_TREE, RUNTIME = 0, 10
"""Whose artifact stays where two have the same id or are the same file: that of the source tree."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The places where artifacts are, and the settings that say which of them count."""

    home: Path
    settings: LocalKnowledgeConfig
    beside: Sequence[Path] = ()
    """Folders below the root that are no source: the workspace, the index."""
    forgotten: frozenset[str] = frozenset()
    """SHA-256 of the files that must not come back."""
    problems: list[str] = field(default_factory=list)
    """What could not be read."""

    @property
    def root(self) -> Path:
        """The source tree."""
        return self.settings.root(self.home)

    @property
    def state(self) -> Path:
        """Where tool notes are."""
        return self.settings.state(self.home)

    @property
    def skill_folders(self) -> list[Path]:
        """The folders of skills below the root."""
        return [self.root / name for name in self.settings.custom_skill_dirs]

    def walk(self, *allowed: Path, skipped: Sequence[Path] = ()) -> Walk:
        """Rules of a walk inside these folders."""
        excluded = EXCLUDED | frozenset(self.settings.exclude_dir_names)
        return Walk(tuple(allowed), excluded, (*self.beside, *skipped), self.forgotten, self.problems)


@dataclass(frozen=True, slots=True)
class Found:
    """An artifact, and what decides between it and another one of the same id or file."""

    artifact: Artifact
    priority: int
    identity: tuple[object, ...] = ()
    """The file (and how it is seen) that it was made from; empty for an entry of a registry."""


def file_identity(path: Path, *more: object) -> tuple[object, ...]:
    """The file itself, whatever links lead to it."""
    try:
        state = path.stat()
    except OSError:
        return (str(path), *more)
    return (state.st_dev, state.st_ino, *more)


def updated_at(path: Path) -> str | None:
    """When a file was changed last: ISO 8601, UTC, to the second."""
    try:
        moment = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
    except (OSError, ValueError, OverflowError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def without_doubles(found: Iterator[Found]) -> list[Artifact]:
    """The artifacts that stay, by id: of equal ids and of one file the first by priority, source, path and id."""
    ids: set[str] = set()
    identities: set[tuple[object, ...]] = set()
    kept = []
    for one in sorted(found, key=lambda one: (one.priority, one.artifact.source, one.artifact.path, one.artifact.id)):
        if one.artifact.id in ids or (one.identity and one.identity in identities):
            continue
        ids.add(one.artifact.id)
        if one.identity:
            identities.add(one.identity)
        kept.append(one.artifact)
    return sorted(kept, key=lambda artifact: artifact.id)
