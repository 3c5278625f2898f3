"""A tree made to trip up a walker: each name has one state and reason, nothing hangs or is done twice."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from pathlib import Path

import pytest

from hermes_lance.core.names import printable
from hermes_lance.ingest import contents

WORD = "kestrel"
NAMES = [
    "new\nline.md", "tab\t.md", "quote'and\"double.md", "100%_like.md", "[glob]*?.md", "-dash.md", " blank .md",
    "back\\slash.md", "日本語.md", "re\u0301sume\u0301.md", "r\u00e9sum\u00e9.md", "\u05de\u05d3.md", "txt.\u202edm.md",
    "👩\u200d👧 🏳\ufe0f\u200d🌈.md", "con", "NUL.md", "aux.txt", "COM1.md", "a:b.md", "dot.", "UPPER.MD",
    "\x7f\x1b[31m.md", "$HOME ~ `id` $(id).md", "\u2028line\u2029.md", os.fsdecode(b"bytes \xe9\xff.md"),
    "x" * 252 + ".md",
]  # fmt: skip
LINKS = {
    "self": ".", "up": "..", "loop-a": "loop-b", "loop-b": "loop-a", "dangling.md": "nowhere", "zero.md": "/dev/zero",
    "alias.md": "plain.md", "one.md": "two.md", "two.md": "three.md", "three.md": "plain.md", "root": "/",
    "out.md": "/etc/hostname", "pipe-link.md": "pipe.md",
}  # fmt: skip
LINK_CODES = {
    "self": "link-to-folder", "up": "link-to-folder", "loop-a": "link-loop", "loop-b": "link-loop",
    "dangling.md": "link-dangling", "zero.md": "link-outside", "alias.md": "link-duplicate",
    "one.md": "link-duplicate", "two.md": "link-duplicate", "three.md": "link-duplicate", "root": "link-to-folder",
    "out.md": "link-outside", "pipe-link.md": "special",
}  # fmt: skip


def deep_folder(top: Path, levels: int) -> None:
    """Folders within each other, with a file in each, whose path becomes longer than the system can take at once."""
    descriptor = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d" * 200, dir_fd=descriptor)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
        file = os.open("in.md", os.O_WRONLY | os.O_CREAT, dir_fd=descriptor)
        os.write(file, b"deep\n")
        os.close(file)
    os.close(descriptor)


def remove_deep(top: Path) -> None:
    """Takes it away again: what deletes a tree for pytest cannot name the inner folders."""
    path = top / ("d" * 200)
    while path.exists():
        inner = path / ("d" * 200)
        if inner.exists():
            inner.rename(top / "next")
        (path / "in.md").unlink(missing_ok=True)
        path.rmdir()
        if (top / "next").exists():
            (top / "next").rename(path)


@pytest.fixture
def tree(home):
    top = home.workspace
    for name in ("plain.md", *NAMES):
        (top / name).write_text(f"# A note\n\n{WORD} in {printable(name)[0]!a}\n", encoding="utf-8")
    for link, target in LINKS.items():
        (top / link).symlink_to(target)
    os.mkfifo(top / "pipe.md")
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{short}/s")  # a long path would not fit into the address
        os.rename(f"{short}/s", top / "socket.md")
    with contextlib.suppress(PermissionError):  # only root may, and not in every container
        os.mknod(top / "device.md", 0o20600, os.makedev(1, 5))
    with (top / "sparse.md").open("wb") as file:
        file.truncate(3 << 30)
    (top / "empty.md").touch()
    (top / "blank.md").write_text(" \n\t\n")
    (top / "line.md").write_text("x" * 1_000_000 + " needle " + "y" * 1_000_000)
    (top / "nothing in it").mkdir()
    (top / "deep").mkdir()
    deep_folder(top / "deep", 30)
    yield top
    remove_deep(top / "deep")


def on_disk(top: Path) -> set[str]:
    """Every name that is no folder, in the form in which it is shown; none below what cannot be listed."""
    found = set()
    for place, folders, names in os.walk(top):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        found |= {printable(os.path.relpath(os.path.join(place, name), top))[0] for name in [*names, *links]}
    return found


def test_every_name_has_one_state_and_a_reason_and_a_second_build_does_nothing(home, tree):
    report = home.build()
    states = home.states()
    folders = {path for path in states if path.endswith("/")}
    assert on_disk(tree) == states.keys() - folders
    (too_deep,) = folders
    assert too_deep.startswith("deep/") and "name too long" in str(states[too_deep][1])
    assert {path for path, (state, _) in states.items() if state == "failed"} == folders
    codes = {path: str(reason).partition(":")[0] for path, (state, reason) in states.items() if state != "indexed"}
    special = {path: "special" for path in ("pipe.md", "socket.md", "device.md") if os.path.lexists(tree / path)}
    odd = {"sparse.md": "too-large", "empty.md": "empty", "blank.md": "empty", too_deep: "unreadable"}
    assert codes == {**LINK_CODES, **special, **odd}
    assert set(home.paths(WORD)) == {"plain.md", *(printable(name)[0] for name in NAMES)}
    assert set(home.paths("needle")) == {"line.md"}
    status = home.open().status()
    assert sum(status["files"].values()) == len(states) == report.files.seen
    assert status["files"]["skipped"] == report.files.skipped and status["files"]["failed"] == 1
    assert {problem.path for problem in report.problems} == set(codes)
    again = home.build()
    assert (again.published, again.files.seen, again.generation) == (0, report.files.seen, report.generation)


def test_touching_everything_embeds_nothing(home, tree):
    report = home.build()
    for path in tree.iterdir():
        os.utime(path, (1_000_000_000, 1_000_000_000), follow_symlinks=False)
    again = home.build()
    assert (again.files.unchanged, again.chunks.written, home.embedded) == (report.files.added, 0, [])
    assert (again.files.skipped, again.files.failed) == (report.files.skipped, report.files.failed)
    assert {problem.path for problem in again.problems} == {problem.path for problem in report.problems}
    assert home.build().published == 0


def test_five_hundred_renamed_files_are_moved_and_none_is_embedded(home, put):
    put(home.workspace, {f"old/{number}.md": f"# Note {number}\n\n{WORD} {number}\n" for number in range(500)})
    put(home.workspace, {"stays.md": WORD})
    home.build()
    ids = set(home.open().export("chunks").column("id").to_pylist())
    for number in range(250):
        (home.workspace / "old" / f"{number}.md").rename(home.workspace / "old" / f"renamed {number}.md")
    (home.workspace / "old").rename(home.workspace / "new")
    report = home.build()
    assert (report.files.moved, report.files.added, report.files.removed, report.files.unchanged) == (500, 0, 0, 1)
    assert home.embedded == [] and report.vectors_written == 0 and report.vectors_pending == 0
    assert len(ids & set(home.open().export("chunks").column("id").to_pylist())) == 1
    assert home.paths("400") == ["new/400.md"] and home.paths("100") == ["new/renamed 100.md"]
    assert home.build().published == 0


def test_what_is_closed_to_us_keeps_what_is_known_is_no_work_and_comes_back(home, put, monkeypatch):
    put(home.workspace, {"a.md": "one kestrel\n", "locked/b.md": "two heron\n", "c.md": "three owl\n"})
    home.build()
    put(home.workspace, {"c.md": "four owls now\n"})
    opened, scandir = contents.opened, os.scandir

    def refuse(location):
        if "/locked" in str(location) or str(location).endswith("c.md"):
            raise PermissionError(13, "Permission denied", location)

    with monkeypatch.context() as patch:
        patch.setattr(contents, "opened", lambda location: refuse(location) or opened(location))
        patch.setattr(os, "scandir", lambda place=".": refuse(place) or scandir(place))
        report = home.build()
        assert (report.files.failed, report.files.removed, report.chunks.total) == (2, 0, 3)
        reasons = {path: reason for path, (state, reason) in home.states().items() if state == "failed"}
        assert set(reasons) == {"locked/", "c.md"} and all("permission denied" in str(one) for one in reasons.values())
        assert home.paths("heron") == ["locked/b.md"], "known passages are not taken for gone"
        again = home.build()
        assert (again.published, again.files.failed) == (0, 2)
    report = home.build()
    assert (report.files.failed, report.files.changed + report.files.added, report.files.unchanged) == (0, 1, 2)
    assert {state for state, _ in home.states().values()} == {"indexed"}
    assert home.build().published == 0
