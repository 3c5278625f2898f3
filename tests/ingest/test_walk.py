"""Every file is found once, in order, with one state and a reason; nothing hangs, leaks in or is lost sight of."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hermes_lance.core.config_file import from_mapping
from hermes_lance.core.names import on_disk
from hermes_lance.core.records import Root, Skipped, SourceFile
from hermes_lance.ingest.walk import Walk, WalkSettings, settings_from

REFERENCE = os.environ.get("HERMES_LANCE_REFERENCE_DATA", "")


def workspace(top: Path, recursive: bool = True) -> Root:
    return Root("workspace", "workspace", top.resolve(), recursive, True)


def extra(top: Path, recursive: bool = True) -> Root:
    return Root(str(top.resolve()), top.name, top.resolve(), recursive)


def rows(*roots: Root, **settings: object) -> dict[str, Skipped | None]:
    """Display path to reason (none = taken), in the order of the walk."""
    walk = Walk(roots, WalkSettings(**settings))  # type: ignore[arg-type]
    found = [each if isinstance(each, tuple) else (each, None) for each in walk]
    result = {file.display_path: skipped for file, skipped in found}
    assert len(result) == len(found), "a path came twice"
    return result


def codes(*roots: Root, **settings: object) -> dict[str, str]:
    return {path: skipped.code if skipped else "" for path, skipped in rows(*roots, **settings).items()}


def put(top: Path, *paths: str, text: str = "text\n") -> None:
    for path in paths:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)


def test_files_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    put(tmp_path, "b.md", "a/z.md", "a-b.md", "a/b/c.md", "a.md", "Z.md")
    paths = list(rows(workspace(tmp_path)))
    assert paths == sorted(paths) == ["Z.md", "a-b.md", "a.md", "a/b/c.md", "a/z.md", "b.md"]


def test_hidden_names_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    put(tmp_path, ".secret.md", ".config/a.md", "a/.b/c.md", "a.md")
    assert codes(workspace(tmp_path)) == {".config/": "hidden", ".secret.md": "hidden", "a.md": "", "a/.b/": "hidden"}
    assert set(codes(workspace(tmp_path), include_hidden=True).values()) == {""}


def test_sizes_and_suffixes_are_reasons_with_the_setting_that_would_change_them(tmp_path: Path) -> None:
    put(tmp_path, "full.md", "photo.PNG", "all.zip", "data.csv", "exact.md", "over.md")
    (tmp_path / "empty.md").touch()
    (tmp_path / "exact.md").write_bytes(b"x" * 100)
    (tmp_path / "over.md").write_bytes(b"x" * 101)
    found = rows(
        workspace(tmp_path),
        max_bytes=100,
        binary_suffixes=frozenset({".zip"}),
        image_suffixes=frozenset({".png"}),
        exclude_suffixes=frozenset({".csv"}),
    )
    assert {path: skipped.code if skipped else "" for path, skipped in found.items()} == {
        "data.csv": "excluded-suffix",
        "empty.md": "empty",
        "exact.md": "",
        "full.md": "",
        "over.md": "too-large",
        "all.zip": "binary-suffix",
        "photo.PNG": "image",
    }
    photo = found["photo.PNG"]
    assert photo is not None and photo.remedy == "knowledgebase.ocr, which needs hermes-lance[ocr]"
    over = found["over.md"]
    assert over is not None and over.remedy == "knowledgebase.indexing.max_file_mb" and "limit" in over.detail


def test_links_never_lead_out_in_circles_or_twice_to_the_same_file(tmp_path: Path) -> None:
    top = tmp_path / "top"
    put(top, "dir/inside.md", ".github/readme.md")
    put(tmp_path, "outside.md", "top-secret/x.md")
    for link, target in {
        "dir/up": "..",
        "self": ".",
        "loop-a": "loop-b",
        "loop-b": "loop-a",
        "dangling.md": "nowhere",
        "outside.md": str(tmp_path / "outside.md"),
        "neighbour.md": str(tmp_path / "top-secret" / "x.md"),
        "alias.md": "dir/inside.md",
        "readme.md": ".github/readme.md",
    }.items():
        (top / link).symlink_to(target)
    assert codes(workspace(top)) == {
        ".github/": "hidden",
        "alias.md": "link-duplicate",
        "dangling.md": "link-dangling",
        "dir/inside.md": "",
        "dir/up": "link-to-folder",
        "loop-a": "link-loop",
        "loop-b": "link-loop",
        "neighbour.md": "link-outside",
        "outside.md": "link-outside",
        "readme.md": "",
        "self": "link-to-folder",
    }


def test_a_link_that_is_taken_opens_its_target(tmp_path: Path) -> None:
    put(tmp_path, ".github/readme.md", text="hello\n")
    (tmp_path / "readme.md").symlink_to(".github/readme.md")
    (file,) = [found for found in Walk([workspace(tmp_path)], WalkSettings()) if isinstance(found, SourceFile)]
    assert (file.path, file.size, file.absolute.name) == ("readme.md", 6, "readme.md")
    assert not file.absolute.is_symlink() and file.absolute.read_text() == "hello\n"


def test_a_file_with_two_names_is_two_files(tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    os.link(tmp_path / "a.md", tmp_path / "b.md")
    assert codes(workspace(tmp_path)) == {"a.md": "", "b.md": ""}


def test_pipes_and_sockets_are_passed_by(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as plug:
        here = os.getcwd()
        os.chdir(tmp_path)  # the path of a socket may be no longer than about 100 bytes
        try:
            plug.bind("socket.md")
        finally:
            os.chdir(here)
        found = rows(workspace(tmp_path))
    details = {path: skipped.detail if skipped else "" for path, skipped in found.items()}
    assert details == {"pipe.md": "a named pipe, not a file", "socket.md": "a socket, not a file"}


@pytest.mark.parametrize(
    "name",
    [
        "new\nline.md",
        "tab\t.md",
        'don\'t "quote".md',
        "日本語.md",
        "מדריך.md",
        "👩‍👩‍👧.md",
        "-dash.md",
        "a\\b.md",
        " .md",
    ],
)
def test_any_name_that_is_text_is_kept_as_it_is(tmp_path: Path, name: str) -> None:
    put(tmp_path, f"{name}/{name}")
    (file,) = Walk([workspace(tmp_path)], WalkSettings())
    assert isinstance(file, SourceFile)
    assert (file.path, file.raw_path) == (f"{name}/{name}", None)
    assert file.absolute.read_text() == "text\n"


def test_names_that_are_not_utf8_become_printable_and_still_open(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    with open(folder + b"/\xff.md", "w") as out:
        out.write("found\n")
    with open(folder + b"/.hidden\xff", "w") as out:
        out.write("x")
    os.mkdir(folder + b"/.git\xfe")
    found = [each if isinstance(each, tuple) else (each, None) for each in Walk([workspace(tmp_path)], WalkSettings())]
    assert [file.path for file, _ in found] == ["caf\\xe9/.git\\xfe/", "caf\\xe9/.hidden\\xff", "caf\\xe9/\\xff.md"]
    for file, skipped in found:
        json.dumps([file.path, skipped and skipped.detail], ensure_ascii=False).encode("utf-8")
        assert file.raw_path is not None and os.fsencode(on_disk(file.path, file.raw_path)).startswith(b"caf\xe9/")
    assert found[-1][0].absolute.read_text() == "found\n"


def test_very_long_paths_are_walked(tmp_path: Path) -> None:
    deep = "/".join(["d" * 100] * 9)
    put(tmp_path, f"{deep}/{'f' * 200}.md")
    assert list(codes(workspace(tmp_path)).values()) == [""]


def test_a_shallow_root_takes_its_own_files_and_counts_the_others(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "sub/b.md", "sub/deep/c.md", "sub/.hidden.md", "node_modules/d.md", ".git/e.md")
    root = workspace(tmp_path, recursive=False)
    walk = Walk([root], WalkSettings())
    assert [found.path for found in walk if isinstance(found, SourceFile)] == ["a.md"]
    assert walk.reports["workspace"].left_out == 2
    assert walk.reports["workspace"].complete


def test_a_missing_root_is_incomplete_and_the_others_are_walked(tmp_path: Path) -> None:
    put(tmp_path, "here/a.md")
    roots = [workspace(tmp_path / "here"), extra(tmp_path / "gone")]
    walk = Walk(roots, WalkSettings())
    assert len(list(walk)) == 1
    gone = walk.reports[roots[1].key]
    assert gone.missing and not gone.complete and not gone.listed("anything.md")
    assert walk.reports["workspace"].complete
    assert "does not exist" in walk.warnings[0]


def test_a_root_that_is_a_file_is_missing(tmp_path: Path) -> None:
    put(tmp_path, "file")
    walk = Walk([extra(tmp_path / "file")], WalkSettings())
    assert list(walk) == []
    assert not walk.reports[str(tmp_path / "file")].complete


def test_the_nearest_root_owns_a_file(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "inner/b.md", "inner/deep/c.md", "flat/d.md", "flat/deep/e.md")
    roots = [workspace(tmp_path), extra(tmp_path / "inner"), extra(tmp_path / "flat", recursive=False)]
    owners = {
        found.absolute.name: found.root.label for found in Walk(roots, WalkSettings()) if isinstance(found, SourceFile)
    }
    assert owners == {"a.md": "workspace", "b.md": "inner", "c.md": "inner", "d.md": "flat", "e.md": "workspace"}


def test_our_own_index_is_never_walked(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "knowledgebase/indexes/x.md")
    own = frozenset({os.path.realpath(tmp_path / "knowledgebase")})
    assert codes(workspace(tmp_path), excluded=own) == {"a.md": "", "knowledgebase/": "own-index"}


def test_a_walk_can_be_limited_to_some_paths(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "sub/b.md", "sub/deep/c.md", "sub/b.md.bak", "other/d.md", "subs/e.md")
    root = workspace(tmp_path)

    def limited(*only: str) -> list[str]:
        walk = Walk([root], WalkSettings(), {"workspace": only})
        return [found.path for found in walk if isinstance(found, SourceFile)]

    assert limited("sub") == ["sub/b.md", "sub/deep/c.md"]
    assert limited("sub/b.md", "a.md", "gone.md") == ["a.md", "sub/b.md"]
    assert limited("") == limited("a.md", "sub", "other", "subs")
    assert list(Walk([root], WalkSettings(), {})) == []


def test_a_walk_can_be_made_again(tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    walk = Walk([workspace(tmp_path)], WalkSettings())
    assert list(walk) == list(walk)
    assert walk.reports["workspace"].files == 1


def test_many_links_into_one_folder_list_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, *(f"real/{number}.md" for number in range(50)))
    (tmp_path / "links").mkdir()
    for number in range(50):
        (tmp_path / "links" / f"{number}.md").symlink_to(f"../real/{number}.md")
    listed: list[str] = []
    scandir = os.scandir

    def counted(path: str) -> object:
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counted)
    assert list(codes(workspace(tmp_path)).values()).count("link-duplicate") == 50
    assert len(listed) < 10


def as_ordinary_user(body: str, folder: Path) -> str:
    """What `body` prints in a child that is not root, with `top` = folder and everything here imported."""
    code = (
        "import os, sys\n"
        f"sys.path[:0] = {[str(Path(__file__).parents[2]), str(Path(__file__).parent), *sys.path]!r}\n"
        "import test_walk as t; from pathlib import Path; from hermes_lance.ingest.contents import *\n"
        "if os.geteuid() == 0:\n    os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        f"top = Path({str(folder)!r})\n{body}"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that an ordinary user can reach."""
    folder = tmp_path_factory.mktemp("shared")
    for above in [folder, *folder.parents]:
        if Path(tempfile.gettempdir()) in above.parents:
            above.chmod(0o755)
    return folder


def test_a_folder_that_cannot_be_listed_is_a_failure_and_nothing_in_it_counts_as_gone(shared: Path) -> None:
    put(shared, "a.md", "locked/in.md", "z.md")
    (shared / "locked").chmod(0)
    printed = as_ordinary_user(
        "walk = t.Walk([t.workspace(top)], t.WalkSettings())\n"
        "for f in walk:\n"
        "    print(*((f[1].failed, f[1].code, f[0].path) if isinstance(f, tuple) else ('taken', f.path)))\n"
        "r = walk.reports['workspace']; print(r.complete, r.listed('locked/in.md'), r.listed('locked.md'), r.unread)\n",
        shared,
    )
    (shared / "locked").chmod(0o755)
    assert printed.splitlines() == [
        "taken a.md",
        "True unreadable locked/",
        "taken z.md",
        "False False True ['locked/']",
    ]


def test_files_that_cannot_be_examined_or_opened_are_failures(shared: Path) -> None:
    put(shared, "sealed/in.md", "closed.md")
    (shared / "sealed").chmod(0o444)
    (shared / "closed.md").chmod(0)
    printed = as_ordinary_user(
        "for f in t.Walk([t.workspace(top)], t.WalkSettings()):\n"
        "    print(f[0].path, f[1].code, f[1].failed) if isinstance(f, tuple) else print(f.path, read(f, 100).code)\n",
        shared,
    )
    (shared / "sealed").chmod(0o755)
    assert printed.splitlines() == ["closed.md unreadable", "sealed/in.md unreadable True"]


@pytest.mark.reference
@pytest.mark.skipif(not REFERENCE, reason="HERMES_LANCE_REFERENCE_DATA is not set")
def test_the_nasty_tree_gets_its_expected_outcomes(shared: Path) -> None:
    top = shared / "nasty"
    subprocess.run([sys.executable, f"{REFERENCE}/files/make_nasty.py", str(top)], check=True, capture_output=True)
    for folder, folders, files in os.walk(top):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            if name not in {"locked", "no-permission.md"} and not os.path.islink(path):
                os.chmod(path, 0o755)
    printed = as_ordinary_user(
        "import json\n"
        "for f in t.Walk([t.workspace(top)], t.WalkSettings()):\n"
        "    print(json.dumps([f[0].path, f[1].code, f[1].failed] if isinstance(f, tuple) else [f.path, '', False]))\n",
        top,
    )
    found = {path: (code, failed) for path, code, failed in map(json.loads, printed.splitlines())}
    expected = [json.loads(line) for line in (top / "EXPECT.jsonl").read_text(encoding="utf-8").splitlines()]
    from_contents = {"broken", "enc"}  # decided when the bytes are read
    wrong = []
    for case in expected:
        path, allowed = case["path"], {case["outcome"], *case["also_ok"]}
        above = next((row for row in found if row.endswith("/") and path.startswith(row)), None)
        code, failed = found.get(path) or found.get(above or "", ("missing", True))
        outcome = "error-reported" if failed else "skipped" if code else "indexed"
        decided = outcome != "indexed" and path.split("/")[0] not in from_contents and case["kind"] != "permission"
        if decided and outcome not in allowed:
            wrong.append((path, outcome, code, allowed))
    assert wrong == []
    assert found["fs/sparse.txt"] == found["size/eleven-mb.txt"] == ("too-large", False)
    assert found["fs/locked/"] == ("unreadable", True)
    assert found["fs/pipe.md"] == ("special", False)
    assert found["ignore/keep.log"] == found["ignore/src/build/in.md"] == found["ignore/x/tmp/deep/t.md"] == ("", False)
    assert {found[f"ignore/{path}"][0] for path in ("a.log", "build/", "secret-stuff/", "x/tmp/t.md")} == {"ignored"}
    assert found["names/new\nline.md"] == found["names/latin1-\\xe9\\xff-name.md"] == ("", False)


def test_the_quick_way_for_plain_files_decides_nothing_else_than_the_slow_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [
        "a.md", ".a", "A.BAK", "a.bak", "x~", "~$x.docx", "#x#", "#x", "é.md", "Thumbs.db", "thumbs.db", "a.PnG",
        "noext", "a.", "x.tmp.md", "draft.md", "my-draft", "draft", "x.part", "..a", "a b.md", "z.log", "keep.log",
        "secret1.md",
    ]  # fmt: skip
    put(tmp_path, *names, *(f"sub/{name}" for name in names))
    put(tmp_path, ".gitignore", text="*.log\n!keep.log\ndraft*\nsecret?.md\n")
    put(tmp_path, "sub/.hermesignore", text="!*.bak\n*b.md\nz/**\n")
    settings = {"binary_suffixes": frozenset({".png"}), "max_bytes": 5}
    quick = rows(workspace(tmp_path), **settings)
    assert len(quick) == 2 * len(names) + 2
    monkeypatch.setattr(Walk, "_plain_file", lambda *_: None)
    assert rows(workspace(tmp_path), **settings) == quick


def test_the_configuration_says_what_is_wanted(tmp_path: Path) -> None:
    data = {
        "knowledgebase": {
            "path": str(tmp_path / "kb"),
            "indexing": {
                "max_file_mb": 0.5,
                "respect_gitignore": False,
                "include_hidden": True,
                "exclude_suffixes": ["CSV", ".log", "*.bin"],
            },
        }
    }
    settings = settings_from(from_mapping(tmp_path, data, "config.yaml"))
    assert {".zip", ".exe"} <= settings.binary_suffixes and {".png", ".heic"} <= settings.image_suffixes
    assert settings == WalkSettings(
        max_bytes=524_288,
        binary_suffixes=settings.binary_suffixes,
        image_suffixes=settings.image_suffixes,
        exclude_suffixes=frozenset({".csv", ".log", ".bin"}),
        include_hidden=True,
        rule_files=(".hermesignore",),
        excluded=frozenset({os.path.realpath(tmp_path / "kb")}),
    )
