"""A build with nothing to do ends before it begins, with the report that a whole run would have given."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import hermes_lance
from hermes_lance.core.records import IndexReport
from hermes_lance.ingest import pipeline
from hermes_lance.ingest.pipeline import Build
from hermes_lance.library import Library
from hermes_lance.store import manifest as manifests

LONG_AGO = 1_700_000_000


@pytest.fixture
def library(tmp_path: Path) -> Library:
    files = {
        "a.md": "# One\n\nText.",
        "b.py": "def b():\n    pass",
        "empty.txt": "",
        "pic.png": "x",
        "bad.pdf": "%PDF-1",
    }
    for path, text in files.items():
        file = tmp_path / "workspace" / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        os.utime(file, (LONG_AGO, LONG_AGO))
    (tmp_path / "shelf" / "deep").mkdir(parents=True)
    (tmp_path / "shelf" / "deep" / "c.md").write_text("left out")
    (tmp_path / "config.yaml").write_text(
        f"knowledgebase:\n  embedders: {{active: builtin_hash}}\n  roots: [{{path: {tmp_path / 'shelf'}}}]\n"
    )
    found = hermes_lance.open(tmp_path)
    found.index()
    return found


def without_time(report: Any) -> dict[str, Any]:
    return asdict(replace(report, seconds=0.0))


def test_the_report_is_that_of_a_whole_run(library: Library) -> None:
    quick = library.index()
    whole = Build(library.config, library.dataset, library.roots(), library.embedder).run()
    assert without_time(quick) == without_time(whole)
    assert (quick.files.unchanged, quick.files.skipped, quick.files.failed, quick.published) == (2, 2, 1, 0)
    assert [warning for warning in quick.warnings if "left out 1 file in sub-folders" in warning]


def test_nothing_but_the_survey_runs_when_nothing_has_changed(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "Build", None)
    assert library.index().files.unchanged == 2
    assert library.index(only_paths=["a.md"]).files.unchanged == 1


def test_the_plan_of_the_survey_is_carried_out_without_a_second_walk(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    (library.config.workspace_root / "a.md").write_text("# Two\n\nOther text.")
    monkeypatch.setattr(pipeline, "survey", None)
    report = library.index()
    assert (report.files.changed, report.files.unchanged, report.published > 0) == (1, 1, True)


@pytest.mark.parametrize("what", ["interrupted", "tables", "vectors", "another embedder"])
def test_what_an_earlier_run_left_undone_is_something_to_do(
    library: Library, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[bool] = []

    def run(self: Build) -> IndexReport:
        begun.append(True)
        return self.report

    monkeypatch.setattr(Build, "run", run)
    base = library.manifest()
    match what:
        case "interrupted":
            (library.dataset / manifests.INTENT).write_text("{}")
        case "tables":
            base.tables_behind = True
        case "vectors":
            base.totals["vectors_pending"] = 3
        case _:
            base.space["active"]["signature"] = "another"
    monkeypatch.setattr(Library, "manifest_or_none", lambda self: base)
    library.index()
    assert begun == [True]
