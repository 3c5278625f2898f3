"""Ids and words of artifacts."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_lance.artifacts.naming import display_path, identifier_terms, significant_words, slug


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Invoice Intake", "invoice-intake"), ("scripts/a_b.py", "scripts-a-b-py"), ("--x--", "x"), ("v2.0", "v2-0")],
)
def test_a_slug_is_lower_case_with_one_dash_between_words(name, expected):
    assert slug(name) == expected


def test_names_that_lose_letters_keep_apart_and_stay_the_same():
    names = ["резервное", "копирование", "写真", "動画", "Über uns", "Uber uns", "café", "cafe", "!!!", "???"]
    assert len({slug(name) for name in names}) == len(names)
    assert slug("写真") == slug("写真") and slug("写真").isascii()
    assert slug("cafe\u0301") == slug("caf\u00e9"), "composed and decomposed letters are the same name"


def test_a_path_is_shown_from_its_root_else_from_the_home_of_the_person(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / "tree"
    assert display_path(root / "a" / "b.md", root) == "a/b.md"
    assert display_path(tmp_path / "c.md", root) == "~/c.md"
    assert display_path(Path("/else/d.md"), root) == "/else/d.md"


def test_significant_words_are_distinct_and_without_function_words():
    assert significant_words("The backup of the Backup and its restore-plan.") == ("backup", "restore-plan")
    assert len(significant_words(" ".join(f"word{number}" for number in range(100)))) == 30
    assert significant_words("Резервное копирование") == ("резервное", "копирование")


def test_identifiers_are_cut_into_their_words():
    assert identifier_terms(["checkDueDate", "LEDGER_DSN", "HTTPServer", "run-all"]) == (
        "check", "due", "date", "ledger", "dsn", "http", "server", "run",
    )  # fmt: skip
