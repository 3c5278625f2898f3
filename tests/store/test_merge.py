"""Which segments are merged, and that merging loses nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hermes_lance.store.merge import first_to_merge, merged_text, merged_vectors
from hermes_lance.store.rows import DeadRows, TextRows, TextSegmentWriter
from hermes_lance.store.vectors import VectorRows, write_vectors
from hermes_lance.testing import chunk_rows


def sizes(*rows: int) -> list[dict[str, int]]:
    return [{"rows": count} for count in rows]


def test_small_new_segments_become_one_and_a_large_old_one_is_left_alone():
    assert first_to_merge(sizes(90_000, 5, 5, 5, 5, 5, 5, 5, 5)) == 1


def test_a_segment_joins_when_those_after_it_are_half_as_large_together():
    assert first_to_merge(sizes(1_000, 40, 10, 10)) == 1
    assert first_to_merge(sizes(1_000, 41, 10, 10)) == 2


def test_there_are_never_more_than_the_most_however_sizes_fall():
    assert first_to_merge(sizes(*(4**power for power in range(12, 0, -1)))) == 7


def test_thousands_of_small_changes_copy_each_row_a_few_times_only():
    entries = sizes(100_000)
    copied = 0
    for _ in range(2_000):
        entries = [*entries, {"rows": 5}]
        if len(entries) > 8:
            start = first_to_merge(entries)
            merged = sum(entry["rows"] for entry in entries[start:])
            copied += merged
            entries = [*entries[:start], {"rows": merged}]
    assert len(entries) <= 8 and copied < 10 * 5 * 2_000


def segments(folder: Path) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Three text segments of three rows, and vector segments with two vectors a row."""
    text, vectors, serial = [], [], 0
    rng = np.random.default_rng(5)
    for number in range(3):
        rows = chunk_rows(f"{number}.txt", [f"row {number} {at} ü" for at in range(3)])
        writer = TextSegmentWriter(folder / f"{number}.text")
        for row in rows:
            writer.add(row, serial)
            serial += 1
        text.append(writer.close())
        serials = np.repeat(np.arange(serial - 3, serial, dtype=np.uint64), 2)
        matrix = rng.normal(size=(6, 128)).astype(np.float16)
        keys = [f"{number:02x}{at:02x}" * 8 for at in range(6)]
        vectors.append(write_vectors(folder / f"{number}.vectors", matrix, serials, serials + 100, keys))
    return text, vectors


def test_merged_text_holds_the_same_rows_without_the_dropped_ones(tmp_path):
    text, _ = segments(tmp_path)
    before = {serial: segment.row(index) for serial, segment, index in TextRows(tmp_path, text, DeadRows()).living()}
    [entry] = merged_text(tmp_path, text, DeadRows([4]), tmp_path / "all.text")
    after = TextRows(tmp_path, [entry], DeadRows())
    assert [serial for serial, _, _ in after.living()] == [0, 1, 2, 3, 5, 6, 7, 8]
    assert all(segment.row(index) == before[serial] for serial, segment, index in after.living())
    assert after.locate(4) is None


def test_merged_vectors_equal_the_ones_written_at_once(tmp_path):
    _, vectors = segments(tmp_path)
    old = VectorRows(tmp_path, vectors, DeadRows()).segments
    [entry] = merged_vectors(tmp_path, vectors, DeadRows([4]), tmp_path / "all.vectors")
    [new] = VectorRows(tmp_path, [entry], DeadRows()).segments
    kept = np.concatenate([one.serials for one in old]) != 4
    for part in ("matrix", "serials", "sources"):
        assert np.array_equal(getattr(new, part), np.concatenate([getattr(one, part) for one in old])[kept])
    assert np.array_equal(new.bits, np.concatenate([one.bits for one in old], axis=1)[:, kept])
    assert [new.key(at) for at in range(16)] == [one.key(at) for one in old for at in range(6) if one.serials[at] != 4]


def test_nothing_is_left_of_vectors_whose_rows_are_all_dropped(tmp_path):
    _, vectors = segments(tmp_path)
    assert merged_vectors(tmp_path, vectors, DeadRows(range(9)), tmp_path / "all.vectors") == []
