"""`workspace init|add|mode|watch|search`: folders, files taken in, settings, and lines of files on the disk."""

from __future__ import annotations

import pytest
import yaml


@pytest.fixture
def letter(tmp_path):
    file = tmp_path / "letter to the harbour.md"
    file.write_text("# Letter\n\nThe walrus writes again.\n", encoding="utf-8")
    return file


def test_init_makes_the_usual_folders_once(cli, tmp_path):
    home = tmp_path / "fresh"
    made = cli("--home", home, "workspace", "init", "--json").json["created"]
    assert {path.name for path in (home / "workspace").iterdir()} == {
        "docs", "notes", "data", "code", "uploads", "media",
    }  # fmt: skip
    assert {path.name for path in (home / "knowledgebase").iterdir()} == {"indexes", "manifests", "cache"}
    assert len(made) == 11
    assert "Everything was there." in cli("--home", home, "workspace", "init").out


def test_a_file_is_copied_and_found_at_once(cli, home, letter):
    added = cli("--home", home, "workspace", "add", letter, "--json").json["added"]
    assert [(one["path"], one["copied"], one["state"]) for one in added] == [
        ("uploads/letter to the harbour.md", True, "indexed")
    ]
    hits = cli("--home", home, "search", "walrus", "--json").json["hits"]
    assert hits[0]["path"] == "uploads/letter to the harbour.md"
    assert letter.exists()


def test_nothing_is_overwritten(cli, home, letter):
    cli("--home", home, "workspace", "add", letter)
    again = cli("--home", home, "workspace", "add", letter, "--json").json["added"]
    assert [(one["path"], one["copied"]) for one in again] == [("uploads/letter to the harbour.md", False)]
    letter.write_text("# Letter\n\nA narwhal answers.\n", encoding="utf-8")
    other = cli("--home", home, "workspace", "add", letter, "--json").json["added"]
    assert [(one["path"], one["copied"]) for one in other] == [("uploads/letter to the harbour-2.md", True)]
    first = home / "workspace" / "uploads" / "letter to the harbour.md"
    assert "walrus" in first.read_text(encoding="utf-8")


def test_a_file_of_a_root_is_only_indexed_and_what_is_no_file_is_refused(cli, home, tmp_path):
    inside = cli("--home", home, "workspace", "add", home / "workspace" / "guide.md", "--json").json["added"]
    assert [(one["path"], one["copied"], one["state"]) for one in inside] == [("guide.md", False, "indexed")]
    assert not (home / "workspace" / "uploads").exists()
    assert cli("--home", home, "workspace", "add", tmp_path / "absent.md").status == 33
    assert cli("--home", home, "workspace", "add", tmp_path).status == 2


def test_an_added_file_that_is_not_indexed_says_why(cli, home, tmp_path):
    picture = tmp_path / "sea.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    (one,) = cli("--home", home, "workspace", "add", picture, "--json").json["added"]
    assert (one["state"], one["chunks"]) == ("skipped", 0) and one["reason"]


def test_the_mode_is_shown_where_none_is_given(cli, home):
    assert cli("--home", home, "workspace", "mode").out == "Retrieval mode: off\n"
    assert cli("--home", home, "workspace", "mode", "gated").status == 0
    assert cli("--home", home, "workspace", "mode", "--json").json["retrieval_mode"] == "gated"


def test_mode_and_watch_are_written_between_the_comments(cli, home):
    file = home / "config.yaml"
    file.write_text(
        "# mine\nmodel: x  # the host's\nknowledgebase:\n  # vectors\n  embedders: {active: builtin_hash}\n", "utf-8"
    )
    assert cli("--home", home, "workspace", "mode", "off").status == 0
    assert cli("--home", home, "workspace", "watch", "off", "--json").json["watch_for_changes"] is False
    text = file.read_text(encoding="utf-8")
    assert all(part in text for part in ("# mine", "# the host's", "  # vectors"))
    assert yaml.safe_load(text)["knowledgebase"] == {
        "embedders": {"active": "builtin_hash"},
        "retrieval_mode": "off",
        "watch_for_changes": False,
    }
    for mode in ("gated", "always", "off"):
        cli("--home", home, "workspace", "mode", mode)
        assert cli("--home", home, "status", "--json").json["retrieval_mode"] == mode
    assert cli("--home", home, "workspace", "mode", "sometimes").status == 2


def test_a_bare_off_in_the_configuration_means_off(cli, home):
    (home / "config.yaml").write_text("knowledgebase:\n  retrieval_mode: off\n", encoding="utf-8")
    ending = cli("--home", home, "status", "--json")
    assert (ending.status, ending.json["retrieval_mode"], ending.json["warnings"]) == (0, "off", [])


def test_lines_are_found_on_the_disk_before_any_build(cli, home):
    found = cli("--home", home, "workspace", "search", r"tide (is|follows)", "--json").json
    assert [(one["relative_path"], one["line"], one["content"]) for one in found["matches"]] == [
        ("notes/tides.txt", 1, "High tide is at noon on Thursday."),
        ("notes/tides.txt", 2, "Low tide follows six hours later."),
    ]
    page = cli("--home", home, "workspace", "search", "tide", "--limit", "1", "--offset", "1", "--json").json
    assert (page["count"], page["total_count"], page["matches"][0]["line"]) == (1, 2, 2)
    below = cli("--home", home, "workspace", "search", "e", "--path", "code", "--json").json
    assert {one["relative_path"] for one in below["matches"]} == {"code/berths.py"}
    named = cli("--home", home, "workspace", "search", "e", "--file-glob", "*.md", "--json").json
    assert {one["relative_path"] for one in named["matches"]} == {"guide.md"}
    assert cli("--home", home, "workspace", "search", "tide").out.startswith("notes/tides.txt:1: High tide")


def test_a_search_without_lines_names_the_other_search_and_a_bad_one_is_refused(cli, home):
    ending = cli("--home", home, "workspace", "search", "hippopotamus")
    assert ending.status == 0 and "workspace retrieve" in ending.out
    assert cli("--home", home, "workspace", "search", "hidden", "--json").json["total_count"] == 0
    assert cli("--home", home, "workspace", "search", "(").status == 2
    assert cli("--home", home, "workspace", "search", "x", "--path", "absent").status == 33
    assert cli("--home", home, "workspace", "search", "x", "--path", "../..").status == 30


def test_a_long_line_is_cut_around_its_match(cli, home):
    (home / "workspace" / "long.txt").write_text("a" * 9_000 + "NEEDLE" + "b" * 9_000, encoding="utf-8")
    (one,) = cli("--home", home, "workspace", "search", "NEEDLE", "--json").json["matches"]
    assert "NEEDLE" in one["content"] and len(one["content"]) < 500
