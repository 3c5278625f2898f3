"""Errors keep their promises: one place, a code and a status of their own, and a hint."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.core import errors

PACKAGE = Path(hermes_lance.__file__).parent
ERRORS = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.HermesLanceError)
]


def repeated(values: list[object]) -> list[object]:
    return [value for value, times in Counter(values).items() if times > 1]


def test_codes_are_unique():
    assert repeated([error.code for error in ERRORS]) == []


def test_exit_statuses_are_unique_and_fit_a_shell():
    statuses = [error.exit_status for error in ERRORS]
    assert repeated(list(statuses)) == []
    # Above 125 a shell speaks itself; 130 is its own word for an interruption, which is what ours means too.
    assert [status for status in statuses if not (0 < status <= 125 or status == 130)] == []


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_an_error_says_what_it_is_and_what_to_do(error):
    assert {"code", "exit_status"} <= set(vars(error))
    assert error.__doc__ and error.hint.endswith(".")


def test_errors_are_defined_in_one_file_only():
    names = {error.__name__ for error in ERRORS}
    elsewhere = []
    for file in sorted(PACKAGE.rglob("*.py")):
        if file == PACKAGE / "core" / "errors.py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = {ast.unparse(base).split(".")[-1] for base in node.bases}
                elsewhere += [f"{file.relative_to(PACKAGE)}:{node.lineno} {node.name}"] if bases & names else []
    assert elsewhere == []
