"""`verify` on the command line: a sentence for people, one document for programs."""

from __future__ import annotations

import pytest


@pytest.fixture
def indexed(cli, home):
    assert cli("--home", home, "build", "--quiet").status == 0
    return home


def test_every_citation_of_a_search_stands(cli, indexed):
    for hit in cli("--home", indexed, "search", "harbour office", "--json").json["hits"]:
        citation = f"{hit['path']}:{hit['line_start']}-{hit['line_end']}"
        found = cli("--home", indexed, "verify", citation, "--json").json
        assert (found["verdict"], found["path"]) == ("exact", hit["path"])
        assert (found["line_start"], found["line_end"]) == (hit["line_start"], hit["line_end"])


def test_people_get_a_sentence_and_the_new_place(cli, indexed):
    assert cli("--home", indexed, "verify", "[Workspace source: notes/tides.txt:2]").out.startswith("exact: ")
    file = indexed / "workspace" / "notes" / "tides.txt"
    file.write_text("A new first line.\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    said = cli("--home", indexed, "verify", "notes/tides.txt:2").out
    assert said.startswith("moved: ") and "Now: notes/tides.txt:3" in said
    file.write_text("High tide is at noon on Friday.\n", encoding="utf-8")
    assert cli("--home", indexed, "verify", "notes/tides.txt:1").out.startswith("changed: ")
    file.unlink()
    ending = cli("--home", indexed, "verify", "notes/tides.txt:1", "--json")
    assert (ending.status, ending.json["verdict"], ending.json["line_start"]) == (0, "gone", None)


def test_what_is_no_citation_is_refused(cli, indexed):
    assert cli("--home", indexed, "verify", "guide.md:900").status == 2
    assert cli("--home", indexed, "verify", "../outside.md:1").status == 30
    assert cli("--home", indexed, "verify").status == 2
    assert cli("--dataset", indexed / "knowledgebase" / "indexes", "verify", "guide.md:1").status == 2


def test_a_path_of_the_shell_is_verified_from_the_current_folder(cli, indexed, monkeypatch):
    monkeypatch.chdir(indexed / "workspace" / "notes")
    assert cli("--home", indexed, "verify", "./tides.txt:1").out.startswith("exact: ")
    assert cli("--home", indexed, "verify", "../notes/tides.txt#L1").out.startswith("exact: ")
    unknown = cli("--home", indexed, "verify", "tides.txt").out
    assert unknown.startswith("gone: there is no such file") and "./tides.txt" in unknown


def test_lines_beyond_the_end_of_a_file_are_no_citation_of_it(cli, indexed):
    (indexed / "workspace" / "three.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    assert cli("--home", indexed, "build", "--quiet").status == 0
    beyond = cli("--home", indexed, "verify", "three.txt:2-9")
    assert (beyond.status, "has no line 9. It has 3." in beyond.err) == (2, True)
    assert cli("--home", indexed, "verify", "three.txt:2-3").status == 0
