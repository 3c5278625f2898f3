"""A file of named arrays: what comes back, and what damage is noticed when."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from hermes_lance.core.errors import DatasetDamaged, DiskFull
from hermes_lance.core.memory import resident
from hermes_lance.store.segment import MAGIC, Segment, SegmentWriter, file_sha256, reading


def written(path, **arrays):
    writer = SegmentWriter(path)
    for name, values in arrays.items():
        if isinstance(values, bytes):
            writer.put(name, values)
        else:
            writer.put_array(name, values)
    return writer.close()


def test_arrays_come_back_with_type_and_shape_and_without_a_copy(tmp_path):
    matrix = np.arange(12, dtype=np.float16).reshape(3, 4)
    numbers = np.array([3, 1, 2], dtype=np.uint64)
    written(tmp_path / "a", matrix=matrix, numbers=numbers, text=b"whale")
    segment = Segment(tmp_path / "a")
    assert segment.names() == ["matrix", "numbers", "text"]
    assert segment.array("matrix").dtype == np.float16 and (segment.array("matrix") == matrix).all()
    assert not segment.array("matrix").flags.owndata
    assert bytes(segment.raw("text")) == b"whale"
    assert segment.array("numbers").ctypes.data % 8 == 0


def test_numbers_can_be_read_without_numpy(tmp_path):
    writer = SegmentWriter(tmp_path / "a")
    writer.put_numbers("serials", [5, 7, 1 << 40], "Q")
    writer.put_numbers("none", [], "Q")
    writer.close()
    segment = Segment(tmp_path / "a")
    assert segment.cast("serials").tolist() == [5, 7, 1 << 40]
    assert segment.cast("none").tolist() == []


def test_an_array_may_be_written_in_pieces(tmp_path):
    writer = SegmentWriter(tmp_path / "a")
    writer.begin("text")
    for piece in (b"blue ", b"", b"whale"):
        writer.append(piece)
    writer.end()
    writer.put("after", b"x")
    writer.close()
    segment = Segment(tmp_path / "a")
    assert bytes(segment.raw("text")) == b"blue whale"
    assert bytes(segment.raw("after")) == b"x"


def test_the_entry_says_size_and_hash_of_the_file(tmp_path):
    entry = written(tmp_path / "a", text=b"whale" * 1_000)
    assert entry == {
        "file": "a",
        "size": (tmp_path / "a").stat().st_size,
        "sha256": file_sha256(tmp_path / "a"),
    }


def test_a_map_outlives_its_file(tmp_path):
    written(tmp_path / "a", text=b"whale")
    segment = Segment(tmp_path / "a")
    view = segment.raw("text")
    (tmp_path / "a").unlink()
    del segment
    assert bytes(view) == b"whale"


def test_a_cut_file_is_refused_at_every_length(tmp_path):
    written(tmp_path / "a", numbers=np.arange(40, dtype=np.uint64), text=b"whale")
    whole = (tmp_path / "a").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "a").write_bytes(whole[:length])
        with pytest.raises(DatasetDamaged, match="a: "):
            Segment(tmp_path / "a", expected_size=len(whole))
        with pytest.raises(DatasetDamaged, match="a: "):
            Segment(tmp_path / "a")


@pytest.mark.parametrize("at", ["begin", "end"])
def test_a_file_with_another_mark_is_refused(tmp_path, at):
    written(tmp_path / "a", text=b"whale")
    data = bytearray((tmp_path / "a").read_bytes())
    place = 0 if at == "begin" else len(data) - len(MAGIC)
    data[place : place + 5] = b"OTHER"
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(DatasetDamaged, match="not a segment file"):
        Segment(tmp_path / "a")


def test_a_missing_or_empty_file_is_refused_by_name(tmp_path):
    with pytest.raises(DatasetDamaged, match="absent: missing"):
        Segment(tmp_path / "absent")
    (tmp_path / "empty").touch()
    with pytest.raises(DatasetDamaged, match="empty: cannot be mapped"):
        Segment(tmp_path / "empty")


def test_any_flipped_byte_of_the_table_of_contents_gives_our_error_or_the_old_arrays(tmp_path):
    written(tmp_path / "a", numbers=np.arange(4, dtype=np.uint64), text=b"whale")
    whole = (tmp_path / "a").read_bytes()
    refused = 0
    for at in range(whole.rindex(b"{", 0, whole.index(b'"numbers"') + 1), len(whole)):
        for flip in (0x01, 0x20, 0x80):
            data = bytearray(whole)
            data[at] ^= flip
            (tmp_path / "a").write_bytes(data)
            try:
                segment = Segment(tmp_path / "a")
                segment.array("numbers")
                segment.cast("numbers")
                segment.raw("text")
            except DatasetDamaged as error:
                refused += 1
                assert str(tmp_path / "a") in str(error)
    assert refused > 100


def test_a_full_disk_is_said_at_the_write_and_a_discarded_file_leaves_nothing(tmp_path, monkeypatch):
    writer = SegmentWriter(tmp_path / "a")
    writer.put("text", b"x" * 10)

    class Full:
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def close(self):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    writer._file.close()
    monkeypatch.setattr(writer, "_file", Full())
    with pytest.raises(DiskFull):
        writer.put("more", b"y" * (1 << 22))
        writer.close()
    writer.discard()
    assert list(tmp_path.iterdir()) == []


def test_an_array_that_was_let_go_is_read_again_as_before(tmp_path):
    written(tmp_path / "a", head=b"x" * 100, numbers=np.arange(2_000_000, dtype=np.uint64), tail=b"y" * 100)
    segment = Segment(tmp_path / "a")
    numbers, before = segment.array("numbers"), resident().files
    total = int(numbers.sum())
    mapped = resident().files
    segment.forget("numbers")
    if before:  # a system that says what is in memory
        assert resident().files < mapped - 8_000_000
    assert int(numbers.sum()) == total
    assert (bytes(segment.raw("head")), bytes(segment.raw("tail"))) == (b"x" * 100, b"y" * 100)


def test_only_damage_becomes_an_error_of_ours_while_reading(tmp_path):
    with (
        pytest.raises(DatasetDamaged, match="a: its content cannot be read \\(IndexError\\)") as caught,
        reading(tmp_path / "a"),
    ):
        [][1]
    assert isinstance(caught.value.__cause__, IndexError)
    with pytest.raises(KeyboardInterrupt), reading(tmp_path / "a"):
        raise KeyboardInterrupt
