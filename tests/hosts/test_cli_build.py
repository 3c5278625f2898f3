"""`build`: lasting roots and roots for once, what is counted, what is left out, and what a stop leaves."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from hermes_lance.hosts.output import columns_of

FILE_COUNTS = {"seen", "added", "changed", "moved", "unchanged", "removed", "skipped", "failed"}


@pytest.fixture
def shelf(tmp_path):
    """A folder outside the home, with a sub-folder."""
    folder = tmp_path / "shelf"
    (folder / "deep").mkdir(parents=True)
    (folder / "top.md").write_text("# Top\n\nLighthouse on the shelf.\n", encoding="utf-8")
    (folder / "deep" / "below.md").write_text("# Below\n\nLantern in the cellar.\n", encoding="utf-8")
    return folder


def paths_of(cli, home, question):
    return [hit["path"] for hit in cli("--home", home, "search", question, "--mode", "lexical", "--json").json["hits"]]


def test_the_document_has_the_shape_that_scripts_rely_on(cli, home):
    document = cli("--home", home, "build", "--json").json
    assert document["success"] is True
    assert set(document["files"]) == FILE_COUNTS
    assert set(document["chunks"]) == {"written", "reused", "removed", "total"}
    assert document["artifacts"]["total"] == 0 and document["edges"] == {"total": 0}
    assert document["embedder"] == "builtin_hash"
    assert document["seconds"] > 0 and document["warnings"] == []
    assert {"path": ".secret", "root": "workspace", "stage": "walk", "code": "hidden"}.items() <= next(
        problem for problem in document["problems"] if problem["path"] == ".secret"
    ).items()


def test_the_counts_add_up_to_what_was_seen(cli, home):
    files = cli("--home", home, "build", "--json").json["files"]
    assert files["seen"] == sum(files[one] for one in FILE_COUNTS - {"seen", "removed"}) == 6
    assert files["skipped"] == 2
    again = cli("--home", home, "build", "--json").json["files"]
    assert again["unchanged"] == 4 and again["seen"] == 6


def test_the_last_lines_name_what_was_skipped_and_the_key_that_would_change_it(cli, home):
    lines = cli("--home", home, "build").out.splitlines()
    tail = " ".join(lines[lines.index("Not indexed") :])
    assert ".secret" in tail and "knowledgebase.indexing.include_hidden" in tail
    assert "picture.png" in tail
    assert max(map(columns_of, lines)) <= 80


def test_the_rule_that_leaves_a_file_out_is_named_once_wherever_it_is_shown(cli, home):
    (home / "workspace" / ".hermesignore").write_text("guide.md\n", encoding="utf-8")
    problems = cli("--home", home, "--json", "build").json["problems"]
    rows = cli("--home", home, "--json", "status", "--files").json["files_detail"]
    row = next(one for one in rows if one["path"] == "guide.md")
    said = [next(one["detail"] for one in problems if one["path"] == "guide.md"), row["reason"]]
    said.append(cli("--home", home, "--json", "why", "guide.md").json["verdict"])
    assert [one.count(".hermesignore:1") for one in said] == [1, 1, 1]


def test_problems_are_the_files_that_are_not_indexed_and_nothing_else(cli, home):
    for name in ("one.txt", "two.txt"):
        (home / "workspace" / name).write_bytes("größer als zuvor\n".encode() * 3 + b"a bad byte \xff\n")
    document = cli("--home", home, "--json", "build").json
    assert len(document["problems"]) == document["files"]["skipped"] + document["files"]["failed"]
    assert [one for one in document["warnings"] if "decoded" in one] == [
        "characters that could not be decoded are marked in 2 of the indexed files: one.txt, two.txt"
    ]


@pytest.mark.parametrize("path", ["taken", "taken/below"])
def test_a_workspace_that_cannot_be_a_folder_is_one_clear_line(cli, tmp_path, path):
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    (tmp_path / "config.yaml").write_text(f"workspace: {{path: {tmp_path / path}}}\n", encoding="utf-8")
    ending = cli("--home", tmp_path, "build")
    assert ending.status == 33 and ending.err.count("\n") == 1
    assert f"workspace {tmp_path / path}: " in ending.err and "workspace.path" in ending.err


def test_quiet_says_nothing(cli, home):
    ending = cli("--home", home, "build", "--quiet")
    assert (ending.status, ending.out, ending.err) == (0, "", "")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a nice value for each thread")
def test_a_build_in_the_background_embeds_with_the_lowest_priority_and_one_in_the_foreground_does_not(
    cli, home, monkeypatch
):
    from hermes_lance.models.hashing import HashEmbedder

    before = os.getpriority(os.PRIO_PROCESS, 0)
    seen = []
    real = HashEmbedder.embed_documents

    def embed(self, texts, **options):
        seen.append(os.getpriority(os.PRIO_PROCESS, 0))
        return real(self, texts, **options)

    monkeypatch.setattr(HashEmbedder, "embed_documents", embed)
    assert cli("--home", home, "build", "--background").status == 0
    assert set(seen) == {19} and os.getpriority(os.PRIO_PROCESS, 0) == before
    seen.clear()
    (home / "workspace" / "late.md").write_text("Late.\n", encoding="utf-8")
    assert cli("--home", home, "build", "--workers", "2").status == 0
    assert set(seen) == {before}


@pytest.mark.parametrize("own", [True, False])
def test_the_collector_is_left_alone_in_a_process_that_is_not_ours(home, monkeypatch, own):
    from hermes_lance.hosts.cli.main import run
    from hermes_lance.library import Library

    before, during = gc.get_threshold(), []
    real = Library.index

    def noted(*given, **more):
        during.append(gc.get_threshold())
        return real(*given, **more)

    monkeypatch.setattr(Library, "index", noted)
    assert run(["--home", str(home), "build", "--quiet"], own_process=own) == 0
    assert (during != [before]) is own and gc.get_threshold() == before


def test_no_worker_is_a_wrong_use(cli, home):
    assert cli("--home", home, "build", "--workers", "0").status == 2


def test_a_path_becomes_a_lasting_root_and_the_output_says_so(cli, home, shelf):
    said = cli("--home", home, "build", shelf)
    assert "root from now on (shallow, label shelf)" in " ".join(said.out.split())
    assert "left out 1 file in sub-folders" in " ".join(said.out.split())
    assert paths_of(cli, home, "lighthouse") == ["shelf/top.md"]
    assert paths_of(cli, home, "lantern") == []
    cli("--home", home, "build")
    assert paths_of(cli, home, "lighthouse") == ["shelf/top.md"]


def test_a_shallow_root_can_be_made_recursive(cli, home, shelf):
    cli("--home", home, "build", shelf)
    assert cli("--home", home, "build", shelf, "--recursive", "--json").json["roots_added"] == ["shelf"]
    assert paths_of(cli, home, "lantern") == ["shelf/deep/below.md"]
    assert len(cli("--home", home, "workspace", "roots", "list", "--json").json["roots"]) == 2


def test_a_known_root_is_built_without_being_added_again(cli, home, shelf):
    cli("--home", home, "build", shelf)
    ending = cli("--home", home, "build", shelf)
    assert ending.status == 0 and "already a root" in " ".join(ending.out.split())
    assert cli("--home", home, "build", home / "workspace").status == 0


def test_once_leaves_the_configuration_alone(cli, home, shelf):
    before = (home / "config.yaml").read_bytes()
    ending = cli("--home", home, "build", shelf, "--once", "--recursive")
    assert "this run only" in ending.out
    assert (home / "config.yaml").read_bytes() == before
    assert paths_of(cli, home, "lantern") == ["shelf/deep/below.md"]
    cli("--home", home, "build")
    assert paths_of(cli, home, "lantern") == []


def test_no_root_is_added_when_one_of_the_paths_is_wrong(cli, home, shelf):
    ending = cli("--home", home, "build", shelf, shelf / "top.md")
    assert ending.status == 2 and "a file, not a folder" in ending.err
    assert cli("--home", home, "build", shelf, shelf / "absent").status == 33
    assert len(cli("--home", home, "workspace", "roots", "list", "--json").json["roots"]) == 1


def tree(folder):
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def test_a_dry_run_counts_and_writes_nothing(cli, home, shelf):
    before = tree(home)
    document = cli("--home", home, "build", shelf, "--recursive", "--dry-run", "--json").json
    assert tree(home) == before
    assert document["dry_run"] is True
    assert document["to_read"]["files"] == 6
    assert document["to_read"]["bytes"] == sum(
        path.stat().st_size
        for path in [*shelf.rglob("*.md"), *(home / "workspace").rglob("*")]
        if path.suffix in {".md", ".txt", ".py"}
    )
    assert {"path": "shelf/deep/", "files": 1, "bytes": 32}.items() <= next(
        one for one in document["largest_folders"] if one["path"] == "shelf/deep/"
    ).items()
    assert document["estimate"]["seconds"] > 0 and document["estimate"]["index_bytes"] > 0
    assert {problem["code"] for problem in document["problems"]} == {"hidden", "image"}
    text = cli("--home", home, "build", shelf, "--dry-run")
    assert text.out.endswith("Nothing was written: this was a dry run.\n")
    assert "would leave out 1 file in sub-folders" in " ".join(text.out.split())
    assert tree(home) == before


def test_a_dry_run_after_a_build_sees_only_what_changed(cli, home):
    cli("--home", home, "build", "--quiet")
    (home / "workspace" / "guide.md").write_text(
        "# Guide\n\nRewritten, and longer than before.\n" * 9, encoding="utf-8"
    )
    (home / "workspace" / "notes" / "tides.txt").unlink()
    document = cli("--home", home, "build", "--dry-run", "--json").json
    assert (document["files"]["changed"], document["files"]["removed"], document["to_read"]["files"]) == (1, 1, 1)


def test_a_dataset_without_a_home_is_never_built(cli, built):
    ending = cli("--dataset", built / "knowledgebase" / "indexes", "build")
    assert ending.status == 2 and "never rebuilt" in ending.err
    assert cli("--dataset", built / "knowledgebase" / "indexes", "build", "--dry-run").status == 2


def test_names_that_would_drive_a_terminal_are_shown_escaped(cli, home):
    (home / "workspace" / "evil\x1b[2J\nname.md").write_text("Harbour of escapes.\n", encoding="utf-8")
    (home / "workspace" / ".hid\x1b]0;title\x07").write_text("x", encoding="utf-8")
    for arguments in (["build"], ["status", "--files"], ["search", "escapes"], ["workspace", "list"]):
        ending = cli("--home", home, *arguments)
        assert ending.status == 0
        assert "\x1b" not in ending.out + ending.err and "\x07" not in ending.out + ending.err
        assert "\\e" in ending.out
    assert "evil\x1b[2J\nname.md" in [
        hit["path"] for hit in cli("--home", home, "search", "escapes", "--json").json["hits"]
    ]


def test_a_name_that_is_not_utf_8_breaks_nothing(cli, home):
    with open(os.fsencode(home / "workspace") + b"/caf\xe9.md", "wb") as file:
        file.write(b"Espresso in the harbour.\n")
    for arguments in (["build"], ["status", "--files"], ["search", "espresso"]):
        assert "caf\\xe9.md" in cli("--home", home, *arguments, "--json").out.replace("\\\\", "\\") or arguments == [
            "build"
        ]
        assert cli("--home", home, *arguments).status == 0


def test_another_writer_is_named_and_waited_for_no_longer_than_asked(cli, home):
    cli("--home", home, "build", "--quiet")
    (home / "workspace" / "new.md").write_text("new\n", encoding="utf-8")
    holder = (
        "import sys, time; from pathlib import Path; from hermes_lance.store.lock import writing\n"
        "with writing(Path(sys.argv[1]), 5): print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", holder, str(home / "knowledgebase" / "indexes")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None and other.stdout.readline() == "held\n"
            ending = cli("--home", home, "build", "--wait", "0.1", "--json")
            assert ending.status == 11 and ending.json["code"] == "dataset-busy"
            assert f"process {other.pid}" in ending.json["error"]
            assert cli("--home", home, "search", "harbour").status == 0
        finally:
            other.kill()


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_a_stop_ends_the_run_and_leaves_the_last_generation(cli, home, form):
    cli("--home", home, "build", "--quiet")
    for number in range(1500):
        folder = home / "workspace" / "many" / str(number // 100)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.md").write_text(f"# Note {number}\n\n" + f"word{number} harbour\n" * 150, encoding="utf-8")
    command = [sys.executable, "-m", "hermes_lance", "--home", str(home), "build", *form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        deadline = time.monotonic() + 60
        while not (home / "knowledgebase" / "indexes" / "writer.json").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.3)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert running.returncode == 130, err
    said = json.loads(out)["error"] if form else err
    assert "last published generation is intact" in said or "what was read is kept" in said
    assert "Traceback" not in err
    assert cli("--home", home, "search", "tide", "--mode", "lexical", "--json").json["count"] > 0
    assert cli("--home", home, "build", "--json").json["files"]["failed"] == 0
    assert set(paths_of(cli, home, "word1499")) == {"many/14/1499.md"}


def test_how_code_was_cut_and_that_a_program_wrote_it_is_told(cli, home):
    workspace = home / "workspace"
    (workspace / "shelf.nim").write_text("# DO NOT EDIT\nproc lookup() =\n  echo 1\n", encoding="utf-8")
    (workspace / "shelf.py").write_text("def lookup():\n    return 1\n", encoding="utf-8")
    (workspace / "yarn.lock").write_text("lookup@^1.0:\n", encoding="utf-8")
    cli("--home", home, "build")
    told = {name: cli("--home", home, "--json", "why", name).json for name in ("shelf.nim", "shelf.py", "yarn.lock")}
    cut = {
        name: stage["detail"]["chunker"] for name in told for stage in told[name]["stages"] if stage["stage"] == "index"
        and "chunker" in stage["detail"]
    }  # fmt: skip
    assert cut == {"shelf.nim": "symbols/2:lines", "shelf.py": "symbols/2:python"}
    assert "flagged: generated" in told["shelf.nim"]["verdict"]
    assert "flagged" not in told["shelf.py"]["verdict"]
    assert "yarn.lock" in told["yarn.lock"]["verdict"] and "built-in" in told["yarn.lock"]["verdict"]
    hits = cli("--home", home, "search", "lookup", "--mode", "lexical", "--json").json["hits"]
    assert {hit["path"]: hit["flags"] for hit in hits} == {"shelf.nim": ["generated"], "shelf.py": []}
