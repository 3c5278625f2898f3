"""What the next writer makes of an interrupted run: forward when all tables are written, else back."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hermes_lance.core import ids
from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.store import check, failpoints, recover, unflushed
from hermes_lance.store import manifest as manifests
from hermes_lance.store.failpoints import FailpointReached
from hermes_lance.store.publish import Facts, Publication, space_of
from hermes_lance.store.tables import Tables
from hermes_lance.testing import WordCountEmbedder, chunk_rows, contents_of, known_file

ACTIVE = space_of("word_count", "word_count/1", 64)
SPACE = {"active": ACTIVE, "building": None}
FACTS = Facts({"bundle": "one"}, SPACE, [["key", "value", "default"]], [{"key": "workspace", "path": "/w"}])


def publication(dataset: Path, facts: Facts = FACTS) -> Publication:
    tables = Tables(dataset)
    base, _ = recover.recover(dataset, tables)
    return Publication(dataset, tables, base, "run", facts)


def put(work: Publication, files: dict[str, list[str] | None], *, vectors: bool = False) -> None:
    model = WordCountEmbedder()
    for path, texts in files.items():
        if texts is None:
            work.drop_file(known_file(path).id)
        else:
            state = replace(known_file(path, chunks=len(texts)), sha256=ids.sha256_hex("\n".join(texts).encode()))
            work.put_file(state, chunk_rows(path, texts))
    for serial, row in work.written if vectors else ():
        vector = model.embed_query(row.text).astype("float16")
        work.put_vector(serial, row.source_id, row.embed_keys[0], vector, stored=False)


def publish(dataset: Path, files: dict[str, list[str] | None], **options) -> manifests.Manifest:
    with publication(dataset) as work:
        put(work, files, **options)
        return work.commit()


def interrupt(dataset: Path, work: Publication, step: str) -> None:
    """Ends the publication at a failpoint, as a kill would: nothing is tidied."""

    def reach(name: str) -> None:
        if name == step:
            raise FailpointReached(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failpoints, "reach", reach)
        with pytest.raises(FailpointReached):
            work.commit()


def texts(dataset: Path) -> set[str]:
    return {row.text for row in contents_of(dataset).rows.values()}


def recovered(dataset: Path) -> str:
    return recover.recover(dataset, Tables(dataset))[1]


def test_nothing_to_do_is_clean(tmp_path):
    assert recovered(tmp_path) == "clean"
    publish(tmp_path, {"a.txt": ["a red fox"]})
    assert recovered(tmp_path) == "clean"


@pytest.mark.parametrize(("step", "done"), [("intent", "rolled back"), ("chunks", "rolled back"),
                                            ("sources", "rolled forward"), ("lexical", "rolled forward"),
                                            ("manifest", "rolled forward"), ("pointer", "finished")])  # fmt: skip
def test_forward_when_all_tables_were_written_else_back(tmp_path, step, done):
    publish(tmp_path, {"a.txt": ["a red fox"], "b.txt": ["a grey wolf"]})
    work = publication(tmp_path)
    put(work, {"a.txt": ["a green fox"], "b.txt": None, "c.txt": ["a blue whale"]})
    interrupt(tmp_path, work, step)
    assert recovered(tmp_path) == done
    assert texts(tmp_path) == (
        {"a red fox", "a grey wolf"} if done == "rolled back" else {"a green fox", "a blue whale"}
    )
    assert recovered(tmp_path) == "clean"
    assert all(one.ok for one in check.checks(tmp_path) if one.name not in {"vectors", "orphans"})


def test_vectors_of_a_run_that_is_undone_are_kept_in_their_table(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"]}, vectors=True)
    work = publication(tmp_path)
    put(work, {"b.txt": ["a grey wolf"]}, vectors=True)
    interrupt(tmp_path, work, "vectors")
    assert recovered(tmp_path) == "rolled back"
    key = chunk_rows("b.txt", ["a grey wolf"])[0].embed_keys[0]
    assert list(Tables(tmp_path).vectors_for(ACTIVE["table"], [key])) == [key]
    assert texts(tmp_path) == {"a red fox"}


def test_going_forward_takes_over_passages_that_only_moved_within_their_file(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"]})
    work = publication(tmp_path)
    (row,) = chunk_rows("a.txt", ["a red fox"])
    state = replace(known_file("a.txt", chunks=1), sha256="f" * 64)
    work.put_file(state, [replace(row, char_start=2, char_end=11, line_start=3, line_end=3)])
    interrupt(tmp_path, work, "sources")
    assert recovered(tmp_path) == "rolled forward"
    (row,) = contents_of(tmp_path).rows.values()
    assert (row.line_start, row.char_start) == (3, 2)


def test_going_forward_keeps_what_the_run_was_made_with_and_the_space_of_the_base(tmp_path):
    work = publication(tmp_path)
    put(work, {"a.txt": ["a red fox"]})
    interrupt(tmp_path, work, "sources")
    assert recovered(tmp_path) == "rolled forward"
    first = manifests.current(tmp_path)
    assert (first.fingerprints, first.space, first.config, first.roots) == (
        FACTS.fingerprints,
        SPACE,
        FACTS.config,
        FACTS.roots,
    )
    other = {"active": space_of("word_count", "word_count/2", 64), "building": None}
    work = publication(tmp_path, Facts({"bundle": "two"}, other))
    put(work, {"b.txt": ["a grey wolf"]})
    interrupt(tmp_path, work, "sources")
    assert recovered(tmp_path) == "rolled forward"
    second = manifests.current(tmp_path)
    assert second.fingerprints == {"bundle": "two"} and second.space == SPACE


def lose_what_was_not_flushed(dataset: Path, before: set[Path]) -> None:
    """As after a power cut: new files are there, and empty."""
    for path in set((dataset / "lance").rglob("*")) - before:
        if path.is_file():
            path.write_bytes(b"")


@pytest.mark.parametrize("step", ["start", "intent", "vectors", "chunks", "sources", "lexical", "sync", "manifest"])
def test_after_a_power_cut_only_what_was_flushed_counts(tmp_path, monkeypatch, step):
    publish(tmp_path, {"a.txt": ["a red fox"], "b.txt": ["a grey wolf"]}, vectors=True)
    before = {*(tmp_path / "lance").rglob("*")}
    other = {"active": space_of("word_count", "word_count/2", 64), "building": None}
    work = publication(tmp_path, Facts(space=other))
    put(work, {"a.txt": ["a green fox"], "b.txt": None, "c.txt": ["a blue whale"]}, vectors=True)
    interrupt(tmp_path, work, step)
    if step != "start":
        lose_what_was_not_flushed(tmp_path, before)
        monkeypatch.setattr(unflushed, "boot_id", lambda: "the next boot")
        assert recovered(tmp_path) == "rolled back"
    assert texts(tmp_path) == {"a red fox", "a grey wolf"}
    assert all(one.ok for one in check.checks(tmp_path) if one.name != "orphans")
    publish(tmp_path, {"a.txt": ["a green fox"], "b.txt": None}, vectors=True)
    assert texts(tmp_path) == {"a green fox"}


@pytest.mark.parametrize("step", ["intent", "chunks", "sources", "manifest"])
def test_a_power_cut_in_the_first_build_leaves_an_empty_place(tmp_path, monkeypatch, step):
    work = publication(tmp_path)
    put(work, {"a.txt": ["a red fox"]}, vectors=True)
    interrupt(tmp_path, work, step)
    lose_what_was_not_flushed(tmp_path, set())
    monkeypatch.setattr(unflushed, "boot_id", lambda: "the next boot")
    assert recovered(tmp_path) == "rolled back"
    publish(tmp_path, {"a.txt": ["a red fox"]}, vectors=True)
    assert texts(tmp_path) == {"a red fox"}


def test_the_machine_says_which_run_of_it_this_is(monkeypatch, tmp_path):
    if unflushed.BOOT_ID.exists():
        assert unflushed.boot_id() == unflushed.boot_id() != ""
    monkeypatch.setattr(unflushed, "BOOT_ID", tmp_path / "absent")
    assert unflushed.boot_id() is None
    assert not unflushed.machine_went_down({"boot": None})


def test_recovery_may_itself_be_interrupted_any_number_of_times(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"]})
    work = publication(tmp_path)
    put(work, {"a.txt": ["a green fox"]})
    interrupt(tmp_path, work, "chunks")
    for step in ("restored", "sync", "manifest", "restored"):
        with pytest.MonkeyPatch.context() as patch:

            def reach(name, step=step):
                if name == step:
                    raise FailpointReached(name)

            patch.setattr(failpoints, "reach", reach)
            with pytest.raises(FailpointReached):
                recovered(tmp_path)
        assert texts(tmp_path) == {"a red fox"}
    assert recovered(tmp_path) == "rolled back"
    assert texts(tmp_path) == {"a red fox"}
    publish(tmp_path, {"a.txt": ["a green fox"]})
    assert texts(tmp_path) == {"a green fox"}


def test_a_table_that_was_only_begun_is_made_anew(tmp_path):
    for name in ("chunks", "sources", ACTIVE["table"]):
        (tmp_path / "lance" / f"{name}.lance" / "_transactions").mkdir(parents=True)
    assert Tables(tmp_path).names() == []
    publish(tmp_path, {"a.txt": ["a red fox"]}, vectors=True)
    assert texts(tmp_path) == {"a red fox"}


def test_tables_that_ran_ahead_without_a_note_go_back_to_what_was_published(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"]})
    work = publication(tmp_path)
    put(work, {"b.txt": ["a grey wolf"]})
    interrupt(tmp_path, work, "sources")
    (tmp_path / manifests.INTENT).unlink()
    assert recovered(tmp_path) == "rolled back"
    assert texts(tmp_path) == {"a red fox"}
    publish(tmp_path, {"c.txt": ["a blue whale"]})
    assert texts(tmp_path) == {"a red fox", "a blue whale"}


def test_a_lost_table_is_damage_and_not_an_empty_one(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"]})
    shutil.rmtree(tmp_path / "lance" / "chunks.lance")
    with pytest.raises(DatasetDamaged, match="table chunks is missing"):
        recovered(tmp_path)


def test_a_rebuild_from_the_tables_alone_gives_the_same_passages(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"], "b.txt": ["a grey wolf", "a grey wolf"]})
    publish(tmp_path, {"a.txt": ["a green fox"]})
    before = contents_of(tmp_path)
    old = manifests.current(tmp_path)
    recover.rebuild(tmp_path, Tables(tmp_path), None, facts=recover.facts_of(old), newer_than=old)
    assert contents_of(tmp_path) == before


def test_a_failed_publication_leaves_no_file_and_a_published_one_loses_none(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"]})
    places = [tmp_path / "side", tmp_path / "lexical"]
    before = [sorted(place.iterdir()) for place in places]
    with pytest.raises(KeyError), publication(tmp_path) as work:
        put(work, {"a.txt": ["a green fox"]}, vectors=True)
        raise KeyError
    assert [sorted(place.iterdir()) for place in places] == before
    with pytest.raises(KeyError), publication(tmp_path) as work:
        put(work, {"a.txt": ["a green fox"]}, vectors=True)
        work.commit()
        raise KeyError
    assert texts(tmp_path) == {"a green fox"}
