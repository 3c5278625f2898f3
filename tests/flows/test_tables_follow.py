"""Text goes into the tables whatever becomes of its vectors."""

from __future__ import annotations

import pytest

import hermes_lance
from hermes_lance.store import manifest as manifests


class FallsOver(Exception):
    """What an embedder may die of."""


def test_an_embedder_that_fails_leaves_complete_tables(tmp_path, monkeypatch):
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "a.md").write_text("# Whales\n\nThe blue whale sings.\n", encoding="utf-8")
    (tmp_path / "config.yaml").write_text("knowledgebase:\n  embedders:\n    active: builtin_hash\n", encoding="utf-8")
    library = hermes_lance.open(tmp_path)

    def failing(*_: object, **__: object) -> None:
        raise FallsOver

    with monkeypatch.context() as patch:
        patch.setattr(type(library.embedder()), "embed_documents", failing)
        with pytest.raises(FallsOver):
            library.index()
    assert not manifests.current(library.dataset).tables_behind
    assert library.export("chunks").num_rows == 1
    assert [hit.path for hit in library.search("whale", mode="lexical")] == ["a.md"]
    report = library.index()
    assert report.vectors_written == 1 and report.warnings == []
