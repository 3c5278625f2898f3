"""`forget` and `delete` on the command line: what they say, and what a script reads."""

from __future__ import annotations

import pytest


@pytest.fixture
def indexed(cli, home):
    assert cli("--home", home, "build", "--quiet").status == 0
    return home


def found(cli, home, *words):
    hits = cli("--home", home, "search", *words, "--mode", "lexical", "--json").json["hits"]
    return {hit["path"] for hit in hits}


def test_a_document_is_forgotten_listed_and_brought_back(cli, indexed):
    assert cli("--home", indexed, "forget", "--list").out == "Nothing is forgotten.\n"
    done = cli("--home", indexed, "forget", "notes/tides.txt", "--json").json
    assert (done["forgotten"], done["copies"], done["purged"], done["proof"]) == (["notes/tides.txt"], [], False, None)
    assert done["chunks_removed"] == 1
    assert cli("--home", indexed, "build", "--json").json["files"]["skipped"] == 3
    assert "notes/tides.txt" not in found(cli, indexed, "tide")
    listed = cli("--home", indexed, "forget", "--list", "--json").json["forgotten"]
    assert [(one["path"], one["purge"], one["pending"]) for one in listed] == [("notes/tides.txt", False, False)]
    assert cli("--home", indexed, "forget", "notes/tides.txt", "--undo", "--json").json["lifted"] == ["notes/tides.txt"]
    assert cli("--home", indexed, "build", "--json").json["files"]["added"] == 1
    assert found(cli, indexed, "tide") == {"notes/tides.txt"}


def test_a_purge_says_what_it_opened(cli, indexed):
    before = cli("--home", indexed, "status", "--json").json["generation"]
    said = " ".join(cli("--home", indexed, "forget", indexed / "workspace" / "guide.md", "--purge").out.split())
    assert "Forgotten: guide.md" in said and "The file on the disk is untouched." in said
    assert "5 tables in 5 versions" in said and said.endswith("Nothing of it is left.")
    ending = cli("--home", indexed, "search", "harbour", "--as-of", before, "--json")
    assert (ending.status, ending.json["code"]) == (16, "purged")


def test_wrong_uses_are_refused(cli, indexed):
    assert cli("--home", indexed, "forget").status == 2
    assert cli("--home", indexed, "forget", "guide.md", "--undo", "--purge").status == 2
    assert cli("--home", indexed, "forget", "guide.md", "--undo").status == 2
    assert cli("--home", indexed, "forget", "absent.md").status == 33
    assert cli("--home", indexed, "delete", "absent.md").status == 2
    assert cli("--dataset", indexed / "knowledgebase" / "indexes", "forget", "guide.md").status == 2


@pytest.mark.parametrize("words", [["delete"], ["workspace", "delete"]])
def test_a_deleted_document_returns_when_its_file_changes(cli, indexed, words):
    said = cli("--home", indexed, *words, "guide.md").out
    assert "It returns when the file changes" in " ".join(said.split())
    assert found(cli, indexed, "mooring") == set()
    cli("--home", indexed, "build", "--quiet")
    assert found(cli, indexed, "mooring") == set()
    with (indexed / "workspace" / "guide.md").open("a", encoding="utf-8") as file:
        file.write("\nA new line.\n")
    cli("--home", indexed, "build", "--quiet")
    assert found(cli, indexed, "mooring") == {"guide.md"}


def test_what_was_forgotten_waits_for_the_next_build_once_that_is_lifted(cli, indexed):
    copy = indexed / "workspace" / "copy.txt"
    copy.write_bytes((indexed / "workspace" / "notes" / "tides.txt").read_bytes())
    assert cli("--home", indexed, "forget", "notes/tides.txt").status == 0
    assert cli("--home", indexed, "build", "--quiet").status == 0
    assert "which was forgotten" in cli("--home", indexed, "why", "copy.txt").out
    assert cli("--home", indexed, "forget", "--undo", "notes/tides.txt").status == 0
    for name in ("notes/tides.txt", "copy.txt"):
        said = cli("--home", indexed, "why", name).out
        assert "no longer forgotten; run `hermes-lance" in said and "forgotten on purpose." not in said


def test_a_file_that_only_the_current_folder_knows_is_named(cli, indexed, monkeypatch):
    monkeypatch.chdir(indexed / "workspace" / "notes")
    ending = cli("--home", indexed, "forget", "tides.txt")
    assert (ending.status, "./tides.txt" in ending.err) == (33, True)
