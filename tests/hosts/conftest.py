"""A small home for the command line, run in this process or as the command it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CONFIGURATION = "knowledgebase:\n  embedders:\n    active: builtin_hash\n"
FILES = {
    "guide.md": "# Guide\n\nHow to use the harbour office.\n\n## Opening hours\n\nThe office opens at seven.\n\n"
    "## Mooring\n\nBoats moor at the north quay. The harbour master hands out berths.\n",
    "notes/tides.txt": "High tide is at noon on Thursday.\nLow tide follows six hours later.\n",
    "code/berths.py": "def free_berths(harbour):\n    return [berth for berth in harbour if not berth.taken]\n",
    "notes/港口.md": "# 港口\n\n港口办公室七点开门。\n",
    "picture.png": "not a picture",
    ".secret": "hidden",
}


@dataclass(frozen=True)
class Ending:
    """What a run of the command line left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document on the output, which must be the only thing there."""
        return json.loads(self.out)


def make_home(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    """A home with these files in its workspace and nothing indexed."""
    for name, text in files.items():
        file = folder / "workspace" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (folder / "config.yaml").write_text(CONFIGURATION, encoding="utf-8")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed home; tests only read it."""
    from hermes_lance.hosts.cli.main import run

    folder = make_home(tmp_path_factory.mktemp("built") / "home")
    assert run(["--home", str(folder), "build", "--quiet"]) == 0
    return folder


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ending]:
    """Runs the command line in this process."""
    from hermes_lance.hosts.cli.main import run

    def call(*arguments: object) -> Ending:
        capsys.readouterr()
        status = run([str(one) for one in arguments])
        out, err = capsys.readouterr()
        return Ending(status, out, err)

    return call


def shell(*arguments: object, env: Mapping[str, str] | None = None, **more: Any) -> Ending:
    """Runs it as a command of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "hermes_lance", *map(str, arguments)],
        capture_output=True,
        env={**os.environ, **(env or {})},
        timeout=120,
        check=False,
        **more,
    )
    return Ending(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "replace"))


@pytest.fixture(name="shell")
def shell_fixture() -> Callable[..., Ending]:
    return shell


@pytest.fixture(autouse=True)
def no_threads_that_follow_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of tools ask what is indexed; that files are looked at first has tests of its own."""
    from hermes_lance.keeping import Keeping

    monkeypatch.setattr(Keeping, "before_question", lambda *_, **__: [])
