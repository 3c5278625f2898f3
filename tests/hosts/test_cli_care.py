"""`status`, `why`, `doctor`, `generations`, `export`: what is here, why not, what is wrong, how to take it out."""

from __future__ import annotations

import csv
import io
import json

import pytest

from hermes_lance.hosts.output import COLUMNS, columns_of

STATUS_KEYS = {
    "success", "home", "dataset", "generation", "published_at", "roots", "files", "chunks", "artifacts", "edges",
    "embedder", "size_bytes", "retrieval_mode", "stale", "plugins",
}  # fmt: skip
FILE_KEYS = {"path", "root", "state", "reason", "chunks", "parser", "bytes", "indexed_at"}


def test_status_has_the_shape_that_scripts_rely_on(cli, built):
    document = cli("--home", built, "status", "--files", "--json").json
    assert set(document) >= STATUS_KEYS
    assert {"indexed", "skipped", "failed"} <= set(document["files"])
    assert set(document["embedder"]) >= {"name", "dims", "signature"}
    rows = document["files_detail"]
    assert {row["path"]: row["state"] for row in rows} == {
        "guide.md": "indexed",
        "notes/tides.txt": "indexed",
        "code/berths.py": "indexed",
        "notes/港口.md": "indexed",
        "picture.png": "skipped",
        ".secret": "skipped",
    }
    assert all(set(row) >= FILE_KEYS for row in rows)
    assert all(row["reason"] for row in rows if row["state"] == "skipped")


def test_status_before_the_first_build_says_what_to_do(cli, home):
    assert cli("--home", home, "status", "--json").json["generation"] is None
    assert "hermes-lance build" in cli("--home", home, "status").out
    assert not (home / "knowledgebase").exists()


def test_status_fits_80_columns(cli, built):
    assert max(map(columns_of, cli("--home", built, "status", "--files").out.splitlines())) <= COLUMNS


@pytest.mark.parametrize(
    ("arguments", "stages", "word"),
    [
        (["guide.md"], {"discover", "index"}, "Indexed"),
        (["guide.md", "harbour master"], {"search"}, "number 1"),
        (["notes/tides.txt", "zzqx"], {"search"}, ""),
        ([".secret"], {"discover"}, "hidden"),
        (["picture.png"], {"discover"}, ".png"),
        (["absent.md"], {"discover"}, "No such file"),
    ],
)
def test_why_explains_presence_and_absence(cli, built, arguments, stages, word):
    document = cli("--home", built, "why", *arguments, "--json").json
    assert set(document) == {"success", "path", "verdict", "stages"}
    assert stages <= {one["stage"] for one in document["stages"]}
    assert word in json.dumps(document)
    text = cli("--home", built, "why", *arguments)
    assert text.status == 0 and max(map(columns_of, text.out.splitlines())) <= COLUMNS


def test_why_takes_a_path_of_the_shell(cli, built, monkeypatch):
    monkeypatch.chdir(built / "workspace" / "notes")
    assert cli("--home", built, "why", "./tides.txt", "--json").json["path"] == "notes/tides.txt"
    assert cli("--home", built, "why", "../guide.md", "--json").json["path"] == "guide.md"
    assert cli("--home", built, "why", built / "workspace" / "guide.md", "--json").json["path"] == "guide.md"


def test_why_of_a_folder_says_how_to_name_its_files(cli, built):
    verdict = cli("--home", built, "why", "notes", "--json").json["verdict"]
    assert verdict.startswith("A folder") and "workspace list notes" in verdict
    assert cli("--home", built, "why", built / "workspace", "--json").json["verdict"].startswith("A folder")


def test_why_outside_the_roots_is_an_error(cli, built):
    assert cli("--home", built, "why", "/etc/hostname").status == 30


def test_doctor_finds_a_healthy_dataset_healthy(cli, built):
    document = cli("--home", built, "doctor", "--json").json
    assert document["success"] and document["healthy"]
    assert all(set(check) == {"name", "ok", "fatal", "detail", "remedy"} for check in document["checks"])
    text = cli("--home", built, "doctor")
    assert text.status == 0 and text.out.endswith("Healthy.\n")


def test_doctor_names_no_remedy_that_the_workspace_does_not_have(cli, tmp_path):
    checks = cli("--home", tmp_path / "none", "doctor", "--json").json["checks"]
    roots = next(one for one in checks if one["name"] == "roots")
    assert not roots["ok"] and "build" in roots["remedy"] and "remove" not in roots["remedy"]


def test_doctor_without_a_dataset_fails_with_the_remedy(cli, home):
    ending = cli("--home", home, "doctor", "--json")
    assert ending.status == 1 and ending.json["success"] is False and ending.json["healthy"] is False
    assert any("build" in (check["remedy"] or "") for check in ending.json["checks"])


def test_doctor_says_what_is_wrong_where_no_generation_can_be_read(cli, home):
    cli("--home", home, "build", "--quiet")
    (home / "knowledgebase" / "indexes" / "CURRENT").write_text("garbage", encoding="ascii")
    ending = cli("--home", home, "doctor", "--json")
    wrong = [one for one in ending.json["checks"] if not one["ok"]]
    assert ending.status == 1 and [one["name"] for one in wrong] == ["dataset"] and "garbage" in wrong[0]["detail"]
    assert cli("--home", home, "doctor", "--fix").status == 0


def test_doctor_finds_and_repairs_a_damaged_file(cli, home):
    cli("--home", home, "build", "--quiet")
    side = home / "knowledgebase" / "indexes" / "side"
    damaged = max(side.iterdir(), key=lambda file: file.stat().st_size)
    damaged.chmod(0o600)
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    ending = cli("--home", home, "doctor")
    assert ending.status == 1 and "FAIL" in ending.out and "doctor --fix" in ending.out
    assert cli("--home", home, "doctor", "--fix").status == 0
    assert cli("--home", home, "search", "harbour", "--json").json["count"] > 0


def test_generations_are_listed_newest_first_and_collected(cli, home):
    cli("--home", home, "build", "--quiet")
    (home / "workspace" / "new.md").write_text("# New\n\nFresh words.\n", encoding="utf-8")
    cli("--home", home, "build", "--quiet")
    rows = cli("--home", home, "generations", "list", "--json").json["generations"]
    assert all(
        set(row) == {"id", "published_at", "tags", "chunks", "artifacts", "files", "note", "current"} for row in rows
    )
    assert [row["id"] for row in rows] == sorted((row["id"] for row in rows), reverse=True)
    assert [row["current"] for row in rows] == [True] + [False] * (len(rows) - 1)
    assert rows[0]["files"] == 5
    removed = cli("--home", home, "generations", "gc", "--keep", "1", "--json").json["removed"]
    assert set(removed) == {"generations", "files", "vector_spaces", "bytes"} and removed["generations"] > 0
    assert len(cli("--home", home, "generations", "list", "--json").json["generations"]) == 1
    assert cli("--home", home, "search", "fresh words", "--json").json["hits"][0]["path"] == "new.md"


def test_csv_and_json_lines_leave_vectors_out(cli, built, tmp_path):
    for form in ("csv", "jsonl"):
        assert cli("--home", built, "export", "chunks", "-o", tmp_path / f"chunks.{form}").status == 0
    lines = (tmp_path / "chunks.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert {"guide.md", "notes/港口.md"} <= {row["path"] for row in rows}
    assert all("vectors" not in row and row["flags"] == [] for row in rows)
    read = list(csv.DictReader(io.StringIO((tmp_path / "chunks.csv").read_text(encoding="utf-8"), newline="")))
    assert [row["text"] for row in read] == [row["text"] for row in rows]
    assert [json.loads(row["section"]) for row in read] == [row["section"] for row in rows]


def test_parquet_and_arrow_hold_the_vectors(cli, built, tmp_path):
    import polars

    for form in ("parquet", "arrow"):
        document = cli("--home", built, "export", "chunks", "-o", tmp_path / f"c.{form}", "--json").json
        assert document["format"] == form and document["rows"] > 0
    frame = polars.read_parquet(tmp_path / "c.parquet")
    assert frame.height == polars.read_ipc(tmp_path / "c.arrow").height
    assert frame["vectors"].list.len().min() == 1


def test_files_go_to_the_output_when_no_file_is_named(shell, built):
    ending = shell("--home", built, "export", "files", "--format", "jsonl")
    assert ending.status == 0 and ending.err == ""
    assert {json.loads(line)["state"] for line in ending.out.splitlines()} == {"indexed", "skipped"}


def test_json_and_rows_do_not_share_the_output(cli, built, tmp_path):
    assert cli("--home", built, "export", "files", "--format", "csv", "--json").json["code"] == "usage"


def test_an_export_that_cannot_be_written_leaves_nothing_behind(cli, built, tmp_path):
    assert cli("--home", built, "export", "files", "-o", tmp_path / "absent" / "x.csv").status == 33
    assert cli("--home", built, "export", "files", "-o", tmp_path).status == 2
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_without_its_home_is_neither_collected_nor_measured_by_other_settings(cli, home, tmp_path):
    cli("--home", home, "build", "--quiet")
    (home / "workspace" / "more.md").write_text("more\n", encoding="utf-8")
    cli("--home", home, "build", "--quiet")
    dataset = home / "knowledgebase" / "indexes"
    before = sorted((path, path.stat().st_mtime_ns) for path in dataset.rglob("*"))
    ending = cli("--home", tmp_path / "other", "--dataset", dataset, "generations", "gc", "--keep", "1", "--json")
    assert (ending.status, ending.json["code"]) == (2, "usage")
    assert sorted((path, path.stat().st_mtime_ns) for path in dataset.rglob("*")) == before
    assert cli("--home", tmp_path / "other", "--dataset", dataset, "status", "--json").json["stale"] is False


def test_the_remedy_for_a_picture_under_another_name_is_said_by_every_build_and_by_why(cli, home):
    (home / "workspace" / "scan.dat").write_bytes(b"\xff\xd8\xff\xe0" + bytes(range(256)))
    for _ in range(2):
        assert "to change that: knowledgebase.ocr" in cli("--home", home, "build").out
    said = cli("--home", home, "why", "scan.dat", "--json").json["stages"][-1]
    assert (said["stage"], said["detail"]["remedy"].partition(",")[0]) == ("index", "knowledgebase.ocr")


def test_why_names_the_file_of_the_current_folder_that_may_be_meant(cli, built, monkeypatch):
    monkeypatch.chdir(built / "workspace" / "notes")
    ending = cli("--home", built, "why", "tides.txt")
    assert "./tides.txt" in ending.out + ending.err
    assert "./nowhere.txt" not in cli("--home", built, "why", "nowhere.txt").out


def test_a_file_is_found_by_its_name_as_results_show_it(cli, home):
    (home / "workspace" / "two\nlines.txt").write_text("marmalade on toast\n", encoding="utf-8")
    assert cli("--home", home, "build", "--quiet").status == 0
    shown = "two\\nlines.txt"
    assert shown in cli("--home", home, "search", "marmalade").out
    assert "Indexed as 1 passage." in cli("--home", home, "why", shown).out
    assert cli("--home", home, "verify", f"{shown}:1").out.startswith("exact: ")
    assert cli("--home", home, "forget", "--purge", shown).status == 0


def test_doctor_shows_what_was_set_and_by_what(cli, built, monkeypatch):
    monkeypatch.setenv("HERMES_LANCE_MAX_INJECTED_TOKENS", "900")
    said = " ".join(cli("--home", built, "doctor").out.split())
    assert f"knowledgebase.embedders.active = builtin_hash ({built}/config.yaml)" in said.replace("/ ", "/")
    assert "knowledgebase.max_injected_tokens = 900 ($HERMES_LANCE_MAX_INJECTED_TOKENS)" in said
    chosen = cli("--home", built, "doctor", "--json").json["settings"]
    assert [(one["key"], one["value"]) for one in chosen] == [
        ("knowledgebase.max_injected_tokens", 900),
        ("knowledgebase.embedders.active", "builtin_hash"),
    ]


def test_a_workspace_that_may_not_be_made_is_named(cli, tmp_path):
    (tmp_path / "config.yaml").write_text("workspace: {path: nowhere, auto_create: false}\n", encoding="utf-8")
    ending = cli("--home", tmp_path, "build")
    assert (ending.status, "auto_create" in ending.err, (tmp_path / "nowhere").exists()) == (33, True, False)
