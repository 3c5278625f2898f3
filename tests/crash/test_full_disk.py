"""No room left: one clear error, the last generation intact, reading goes on, and the next run finishes the work."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess

import pytest

from hermes_lance.core.errors import DiskFull
from hermes_lance.store import durable, segment

DISK_BYTES = 6 << 20


def write_tree(home, turn):
    for number in range(8):
        home.write(f"{number}.md", f"# File {number}", f"Turn {turn} of file {number}.", f"words {turn} " * 400)


@pytest.fixture
def small_disk(home):
    """The home's dataset on a file system of its own with little room."""
    home.dataset.parent.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", home.dataset.parent], capture_output=True
    )
    if not mounted or mounted.returncode != 0:
        pytest.skip("this user may not mount a small disk")
    yield home.dataset.parent
    # Lazily: maps of files that are gone may still be held by objects that wait for the garbage collector.
    subprocess.run(["umount", "-l", home.dataset.parent], check=True)


def fill(disk, room):
    """Leaves `room` bytes."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        file.write(bytes(max(0, shutil.disk_usage(disk).free - room)))
    return filler


def test_on_a_full_disk_the_last_generation_is_read_and_the_next_run_with_room_finishes(home, small_disk, clean_build):
    write_tree(home, 0)
    home.build()
    refused = 0
    for turn, room in enumerate((0, 8_192, 32_768, 65_536, 114_688, 196_608), 1):
        before = home.contents()
        write_tree(home, turn)
        filler = fill(small_disk, room)
        try:
            home.build()
        except DiskFull as error:
            refused += 1
            assert "no space left" in str(error) and str(small_disk) in str(error)
            rows = home.contents().rows
            # The text may have found room and only the tables not; then all of it is new.
            new = {f" {turn} " in f" {row.text} " for row in rows.values()}
            assert rows == before.rows or new == {True}, f"{room} bytes of room"
        embedded = home.contents().vectors
        words = f"turn {turn} {turn - 1}"
        assert len(home.library().search(words, mode="lexical", limit=20)) > 0
        assert len(home.library().search(words, mode="dense", limit=20)) > 0 or not embedded
        assert home.library().status()["chunks"] > 0
        unfinished = {"interrupted-run", "orphans", "tables", "vectors"}
        assert all(one.ok for one in home.library().doctor() if one.name not in unfinished)
        filler.unlink()
        home.build()
        assert home.contents() == clean_build(home)
    assert refused >= 2
    home.library().collect_garbage(wait_seconds=0.0)
    assert home.healthy()


def test_a_first_build_without_room_leaves_nothing_that_the_next_one_trips_over(home, small_disk, clean_build):
    write_tree(home, 0)
    for room in (0, 8_192, 40_960, 90_112):
        filler = fill(small_disk, room)
        with pytest.raises(DiskFull):
            home.build()
        filler.unlink()
    home.build()
    assert home.contents() == clean_build(home)
    assert home.healthy()


def test_any_file_that_cannot_be_begun_for_want_of_room_leaves_before_or_after(home, clean_build, monkeypatch):
    write_tree(home, 0)
    home.build()
    saved = home.folder / "saved"
    shutil.copytree(home.dataset, saved)
    write_tree(home, 1)
    before, clean = home.contents(), clean_build(home)
    real = durable.open_private
    for last in range(100):
        begun = 0

        def no_room(path, last=last):
            nonlocal begun
            begun += 1
            if begun > last:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            return real(path)

        with monkeypatch.context() as patch:
            patch.setattr(durable, "open_private", no_room)
            patch.setattr(segment, "open_private", no_room)
            try:
                report = home.build()
            except DiskFull:
                report = None
        seen = home.contents()
        assert seen == before or seen.rows == clean.rows, f"after {last} files"
        home.build()
        assert home.contents() == clean, f"after {last} files"
        assert home.healthy(swept=False)
        if begun <= last:
            break
        assert report is None or "was put off" in report.warnings[0]
        shutil.rmtree(home.dataset)
        shutil.copytree(saved, home.dataset)
    assert last > 8
