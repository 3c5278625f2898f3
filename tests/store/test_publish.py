"""What a publication makes visible, and what it carries over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hermes_lance.core import ids
from hermes_lance.core.words import Analyser
from hermes_lance.store import check, compact, recover
from hermes_lance.store import manifest as manifests
from hermes_lance.store.catch_up import catch_up
from hermes_lance.store.publish import Facts, Publication
from hermes_lance.store.snapshot import open_snapshot
from hermes_lance.store.spaces import space_of
from hermes_lance.store.tables import Tables
from hermes_lance.testing import WordCountEmbedder, chunk_rows, known_file

SPACE: dict[str, Any] = {"active": space_of("word_count", "word_count/1", 64), "building": None}


def publish(dataset: Path, files: dict[str, list[str] | None], *, vectors: bool = False) -> manifests.Manifest:
    """One publication: path to its texts, or none to drop the file."""
    tables = Tables(dataset)
    base, _ = recover.recover(dataset, tables)
    work = Publication(dataset, tables, base, ids.unique_name(), Facts(space=SPACE))
    for path, texts in files.items():
        if texts is None:
            work.drop_file(known_file(path).id)
        else:
            work.put_file(known_file(path, chunks=len(texts)), chunk_rows(path, texts))
    if vectors:
        model = WordCountEmbedder()
        table, keys = SPACE["active"]["table"], [row.embed_keys[0] for _, row in work.written]
        stored = set(tables.vectors_for(table, keys)) if keys and table in tables.names() else set()
        for serial, row in work.written:
            key, vector = row.embed_keys[0], model.embed_query(row.text).astype("float16")
            work.put_vector(serial, row.source_id, key, vector, stored=key in stored)
            stored.add(key)
    return catch_up(dataset, tables, work.commit(), work.changes)


def found(dataset: Path, words: str) -> list[str]:
    """Texts that hold the words, by the lexical index of the current generation."""
    snapshot = open_snapshot(dataset)
    hits = snapshot.lexical.search(Analyser().query(words), 10)
    return sorted(snapshot.text.row(serial).text for serial, _ in hits)


def healthy(dataset: Path) -> bool:
    """Every check of the dataset but the one on vectors passes."""
    problems = [one for one in check.checks(dataset) if not one.ok and one.name not in {"vectors", "orphans"}]
    assert problems == []
    return True


def test_published_rows_are_found_with_their_text(tmp_path):
    publish(tmp_path, {"a.txt": ["the blue whale", "a red fox"], "b.txt": ["a grey wolf"]})
    assert found(tmp_path, "fox") == ["a red fox"]
    assert healthy(tmp_path)


def test_a_file_put_again_loses_its_old_passages_everywhere(tmp_path):
    publish(tmp_path, {"a.txt": ["the blue whale", "a red fox"], "b.txt": ["a grey wolf"]})
    manifest = publish(tmp_path, {"a.txt": ["a green fox"]})
    assert found(tmp_path, "fox") == ["a green fox"]
    assert found(tmp_path, "whale") == []
    assert manifest.totals["chunks"] == 2
    assert healthy(tmp_path)


def test_a_dropped_file_is_gone_and_the_others_stay(tmp_path):
    publish(tmp_path, {"don't.txt": ["a red fox"], "b.txt": ["a grey wolf"]})
    publish(tmp_path, {"don't.txt": None})
    assert found(tmp_path, "fox wolf") == ["a grey wolf"]
    assert healthy(tmp_path)


def test_nearest_neighbours_are_found_without_lance_and_dead_rows_are_not(tmp_path):
    publish(tmp_path, {"a.txt": ["alpha beta", "gamma delta"]}, vectors=True)
    publish(tmp_path, {"b.txt": ["alpha beta"]}, vectors=True)
    publish(tmp_path, {"a.txt": ["omega psi"]}, vectors=True)
    snapshot = open_snapshot(tmp_path)
    hits = snapshot.vectors.search(WordCountEmbedder().embed_query("alpha beta"), 10)
    texts = [snapshot.text.row(serial).text for serial, _ in hits]
    assert texts[0] == "alpha beta" and "gamma delta" not in texts and len(texts) == 2
    assert snapshot.vectors_complete


def test_an_old_generation_can_be_read_while_it_is_kept(tmp_path):
    first = publish(tmp_path, {"a.txt": ["a red fox"]})
    publish(tmp_path, {"a.txt": ["a green fox"]})
    old = open_snapshot(tmp_path, first.id)
    assert [old.text.row(serial).text for serial, _ in old.lexical.search(Analyser().query("fox"), 5)] == ["a red fox"]


def test_retention_keeps_the_last_generations_and_an_open_reader_reads_on(tmp_path):
    publish(tmp_path, {"a.txt": ["version zero of the fox"]})
    reader = open_snapshot(tmp_path)
    later = [publish(tmp_path, {"a.txt": [f"version {number} fox"]}).id for number in range(5)]
    compact.retain(tmp_path)
    assert manifests.known_generations(tmp_path) == later[-3:]
    assert [reader.text.row(one).text for one, _ in reader.lexical.search(Analyser().query("fox"), 5)] == [
        "version zero of the fox"
    ]
    assert {one.name: one.ok for one in check.checks(tmp_path)}["orphans"]
    assert healthy(tmp_path)


def test_upkeep_merges_segments_and_changes_no_row(tmp_path):
    for number in range(6):
        publish(tmp_path, {f"{number}.txt": [f"fox number {number}"], "same.txt": [f"turn {number}"]}, vectors=True)
    before = found(tmp_path, "fox turn")
    tables = Tables(tmp_path)
    manifest = compact.tidy(tmp_path, tables, manifests.current(tmp_path), force=True)
    assert len(manifest.text_segments) == len(manifest.vector_segments) == 1 and manifest.dead is None
    assert found(tmp_path, "fox turn") == before
    assert manifest.totals == manifests.current(tmp_path).totals and manifest.totals["chunks"] == 7
    assert healthy(tmp_path)
    publish(tmp_path, {"1.txt": ["fox again"]}, vectors=True)
    assert healthy(tmp_path)


def test_a_pinned_generation_survives_everything_done_to_the_live_one(tmp_path):
    first = publish(tmp_path, {"a.txt": ["a red fox"]}, vectors=True)
    compact.pin(tmp_path, first.id)
    for number in range(5):
        publish(tmp_path, {"a.txt": [f"version {number}"]})
    compact.tidy(tmp_path, Tables(tmp_path), manifests.current(tmp_path), force=True)
    Tables(tmp_path).clean("chunks")
    pinned = open_snapshot(tmp_path, first.id)
    hits = pinned.lexical.search(Analyser().query("fox"), 5)
    assert [pinned.text.row(serial).text for serial, _ in hits] == ["a red fox"]
    rows = [row for batch in Tables(pinned.dataset).read("chunks", ["text"], version=first.tables["chunks"]["version"])
            for row in batch.column("text").to_pylist()]  # fmt: skip
    assert rows == ["a red fox"]


@pytest.mark.parametrize("lost", ["side", "lexical"])
def test_lost_side_files_are_noticed_and_rebuilt_from_lance(tmp_path, lost):
    publish(tmp_path, {"a.txt": ["a red fox", "a blue whale"], "b.txt": ["a grey wolf"]}, vectors=True)
    for path in sorted((tmp_path / lost).rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert not all(one.ok for one in check.checks(tmp_path))
    tables = Tables(tmp_path)
    old = manifests.current(tmp_path)
    recover.rebuild(tmp_path, tables, facts=recover.facts_of(old), newer_than=old)
    assert found(tmp_path, "fox") == ["a red fox"]
    assert healthy(tmp_path)


def test_a_generation_of_a_later_format_is_refused_by_name(tmp_path):
    from hermes_lance.core.errors import DatasetNewer

    manifest = publish(tmp_path, {"a.txt": ["a red fox"]})
    manifest.format = manifest.minimum_reader = 99
    manifests.write_manifest(tmp_path, manifest)
    with pytest.raises(DatasetNewer, match="format 99"):
        open_snapshot(tmp_path)


def test_a_lost_table_or_version_is_named_and_not_a_bare_error_of_the_engine(tmp_path):
    import shutil

    from hermes_lance.core.errors import DatasetDamaged

    publish(tmp_path, {"a.txt": ["a red fox"]})
    with pytest.raises(DatasetDamaged, match="version 99 is not there"):
        list(Tables(tmp_path).read("chunks", ["id"], version=99))
    shutil.rmtree(tmp_path / "lance" / "chunks.lance")
    with pytest.raises(DatasetDamaged, match=r"chunks\.lance: cannot be opened"):
        list(Tables(tmp_path).read("chunks", ["id"], version=1))


def test_a_flipped_bit_in_the_lexical_index_is_noticed_and_the_index_rebuilt(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"], "b.txt": ["a grey wolf"]})
    publish(tmp_path, {"c.txt": ["a blue whale"]})
    folder = tmp_path / "lexical" / manifests.current(tmp_path).lexical["folder"] / "chunks"
    victim = next(path for path in sorted(folder.iterdir()) if path.suffix == ".pos" or path.suffix == ".idx")
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(bytes(data))
    assert {one.name: one.ok for one in check.checks(tmp_path)}["side-files"] is False
    old = manifests.current(tmp_path)
    recover.rebuild(tmp_path, Tables(tmp_path), facts=recover.facts_of(old), newer_than=old)
    assert healthy(tmp_path)


def test_a_large_table_gets_the_scalar_indices_of_its_schema_and_upserts_go_on(tmp_path, monkeypatch):
    from hermes_lance.core import schema
    from hermes_lance.store import tables as module

    monkeypatch.setattr(module, "ROWS_WORTH_AN_INDEX", 3)
    publish(tmp_path, {"a.txt": ["uno", "two"], "b.txt": ["three", "four"]}, vectors=True)
    publish(tmp_path, {"c.txt": ["five"]}, vectors=True)
    tables = Tables(tmp_path)
    compact.tidy(tmp_path, tables, manifests.current(tmp_path), force=True)
    for name in ("chunks", "sources"):
        indexed = {column for index in tables.table(name).list_indices() for column in index.columns}
        assert indexed == set(schema.load(name).indexed)
    publish(tmp_path, {"a.txt": ["uno", "six"], "b.txt": None, "d.txt": ["seven"]}, vectors=True)
    assert found(tmp_path, "uno two three four five six seven") == ["five", "seven", "six", "uno"]
    assert healthy(tmp_path)
    compact.tidy(tmp_path, Tables(tmp_path), manifests.current(tmp_path), force=True)
    assert healthy(tmp_path)
