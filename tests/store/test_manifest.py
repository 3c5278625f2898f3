"""The description of a generation and the pointer to the current one: what is read, what is refused."""

from __future__ import annotations

import json

import pytest

from hermes_lance.core.errors import DatasetDamaged, DatasetMissing, DatasetNewer, GenerationMissing
from hermes_lance.store import manifest as manifests
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.snapshot import open_snapshot


def manifest(number=1, **more):
    return Manifest(id=f"{number:08d}", parent=None, published_at="2026-01-01T00:00:00Z", run="test", **more)


def stored(dataset, one):
    manifests.write_manifest(dataset, one)
    return manifests.manifest_path(dataset, one.id)


def test_a_manifest_comes_back_as_it_was_written(tmp_path):
    one = manifest(note="größer 数据", totals={"chunks": 3}, roots=[{"path": "/a b"}], dead={"file": "x", "rows": 1})
    stored(tmp_path, one)
    assert manifests.read_manifest(tmp_path, "00000001") == one


def test_every_flipped_bit_of_a_manifest_is_noticed(tmp_path):
    path = stored(tmp_path, manifest(totals={"chunks": 3}))
    whole = path.read_bytes()
    for at in range(len(whole)):
        data = bytearray(whole)
        data[at] ^= 0x01
        path.write_bytes(data)
        try:
            read = manifests.read_manifest(tmp_path, "00000001")
        except (DatasetDamaged, DatasetNewer):
            continue
        # White space is all that may differ unseen.
        assert read == manifest(totals={"chunks": 3})


def test_every_cut_of_a_manifest_is_noticed(tmp_path):
    path = stored(tmp_path, manifest())
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(DatasetDamaged):
            manifests.read_manifest(tmp_path, "00000001")


def test_a_newer_format_is_refused_by_name_even_with_fields_of_its_own(tmp_path):
    path = stored(tmp_path, manifest(format=7, minimum_reader=7))
    body = json.loads(path.read_bytes())
    body["something_new"] = {"a": 1}
    path.write_text(json.dumps(body))
    with pytest.raises(DatasetNewer, match="format 7; this release reads up to 1"):
        manifests.read_manifest(tmp_path, "00000001")


def test_a_newer_format_that_this_release_may_read_is_read(tmp_path):
    stored(tmp_path, manifest(format=2, minimum_reader=1))
    assert manifests.read_manifest(tmp_path, "00000001").format == 2


@pytest.mark.parametrize("content", [b"[]", b"null", b"\xff\xfe", b"{}", b'{"minimum_reader": "x"}'])
def test_what_is_no_manifest_is_refused(tmp_path, content):
    path = stored(tmp_path, manifest())
    path.write_bytes(content)
    with pytest.raises(DatasetDamaged):
        manifests.read_manifest(tmp_path, "00000001")


def test_the_pointer_names_the_current_generation(tmp_path):
    for number in (1, 2):
        stored(tmp_path, manifest(number))
        manifests.move_pointer(tmp_path, f"{number:08d}")
        assert manifests.current(tmp_path).id == f"{number:08d}"
    assert manifests.known_generations(tmp_path) == ["00000001", "00000002"]
    assert manifests.next_id(manifests.current(tmp_path)) == "00000003"


def test_a_manifest_without_pointer_is_not_published(tmp_path):
    stored(tmp_path, manifest(1))
    manifests.move_pointer(tmp_path, "00000001")
    stored(tmp_path, manifest(2))
    assert manifests.current(tmp_path).id == "00000001"
    assert manifests.known_generations(tmp_path) == ["00000001"]
    assert manifests.generations_on_disk(tmp_path) == ["00000001", "00000002"]
    with pytest.raises(GenerationMissing):
        open_snapshot(tmp_path, "00000002")


def test_an_empty_folder_holds_nothing_yet(tmp_path):
    with pytest.raises(DatasetMissing):
        manifests.current(tmp_path)
    assert manifests.current_or_none(tmp_path / "absent") is None
    with pytest.raises(GenerationMissing):
        manifests.read_manifest(tmp_path, "00000009")


@pytest.mark.parametrize("text", [b"", b"twelve", b"\xff\xff", b"00000001\n00000002"])
def test_a_pointer_that_points_nowhere_is_damage(tmp_path, text):
    stored(tmp_path, manifest())
    (tmp_path / manifests.POINTER).write_bytes(text)
    with pytest.raises(DatasetDamaged, match="CURRENT"):
        manifests.current(tmp_path)


def test_a_pointer_to_a_missing_generation_is_damage(tmp_path):
    stored(tmp_path, manifest())
    manifests.move_pointer(tmp_path, "00000009")
    with pytest.raises(DatasetDamaged, match="points to generation 00000009"):
        manifests.current(tmp_path)


def test_a_lost_pointer_is_damage_unless_the_first_generation_was_being_made(tmp_path):
    stored(tmp_path, manifest())
    with pytest.raises(DatasetDamaged, match="missing, though generations are there"):
        manifests.current(tmp_path)
    intent: dict[str, object] = {
        "generation": "00000001",
        "base": None,
        "boot": None,
        "heads": {},
        "target": {},
        "facts": {},
    }
    (tmp_path / manifests.INTENT).write_text(json.dumps(intent))
    with pytest.raises(DatasetMissing):
        manifests.current(tmp_path)
    (tmp_path / manifests.INTENT).write_text(json.dumps({**intent, "base": "00000001"}))
    with pytest.raises(DatasetDamaged):
        manifests.current(tmp_path)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\x00"])
def test_an_unreadable_intent_is_damage(tmp_path, content):
    (tmp_path / manifests.INTENT).write_bytes(content)
    with pytest.raises(DatasetDamaged, match=r"intent\.json"):
        manifests.read_intent(tmp_path)
