"""A table that is gone: nothing is deleted, one command puts the rest aside, and the next build begins anew."""

from __future__ import annotations

import shutil

import pytest

import hermes_lance
from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.store import check

FATAL_BEFORE_A_BUILD = ["dataset"]


@pytest.mark.parametrize("lost", [["chunks"], ["sources", "edges"], ["chunks", "sources", "artifacts", "edges"]])
def test_a_lost_table_is_put_right_in_place_and_nothing_is_embedded_again(tmp_path, lost):
    (tmp_path / "config.yaml").write_text("knowledgebase:\n  embedders:\n    active: builtin_hash\n")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.txt").write_text("the red fox\n")
    library = hermes_lance.open(tmp_path)
    library.index()
    for name in lost:
        shutil.rmtree(library.dataset / "lance" / f"{name}.lance")
    (workspace / "b.txt").write_text("the grey wolf\n")
    with pytest.raises(DatasetDamaged, match="is missing") as caught:
        library.index()
    assert "doctor --fix" in caught.value.hint
    found = library.doctor(fix=True)
    assert [one.name for one in found if not one.ok and one.fatal] == FATAL_BEFORE_A_BUILD
    assert any("put aside" in warning for warning in library.warnings)
    assert list((library.dataset / "aside").rglob("CURRENT"))
    report = library.index()
    assert report.files.added == 2 and report.vectors_written == 1
    assert library.search("red fox")[0].path == "a.txt"
    assert all(one.ok for one in check.checks(library.dataset))
