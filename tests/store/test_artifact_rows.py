"""Artifacts in their side file, their Tantivy index and their tables."""

from __future__ import annotations

import pytest

from hermes_lance.core.artifact import Artifact, Edge
from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.core.words import Analyser
from hermes_lance.store import check, compact
from hermes_lance.store import manifest as manifests
from hermes_lance.store.artifact_lexical import ArtifactIndex, edits
from hermes_lance.store.artifact_rows import ArtifactRows, write_artifacts
from hermes_lance.store.artifact_tables import read_artifacts, read_edges, write_artifact_tables
from hermes_lance.store.catch_up import catch_up
from hermes_lance.store.lexical_folder import write_artifact_index
from hermes_lance.store.publish import Facts, Publication
from hermes_lance.store.snapshot import open_snapshot
from hermes_lance.store.spaces import first, space_of
from hermes_lance.store.tables import Tables
from hermes_lance.testing import chunk_rows, contents_of, known_file

SPACE = first(space_of("word_count", "word_count/1", 64))
ARTIFACTS = [
    Artifact("skill:b", "skill", "b", "b/SKILL.md", "Renew certificates.", ("tls",), ("GitHub",), ("skill:a",)),
    Artifact("skill:a", "skill", "a", "a/SKILL.md", "Roll back.", updated_at="2026-01-01T00:00:00Z"),
    Artifact("script:ü", "script", "ü.sh", "ü.sh", "Push the zone.", search_text="ZONE_KEY dry run"),
]
EDGES = [
    Edge("skill:b", "skill:a", "related_to", "directed", 1.0, "skill:a"),
    Edge("skill:b", "script:ü", "keyword_overlap", "mutual", 0.25, "renew zone"),
    Edge("script:ü", "skill:b", "related_to", "directed", 0.8, "b"),
]


def publish(dataset, base=None, *, artifacts=ARTIFACTS, edges=EDGES, texts=()):
    work = Publication(dataset, Tables(dataset), base, f"run{base.id if base else 0}", Facts(space=SPACE))
    if artifacts is not None:
        work.put_artifacts(artifacts, edges)
    for path, text in texts:
        work.put_file(known_file(path, chunks=1), chunk_rows(path, [text]))
    return catch_up(dataset, work.tables, work.commit(), work.changes)


def at(rows, key):
    position = rows.position(key)
    assert position is not None
    return position


def files(manifest, part):
    return {name: entry for name, entry in manifest.lexical["files"].items() if name.startswith(f"{part}/")}


def test_rows_are_read_as_they_were_written_and_found_by_their_id(tmp_path):
    entry = write_artifacts(tmp_path / "x.artifacts", ARTIFACTS, EDGES)
    rows = ArtifactRows(tmp_path, entry)
    assert rows.all() == sorted(ARTIFACTS, key=lambda one: one.id)
    assert [rows.row(at(rows, one.id)) for one in ARTIFACTS] == ARTIFACTS
    assert rows.position("skill:c") is None and rows.get("") is None and len(rows) == 3
    assert list(rows.edges()) == sorted(EDGES, key=lambda one: (one.source_id, one.target_id, one.kind))


def test_references_come_before_derived_links_in_both_directions(tmp_path):
    rows = ArtifactRows(tmp_path, write_artifacts(tmp_path / "x.artifacts", ARTIFACTS, EDGES))
    links = rows.links(at(rows, "skill:b"))
    assert [(rows.id(link.other), link.edge.kind) for link in links] == [
        ("skill:a", "related_to"),
        ("script:ü", "related_to"),
        ("script:ü", "keyword_overlap"),
    ]


def test_a_cut_file_is_damage_that_names_it(tmp_path):
    entry = write_artifacts(tmp_path / "x.artifacts", ARTIFACTS, EDGES)
    data = (tmp_path / "x.artifacts").read_bytes()
    (tmp_path / "x.artifacts").write_bytes(data[:-9])
    with pytest.raises(DatasetDamaged, match=r"x\.artifacts"):
        ArtifactRows(tmp_path, entry)


def test_two_artifacts_of_one_id_are_refused_and_leave_no_file(tmp_path):
    with pytest.raises(ValueError, match="same id"):
        write_artifacts(tmp_path / "x.artifacts", [ARTIFACTS[0], ARTIFACTS[0]], [])
    assert list(tmp_path.iterdir()) == []


def test_tables_hold_what_the_side_file_holds_and_only_differences_are_written(tmp_path):
    tables = Tables(tmp_path)
    for name in ("artifacts", "edges"):
        tables.ensure(name)
    (tmp_path / "side").mkdir()

    def write(artifacts, edges):
        entry = write_artifacts(tmp_path / "side" / f"{len(list((tmp_path / 'side').iterdir()))}", artifacts, edges)
        write_artifact_tables(tables, ArtifactRows(tmp_path / "side", entry), "run")

    write(ARTIFACTS, EDGES)
    assert read_artifacts(tables) == sorted(ARTIFACTS, key=lambda one: one.id)
    assert read_edges(tables) == sorted(EDGES, key=lambda one: (one.source_id, one.target_id, one.kind))
    heads = {name: tables.head(name) for name in ("artifacts", "edges")}
    write(ARTIFACTS, EDGES)
    assert {name: tables.head(name) for name in heads} == heads, "nothing was written"
    write(ARTIFACTS[:2], EDGES[:1])
    assert [one.id for one in read_artifacts(tables)] == ["skill:a", "skill:b"] and len(read_edges(tables)) == 1


def test_each_index_is_carried_over_while_only_the_other_changes(tmp_path):
    first = publish(tmp_path, texts=[("a.txt", "red fox")])
    documents = publish(tmp_path, first, artifacts=None, texts=[("b.txt", "grey wolf")])
    assert files(documents, "artifacts") == files(first, "artifacts") != {}
    assert documents.artifacts == first.artifacts
    routed = publish(tmp_path, documents, artifacts=ARTIFACTS[:1], edges=[])
    assert files(routed, "chunks") == files(documents, "chunks")
    assert files(routed, "artifacts") != files(documents, "artifacts")
    assert routed.text_segments == documents.text_segments and routed.files == documents.files
    seen = contents_of(tmp_path)
    assert sorted(seen.artifacts) == ["skill:b"] and len(seen.rows) == 2
    assert [one for one in check.checks(tmp_path) if not one.ok and one.name not in {"vectors", "orphans"}] == []


def test_a_dataset_without_artifacts_has_no_index_of_them(tmp_path):
    made = publish(tmp_path, artifacts=None, texts=[("a.txt", "red fox")])
    assert made.artifacts is None and files(made, "artifacts") == {}
    assert open_snapshot(tmp_path).artifact_index is None and len(open_snapshot(tmp_path).artifacts) == 0


def test_retention_and_pins_keep_what_a_generation_names(tmp_path):
    first = publish(tmp_path)
    pinned = compact.pin(tmp_path, first.id)
    last = publish(tmp_path, first, artifacts=ARTIFACTS[:1], edges=[])
    compact.retain(tmp_path, keep=1)
    assert [path.name for path in (tmp_path / "side").glob("*.artifacts")] == [last.artifacts["file"]]
    assert len(contents_of(pinned).artifacts) == 3


def test_a_damaged_index_of_artifacts_is_found(tmp_path):
    made = publish(tmp_path)
    folder = tmp_path / manifests.LEXICAL / made.lexical["folder"] / "artifacts"
    biggest = max((path for path in folder.iterdir() if path.suffix), key=lambda path: path.stat().st_size)
    biggest.write_bytes(biggest.read_bytes()[:-1])
    assert next(one.name for one in check.checks(tmp_path) if not one.ok and one.fatal) == "side-files"
    with pytest.raises(DatasetDamaged):
        _ = open_snapshot(tmp_path).artifact_index


@pytest.fixture
def index(tmp_path):
    write_artifact_index(tmp_path / "a", ARTIFACTS)
    return ArtifactIndex(tmp_path / "a")


def found(rows):
    ids = sorted(one.id for one in ARTIFACTS)
    return [ids[position] for position, _ in rows]


def stems(text):
    return [[stem] for _, stem in Analyser().words(text)]


def test_words_are_found_in_any_field_and_kinds_before_the_cut(index):
    assert found(index.any_of(stems("certificates zone"), 5)) == ["skill:b", "script:ü"]
    assert found(index.all_of(stems("renew tls"), 5)) == ["skill:b"]
    assert found(index.all_of(stems("renew zone"), 5)) == []
    assert found(index.any_of(stems("certificates zone"), 1, ["skill"])) == ["skill:b"]
    assert index.any_of([], 5) == [] and index.all_of([[]], 5) == [] and index.any_of(stems("zone"), 0) == []


def test_phrases_keep_their_order_in_every_field(index):
    phrase = Analyser().query("push the zone").phrase
    assert found(index.phrases([phrase], 5)) == ["script:ü"]
    assert index.phrases([Analyser().query("zone the push").phrase], 5) == []


def test_unknown_words_are_taken_for_similar_ones(index):
    assert index.known("certif") and not index.known("certifx")
    assert index.like("certifx") == ["certif"] and index.like("zon") == []
    assert index.beginning_with("certi") == ["certif"]


@pytest.mark.parametrize(
    ("one", "other", "distance"), [("abc", "abc", 0), ("abc", "acb", 1), ("abcd", "abd", 1), ("abc", "xyz", 3)]
)
def test_edits_are_counted_with_swaps_as_one(one, other, distance):
    assert edits(one, other, 2) == min(distance, 3)
