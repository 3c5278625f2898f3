"""Opening a door costs no heavy import: each is imported in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

import pytest

import hermes_lance

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


def heavy_after(statement: str, names: Sequence[str] = HEAVY) -> list[str]:
    """Heavy packages that are loaded once a fresh process has run `statement`."""
    report = f"import json, sys; print(json.dumps([name for name in {list(names)!r} if name in sys.modules]))"
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


@pytest.mark.parametrize("words", [["build"], ["build", "--json"], ["status"], ["workspace", "roots", "list"]])
def test_a_build_with_nothing_to_do_and_a_status_need_no_heavy_package(tmp_path, words):
    (tmp_path / "workspace").mkdir()
    (tmp_path / "config.yaml").write_text("knowledgebase: {embedders: {active: builtin_hash}}")
    for name in ("a.md", "b.py", "c.pdf", "d.html"):
        (tmp_path / "workspace" / name).write_text(f"# {name}")
    hermes_lance.open(tmp_path).index()
    call = f"import sys; sys.argv = {['hermes-lance', '--home', str(tmp_path), *words]!r}"
    call += f"\nfrom hermes_lance.hosts.cli.main import main\n{SWALLOW_EXIT}"
    assert heavy_after(call) == []
    others = ["importlib.metadata", "hermes_lance.parse.web", "hermes_lance.ingest.pipeline", "pathspec"]
    assert heavy_after(call, others) == []


def test_the_check_sees_a_heavy_package():
    assert "numpy" in heavy_after("import numpy")
