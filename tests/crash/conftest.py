"""Homes for tests that interrupt, compete and fill disks: small trees, the embedder without weights, a fast folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.core.records import IndexReport
from hermes_lance.library import Library
from hermes_lance.store import check
from hermes_lance.testing import Contents, contents_of

MEMORY = Path("/dev/shm")
ROOM_BYTES = 200 << 20
CONFIG = """\
workspace: {{path: {workspace}}}
knowledgebase:
  embedders: {{active: builtin_hash, builtin_hash: {{dims: 64}}}}
  parsers: {{active: {{application/pdf: builtin_text}}}}
  chunkers: {{active: {{text/x-*: paragraphs}}}}
"""


@dataclass(frozen=True)
class Home:
    """A home on disk. A `Library` is opened afresh for every act, as each command would."""

    folder: Path
    workspace: Path

    @property
    def dataset(self) -> Path:
        return self.folder / "knowledgebase" / "indexes"

    def library(self) -> Library:
        return hermes_lance.open(self.folder)

    def build(self, **options) -> IndexReport:
        return self.library().index(wait_seconds=0.0, **options)

    def write(self, name: str, *paragraphs: str) -> None:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")

    def contents(self) -> Contents:
        return contents_of(self.dataset)

    def healthy(self, *, swept: bool = True) -> bool:
        """All checks of the dataset pass; those of stray files only when a writer has `swept` them."""
        problems = [one for one in check.checks(self.dataset) if not one.ok and (swept or one.name != "orphans")]
        assert problems == []
        return True


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty folder, in memory where there is room: what is flushed there costs no time."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM_BYTES:
        made = Path(tempfile.mkdtemp(prefix="hermes-lance-test-", dir=MEMORY))
        yield made
        shutil.rmtree(made)
    else:
        yield tmp_path


@pytest.fixture
def make_home(folder: Path) -> Callable[..., Home]:
    """Makes a home; `workspace` when it is to index a folder that another home has."""

    def make(name: str = "home", workspace: Path | None = None) -> Home:
        home = folder / name
        files = workspace or home / "workspace"
        files.mkdir(parents=True, exist_ok=True)
        home.mkdir(exist_ok=True)
        (home / "config.yaml").write_text(CONFIG.format(workspace=files), encoding="utf-8")
        return Home(home, files)

    return make


@pytest.fixture
def home(make_home: Callable[..., Home]) -> Home:
    """A home with an empty workspace."""
    return make_home()


@pytest.fixture
def clean_build(make_home: Callable[..., Home]) -> Callable[[Home], Contents]:
    """What one build of the same files gives in a home without a past."""
    number = 0

    def clean(home: Home) -> Contents:
        nonlocal number
        number += 1
        fresh = make_home(f"clean-{number}", home.workspace)
        shutil.copy(home.folder / "config.yaml", fresh.folder)
        fresh.build()
        return fresh.contents()

    return clean


@pytest.fixture
def child() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts Python on a piece of source, never by fork alone; what still runs at the end of the test is killed."""
    running: list[subprocess.Popen[str]] = []

    def start(source: str, *arguments: object, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", source, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path)), **environment},
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()
