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


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.file.name}:{block.line}")
def test_a_block_that_is_marked_runs(block, checkout, tmp_path):
    shutil.copytree(checkout / "docs" / "sample", tmp_path / "docs" / "sample")
    (tmp_path / "home").mkdir()
    environment = {**os.environ, "HERMES_HOME": str(tmp_path / "home"), "PYTHONPATH": str(checkout)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    runner = {"python": [sys.executable, "-"], "sh": ["bash", "-eu"]}[block.language]
    done = subprocess.run(
        runner, input=block.code, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_link_to_a_file_leads_somewhere(checkout):
    broken = []
    for file in DOCUMENTS:
        if (TOP / "docs" / "sample") in file.parents:
            continue
        for target in _LINK.findall(file.read_text(encoding="utf-8")):
            if not re.match(r"[a-z]+:", target) and not (file.parent / target).exists():
                broken.append(f"{file.relative_to(checkout)}: {target}")
    assert broken == []
