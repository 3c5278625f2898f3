"""A file that fails keeps its passages, says why in its parser's words, and waits for a reason to be read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hermes_lance
from hermes_lance.ingest import reading
from hermes_lance.library import Library
from hermes_lance.parse.plain import PlainParser

CONFIG = "knowledgebase:\n  embedders: {active: builtin_hash, builtin_hash: {dims: 64}}\n"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "config.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "workspace" / "log.txt").write_text("The walrus is calm.\n", encoding="utf-8")
    (tmp_path / "workspace" / "other.txt").write_text("The owl is calm.\n", encoding="utf-8")
    return hermes_lance.open(tmp_path)


@pytest.fixture
def breaking(monkeypatch):
    """A parser that fails on texts with the word BREAK; the list of how often each text was read."""
    read: list[bytes] = []
    parse = PlainParser.parse

    def fails(self: Any, data: bytes, **more: Any) -> Any:
        read.append(data)
        if b"BREAK" in data:
            raise ZeroDivisionError("division of a walrus by zero")
        return parse(self, data, **more)

    monkeypatch.setattr(PlainParser, "parse", fails)
    return read


def row(library: Library, path: str = "log.txt") -> dict[str, Any]:
    return next(one for one in library.status(files=True)["files_detail"] if one["path"] == path)


def test_a_failed_file_keeps_its_passages_and_the_words_of_the_parser(library, breaking):
    library.index()
    path = library.config.workspace_root / "log.txt"
    path.write_text("BREAK\n", encoding="utf-8")
    report = library.index()
    assert report.files.failed == 1
    (problem,) = report.problems
    assert (problem.path, problem.detail) == ("log.txt", "ZeroDivisionError: division of a walrus by zero")
    assert (row(library)["state"], row(library)["chunks"]) == ("failed", 1)
    assert "ZeroDivisionError: division of a walrus by zero" in row(library)["reason"]
    (hit,) = library.search("walrus calm", mode="lexical", path="log.txt")
    assert hit.text.strip() == "The walrus is calm." and hit.freshness == "changed"
    verdict = library.why("log.txt").verdict
    assert (
        verdict.startswith("Indexed as 1 passage. They are of an earlier reading: ") and "ZeroDivisionError" in verdict
    )


def test_it_is_read_again_when_its_bytes_change_and_not_before(library, breaking):
    path = library.config.workspace_root / "log.txt"
    path.write_text("BREAK\n", encoding="utf-8")
    library.index()
    number = len(breaking)
    path.touch()
    for _ in range(3):
        assert library.index().files.failed == 1
    assert len(breaking) == number, "neither a build nor a touch is a reason"
    path.write_text("All is well with the walrus.\n", encoding="utf-8")
    assert library.index().files.failed == 0
    assert row(library)["state"] == "indexed"


def test_it_is_read_again_when_its_parser_changes(library, breaking, monkeypatch):
    path = library.config.workspace_root / "log.txt"
    path.write_text("BREAK\n", encoding="utf-8")
    library.index()
    number = breaking.count(b"BREAK\n")
    library.index()
    assert breaking.count(b"BREAK\n") == number
    signature = reading.Reader.signature
    changed = "hermes_lance.ingest.signatures.PieceSignatures.of"
    monkeypatch.setattr(changed, lambda self, kind: f"another {kind}")
    monkeypatch.setattr(reading.Reader, "signature", lambda self, kind: f"another {signature(self, kind)}")
    library.index()
    assert breaking.count(b"BREAK\n") == number + 1
