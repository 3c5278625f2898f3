"""Files that survive kills, full disks and file systems that can do less."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from hermes_lance.core.errors import DatasetReadOnly, DiskFull
from hermes_lance.store import durable


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def names_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), DiskFull),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), DiskFull),
        (RuntimeError("lance error: LanceError(IO): No space left on device (os error 28)"), DiskFull),
        (OSError(errno.EACCES, "Permission denied"), DatasetReadOnly),
        (OSError(errno.EROFS, "Read-only file system"), DatasetReadOnly),
        (ValueError("Permission denied (os error 13)"), DatasetReadOnly),
    ],
)  # fmt: skip
def test_errors_of_the_disk_become_ours_whichever_library_raised_them(error, kind):
    with pytest.raises(kind, match="/some/where") as caught, durable.disk_errors("/some/where"):
        raise error
    assert caught.value.__cause__ is error


def test_other_errors_pass_unchanged():
    with pytest.raises(KeyError), durable.disk_errors("/some/where"):
        raise KeyError("not of the disk")
    with pytest.raises(OSError, match="Input/output"), durable.disk_errors("/some/where"):
        raise OSError(errno.EIO, "Input/output error")


def test_new_folders_and_their_new_parents_are_for_their_owner_only(tmp_path):
    tmp_path.chmod(0o755)
    made = durable.make_private(tmp_path / "one" / "two")
    assert mode(made) == mode(made.parent) == 0o700
    assert mode(tmp_path) == 0o755
    assert durable.make_private(made) == made


def test_an_atomic_write_replaces_the_file_as_a_whole_and_keeps_it_private(tmp_path):
    path = tmp_path / "CURRENT"
    durable.write_atomic(path, b"old")
    reader = path.open("rb")
    durable.write_atomic(path, b"new")
    with reader:
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600
    assert names_below(tmp_path) == ["CURRENT"]


def test_an_atomic_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "CURRENT"
    durable.write_atomic(path, b"old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        durable.write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert names_below(tmp_path) == ["CURRENT"]


@pytest.mark.parametrize("reason", ["the C library has no syncfs", "syncfs fails"])
def test_without_syncfs_every_file_and_folder_is_flushed(tmp_path, monkeypatch, reason):
    (tmp_path / "inner").mkdir()
    (tmp_path / "a").write_text("a")
    (tmp_path / "inner" / "b").write_text("b")
    flushed = []
    real = os.fsync

    def fsync(descriptor):
        flushed.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(durable, "_syncfs", (lambda: None) if "no syncfs" in reason else lambda: lambda descriptor: -1)
    durable.sync_filesystem(tmp_path)
    assert sorted(flushed) == sorted(map(str, [tmp_path, tmp_path / "a", tmp_path / "inner", tmp_path / "inner" / "b"]))


def test_syncfs_is_used_where_it_is(tmp_path, monkeypatch):
    if durable._syncfs() is None:
        pytest.skip("this C library has no syncfs")
    monkeypatch.setattr(durable, "sync_each_file", lambda folder: pytest.fail("flushed file by file"))
    durable.sync_filesystem(tmp_path)


def test_a_folder_that_cannot_be_flushed_is_passed_over_only_where_the_system_has_no_such_thing(tmp_path, monkeypatch):
    def refuses(number):
        def fsync(descriptor):
            raise OSError(number, os.strerror(number))

        return fsync

    monkeypatch.setattr(os, "fsync", refuses(errno.EINVAL))
    durable.sync_folder(tmp_path)
    monkeypatch.setattr(os, "fsync", refuses(errno.EIO))
    with pytest.raises(OSError, match="Input/output"):
        durable.sync_folder(tmp_path)


def tree(folder):
    (folder / "inner").mkdir(parents=True)
    (folder / "a").write_text("a")
    (folder / "inner" / "b").write_text("b")
    return folder


def test_a_linked_tree_shares_its_files(tmp_path):
    source = tree(tmp_path / "source")
    durable.link_tree(source, tmp_path / "target")
    assert names_below(tmp_path / "target") == names_below(source)
    assert (tmp_path / "target" / "inner" / "b").samefile(source / "inner" / "b")


@pytest.mark.parametrize("number", [errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOTSUP])
def test_where_links_cannot_be_made_the_files_are_copied(tmp_path, monkeypatch, number):
    def link(source, target):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)
    source = tree(tmp_path / "source")
    durable.link_tree(source, tmp_path / "target")
    assert (tmp_path / "target" / "inner" / "b").read_text() == "b"
    assert not (tmp_path / "target" / "inner" / "b").samefile(source / "inner" / "b")


def test_a_full_disk_and_a_missing_file_are_not_mistaken_for_missing_links(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError):
        durable.link_or_copy(tmp_path / "absent", tmp_path / "target")

    def link(source, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "a").write_text("a")
    monkeypatch.setattr(os, "link", link)
    with pytest.raises(OSError, match="No space"):
        durable.link_or_copy(tmp_path / "a", tmp_path / "target")
    assert names_below(tmp_path) == ["a"]
