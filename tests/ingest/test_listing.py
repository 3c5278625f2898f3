"""`manifests/workspace.json` names every discovered file and is written when something was published."""

from __future__ import annotations

import json
import stat
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import hermes_lance
from hermes_lance.core.ids import sha256_hex
from hermes_lance.ingest import listing
from hermes_lance.library import Library


@pytest.fixture
def library(tmp_path: Path) -> Library:
    (tmp_path / "workspace" / "notes").mkdir(parents=True)
    config = "knowledgebase:\n  embedders: {active: builtin_hash, builtin_hash: {dims: 64}}\n"
    (tmp_path / "config.yaml").write_text(config, encoding="utf-8")
    (tmp_path / "workspace" / "notes" / "плана.md").write_text("# Plan\n\nSail at noon.\n", encoding="utf-8")
    (tmp_path / "workspace" / "sea.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "workspace" / "empty.txt").touch()
    return hermes_lance.open(tmp_path)


def listed(library: Library) -> Any:
    return json.loads(listing.path_of(library.config).read_bytes())


def test_every_discovered_file_is_listed_with_what_became_of_it(library):
    report = library.index()
    whole = listed(library)
    assert (whole["success"], whole["generation"], whole["file_count"]) == (True, report.generation, 3)
    assert Path(whole["manifest_path"]) == listing.path_of(library.config)
    rows = {row["relative_path"]: row for row in whole["files"]}
    plan = rows["notes/плана.md"]
    assert (plan["status"], plan["chunks"], plan["mime_type"]) == ("indexed", 1, "text/markdown")
    assert plan["parser"].startswith("markdown/") and plan["size_bytes"] == len("# Plan\n\nSail at noon.\n")
    assert plan["content_hash"] == sha256_hex(b"# Plan\n\nSail at noon.\n")
    assert rows["empty.txt"]["status"] == "skipped" and rows["empty.txt"]["reason"].startswith("empty: ")
    detail = Counter(row["state"] for row in library.status(files=True)["files_detail"])
    assert Counter(row["status"] for row in whole["files"]) == detail
    assert stat.S_IMODE(listing.path_of(library.config).stat().st_mode) == 0o600


def test_a_run_with_nothing_to_do_leaves_the_file_as_it_is_and_mends_a_lost_one(library):
    library.index()
    path = listing.path_of(library.config)
    before = path.stat()
    library.index()
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    path.unlink()
    library.index()
    assert listed(library)["file_count"] == 3


def test_what_is_forgotten_or_changed_shows_at_once(library, tmp_path):
    library.index()
    library.forget(["notes/плана.md"])
    rows = {row["relative_path"]: row for row in listed(library)["files"]}
    assert rows["notes/плана.md"]["reason"].startswith("forgotten: ")
    (tmp_path / "workspace" / "new.txt").write_text("A new owl.\n", encoding="utf-8")
    library.index()
    assert {row["relative_path"] for row in listed(library)["files"]} == {*rows, "new.txt"}
    assert list(listing.path_of(library.config).parent.iterdir()) == [listing.path_of(library.config)]


def test_lines_that_are_taken_over_are_the_ones_that_would_be_written(library, tmp_path, monkeypatch):
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "a.txt").write_text("An anchor.\n", encoding="utf-8")
    library.index(extra_roots=[(extra, True)])
    (tmp_path / "workspace" / "notes" / "плана.md").write_text("# Plan\n\nSail at one.\n", encoding="utf-8")
    (tmp_path / "workspace" / "zebra.txt").write_text("A zebra.\n", encoding="utf-8")
    (tmp_path / "workspace" / "empty.txt").unlink()
    made: list[bytes] = []
    line = listing._line

    def counted(record: bytes, labels: dict[str, str]) -> bytes:
        made.append(record)
        return line(record, labels)

    monkeypatch.setattr(listing, "_line", counted)
    library.index(extra_roots=[(extra, True)])
    assert len(made) == 2
    taken_over = listed(library)
    listing.path_of(library.config).unlink()
    library.index(extra_roots=[(extra, True)])
    anew = listed(library)
    assert [row["relative_path"] for row in anew["files"]] == ["notes/плана.md", "sea.png", "zebra.txt", "extra/a.txt"]
    assert {**taken_over, "generated_at": ""} == {**anew, "generated_at": ""}


def test_a_file_that_others_wrote_is_written_anew(library, tmp_path):
    library.index()
    listing.path_of(library.config).write_text('{"files": []}', encoding="utf-8")
    (tmp_path / "workspace" / "new.txt").write_text("A new owl.\n", encoding="utf-8")
    library.index()
    assert listed(library)["file_count"] == 4 == len(listed(library)["files"])
