"""What is remembered of a file that gave no passages: enough to know when to try again, and not before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.library import Library
from hermes_lance.parse.markdown import MarkdownParser

CONFIG = "knowledgebase:\n  embedders: {active: builtin_hash}\n"


def opened(home: Path, more: str = "") -> Library:
    (home / "config.yaml").write_text(CONFIG + more)
    return hermes_lance.open(home)


def states(library: Library) -> dict[str, tuple[str, int]]:
    return {row["path"]: (row["state"], row["chunks"]) for row in library.status(files=True)["files_detail"]}


def test_a_file_that_failed_is_read_again_when_another_parser_is_set_for_its_kind_and_not_before(tmp_path: Path):
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "broken.pdf").write_text("%PDF-1 the words of a file that is none")
    (tmp_path / "workspace" / "fine.md").write_text("# Fine\n\ntext\n")
    opened(tmp_path).index()
    again = opened(tmp_path).index()
    assert (again.published, again.files.failed, again.files.unchanged) == (0, 1, 1)
    library = opened(tmp_path, "  parsers: {active: {application/pdf: builtin_text}}\n")
    report = library.index()
    assert (report.files.added, report.files.unchanged) == (1, 1)
    assert states(library) == {"broken.pdf": ("indexed", 1), "fine.md": ("indexed", 1)}


def test_a_file_that_is_indexed_but_for_a_part_says_which_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "mixed.md").write_text("words of the first page")
    read = MarkdownParser.parse
    told = {"partial": "pages 2, 7: pictures without a text layer"}
    monkeypatch.setattr(MarkdownParser, "parse", lambda *args, **how: replace(read(*args, **how), facts=told))
    library = opened(tmp_path)
    [warning] = [text for text in library.index().warnings if "mixed.md" in text]
    assert warning.startswith("1 of the indexed files have parts without text")
    [stage] = [stage for stage in library.why("mixed.md").stages if stage.stage == "index"]
    assert stage.detail["reason"] == f"partial: {told['partial']}"
    assert states(library) == {"mixed.md": ("indexed", 1)}
    assert library.index().published == 0


def test_a_dropped_file_that_fails_with_other_bytes_is_dropped_no_more(tmp_path: Path):
    (tmp_path / "workspace").mkdir()
    file = tmp_path / "workspace" / "report.md"
    file.write_text("# Report\n\nwords\n")
    library = opened(tmp_path)
    library.index()
    library.drop(["report.md"])
    file.write_bytes(bytes(range(32)) * 20)
    library.index()
    for _ in range(2):
        [row] = library.status(files=True)["files_detail"]
        assert row["reason"].startswith("binary: ")
        assert library.index().published == 0
