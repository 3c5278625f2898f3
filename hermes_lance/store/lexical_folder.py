"""The Tantivy folder of a publication: an index of passages and one of artifacts, each made only when it changes.

What does not change is shared with the folder before it by hard links. There is no folder where nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hermes_lance.core import ids
from hermes_lance.core.artifact import Artifact, joined_names
from hermes_lance.store import lexical_files
from hermes_lance.store.durable import disk_errors, make_private
from hermes_lance.store.lexical_writer import LexicalWriter

CHUNKS, ARTIFACTS = "chunks", "artifacts"


class LexicalFolder:
    """`before` is what the manifest of the base says of its folder, `made` notes a folder that is begun."""

    def __init__(self, place: Path, before: dict[str, Any], made: list[Path]) -> None:
        self._place, self._before, self._made = place, before, made
        self._folder: Path | None = None
        self._chunks: LexicalWriter | None = None
        self._artifacts = False

    @property
    def begun(self) -> bool:
        """Something of it has changed."""
        return self._folder is not None

    def _new(self) -> Path:
        if self._folder is None:
            self._folder = self._place / ids.unique_name()
            self._made.append(self._folder)
            with disk_errors(str(self._folder)):
                make_private(self._folder)
        return self._folder

    def chunks(self) -> LexicalWriter:
        """The index of passages, continued from that of the base."""
        if self._chunks is None:
            folder = self._new()
            with disk_errors(str(folder)):
                if self._before:
                    self._share(CHUNKS)
                self._chunks = LexicalWriter(folder / CHUNKS)
        return self._chunks

    def put_artifacts(self, artifacts: Sequence[Artifact]) -> None:
        """A new index of these artifacts; the row numbers are positions by id."""
        self._artifacts = True
        write_artifact_index(self._new() / ARTIFACTS, artifacts)

    def finish(self) -> dict[str, Any] | None:
        """Commits what was begun; its entry for the manifest, none where nothing has changed."""
        if self._folder is None:
            return None
        with disk_errors(str(self._folder)):
            if self._chunks is not None:
                self._chunks.commit()
                self.close()
                files = self._entries(CHUNKS, self._of(CHUNKS))
            else:
                self._share(CHUNKS)
                files = self._of(CHUNKS)
            if self._artifacts:
                files |= self._entries(ARTIFACTS, {})
            elif routed := self._of(ARTIFACTS):
                self._share(ARTIFACTS)
                files |= routed
        return {"folder": self._folder.name, "files": files}

    def close(self) -> None:
        """Frees the lock of the index; what was not committed is lost. May be called twice."""
        writer, self._chunks = self._chunks, None
        if writer is not None:
            writer.close()

    def _share(self, part: str) -> None:
        assert self._folder is not None
        lexical_files.clone(self._place / self._before["folder"] / part, self._folder / part)

    def _of(self, part: str) -> dict[str, dict[str, Any]]:
        """The entries of the base for one of both indexes."""
        return {name: entry for name, entry in self._before.get("files", {}).items() if name.startswith(f"{part}/")}

    def _entries(self, part: str, before: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        assert self._folder is not None
        inside = {name.removeprefix(f"{part}/"): entry for name, entry in before.items()}
        return {f"{part}/{name}": one for name, one in lexical_files.file_entries(self._folder / part, inside).items()}


def write_artifact_index(folder: Path, artifacts: Sequence[Artifact]) -> None:
    """A Tantivy index of artifacts in a new folder."""
    with disk_errors(str(folder)):
        make_private(folder)
        with LexicalWriter(folder, "artifacts") as writer:
            for position, one in enumerate(sorted(artifacts, key=lambda one: one.id)):
                # Found by, never stored: this index holds no text.
                writer.add(
                    replace(one, search_text=f"{one.search_text}\n{' '.join(sorted(joined_names(one)))}"), position
                )
            writer.commit()
