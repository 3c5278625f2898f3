"""Searching a small real dataset: modes, filters, paging, freshness, words about what could not be done."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.core import memory
from hermes_lance.core.errors import DatasetMissing, UsageError
from hermes_lance.store import snapshot
from hermes_lance.store.segment import Segment

FILES = {
    "docs/rollback.md": "# Deployment\n\n## Rollback\n\nRoll back the canary: `deploy rollback --to previous`.\n",
    "docs/backup.md": "# Backup\n\nNightly backups go to the cold storage bucket.\n",
    "code/session.py": "def open_session(user_id):\n    return create_session(user_id)\n",
    "notes/über uns.txt": "Der Wartungsplan für die Brücke steht hier.\n",
    "notes/数据库.txt": "数据库迁移在周五进行。\n",
}


@pytest.fixture
def library(tmp_path: Path):
    (tmp_path / "config.yaml").write_text("knowledgebase:\n  embedders:\n    active: builtin_hash\n")
    for name, text in FILES.items():
        path = tmp_path / "workspace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    library = hermes_lance.open(tmp_path)
    library.index()
    return library


def paths(answer):
    return [hit.path for hit in answer]


@pytest.mark.parametrize("mode", ["lexical", "dense", "hybrid"])
def test_each_mode_finds_the_passage_with_its_lines_and_section(library, mode):
    hit = library.search("how do I roll back the canary", mode=mode)[0]
    assert (hit.path, hit.line_start, hit.freshness) == ("docs/rollback.md", 1, "fresh")
    assert "deploy rollback --to previous" in hit.text


def test_text_is_the_exact_slice_of_the_file(library):
    for hit in library.search("canary backups session Wartungsplan 数据库", limit=20):
        on_disk = FILES[hit.path]
        assert hit.text == on_disk[hit.char_start : hit.char_end]


def test_words_without_spaces_between_them_are_found(library):
    assert paths(library.search("迁移", mode="lexical")) == ["notes/数据库.txt"]


def test_filters_hold_in_both_legs(library):
    everything = "canary backups session"
    assert set(paths(library.search(everything, path="docs", limit=20))) == {"docs/rollback.md", "docs/backup.md"}
    assert paths(library.search(everything, path="docs/backup.md")) == ["docs/backup.md"]
    assert paths(library.search(everything, file_glob="*.py", mode="dense")) == ["code/session.py"]
    nothing = library.search(everything, path="do")
    assert len(nothing) == 0 and "no indexed file matches the filter" in nothing.warnings


def test_pages_follow_one_another_without_gap_or_repeat(library):
    whole = paths(library.search("the canary backups session Brücke", limit=5))
    turned = [
        path
        for offset in range(0, 6, 2)
        for path in paths(library.search("the canary backups session Brücke", limit=2, offset=offset))
    ]
    assert turned == whole
    assert library.search("the canary backups session", limit=1).has_more


@pytest.mark.parametrize("text", ["", "   ", "?!", "\x00", "\ud800", "()[]{}\"'~^"])
def test_a_query_without_a_word_gives_an_empty_page_and_says_so(library, text):
    answer = library.search(text)
    assert len(answer) == 0
    assert any("holds no word" in warning for warning in answer.warnings)


def test_lexical_search_for_what_is_nowhere_is_an_empty_page(library):
    assert len(library.search("zyzzyva", mode="lexical")) == 0


def test_a_deleted_file_is_dropped_and_a_changed_one_is_marked(library, tmp_path):
    os.unlink(tmp_path / "workspace/docs/backup.md")
    (tmp_path / "workspace/docs/rollback.md").write_text("# Other\n\nroll back nothing\n")
    answer = library.search("nightly backups canary roll back", limit=20)
    marks = {hit.path: hit.freshness for hit in answer}
    assert "docs/backup.md" not in marks and marks["docs/rollback.md"] == "changed"
    assert any("gone; run" in warning for warning in answer.warnings)


def test_a_touched_file_is_still_fresh(library, tmp_path):
    os.utime(tmp_path / "workspace/docs/backup.md", (1, 1))
    assert library.search("nightly backups")[0].freshness == "fresh"


def test_a_file_that_can_no_longer_be_read_keeps_its_passages_but_not_as_fresh(library, tmp_path):
    (tmp_path / "workspace/docs/backup.md").write_bytes(b"\x00\x01\x02 nightly" * 50)
    report = library.index()
    assert report.files.failed + report.files.skipped == 1
    assert all(hit.freshness != "fresh" for hit in library.search("nightly backups") if hit.path == "docs/backup.md")


def test_results_become_tables_and_frames(library):
    answer = library.search("canary", limit=3)
    table, frame = answer.to_arrow(), answer.to_polars()
    assert table.num_rows == len(answer) == frame.height
    assert {"path", "text", "score_lexical", "rank_dense", "line_start"} <= set(table.column_names)
    assert "docs/rollback.md:1" in repr(answer)


def test_the_trace_tells_what_each_stage_did(library):
    stages = [entry.stage for entry in library.search("canary").trace]
    assert stages == ["analyse", "lexical", "dense", "fuse", "freshness", "page"]


def test_without_a_build_the_error_says_what_to_run(tmp_path):
    with pytest.raises(DatasetMissing) as caught:
        hermes_lance.open(tmp_path / "empty").search("anything")
    assert "hermes-lance build" in caught.value.hint


@pytest.mark.parametrize("wrong", [{"mode": "fuzzy"}, {"fusion": "sum"}, {"limit": 0}, {"offset": -1}])
def test_a_wrong_argument_is_named(library, wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        library.search("canary", **wrong)


def test_the_file_of_that_name_comes_before_files_that_mention_it(tmp_path):
    (tmp_path / "config.yaml").write_text("knowledgebase:\n  embedders:\n    active: builtin_hash\n")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace/index.txt").write_text("See unicode.rst for strings; unicode.rst is long.\n")
    (tmp_path / "workspace/unicode.rst.txt").write_text("Strings are sequences of code points.\n")
    library = hermes_lance.open(tmp_path)
    library.index()
    assert [hit.path for hit in library.search("unicode.rst")] == ["unicode.rst.txt", "index.txt"]


def test_a_hit_names_its_root_as_file_lists_do(library, tmp_path):
    extra = tmp_path / "elsewhere"
    extra.mkdir()
    (extra / "zebra.txt").write_text("a zebra crossing\n")
    library.index(extra_roots=[(extra, False)])
    hit = library.search("zebra")[0]
    assert (hit.root, hit.path) == ("elsewhere", "elsewhere/zebra.txt")
    assert library.search("canary")[0].root == "workspace"


def test_vectors_of_an_earlier_embedder_are_asked_with_it_and_it_is_loaded_once(library, tmp_path, monkeypatch):
    from hermes_lance.models import load

    (tmp_path / "config.yaml").write_text("knowledgebase:\n  embedders:\n    active: minilm\n")
    later, loaded, real = hermes_lance.open(tmp_path), [], load.embedder

    def counted(name, options=None, home=None):
        loaded.append(name)
        return real(name, options, home)

    monkeypatch.setattr(load, "embedder", counted)
    for _ in range(3):
        assert later.search("roll back the canary", mode="dense")[0].path == "docs/rollback.md"
    assert loaded == ["builtin_hash"]


def test_a_search_does_not_list_the_workspace(library, monkeypatch):
    monkeypatch.setattr(library, "roots", lambda: pytest.fail("listed"))
    assert library.search("canary")[0].freshness == "fresh"


def test_answers_are_the_same_when_mapped_files_are_given_back_after_every_question(library, monkeypatch):
    before = library.search("canary backups session").records()
    monkeypatch.setattr(snapshot, "LARGE_BYTES", 0)
    monkeypatch.setattr(snapshot, "MAPPED_BYTES", -(1 << 50))
    given_back: list[str] = []
    forget = Segment.forget

    def noted(self, name):
        given_back.append(name)
        forget(self, name)

    monkeypatch.setattr(Segment, "forget", noted)
    for _ in range(3):
        assert library.search("canary backups session").records() == before
    if memory.resident().all:
        assert {"text", "vectors"} <= set(given_back)


def test_filters_find_files_of_roots_with_a_label_and_with_names_that_are_no_text(library, tmp_path):
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "canary.md").write_text("The canary sings in the extra root.\n")
    with open(os.fsencode(extra) + b"/can\xffary.md", "w") as file:
        file.write("Another canary with a name that is no text.\n")
    library.add_root(extra, recursive=True)
    library.index()
    assert set(paths(library.search("canary", path="extra"))) == {"extra/canary.md", "extra/can\\xffary.md"}
    assert paths(library.search("canary", file_glob="can?ary.md")) == []
    assert paths(library.search("canary", file_glob="extra/c*y.md", path="extra/canary.md")) == ["extra/canary.md"]
    assert paths(library.search("canary", file_glob="can*ary.md", path="/extra/")) != []
    assert set(paths(library.search("canary", path="."))) == set(paths(library.search("canary")))
