"""The record of every file: found one by one, compared as columns, and changed without reading the rest."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.core.ids import source_id
from hermes_lance.core.names import printable, raw_bytes
from hermes_lance.core.records import KnownFile
from hermes_lance.store.files import FilesState, below
from hermes_lance.store.known import KnownFiles
from hermes_lance.testing import write_files

NAMES = ["a.md", "b.py", "ä.txt", "sub", "sub/c.md", "sub0", "sub/", "x/y/z.rs", "\udcff.txt", "z \u2028.md"]


def known(path: str, root: str = "workspace", **more: object) -> KnownFile:
    shown, raw = printable(path)
    base = KnownFile(source_id(root, raw_bytes(shown, raw)), root, shown, raw, "indexed", sha256="0" * 64, size=5)
    return replace(base, indexed_at="2026-01-02T03:04:05Z", media_type="text/plain", chunks=2, **more)  # type: ignore[arg-type]


def written(folder: Path, files: list[KnownFile], name: str = "one.files") -> FilesState:
    return FilesState(folder, write_files(folder / name, files))


def any_file(dice: random.Random) -> KnownFile:
    folder = dice.choice(["", "", "docs/", "docs/deep/", "src/"])
    root = dice.choice(["workspace", "/srv/ä", "/a"])
    return known(
        folder + dice.choice(NAMES),
        root,
        state=dice.choice(["indexed", "skipped", "failed", "pending"]),
        mtime_ns=dice.choice([0, 1, -5, 10**18]),
        inode=dice.choice([7, 2**63 - 1, 2**70]),
        sha256=dice.choice([None, "1" * 64]),
        tombstone_sha=dice.choice([None, None, "2" * 64]),
        pieces_signature=dice.choice([None, "v1", "v2"]),
    )


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    files = [known(name) for name in NAMES] + [known("a.md", "/elsewhere", inode=2**80, mtime_ns=-1)]
    state = written(tmp_path, files)
    assert state.all() == {one.id: one for one in files}
    assert [state.get(one.id) for one in files] == files
    assert state.get(source_id("workspace", b"other")) is None
    assert state.by_state() == {"indexed": len(files)}


def test_nothing_is_a_state_too(tmp_path: Path) -> None:
    for state in (FilesState(tmp_path, None), written(tmp_path, [])):
        assert (len(state), state.all(), state.get("0" * 32), dict(state.by_state())) == (0, {}, None, {})
        assert state.paths("workspace") == [] and list(KnownFiles(state)) == []


def test_two_ids_that_begin_alike_are_told_apart(tmp_path: Path) -> None:
    one, two = replace(known("a"), id="ab" * 16), replace(known("b"), id="ab" * 8 + "00" * 8)
    state = written(tmp_path, [one, two])
    assert (state.get(one.id), state.get(two.id), state.get("ab" * 8 + "11" * 8)) == (one, two, None)


def test_a_folder_is_a_stretch_of_the_sorted_paths() -> None:
    paths = sorted(["a", "a b", "a-1/x", "a.md", "a/", "a/b", "a/b/c", "a0", "ab/c", "b"])
    found = {target: [paths[at] for one in below(paths, target) for at in one] for target in ["a", "a/b", "b", "c", ""]}
    assert found == {"a": ["a", "a/", "a/b", "a/b/c"], "a/b": ["a/b", "a/b/c"], "b": ["b"], "c": [], "": paths}


@pytest.mark.parametrize("seed", range(20))
def test_changes_over_a_state_are_a_dictionary_and_are_written_as_one(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    plain = {one.id: one for one in (any_file(dice) for _ in range(dice.choice([0, 3, 30])))}
    lazy = KnownFiles(written(tmp_path, list(plain.values())))
    for _ in range(40):
        one = any_file(dice)
        match dice.randrange(4):
            case 0:
                plain[one.id] = lazy[one.id] = one
            case 1:
                assert lazy.pop(one.id, None) == plain.pop(one.id, None)
            case 2:
                assert lazy.get(one.id) == plain.get(one.id)
            case 3:
                assert (one.id in lazy) == (one.id in plain)
    assert (dict(lazy), dict(lazy.items()), len(lazy)) == (plain, plain, len(plain))
    assert sorted(lazy.values(), key=lambda one: one.id) == sorted(plain.values(), key=lambda one: one.id)
    states = {one.state for one in plain.values()}
    assert +lazy.by_state() == {state: sum(one.state == state for one in plain.values()) for state in states}
    entry = lazy.write(tmp_path / "two.files")
    again = write_files(tmp_path / "three.files", plain.values())
    assert (entry["sha256"], entry["rows"]) == (again["sha256"], again["rows"])
    assert FilesState(tmp_path, entry).all() == plain


def test_one_change_reads_no_other_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = written(tmp_path, [known(f"{number}.md") for number in range(500)])
    read: list[int] = []
    record = FilesState.record

    def noted(self: FilesState, at: int) -> KnownFile:
        read.append(at)
        return record(self, at)

    monkeypatch.setattr(FilesState, "record", noted)
    monkeypatch.setattr(FilesState, "all", None)
    lazy = KnownFiles(state)
    changed = known("77.md", size=9)
    lazy[changed.id] = changed
    del lazy[known("78.md").id]
    assert lazy.by_state() == {"indexed": 499}
    lazy.write(tmp_path / "two.files")
    assert len(read) <= 4


def test_a_missing_id_is_a_key_error(tmp_path: Path) -> None:
    one = known("a.md")
    lazy = KnownFiles(written(tmp_path, [one]))
    del lazy[one.id]
    for act in (lambda: lazy[one.id], lambda: lazy.pop(one.id), lambda: lazy.__delitem__(one.id)):
        with pytest.raises(KeyError):
            act()


def test_damage_anywhere_is_said_in_one_line_or_changes_nothing_that_is_read(tmp_path: Path) -> None:
    files = [known(f"{number}.md", inode=number) for number in range(20)]
    entry = write_files(tmp_path / "one.files", files)
    good = (tmp_path / "one.files").read_bytes()
    refused = 0
    for at in range(0, len(good), 7):
        (tmp_path / "one.files").write_bytes(good[:at] + bytes([good[at] ^ 0x5A]) + good[at + 1 :])
        try:
            state = FilesState(tmp_path, entry)
            _ = [state.get(one.id) for one in files], state.all(), state.by_state(), state.paths("workspace")
        except DatasetDamaged as error:
            refused += 1
            assert "one.files" in str(error)
    assert refused > 50
    (tmp_path / "one.files").write_bytes(good[:-9])
    with pytest.raises(DatasetDamaged, match="bytes where"):
        FilesState(tmp_path, entry)
