"""What is written for people agrees with what the code does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
DOCUMENTS = [file for file in (TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))) if file.is_file()]
_FENCE = re.compile(r"^```(\w+) runs\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


@dataclass(frozen=True)
class Block:
    """A fenced block whose first line is ```LANGUAGE runs."""

    file: Path
    line: int
    language: str
    code: str


def blocks(file: Path) -> list[Block]:
    text = file.read_text(encoding="utf-8")
    return [Block(file, text.count("\n", 0, m.start()) + 1, m[1], m[2]) for m in _FENCE.finditer(text)]


BLOCKS = [block for file in DOCUMENTS for block in blocks(file)]


def test_generated_documents_are_in_step(checkout):
    done = subprocess.run(
        [sys.executable, checkout / "scripts" / "make_docs", "--check"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run(command: list[str], place: Path, checkout: Path, code: str) -> str:
    """What a command prints, in a folder that holds the sample workspace, with a home of its own."""
    environment = {**os.environ, "HERMES_HOME": str(place / "home"), "PYTHONPATH": str(checkout)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(command, input=code, cwd=place, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def place(checkout: Path, tmp_path: Path) -> Path:
    """A folder in which the documents' examples work."""
    shutil.copytree(checkout / "docs" / "sample", tmp_path / "docs" / "sample")
    return tmp_path


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.language != "console"], ids=lambda block: f"{block.file.name}"
)
def test_an_example_runs(block, place, checkout):
    runner = {"python": [sys.executable, "-"], "sh": ["bash", "-eu"]}[block.language]
    run(runner, place, checkout, block.code)


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.language == "console"], ids=lambda block: f"{block.file.name}"
)
def test_a_session_prints_what_the_document_shows(block, place, checkout):
    command, shown = "", ""
    for line in block.code.splitlines():
        if line.startswith("$ "):
            command = line.removeprefix("$ ")
            shown = run(["bash", "-eu"], place, checkout, command)
        elif line.strip():
            # Scores differ a little between processors; everything else is the same everywhere.
            wanted = re.sub(r"  \d+\.\d\d$", "  ", line)
            assert wanted in shown, f"{command} does not print {wanted!r} (any more):\n{shown}"
            shown = shown[shown.index(wanted) + len(wanted) :]


def test_the_readme_shows_a_session_on_its_first_screen(checkout):
    (session,) = [block for block in BLOCKS if block.language == "console" and block.file == checkout / "README.md"]
    assert session.line + session.code.count("\n") < 31


def test_every_link_to_a_file_leads_somewhere(checkout):
    broken = []
    for file in DOCUMENTS:
        if (TOP / "docs" / "sample") in file.parents:
            continue
        for target in _LINK.findall(file.read_text(encoding="utf-8")):
            if not re.match(r"[a-z]+:", target) and not (file.parent / target).exists():
                broken.append(f"{file.relative_to(checkout)}: {target}")
    assert broken == []
