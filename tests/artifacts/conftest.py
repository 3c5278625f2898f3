"""A home and a source tree of a few files, and what is collected from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from hermes_lance.artifacts.collect import Collection, collected
from hermes_lance.core.artifact import Artifact
from hermes_lance.core.router_config import LocalKnowledgeConfig


@dataclass
class Tree:
    """Writes below a home (`home/…`), a source tree (`root/…`) and a state folder (`state/…`)."""

    folder: Path
    settings: LocalKnowledgeConfig

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return path

    def collect(self, **changes: Any) -> Collection:
        return collected(self.folder / "home", replace(self.settings, **changes))

    def one(self, key: str) -> Artifact:
        """The artifact of an id, which is there."""
        return {one.id: one for one in self.collect().artifacts}[key]

    def ids(self, **changes: Any) -> list[str]:
        return [one.id for one in self.collect(**changes).artifacts]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    for name in ("home", "root", "state"):
        (tmp_path / name).mkdir()
    settings = LocalKnowledgeConfig(
        source_root=str(tmp_path / "root"), state_dir=str(tmp_path / "state"), include_markdown_docs=True
    )
    return Tree(tmp_path, settings)


@pytest.fixture
def skill(tree: Tree) -> Callable[..., Path]:
    """Writes one skill; `where` is the folder of all skills."""

    def write(name: str, head: str = "description: Does something useful.", where: str = "home/skills") -> Path:
        return tree.write(f"{where}/{name}/SKILL.md", f"---\nname: {name.split('/')[-1]}\n{head}\n---\n# Steps\n")

    return write
