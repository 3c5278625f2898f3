"""Which paths the system tells of, on every file system; what a path asks for; and that nothing put in is lost."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from hermes_lance.core.records import Root
from hermes_lance.ingest import inbox
from hermes_lance.ingest.events import RootEvents, silent
from hermes_lance.ingest.inbox import Inbox
from hermes_lance.ingest.touched import sorted_out

PATIENCE_SECONDS = 20.0


def root(path, *, recursive=True):
    return Root("workspace", "workspace", path, recursive, canonical=True)


class Hearing:
    """What was told of a folder."""

    def __init__(self, top, *, recursive=True):
        self.paths: set[str] = set()
        self.missed = 0
        self._changed = threading.Condition()
        self.events = RootEvents(root(top, recursive=recursive), self._folders, self._told)

    def _folders(self, one, within):
        tops = within or [os.fspath(one.path)]
        return [place for top in tops for place, _, _ in os.walk(top)] if one.recursive else tops

    def _told(self, paths):
        with self._changed:
            self.paths.update(paths)
            self.missed += not paths
            self._changed.notify_all()

    def until(self, path):
        with self._changed:
            assert self._changed.wait_for(lambda: os.fspath(path) in self.paths, PATIENCE_SECONDS), self.paths


@pytest.fixture
def hear(tmp_path):
    made = []

    def start(**how):
        made.append(Hearing(tmp_path, **how))
        return made[-1]

    yield start
    for one in made:
        one.events.close()


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_changes_in_folders_old_and_new_are_told(tmp_path, hear, monkeypatch, system):
    monkeypatch.setattr(sys, "platform", system)
    (tmp_path / "a" / "b").mkdir(parents=True)
    heard = hear()
    (tmp_path / "a" / "b" / "one.txt").write_text("1")
    heard.until(tmp_path / "a" / "b" / "one.txt")
    (tmp_path / "c" / "d").mkdir(parents=True)
    heard.until(tmp_path / "c")
    (tmp_path / "a").rename(tmp_path / "e")
    heard.until(tmp_path / "e")
    (tmp_path / "e" / "b" / "one.txt").write_text("2")
    heard.until(tmp_path / "e" / "b" / "one.txt")
    (tmp_path / "c" / "d" / "two.txt").write_text("1")
    heard.until(tmp_path / "c" / "d" / "two.txt")


def test_links_to_folders_are_not_followed_and_sub_folders_of_a_shallow_root_are_not_heard(tmp_path, hear):
    outside = tmp_path.parent / f"{tmp_path.name} outside"
    outside.mkdir()
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "inner").mkdir()
    heard = hear(recursive=False)
    (outside / "far.txt").write_text("1")
    (tmp_path / "inner" / "deep.txt").write_text("1")
    (tmp_path / "near.txt").write_text("1")
    heard.until(tmp_path / "near.txt")
    assert heard.paths == {str(tmp_path / "near.txt")}


def test_a_name_that_is_no_utf8_takes_its_folder_alone_out_of_what_is_heard(tmp_path, hear):
    (tmp_path / "odd").mkdir()
    (tmp_path / "even").mkdir()
    heard = hear()
    assert not heard.events.unheard
    with open(os.fsencode(tmp_path / "odd") + b"/caf\xe9.txt", "wb") as file:
        file.write(b"1")
    with heard._changed:
        assert heard._changed.wait_for(lambda: heard.missed and heard.events.unheard, PATIENCE_SECONDS)
    (tmp_path / "even" / "one.txt").write_text("1")
    heard.until(tmp_path / "even" / "one.txt")
    assert heard.events.alive


def test_file_systems_that_others_write_are_silent(tmp_path):
    table = tmp_path / "mountinfo"
    table.write_text(
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "30 22 0:40 / /mnt/share rw - nfs4 server:/share rw\n"
        "31 30 8:2 / /mnt/share/local rw - ext4 /dev/sdb1 rw\n"
        "32 22 0:41 / /media/my\\040disk rw - fuse.sshfs host: rw\n"
        "33 22 0:42 / /media/usb rw - fuseblk /dev/sdc1 rw\n"
        "short line\n"
    )
    found = {
        place: silent(place, table)
        for place in (
            "/home/x",
            "/mnt/share/docs",
            "/mnt/share/local/a",
            "/media/my disk/a",
            "/media/usb",
            "/mnt/shared",
        )
    }
    assert found == {
        "/home/x": None, "/mnt/share/docs": "nfs4", "/mnt/share/local/a": None, "/media/my disk/a": "fuse.sshfs",
        "/media/usb": None, "/mnt/shared": None,
    }  # fmt: skip
    assert silent("/mnt/share", tmp_path / "no such table") is None


def test_what_a_path_asks_for():
    roots = [root(Path("/w")), Root("/s", "s", Path("/s"), False)]

    def asked(*paths, include_hidden=False):
        found = sorted_out(paths, roots, ["/w/kb"], include_hidden=include_hidden)
        return found.soon, found.late

    assert asked("/w/a/plan.md", "/elsewhere/x", "/w/kb/indexes/CURRENT", "/s/deep/x.md") == ({"/w/a/plan.md"}, set())
    assert asked("/s/x.md") == ({"/s/x.md"}, set())
    assert asked("/w/a/.gitignore", "/w/.hermesignore") == ({"/w/a", "/w"}, set())
    assert asked("/w/a/package.json") == ({"/w/a", "/w/a/package.json"}, set())
    assert asked("/w/.git/objects/ab/cd", "/w/a/.plan.md.swp", "/w/a/x~", "/w/node_modules/y/z.js") == (
        set(),
        {"/w/.git", "/w/a/.plan.md.swp", "/w/a/x~", "/w/node_modules"},
    )
    assert asked("/w/.git/x", "/w/.notes/x.md", include_hidden=True) == ({"/w/.notes/x.md"}, {"/w/.git"})


def test_what_was_put_in_leaves_by_being_taken_and_can_be_put_back(tmp_path, monkeypatch):
    there, gone = tmp_path / "there", tmp_path / "gone"
    there.write_text("1")
    box = Inbox()
    states = [box.waiting]
    box.put([str(there)], seen=5.0)
    box.put([str(there)], seen=9.0)
    states.append(box.waiting)
    assert states == [False, True]
    assert box.take() == ({str(there): 5.0}, {})
    assert box.take() == ({}, {})
    box.put([str(there)], seen=5.0)
    box.put([str(gone)], [str(tmp_path / "late")])
    soon, late = box.take()  # what vanished may be one end of a move
    assert (set(soon), late) == ({str(there), str(gone)}, {})
    box.put([str(gone)])
    assert box.take() == ({}, {}) and box.waiting  # alone it may return
    monkeypatch.setattr(inbox, "VANISHED_SECONDS", 0.0)
    monkeypatch.setattr(inbox, "LATE_SECONDS", 0.0)
    soon, late = box.take()
    assert (set(soon), set(late)) == ({str(gone)}, {str(tmp_path / "late")})
    box.miss("workspace")
    box.wait(60.0)  # returns at once
    assert (box.missed(), box.missed()) == (["workspace"], [])


def test_waiting_ends_when_something_comes_in_or_gets_due(tmp_path):
    box = Inbox()
    box.put([str(tmp_path / "gone")], seen=time.monotonic())
    box.wait(60.0)
    soon, _ = box.take()
    assert set(soon) == {str(tmp_path / "gone")}
    threading.Timer(0.05, box.put, [[str(tmp_path)]]).start()
    box.wait(60.0)
    assert set(box.take()[0]) == {str(tmp_path)}
