"""`hermes-lance knowledge …`, `build` and `search --in` as people and scripts use them."""

from __future__ import annotations

import json

import pytest


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    from hermes_lance.hosts.cli.main import run

    folder = tmp_path_factory.mktemp("knowledge") / "home"
    for name, head in {
        "deploy": "description: Put a release on the server.\nrelated_skills: [roll-back]",
        "roll-back": "description: Take a release off the server.",
    }.items():
        file = folder / "skills" / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"---\nname: {name}\n{head}\n---\n", encoding="utf-8")
    (folder / "cron").mkdir()
    job = {"name": "nightly", "prompt": "Deploy the release every night.", "skills": ["deploy"]}
    (folder / "cron" / "jobs.json").write_text(json.dumps({"jobs": [job]}), encoding="utf-8")
    (folder / "workspace").mkdir()
    (folder / "workspace" / "a.md").write_text("# Releases\n\nA release is cut on Friday.\n", encoding="utf-8")
    (folder / "config.yaml").write_text("knowledgebase: {embedders: {active: builtin_hash}}\n", encoding="utf-8")
    assert run(["--home", str(folder), "build", "--quiet"]) == 0
    return folder


def test_build_makes_both_kinds_of_row_and_says_so(cli, home):
    document = cli("--home", home, "build", "--json").json
    assert document["artifacts"] == {"written": 0, "reused": 3, "removed": 0, "total": 3}
    assert document["edges"] == {"total": 2} and document["chunks"]["total"] == 1
    assert "3 artifacts and 2 links." in cli("--home", home, "build").out


def test_build_of_one_kind_leaves_the_other_alone(cli, home):
    assert "artifacts" not in cli("--home", home, "build", "--only", "chunks").out
    assert cli("--home", home, "build", "--only", "artifacts", "--json").json["artifacts"]["total"] == 3
    assert cli("--home", home, "build", "--only", "artifacts", "--dry-run").status == 2


def test_knowledge_build_counts_by_type(cli, home):
    ending = cli("--home", home, "knowledge", "build")
    assert ending.status == 0 and ending.out.startswith("3 artifacts and 2 links.\ntype      count\ncron_job      1\n")
    document = cli("--home", home, "knowledge", "build", "--json").json
    assert document["artifacts"]["by_type"] == {"cron_job": 1, "skill": 2} and document["edges"] == {"total": 2}


def test_search_names_what_to_open_and_why(cli, home):
    document = cli("--home", home, "knowledge", "search", "roll", "back", "--json").json
    first = document["results"][0]
    assert document["success"] and first["id"] == "skill:roll-back" and first["reason"]
    assert list(first)[:5] == ["id", "type", "title", "path", "summary"]
    assert "triggers" not in first and "search_text" not in first
    out = cli("--home", home, "knowledge", "search", "roll back").out
    assert out.startswith("1. skill:roll-back [skill] roll-back\n   path: skills/roll-back/SKILL.md\n")


def test_an_empty_page_is_a_success(cli, home):
    ending = cli("--home", home, "knowledge", "search", "zzqx")
    assert (ending.status, ending.out) == (0, "No artifacts for 'zzqx'.\n")


def test_get_and_neighbors_show_one_thing_and_what_goes_with_it(cli, home):
    document = cli("--home", home, "knowledge", "get", "skill:deploy", "--neighbors", "--json").json
    assert document["artifact"]["summary"] == "Put a release on the server."
    assert [(one["id"], one["direction"]) for one in document["neighbors"]] == [
        ("cron:nightly", "in"),
        ("skill:roll-back", "out"),
    ]
    out = cli("--home", home, "knowledge", "neighbors", "skill:deploy").out
    assert "edge: related_to (skill:deploy), in, 1.00" in out


def test_an_unknown_id_is_said_with_status_one(cli, home):
    for words in (["get", "skill:gone"], ["neighbors", "skill:gone"]):
        ending = cli("--home", home, "knowledge", *words)
        assert ending.status == 1 and ending.err.startswith("Error: Artifact not found: skill:gone")
        failed = cli("--home", home, "knowledge", *words, "--json")
        assert failed.status == 1 and failed.json["code"] == "artifact-missing"


def test_search_shows_passages_and_artifacts_as_two_groups_with_pages_of_their_own(cli, home):
    document = cli("--home", home, "search", "release", "--in", "all", "--json", "--limit", "1").json
    assert [one["kind"] for one in document["hits"]] == ["chunk", "artifact"]
    assert document["groups"] == {
        "chunks": {"count": 1, "has_more": False},
        "artifacts": {"count": 1, "has_more": True},
    }
    assert set(document["hits"][0]) == set(document["hits"][1]) - {"reason"}
    out = cli("--home", home, "search", "release", "--in", "all").out
    assert out.startswith("Passages\n1. a.md") and "\n\nArtifacts\n1. " in out
    only = cli("--home", home, "search", "release", "--in", "artifacts", "--type", "cron_job", "--json").json
    assert [one["id"] for one in only["hits"]] == ["cron:nightly"]


def test_status_and_export_know_artifacts(cli, home):
    state = cli("--home", home, "status", "--json").json
    assert (state["artifacts"], state["edges"]) == (3, 2)
    assert "Artifacts   3, 2 links" in cli("--home", home, "status").out
    rows = [
        json.loads(line) for line in cli("--home", home, "export", "artifacts", "--format", "jsonl").out.splitlines()
    ]
    assert [row["id"] for row in rows] == ["cron:nightly", "skill:deploy", "skill:roll-back"]
    assert "search_text" not in rows[0]
    edges = [json.loads(line) for line in cli("--home", home, "export", "edges", "--format", "jsonl").out.splitlines()]
    assert {row["target_id"] for row in edges} == {"skill:deploy", "skill:roll-back"}
