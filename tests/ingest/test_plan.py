"""A file is read only when its bytes may have changed, a move costs nothing, and nothing unseen is taken for gone."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.core.ids import source_id
from hermes_lance.core.names import raw_bytes
from hermes_lance.core.records import KnownFile, Root, Skipped, SourceFile
from hermes_lance.core.schema import load
from hermes_lance.ingest import contents, earlier
from hermes_lance.ingest.plan import Plan, Planned, Planner, reason_of, state_of
from hermes_lance.ingest.walk import Walk, WalkSettings
from hermes_lance.store.files import FilesState
from hermes_lance.testing import write_files

OLD = 1_700_000_000
LATER_NS = (OLD + 3600) * 10**9


def put(top: Path, path: str, text: str = "text\n", mtime: float = OLD) -> Path:
    file = top / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, (mtime, mtime))
    return file


def root_at(top: Path, key: str = "workspace") -> Root:
    return Root(key, key, top.resolve(), True, key == "workspace")


class Store:
    """What a pipeline would remember: every planned item is carried out at once."""

    def __init__(self, top: Path, state: Path) -> None:
        self.roots = [root_at(top)]
        self._state = state
        self.rows: dict[str, KnownFile] = {}
        self.signature = "v1"
        self.settings = WalkSettings()

    def plan(
        self,
        only: dict[str, Sequence[str]] | None = None,
        now_ns: int = LATER_NS,
        full: bool = False,
    ) -> Plan:
        self._state.unlink(missing_ok=True)
        walk = Walk(self.roots, self.settings, only)
        self.reports = walk.reports
        return Planner(
            FilesState(self._state.parent, write_files(self._state, self.rows.values())),
            lambda media_type: f"{media_type}:{self.signature}",
            max_bytes=1 << 20, only=only, now_ns=now_ns, full=full,
        ).plan(walk)  # fmt: skip

    def build(self, only: dict[str, Sequence[str]] | None = None, now_ns: int = LATER_NS) -> dict[str, str]:
        """Carry out a plan; path to change, with `removed` for rows that go."""
        plan = self.plan(only, now_ns)
        done: dict[str, str] = {item.file.path: item.change for item in plan.items}
        done |= {row.path: "removed" for row in plan.removed}
        for row in plan.removed:
            del self.rows[row.id]
        for item in plan.items:
            if item.change == "moved" and item.known is not None:
                self.rows.pop(item.known.id, None)
        for item in plan.items:
            self.rows[item.id] = self.row_for(item)
        return done

    def row_for(self, item: Planned) -> KnownFile:
        file, skipped = item.file, item.skipped
        media = "text/" + (Path(file.path).suffix.lstrip(".") or "plain")
        sha = None if skipped else hashlib.sha256(file.absolute.read_bytes()).hexdigest()
        return KnownFile(
            id=item.id, root=file.root.key, path=file.path, raw_path=file.raw_path,
            state=state_of(skipped) if skipped else "indexed", reason=reason_of(skipped) if skipped else None,
            rule=skipped.rule if skipped else None, media_type=media, size=file.size, mtime_ns=file.mtime_ns,
            inode=file.inode, dev=file.dev, sha256=sha, pieces_signature=f"{media}:{self.signature}",
            indexed_at="2023-11-14T23:00:00+00:00",
        )  # fmt: skip

    def change_row(self, path: str, **values: object) -> None:
        key = source_id("workspace", path.encode())
        self.rows[key] = replace(self.rows[key], **values)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path, tmp_path_factory.mktemp("state") / "one.files")


def test_a_known_file_has_exactly_the_columns_of_the_sources_table() -> None:
    assert [item.name for item in fields(KnownFile)] == load("sources").names


def test_the_second_run_has_nothing_to_do_and_reads_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.md")
    put(tmp_path, "sub/b.md")
    put(tmp_path, "empty.md", "")
    assert store.build() == {"a.md": "added", "sub/b.md": "added", "empty.md": "left_out"}
    monkeypatch.setattr(contents, "hashed", None)
    plan = store.plan()
    assert plan.empty and plan.unchanged == 2
    assert [(item.file.path, item.change) for item in plan.items] == [("empty.md", "unchanged")]


def test_a_touch_is_not_a_change(store: Store, tmp_path: Path) -> None:
    file = put(tmp_path, "a.md")
    store.build()
    os.utime(file, (OLD + 60, OLD + 60))
    assert store.build() == {"a.md": "touched"}
    assert store.build() == {}


def test_an_atomic_save_is_a_change_and_never_a_removal(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one\n")
    store.build()
    os.replace(put(tmp_path, "a.md.new", "two\n"), tmp_path / "a.md")
    assert store.build() == {"a.md": "changed"}


def test_same_size_and_time_but_other_bytes_is_seen_by_its_inode(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one\n")
    store.build()
    os.replace(put(tmp_path, "b.tmp", "two\n"), tmp_path / "a.md")
    assert store.build() == {"a.md": "changed"}


def test_a_file_written_moments_before_it_was_read_is_hashed_again(store: Store, tmp_path: Path) -> None:
    file = put(tmp_path, "a.md", "one\n")
    store.build()
    file.write_text("two\n")
    os.utime(file, (OLD, OLD))  # the clock of the file system did not move between the two writes
    assert store.build() == {}, "read long after it was written: the stat is proof enough"
    store.change_row("a.md", indexed_at="2023-11-14T22:13:21+00:00")  # one second after OLD
    assert store.build() == {"a.md": "changed"}


def test_a_file_modified_just_now_is_hashed_even_if_its_stat_is_known(store: Store, tmp_path: Path) -> None:
    file = put(tmp_path, "a.md", "one\n")
    store.build()
    file.write_text("two\n")
    os.utime(file, (OLD, OLD))
    assert store.build(now_ns=(OLD + 1) * 10**9) == {"a.md": "changed"}


def test_a_rename_moves_the_row_and_reads_nothing_else(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "a.md", "same\n")
    put(tmp_path, "b.md", "other\n")
    store.build()
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.md").rename(tmp_path / "sub" / "c.md")
    plan = store.plan()
    (item,) = plan.items
    assert (item.change, item.file.path, item.known and item.known.path) == ("moved", "sub/c.md", "a.md")
    assert plan.removed == [] and plan.unchanged == 1
    assert store.build() == {"sub/c.md": "moved"}
    assert store.build() == {}


def test_a_copy_whose_original_stays_is_added(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "a.md", "same\n")
    store.build()
    put(tmp_path, "b.md", "same\n")
    assert store.build() == {"b.md": "added"}


def test_each_vanished_row_moves_once_and_the_same_inode_is_preferred(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "a.md", "same\n")
    put(tmp_path, "b.md", "same\n")
    store.build()
    (tmp_path / "b.md").rename(tmp_path / "x.md")
    (tmp_path / "a.md").rename(tmp_path / "y.md")
    put(tmp_path, "z.md", "same\n")
    plan = store.plan()
    pairs = {item.file.path: (item.change, item.known and item.known.path) for item in plan.items}
    assert pairs == {"x.md": ("moved", "b.md"), "y.md": ("moved", "a.md"), "z.md": ("added", None)}


def test_a_new_suffix_is_not_a_move_since_another_parser_may_read_it(store: Store, tmp_path: Path) -> None:
    file = put(tmp_path, "a.txt", "same\n")
    store.build()
    file.rename(tmp_path / "a.md")
    assert store.build() == {"a.md": "added", "a.txt": "removed"}


def test_a_move_into_another_root_is_a_move(store: Store, tmp_path: Path) -> None:
    store.roots = [root_at(tmp_path / "one"), root_at(tmp_path / "two", "two")]
    file = put(tmp_path, "one/a.md")
    (tmp_path / "two").mkdir()
    store.build()
    file.rename(tmp_path / "two" / "a.md")
    (item,) = store.plan().items
    assert (item.change, item.file.root.key, item.known and item.known.root) == ("moved", "two", "workspace")


def test_other_settings_make_a_file_outdated_and_a_move_then_is_none(store: Store, tmp_path: Path) -> None:
    file = put(tmp_path, "a.md")
    store.build()
    store.signature = "v2"
    assert store.plan().items[0].change == "outdated"
    file.rename(tmp_path / "b.md")
    assert store.build() == {"b.md": "added", "a.md": "removed"}


def test_full_reads_everything_again(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    store.build()
    assert [item.change for item in store.plan(full=True).items] == ["outdated"]


def test_a_file_that_is_no_longer_wanted_is_left_out_and_comes_back(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    store.build()
    put(tmp_path, ".gitignore", "a.md\n")
    assert store.build() == {".gitignore": "left_out", "a.md": "left_out"}
    put(tmp_path, ".gitignore", "b.md\n")
    assert store.build()["a.md"] == "added"


def test_an_ignored_folder_takes_the_rows_below_it_away(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "sub/a.md")
    store.build()
    put(tmp_path, ".gitignore", "sub/\n")
    assert store.build() == {".gitignore": "left_out", "sub/": "left_out", "sub/a.md": "removed"}


def test_a_missing_root_removes_nothing(store: Store, tmp_path: Path) -> None:
    store.roots = [root_at(tmp_path / "one"), root_at(tmp_path / "two", "two")]
    put(tmp_path, "one/a.md")
    put(tmp_path, "two/b.md", "other\n")
    store.build()
    (tmp_path / "two").rename(tmp_path / "unplugged")
    plan = store.plan()
    assert plan.empty and [row.path for row in plan.unseen] == ["b.md"] and "two" in plan.warnings[0]
    (tmp_path / "unplugged").rename(tmp_path / "two")
    assert store.build() == {}


def test_a_root_that_is_no_longer_configured_loses_its_rows(store: Store, tmp_path: Path) -> None:
    store.roots = [root_at(tmp_path / "one"), root_at(tmp_path / "two", "two")]
    put(tmp_path, "one/a.md")
    put(tmp_path, "two/b.md", "other\n")
    store.build()
    store.roots = store.roots[:1]
    assert store.build() == {"b.md": "removed"}


def test_an_emptied_folder_loses_its_rows_but_an_unmounted_one_does_not(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    store.build()
    (tmp_path / "a.md").unlink()
    store.change_row("a.md", dev=999)
    plan = store.plan()
    assert plan.removed == [] and [row.path for row in plan.unseen] == ["a.md"] and "device" in plan.warnings[0]
    store.change_row("a.md", dev=os.stat(tmp_path).st_dev)
    assert [row.path for row in store.plan().removed] == ["a.md"]


@pytest.mark.parametrize("named", ["", "a.md", "sub"])
def test_of_an_unmounted_folder_nothing_is_removed_whichever_part_of_it_is_looked_at(
    store: Store, tmp_path: Path, named: str
) -> None:
    put(tmp_path, "a.md")
    put(tmp_path, "sub/b.md", "other")
    store.build()
    (tmp_path / "a.md").unlink()
    shutil.rmtree(tmp_path / "sub")
    for name in ("a.md", "sub/b.md"):
        store.change_row(name, dev=999)
    plan = store.plan(only={"workspace": [named]})
    assert (plan.removed, len(plan.unseen)) == ([], 2 if not named else 1)


def test_a_file_that_is_named_is_hashed_whatever_its_stat_says(store: Store, tmp_path: Path) -> None:
    file = put(tmp_path, "sub/a.md", "one\n")
    store.build()
    file.write_text("two\n")
    os.utime(file, (OLD, OLD))
    assert store.build(only={"workspace": ["sub"]}) == {}
    assert store.build(only={"workspace": ["sub/a.md"]}) == {"sub/a.md": "changed"}
    assert store.build(only={"workspace": ["sub/a.md"]}) == {}


def test_only_the_named_paths_are_planned(store: Store, tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "sub/c.md", "sub/d.md"):
        put(tmp_path, name, name)
    store.build()
    for name in ("a.md", "sub/c.md"):
        (tmp_path / name).unlink()
    put(tmp_path, "b.md", "longer than before")
    put(tmp_path, "sub/e.md", "new")
    assert store.build(only={"workspace": ["sub"]}) == {"sub/e.md": "added", "sub/c.md": "removed"}
    assert store.build(only={"workspace": ["a.md"]}) == {"a.md": "removed"}
    assert store.build() == {"b.md": "changed"}


def test_a_failed_file_is_tried_again_only_when_there_is_a_reason(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    store.build()
    store.change_row("a.md", state="failed", reason="parser: broke")
    assert store.build() == {"a.md": "unchanged"}
    store.change_row("a.md", state="failed", retry_after=OLD + 7200)
    assert store.plan().items[0].change == "unchanged"
    assert store.plan(now_ns=(OLD + 7201) * 10**9).items[0].change == "retry"
    store.change_row("a.md", state="failed", retry_after=None, sha256=None)
    assert store.plan().items[0].change == "retry", "never read, as after a mode that forbade it"
    store.change_row("a.md", state="failed", sha256="0", pieces_signature="text/md:v0")
    assert store.plan().items[0].change == "outdated"


def test_a_file_that_stays_closed_to_us_is_no_work_until_it_can_be_opened(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.md")
    store.build()
    reason = "unreadable: cannot be opened: permission denied"
    store.change_row("a.md", state="failed", reason=reason, sha256=None, pieces_signature=None)

    def closed(location: str) -> int:
        raise PermissionError(13, "Permission denied", location)

    with monkeypatch.context() as patch:
        patch.setattr(contents, "opened", closed)
        plan = store.plan()
        assert (plan.items[0].change, plan.empty) == ("unchanged", True)
    assert store.plan().items[0].change == "retry"


def test_a_pending_file_is_taken_up_again(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    store.build()
    store.change_row("a.md", state="pending")
    assert store.plan().items[0].change == "retry"


def test_a_dropped_file_stays_away_until_its_bytes_change(store: Store, tmp_path: Path) -> None:
    file = put(tmp_path, "a.md", "one\n")
    store.build()
    store.change_row("a.md", tombstone_sha=hashlib.sha256(b"one\n").hexdigest())
    (item,) = store.plan().items
    assert item.change == "left_out" and item.skipped is not None and item.skipped.code == "dropped"
    os.utime(file, (OLD + 60, OLD + 60))
    assert store.plan().items[0].change == "left_out"
    put(tmp_path, "a.md", "two\n", OLD + 60)
    assert store.plan().items[0].change == "changed"


def test_any_history_ends_in_the_rows_of_a_clean_build(
    store: Store, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    put(tmp_path, "a.md", "1")
    put(tmp_path, "sub/b.md", "22")
    store.build()
    (tmp_path / "a.md").rename(tmp_path / "sub" / "a.md")
    put(tmp_path, "it's a/don't.md", "333")
    store.build()
    put(tmp_path, "sub/b.md", "2222")
    (tmp_path / "sub" / "a.md").rename(tmp_path / "it's a" / "%_\\.md")
    store.build()
    (tmp_path / "it's a" / "don't.md").unlink()
    store.build()
    clean = Store(tmp_path, tmp_path_factory.mktemp("clean") / "one.files")
    clean.build()
    assert store.rows == clean.rows


def test_every_id_comes_from_the_bytes_of_the_path(store: Store, tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "w") as out:
        out.write("x")
    (item,) = store.plan().items
    assert item.id == source_id("workspace", b"caf\xe9.md")
    assert raw_bytes(item.file.path, item.file.raw_path) == b"caf\xe9.md"


# Reading.


def source(file: Path) -> SourceFile:
    found = file.lstat()
    root = root_at(file.parent)
    return SourceFile(root, file.name, str(file), found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev)


def test_reading_gives_bytes_hash_and_the_stat_that_belongs_to_them(tmp_path: Path) -> None:
    file = source(put(tmp_path, "a.md", "one\n"))
    got = contents.read(file, 100)
    assert isinstance(got, contents.Contents)
    assert (got.data, got.sha256, got.size) == (b"one\n", hashlib.sha256(b"one\n").hexdigest(), 4)
    assert contents.hashed(file, 100) == replace(got, data=b"")


def code_of(result: contents.Contents | Skipped) -> str:
    return result.code if isinstance(result, Skipped) else "read"


def test_what_is_put_in_the_place_of_a_file_is_never_followed(tmp_path: Path) -> None:
    put(tmp_path, "outside/secret.md")
    top = tmp_path / "top"
    for name in ("link.md", "pipe.md", "gone.md", "folder.md", "sub/a.md"):
        put(top, name)
    files = {name: source(top / name) for name in ("link.md", "pipe.md", "gone.md", "folder.md")}
    inner = replace(source(top / "sub" / "a.md"), root=root_at(top))
    for name in files:
        (top / name).unlink()
    (top / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    os.mkfifo(top / "pipe.md")
    (top / "folder.md").mkdir()
    codes = {name: code_of(contents.read(file, 100)) for name, file in files.items()}
    assert codes == {"link.md": "unreadable", "pipe.md": "unreadable", "gone.md": "vanished", "folder.md": "unreadable"}
    (top / "sub").rename(top / "old")
    put(tmp_path, "outside/a.md")
    (top / "sub").symlink_to(tmp_path / "outside")
    assert code_of(contents.read(inner, 100)) == "link-outside"


def test_a_file_over_the_limit_is_not_read_even_if_it_grew_since(tmp_path: Path) -> None:
    file = source(put(tmp_path, "a.md", "x" * 100))
    assert code_of(contents.read(file, 100)) == "read"
    with open(tmp_path / "a.md", "a") as out:
        out.write("x")
    assert code_of(contents.read(file, 100)) == "too-large"


def test_a_file_that_changes_while_it_is_read_is_read_again_or_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = source(put(tmp_path, "a.md", "one\n"))
    real_read, times = os.read, [0]

    def disturbed(descriptor: int, size: int) -> bytes:
        data = real_read(descriptor, size)
        if data and times[0]:
            times[0] -= 1
            with open(tmp_path / "a.md", "a") as out:
                out.write("more\n")
        return data

    monkeypatch.setattr(os, "read", disturbed)
    times[0] = 1
    got = contents.read(file, 100)
    assert isinstance(got, contents.Contents) and got.data == b"one\nmore\n"
    times[0] = 100
    assert code_of(contents.read(file, 10_000)) == "changing"


def test_without_the_flag_of_posix_a_link_is_refused_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.md")
    (tmp_path / "link.md").symlink_to("a.md")
    monkeypatch.setattr(contents, "_NO_FOLLOW", 0)
    monkeypatch.setattr(contents, "_FLAGS", os.O_RDONLY)
    assert code_of(contents.read(source(tmp_path / "link.md"), 100)) == "unreadable"
    assert code_of(contents.read(source(tmp_path / "a.md"), 100)) == "read"


def test_walking_and_planning_load_no_heavy_package() -> None:
    heavy = ["lancedb", "pyarrow", "polars", "numpy", "torch", "tantivy", "ruamel"]
    code = (
        "import sys, hermes_lance.ingest.plan, hermes_lance.ingest.roots\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# -- settled files --------------------------------------------------------------------------------------------------


def some_name(dice: random.Random) -> str:
    folder = dice.choice(["", "", "sub/", "sub/deep/", "build/", "sub-/", ".dot/"])
    name = dice.choice(
        ["a.md", "b.md", "a~", "ä.txt", "\udce4.txt", "c.bin", "CACHEDIR.TAG", ".gitignore", "p.json", "x"]
    )
    return folder + name


def disturb(dice: random.Random, top: Path) -> None:
    file = top / some_name(dice)
    other = top / some_name(dice)
    try:
        match dice.randrange(8):
            case 0 | 1 | 2:
                file.parent.mkdir(parents=True, exist_ok=True)
                lines = (
                    ["text", "other", "*.md", "!a.md", "sub/", "[ab]*", ""]
                    if file.name == ".gitignore"
                    else ["1", "22", ""]
                )
                file.write_text(dice.choice(lines))
                moment = dice.choice([OLD, OLD + 1, OLD + 3599.5, OLD - 50])
                os.utime(file, (moment, moment))
            case 3:
                file.unlink()
            case 4:
                file.rename(other)
            case 5:
                os.utime(file, (OLD + 2, OLD + 2))
            case 6:
                file.symlink_to(other)
            case 7:
                shutil.rmtree(file.parent) if file.parent != top else None
    except OSError:
        pass  # not every dice names a file that is there: then nothing is disturbed


@pytest.mark.parametrize("seed", range(25))
def test_settled_files_change_nothing_but_the_time_it_takes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    dice = random.Random(seed)
    store.settings = WalkSettings(binary_suffixes=frozenset({".bin"}), max_bytes=20)
    if dice.random() < 0.3:
        store.roots.append(root_at(tmp_path / "sub", "inner"))
    for _ in range(25):
        for _ in range(dice.choice([0, 1, 1, 5])):
            disturb(dice, tmp_path)
        store.signature = dice.choice(["v1"] * 9 + ["v2"])
        only: dict[str, Sequence[str]] | None = (
            {"workspace": [dice.choice(["", "sub", "sub/a.md", "a.md", "sub/deep"])]} if dice.random() < 0.3 else None
        )
        now = LATER_NS + dice.choice([0, 10**9])
        full = dice.random() < 0.1
        quick = store.plan(only, now, full)
        quick_reports = store.reports
        with monkeypatch.context() as patch:
            patch.setattr(earlier, "_settles", lambda kind, signature_of: False)
            assert store.plan(only, now, full) == quick
        assert {key: replace(one, settled=0) for key, one in quick_reports.items()} == store.reports
        store.build(only, now)


def test_a_settled_file_is_neither_read_nor_listed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        put(tmp_path, f"sub/{number}.md", str(number))
    store.build()
    put(tmp_path, "sub/7.md", "longer")
    read: list[int] = []
    record = FilesState.record

    def noted(self: FilesState, at: int) -> KnownFile:
        read.append(at)
        return record(self, at)

    monkeypatch.setattr(FilesState, "record", noted)
    plan = store.plan()
    assert (plan.unchanged, [item.file.path for item in plan.items], len(read)) == (29, ["sub/7.md"], 1)
    assert store.reports["workspace"].settled == 29


def test_a_run_for_some_files_looks_at_no_other(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("a.md", "sub/b.md", "sub/deep/c.md", "sub.md", "sub-/d.md"):
        put(tmp_path, path, path)
    store.build()
    listed: list[str] = []
    scandir = os.scandir

    def noted(place: str) -> Any:
        listed.append(str(place))
        return scandir(place)

    monkeypatch.setattr(os, "scandir", noted)
    (tmp_path / "sub" / "b.md").unlink()
    plan = store.plan({"workspace": ["sub/b.md"]})
    assert [row.path for row in plan.removed] == ["sub/b.md"] and plan.items == [] and plan.unchanged == 0
    assert [os.path.relpath(place, tmp_path) for place in listed] == [".", "sub"]


def test_a_record_that_is_missing_is_damage_and_no_deletion(store: Store, tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    store.build()
    key, row = next(iter(store.rows.items()))
    store.rows = {key: replace(row, id="0" * 32)}
    (tmp_path / "a.md").unlink()
    with pytest.raises(DatasetDamaged, match=r"there is no record of a\.md"):
        store.plan()
