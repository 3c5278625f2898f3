"""A home whose builds say how many texts they gave to the embedder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import hermes_lance
from hermes_lance.core.records import IndexReport
from hermes_lance.library import Library
from hermes_lance.models.hashing import HashEmbedder

CONFIG = "knowledgebase:\n  embedders: {active: builtin_hash}\n"


class Home:
    """A home folder with a workspace, opened anew for every step, as commands do."""

    def __init__(self, folder: Path, embedded: list[str]) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True)
        self.embedded = embedded
        """The texts that were embedded by the last build."""
        self.configure()

    def configure(self, more: str = "") -> None:
        (self.folder / "config.yaml").write_text(CONFIG + more, encoding="utf-8")

    def open(self) -> Library:
        return hermes_lance.open(self.folder)

    def build(self, **how: Any) -> IndexReport:
        self.embedded.clear()
        return self.open().index(**how)

    def states(self) -> dict[str, tuple[str, str | None]]:
        """Path to state and reason of every discovered file; fails where one has two states."""
        rows = self.open().status(files=True)["files_detail"]
        found = {row["path"]: (row["state"], row["reason"]) for row in rows}
        assert len(found) == len(rows)
        return found

    def paths(self, question: str) -> list[str]:
        """Paths of the hits of a question of words."""
        return [hit.path for hit in self.open().search(question, mode="lexical", limit=50)]


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is given to the embedder from now on."""
    texts: list[str] = []
    real = HashEmbedder.embed_documents

    def embed(self: HashEmbedder, given: Any, **options: Any) -> Any:
        texts.extend(given)
        return real(self, given, **options)

    monkeypatch.setattr(HashEmbedder, "embed_documents", embed)
    return texts


@pytest.fixture
def home(tmp_path: Path, embedded: list[str]) -> Home:
    return Home(tmp_path / "home", embedded)


@pytest.fixture
def another_home(tmp_path: Path, embedded: list[str]) -> Callable[[str], Home]:
    """Makes further ones, by a name for the folder."""
    return lambda name: Home(tmp_path / name, embedded)


@pytest.fixture
def put() -> Callable[[Path, Mapping[str, str]], None]:
    """Writes files below a folder."""

    def write(top: Path, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            file = top / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    return write
