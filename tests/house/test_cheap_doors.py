"""Opening a door costs no heavy import: each is imported in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = [
    "lancedb", "lance", "torch", "polars", "pyarrow", "tantivy", "onnxruntime", "tokenizers", "sentence_transformers",
    "numpy", "pandas", "tree_sitter", "pdfplumber", "pypdfium2", "anydoc",
]  # fmt: skip
DOORS = ["hermes_lance", "hermes_lance.hosts.cli.main", "hermes_lance.hosts.hermes"]

SWALLOW_EXIT = """
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


def heavy_after(statement: str) -> list[str]:
    """Heavy packages that are loaded once a fresh process has run `statement`."""
    report = f"import json, sys; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{report}"], capture_output=True, text=True, check=True, timeout=60
    )
    loaded: list[str] = json.loads(done.stdout.splitlines()[-1])
    return loaded


@pytest.mark.parametrize("door", DOORS)
def test_a_door_opens_without_heavy_packages(door):
    assert heavy_after(f"import {door}") == []


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["search", "--help"], ["build", "--help"]])
def test_help_is_shown_without_heavy_packages(words):
    call = f"import sys; sys.argv = {['hermes-lance', *words]!r}"
    assert heavy_after(f"{call}\nfrom hermes_lance.hosts.cli.main import main\n{SWALLOW_EXIT}") == []


def test_the_check_sees_a_heavy_package():
    assert "numpy" in heavy_after("import numpy")
