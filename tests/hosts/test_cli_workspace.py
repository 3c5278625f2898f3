"""`workspace …`: roots come and go in the configuration, and the everyday commands have their other names."""

from __future__ import annotations

import pytest


@pytest.fixture
def shelf(tmp_path):
    folder = tmp_path / "my shelf"
    folder.mkdir()
    (folder / "top.md").write_text("# Top\n\nLighthouse.\n", encoding="utf-8")
    return folder


def test_a_root_is_added_listed_and_removed(cli, home, shelf):
    added = cli("--home", home, "workspace", "roots", "add", shelf, "--recursive", "--json").json["root"]
    assert (added["label"], added["recursive"], added["canonical"]) == ("my shelf", True, False)
    listed = cli("--home", home, "workspace", "roots", "list", "--json").json["roots"]
    assert [root["label"] for root in listed] == ["workspace", "my shelf"]
    shown = cli("--home", home, "workspace", "roots", "list").out
    assert str(shelf).replace(" ", "") in "".join(shown.split())
    cli("--home", home, "workspace", "roots", "remove", "my shelf")
    assert len(cli("--home", home, "workspace", "roots", "list", "--json").json["roots"]) == 1


def test_a_root_is_named_by_a_path_of_the_shell(cli, home, shelf, monkeypatch):
    monkeypatch.chdir(shelf.parent)
    assert cli("--home", home, "workspace", "roots", "add", "my shelf").status == 0
    assert cli("--home", home, "workspace", "roots", "remove", "./my shelf").status == 0
    assert cli("--home", home, "workspace", "roots", "add", "./my shelf").status == 0
    assert cli("--home", home, "workspace", "roots", "remove", shelf).status == 0


def test_what_is_no_root_cannot_be_removed(cli, home):
    assert cli("--home", home, "workspace", "roots", "remove", "nonsense").status == 2
    assert cli("--home", home, "workspace", "roots", "remove", "workspace").status == 2


def test_what_is_no_folder_cannot_be_added(cli, home):
    assert cli("--home", home, "workspace", "roots", "add", home / "absent").status == 33
    assert cli("--home", home, "workspace", "roots", "add", home / "config.yaml").status == 2
    assert cli("--home", home, "workspace", "roots", "add", home / "workspace").status == 2


def test_the_other_names_do_the_same(cli, home):
    assert cli("--home", home, "workspace", "index", "--json").json["files"]["added"] == 4
    assert cli("--home", home, "workspace", "status", "--json").json["chunks"] > 0
    found = cli("--home", home, "workspace", "retrieve", "high tide", "--limit", "1", "--json").json
    assert found["hits"][0]["path"] == "notes/tides.txt"


def test_files_are_listed_in_pages_below_a_path(cli, built):
    whole = cli("--home", built, "workspace", "list", "--json").json
    assert (whole["count"], whole["total_count"]) == (6, 6)
    page = cli("--home", built, "workspace", "list", "--limit", "2", "--offset", "1", "--json").json
    assert page["entries"] == whole["entries"][1:3] and page["total_count"] == 6
    below = cli("--home", built, "workspace", "list", "notes", "--json").json["entries"]
    assert {row["path"] for row in below} == {"notes/tides.txt", "notes/港口.md"}
    top = cli("--home", built, "workspace", "list", "--no-recursive", "--json").json["entries"]
    assert {row["path"] for row in top} == {"guide.md", "picture.png", ".secret"}
    assert "Showing 1 to 2 of 6." in cli("--home", built, "workspace", "list", "--limit", "2").out
    assert cli("--home", built, "workspace", "list", "nowhere").out == "No files below nowhere.\n"
