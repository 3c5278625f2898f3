"""`search`: a page for people in 80 columns, a document for programs, and nothing but honest hits."""

from __future__ import annotations

import pytest

import hermes_lance
from hermes_lance.core.records import Hit
from hermes_lance.hosts.output import COLUMNS, Console, columns_of
from hermes_lance.hosts.passages import Wanted, excerpt, heading

HIT_KEYS = {
    "kind", "id", "path", "root", "section", "media_type", "line_start", "line_end", "page_start", "page_end",
    "locator", "char_start", "char_end", "text", "score", "scores", "ranks", "freshness", "flags", "type", "title",
    "summary",
}  # fmt: skip


def hit(**changes) -> Hit:
    values = {
        "kind": "chunk", "id": "1", "path": "docs/guide.md", "root": "workspace", "text": "text", "score": 1.25,
        "scores": {}, "ranks": {}, "freshness": "fresh", "section": ("Guide", "Mooring"), "line_start": 3,
        "line_end": 9,
    }  # fmt: skip
    return Hit(**{**values, **changes})


def test_the_document_has_the_shape_that_scripts_rely_on(cli, built):
    document = cli("--home", built, "search", "harbour master", "--json").json
    assert set(document) == {
        "success", "query", "generation", "mode", "count", "offset", "has_more", "hits", "warnings",
    }  # fmt: skip
    assert document["query"] == "harbour master" and document["mode"] == "hybrid"
    assert document["count"] == len(document["hits"]) > 0
    first = document["hits"][0]
    assert set(first) == HIT_KEYS
    assert set(first["scores"]) == {"lexical", "dense", "fused", "rerank"}
    assert set(first["ranks"]) == {"lexical", "dense"}
    assert first["path"] == "guide.md" and first["freshness"] == "fresh" and first["line_start"] is not None
    assert "trace" in cli("--home", built, "search", "harbour", "--json", "--explain").json


def test_words_need_no_quotes(cli, built):
    assert cli("--home", built, "search", "high", "tide", "--json").json["query"] == "high tide"


def test_pages_follow_one_another(cli, built):
    everything = cli("--home", built, "search", "harbour", "--limit", "9", "--json").json
    first = cli("--home", built, "search", "harbour", "--limit", "1", "--json").json
    second = cli("--home", built, "search", "harbour", "--limit", "1", "--offset", "1", "--json").json
    assert first["has_more"] is True and everything["has_more"] is False
    assert [first["hits"][0]["id"], second["hits"][0]["id"]] == [one["id"] for one in everything["hits"][:2]]
    assert "More: --offset 1" in cli("--home", built, "search", "harbour", "--limit", "1").out


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        (["--path", "notes"], {"notes/tides.txt", "notes/港口.md"}),
        (["--path", "notes/tides.txt"], {"notes/tides.txt"}),
        (["--file-glob", "*.py"], {"code/berths.py"}),
        (["--path", "nowhere"], set()),
    ],
)
def test_filters_leave_only_what_fits(cli, built, options, paths):
    found = cli("--home", built, "search", "harbour tide", *options, "--mode", "dense", "--json").json
    assert {one["path"] for one in found["hits"]} <= paths
    assert found["success"]


def test_a_filter_may_be_a_path_of_the_shell(cli, built, monkeypatch):
    monkeypatch.chdir(built / "workspace" / "notes")
    for path in ("./tides.txt", "../notes/tides.txt", built / "workspace" / "notes" / "tides.txt"):
        found = cli("--home", built, "search", "tide", "--path", path, "--json").json
        assert {one["path"] for one in found["hits"]} == {"notes/tides.txt"}
    assert cli("--home", built, "search", "tide", "--path", "/etc").status == 30


@pytest.mark.parametrize("question", ["", "   ", "zzqx", "the of and", "?!", "\x00\x1b[31m", "(" * 500])
def test_any_question_is_answered(cli, built, question):
    assert cli("--home", built, "search", "--mode", "lexical", "--json", "--", question).status == 0
    ending = cli("--home", built, "search", "--mode", "lexical", "--", question)
    assert ending.status == 0
    assert "\x1b" not in ending.out + ending.err


def test_an_empty_page_says_so_and_is_a_success(cli, built):
    ending = cli("--home", built, "search", "--mode", "lexical", "zzqx")
    assert ending.out == "No hits for 'zzqx'.\n"
    assert "why PATH QUERY" in ending.err


def test_artifacts_are_a_group_of_their_own_and_honestly_empty(cli, built):
    document = cli("--home", built, "search", "harbour", "--in", "artifacts", "--json").json
    assert document["hits"] == [] and any("knowledge build" in one for one in document["warnings"])
    assert cli("--home", built, "search", "harbour", "--in", "artifacts").out.startswith("No artifacts for 'harbour'.")
    both = cli("--home", built, "search", "harbour", "--in", "all").out
    assert both.startswith("Passages\n1. ") and "Artifacts\nNo artifacts" in both


def test_an_older_generation_is_asked_by_its_number(cli, home):
    cli("--home", home, "build", "--quiet")
    old = cli("--home", home, "status", "--json").json["generation"]
    (home / "workspace" / "guide.md").write_text("# Guide\n\nNothing is left of it.\n", encoding="utf-8")
    cli("--home", home, "build", "--quiet")
    then = cli("--home", home, "search", "moor quay", "--as-of", int(old), "--mode", "lexical", "--json").json
    assert then["generation"] == old and then["hits"][0]["path"] == "guide.md"
    assert cli("--home", home, "search", "moor quay", "--mode", "lexical", "--json").json["hits"] == []
    for unknown in ("99999999", "../../x", "yesterday"):
        assert cli("--home", home, "search", "moor", "--as-of", unknown).status == 17


def test_an_older_generation_is_asked_by_a_time(cli, home):
    cli("--home", home, "build", "--quiet")
    current = cli("--home", home, "status", "--json").json
    found = {}
    for time in (current["published_at"], "2999-01-01", "1999-12-31T23:59:59+01:00"):
        found[time] = cli("--home", home, "search", "moor", "--as-of", time, "--json")
    assert found[current["published_at"]].json["generation"] == current["generation"]
    assert found["2999-01-01"].json["generation"] == current["generation"]
    too_early = found["1999-12-31T23:59:59+01:00"]
    number = str(int(current["generation"]))
    assert hermes_lance.open(home).search("moor", generation=number).generation == current["generation"]
    assert too_early.status == 17 and current["published_at"][:10] in too_early.json["error"]


def test_a_dataset_is_read_without_its_home(cli, built):
    found = cli("--dataset", built / "knowledgebase" / "indexes", "search", "tide", "--mode", "lexical", "--json").json
    assert found["hits"][0]["freshness"] == "unverified"


def test_a_file_that_changed_is_marked_and_one_that_is_gone_is_not_shown(cli, home):
    cli("--home", home, "build", "--quiet")
    (home / "workspace" / "guide.md").write_text("# Guide\n\nSomething else.\n", encoding="utf-8")
    (home / "workspace" / "notes" / "tides.txt").unlink()
    ending = cli("--home", home, "search", "harbour")
    assert "(changed on disk since it was indexed)" in ending.out
    assert "tides.txt" not in cli("--home", home, "search", "tide").out


def test_everything_fits_80_columns(cli, built):
    for question in ("harbour", "港口", "free_berths"):
        ending = cli("--home", built, "search", question, "--explain")
        assert max(map(columns_of, (ending.out + ending.err).splitlines())) <= COLUMNS


def test_a_heading_has_place_section_and_score():
    assert heading(Console(), 1, hit()) == ["1. docs/guide.md:3-9  [Guide > Mooring]  1.25"]
    assert heading(Console(), 2, hit(score=None, section=(), symbol="main")) == ["2. docs/guide.md:3-9  [main]"]
    assert heading(Console(), 3, hit(page_start=4, page_end=5, section=())) == ["3. docs/guide.md#page=4-5  1.25"]


def test_a_heading_that_is_too_long_takes_two_lines_and_keeps_the_ends():
    lines = heading(Console(), 1, hit(path="very/" * 30 + "guide.md", section=("Part",) * 30))
    assert all(columns_of(line) <= COLUMNS for line in lines) and len(lines) == 2
    assert "guide.md:3-9  1.25" in lines[0]
    assert lines[1].endswith("> Part]")


def test_a_heading_shows_marks():
    lines = heading(Console(), 1, hit(freshness="changed", flags=("injection\x1b",)))
    assert lines[1:] == ["   (changed on disk since it was indexed)", "   (flag: injection\\e)"]


def test_an_excerpt_holds_the_lines_that_speak_to_the_question():
    text = "\n".join([*(f"filler number {number}" for number in range(30)), "the berths are free", "and moored boats"])
    assert "the berths are free" in excerpt(text, Wanted.of("free berth"), 76)
    assert len(excerpt(text, Wanted.of("free berth"), 76)) <= 4


def test_an_excerpt_finds_the_place_in_a_line_as_long_as_a_page():
    text = "word " * 400 + "the harbour master hands out berths " + "word " * 400
    assert any("harbour" in line for line in excerpt(text, Wanted.of("harbour master"), 76))


def test_an_excerpt_of_scripts_without_spaces_finds_its_place():
    text = "\n".join(["第一行没有答案"] * 20 + ["港口办公室七点开门"])
    assert "港口办公室七点开门" in excerpt(text, Wanted.of("办公室"), 76)


def test_an_excerpt_without_any_match_is_the_beginning():
    assert excerpt("\n\n    first\n      second\n", Wanted.of("nothing"), 76) == ["first", "  second"]


def test_hits_can_be_ordered_anew_for_one_question(cli, built):
    plain = cli("--home", built, "search", "harbour master", "--json").json["hits"]
    document = cli("--home", built, "search", "harbour master", "--rerank", "heuristic", "--json", "--explain").json
    assert {hit["id"] for hit in document["hits"]} == {hit["id"] for hit in plain}
    assert all(hit["scores"]["rerank"] is None and hit["score"] == hit["scores"]["fused"] for hit in plain)
    assert all(hit["score"] == hit["scores"]["rerank"] for hit in document["hits"])
    assert [one["detail"]["by"] for one in document["trace"] if one["stage"] == "rerank"] == ["heuristic"]
    shown = cli("--home", built, "search", "harbour master", "--rerank", "heuristic", "--explain").out
    assert "rerank" in shown.split("stage")[0] and "by: heuristic" in shown
    assert "rerank" not in cli("--home", built, "search", "harbour master", "--rerank", "off", "--explain").out


def test_a_reranker_that_there_is_not_is_wrong_use_and_one_without_a_key_costs_the_order_only(cli, built, monkeypatch):
    for variable in ("COHERE_API_KEY", "CO_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    wrong = cli("--home", built, "search", "harbour", "--rerank", "nonsense", "--json")
    assert wrong.status == 2 and wrong.json["code"] == "usage" and "heuristic" in wrong.json["hint"]
    kept = cli("--home", built, "search", "harbour", "--rerank", "cohere", "--json")
    assert kept.status == 0 and kept.json["count"] > 0
    assert any("COHERE_API_KEY" in one and "fused order is kept" in one for one in kept.json["warnings"])
