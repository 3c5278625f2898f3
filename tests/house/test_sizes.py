"""A file that grows past 400 lines, or a function past 70, usually holds two ideas."""

from __future__ import annotations

import ast
from pathlib import Path

import hermes_lance

PACKAGE = Path(hermes_lance.__file__).parent
LONGEST_FILE_LINES = 400
LONGEST_FUNCTION_LINES = 70

LONG_FILES: dict[str, str] = {}
"""Path in the package to the reason why it is one idea all the same."""


def test_a_long_file_has_a_reason():
    lengths = {
        file.relative_to(PACKAGE).as_posix(): file.read_text(encoding="utf-8").count("\n")
        for file in PACKAGE.rglob("*.py")
    }
    long = {name for name, lines in lengths.items() if lines > LONGEST_FILE_LINES}
    assert {name: lengths[name] for name in long - set(LONG_FILES)} == {}
    assert set(LONG_FILES) - long == set(), "no longer needs its reason"


def test_functions_fit_on_a_screen_or_two():
    long = []
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                lines = node.end_lineno - node.lineno + 1
                if lines > LONGEST_FUNCTION_LINES:
                    long.append(f"{file.relative_to(PACKAGE)}:{node.lineno} {node.name} has {lines} lines")
    assert long == []
