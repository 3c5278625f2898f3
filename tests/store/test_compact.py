"""Upkeep: what may go, what stays, and that merging changes no row."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from hermes_lance.core import ids
from hermes_lance.core.errors import DatasetDamaged, DiskFull, GenerationMissing
from hermes_lance.store import check, compact, durable, recover
from hermes_lance.store import manifest as manifests
from hermes_lance.store.catch_up import catch_up
from hermes_lance.store.publish import Facts, Publication
from hermes_lance.store.snapshot import open_snapshot
from hermes_lance.store.spaces import space_of
from hermes_lance.store.tables import Tables, versions_on_disk
from hermes_lance.testing import WordCountEmbedder, chunk_rows, contents_of, known_file

SPACE: dict[str, Any] = {"active": space_of("word_count", "word_count/1", 64), "building": None}


def publish(dataset: Path, files: dict[str, list[str] | None]) -> manifests.Manifest:
    """One publication with vectors: path to its texts, or none to drop the file."""
    tables = Tables(dataset)
    base, _ = recover.recover(dataset, tables)
    model = WordCountEmbedder()
    with Publication(dataset, tables, base, ids.unique_name(), Facts(space=SPACE)) as work:
        for path, texts in files.items():
            if texts is None:
                work.drop_file(known_file(path).id)
            else:
                work.put_file(known_file(path, chunks=len(texts)), chunk_rows(path, texts))
        table = SPACE["active"]["table"]
        keys = [row.embed_keys[0] for _, row in work.written]
        stored = set(tables.vectors_for(table, keys)) if keys and table in tables.names() else set()
        for serial, row in work.written:
            key, vector = row.embed_keys[0], model.embed_query(row.text).astype("float16")
            work.put_vector(serial, row.source_id, key, vector, stored=key in stored)
            stored.add(key)
        return catch_up(dataset, tables, work.commit(), work.changes)


def tidy(dataset: Path, *, force: bool = False) -> manifests.Manifest:
    return compact.tidy(dataset, Tables(dataset), manifests.current(dataset), force=force)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*")}


def compacted(before: manifests.Manifest, after: manifests.Manifest) -> set[str]:
    """Tables that upkeep has merged between two generations."""
    return {
        name for name, entry in after.tables.items() if entry.get("compacted") != before.tables[name].get("compacted")
    }


def test_retention_removes_what_no_kept_generation_names_and_strays_of_killed_runs(tmp_path):
    kept = [publish(tmp_path, {"a.txt": [f"turn {number}"]}).id for number in range(4)][-2:]
    strays = [
        tmp_path / "side" / "0.text",
        tmp_path / "CURRENT.77.tmp",
        tmp_path / "generations" / "00000019.json",
        tmp_path / "generations" / "00000009.json.77.tmp",
        tmp_path / "lexical" / "0" / "chunks" / "meta.json",
        tmp_path / "pinned" / "00000001.0" / "CURRENT",
    ]
    for path in strays:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"left behind")
    compact.retain(tmp_path, keep=2)
    assert manifests.known_generations(tmp_path) == kept
    assert not any(path.exists() for path in strays)
    assert names(tmp_path / "pinned") == set()
    assert all(one.ok for one in check.checks(tmp_path))
    old = open_snapshot(tmp_path, kept[0])
    assert [segment.row(at).text for _, segment, at in old.text.living()] == ["turn 2"]


def test_retention_before_the_first_generation_removes_what_a_killed_run_left(tmp_path):
    (tmp_path / "side").mkdir()
    (tmp_path / "side" / "0.text").write_bytes(b"x")
    compact.retain(tmp_path)
    assert names(tmp_path / "side") == set()


def test_an_older_manifest_that_nobody_can_read_goes_and_the_current_one_never(tmp_path):
    first, second, third = [publish(tmp_path, {"a.txt": [f"turn {number}"]}).id for number in range(3)]
    manifests.manifest_path(tmp_path, second).write_bytes(b"damaged")
    compact.retain(tmp_path)
    assert manifests.known_generations(tmp_path) == [first, third]
    before = names(tmp_path / "side")
    manifests.manifest_path(tmp_path, third).write_bytes(b"damaged")
    with pytest.raises(DatasetDamaged):
        compact.retain(tmp_path)
    assert names(tmp_path / "side") == before


def test_upkeep_with_nothing_to_do_publishes_nothing(tmp_path):
    base = publish(tmp_path, {"a.txt": ["a red fox"], "b.txt": ["a grey wolf"]})
    assert tidy(tmp_path) == base
    assert manifests.current(tmp_path) == base


def test_many_segments_are_merged_and_every_row_and_vector_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(compact, "MOST_SEGMENTS", 2)
    for number in range(3):
        last = publish(tmp_path, {f"{number}.txt": [f"fox number {number}", "the same words"]})
    before = contents_of(tmp_path)
    manifest = tidy(tmp_path)
    assert len(manifest.text_segments) == len(manifest.vector_segments) == 1
    assert contents_of(tmp_path) == before
    assert manifest.parent == last.id and manifest.note == "upkeep"
    assert all(one.ok for one in check.checks(tmp_path))


def test_dead_rows_are_swept_when_they_are_many(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"], "b.txt": ["a grey wolf"]})
    base = publish(tmp_path, {"a.txt": ["a green fox"]})
    assert base.dead is not None
    manifest = tidy(tmp_path)
    assert manifest.dead is None and manifest.text_segments[0]["rows"] == manifest.vector_segments[0]["rows"] == 2
    assert {row.text for row in contents_of(tmp_path).rows.values()} == {"a green fox", "a grey wolf"}


def test_a_dataset_that_lost_all_its_files_can_be_tidied_and_filled_again(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"]})
    publish(tmp_path, {"a.txt": None})
    tidy(tmp_path, force=True)
    empty = contents_of(tmp_path)
    assert (empty.rows, empty.files, empty.vectors) == ({}, {}, {})
    publish(tmp_path, {"a.txt": ["a red fox"]})
    assert [row.text for row in contents_of(tmp_path).rows.values()] == ["a red fox"]
    assert all(one.ok for one in check.checks(tmp_path))


def test_tables_are_compacted_once_every_so_many_commits(tmp_path, monkeypatch):
    monkeypatch.setattr(compact, "COMMITS_BETWEEN_COMPACTIONS", 4)
    times = 0
    for number in range(12):
        before = publish(tmp_path, {"a.txt": [f"turn {number}"], f"{number}.txt": [f"number {number}"]})
        after = tidy(tmp_path)
        times += "chunks" in compacted(before, after)
    assert 2 <= times <= 3


def test_what_takes_long_is_put_off_with_patience_and_then_done(tmp_path, monkeypatch):
    monkeypatch.setattr(compact, "COMMITS_BETWEEN_COMPACTIONS", 3)
    tables = Tables(tmp_path)
    put_off = 0
    for number in range(12):
        base = publish(tmp_path, {f"{number}.txt": [f"number {number}"]})
        if compact.due(base, 3):
            break
        if compact.due(base):
            put_off += 1
            assert compacted(base, compact.tidy(tmp_path, tables, base, patience=3)) == set()
    assert put_off >= 3
    after = compact.tidy(tmp_path, tables, manifests.current(tmp_path), patience=3)
    assert "chunks" in compacted(base, after) and not compact.due(after)


def test_upkeep_that_fails_for_want_of_room_leaves_the_generation_and_no_files(tmp_path, monkeypatch):
    for number in range(3):
        publish(tmp_path, {f"{number}.txt": [f"fox number {number}"]})
    before, files = contents_of(tmp_path), names(tmp_path / "side")

    def full(*arguments):
        raise DiskFull("no space left on the disk")

    with monkeypatch.context() as patch:
        patch.setattr(compact, "merged_vectors", full)
        with pytest.raises(DiskFull):
            tidy(tmp_path, force=True)
    assert names(tmp_path / "side") == files
    assert contents_of(tmp_path) == before
    recover.recover(tmp_path, Tables(tmp_path))
    assert contents_of(tmp_path) == before
    tidy(tmp_path, force=True)
    assert contents_of(tmp_path) == before


def test_a_kept_generation_is_complete_on_its_own_and_made_once(tmp_path):
    generation = publish(tmp_path, {"a.txt": ["a red fox"], "b.txt": ["a grey wolf"]}).id
    before = contents_of(tmp_path)
    pinned = compact.pin(tmp_path, generation)
    assert compact.pin(tmp_path, generation) == pinned
    for number in range(4):
        publish(tmp_path, {"a.txt": [f"turn {number}"], "b.txt": None})
    tidy(tmp_path, force=True)
    for name in Tables(tmp_path).names():
        Tables(tmp_path).clean(name)
    compact.retain(tmp_path, keep=1)
    assert contents_of(pinned) == before
    assert all(one.ok for one in check.checks(pinned))


def test_without_hard_links_a_kept_generation_is_copied(tmp_path, monkeypatch):
    generation = publish(tmp_path, {"a.txt": ["a red fox"]}).id

    def link(source, target):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    pinned = compact.pin(tmp_path, generation)
    (side,) = (pinned / "side").glob("*.text")
    assert not side.samefile(tmp_path / "side" / side.name)
    assert contents_of(pinned) == contents_of(tmp_path)


def test_a_generation_whose_files_are_gone_cannot_be_kept(tmp_path):
    generation = publish(tmp_path, {"a.txt": ["a red fox"]}).id
    publish(tmp_path, {"a.txt": ["a green fox"]})
    for path in (tmp_path / "side").glob("*.text"):
        path.unlink()
    with pytest.raises(GenerationMissing):
        compact.pin(tmp_path, generation)
    with pytest.raises(GenerationMissing):
        compact.pin(tmp_path, "00000077")
    with pytest.raises(GenerationMissing):
        open_snapshot(tmp_path, "00000077")


def test_a_copy_that_was_not_finished_does_not_count_as_kept(tmp_path, monkeypatch):
    generation = publish(tmp_path, {"a.txt": ["a red fox"]}).id

    def full(source, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(durable, "link_or_copy", full)
        with pytest.raises(DiskFull):
            compact.pin(tmp_path, generation)
    assert not (tmp_path / "pinned" / generation).exists()
    compact.retain(tmp_path)
    assert names(tmp_path / "pinned") == set()
    assert contents_of(compact.pin(tmp_path, generation)) == contents_of(tmp_path)


def test_a_passing_state_whose_tables_were_behind_is_neither_kept_nor_copied(tmp_path):
    settled = publish(tmp_path, {"a.txt": ["a red fox"]})
    tables = Tables(tmp_path)
    with Publication(tmp_path, tables, settled, "run", Facts(space=SPACE)) as work:
        work.put_file(known_file("b.txt", chunks=1), chunk_rows("b.txt", ["a grey wolf"]))
        passing = work.commit()
    with pytest.raises(GenerationMissing, match="passing state"):
        compact.pin(tmp_path, passing.id)
    compact.retain(tmp_path, keep=2)
    assert manifests.known_generations(tmp_path) == [settled.id, passing.id]
    complete = catch_up(tmp_path, tables, passing, work.changes)
    compact.retain(tmp_path, keep=2)
    assert manifests.known_generations(tmp_path) == [settled.id, complete.id]


def test_compaction_keeps_the_published_version_until_another_is_published(tmp_path):
    """Whatever its age: a build that comes after weeks must not pull the tables from under an export."""
    for number in range(3):
        base = publish(tmp_path, {"a.txt": [f"turn {number}"]})
    folder = tmp_path / "lance" / "chunks.lance"
    for path in folder.rglob("*"):
        os.utime(path, (0, 0))
    Tables(tmp_path).compact("chunks")
    assert base.tables["chunks"]["version"] in versions_on_disk(folder)
