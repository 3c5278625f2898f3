"""What the next writer makes of an interrupted run: back before its text was published, forward from then on."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hermes_lance.core import ids
from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.store import check, failpoints, recover, unflushed
from hermes_lance.store import manifest as manifests
from hermes_lance.store.catch_up import catch_up
from hermes_lance.store.failpoints import FailpointReached
from hermes_lance.store.publish import Facts, Publication
from hermes_lance.store.spaces import space_of
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
        return finish(dataset, work)


def finish(dataset: Path, work: Publication) -> manifests.Manifest:
    """The text, then the tables, as a build does it."""
    return catch_up(dataset, work.tables, work.commit(), work.changes)


def interrupt(dataset: Path, work: Publication, step: str, time: int = 1) -> None:
    """Ends the work at the given passing of a failpoint, as a kill would: nothing is tidied."""
    left = time

    def reach(name: str) -> None:
        nonlocal left
        left -= name == step
        if not left:
            raise FailpointReached(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failpoints, "reach", reach)
        with pytest.raises(FailpointReached):
            finish(dataset, work)


def texts(dataset: Path) -> set[str]:
    return {row.text for row in contents_of(dataset).rows.values()}


def recovered(dataset: Path) -> str:
    return recover.recover(dataset, Tables(dataset))[1]


def test_nothing_to_do_is_clean(tmp_path):
    assert recovered(tmp_path) == "clean"
    publish(tmp_path, {"a.txt": ["a red fox"]})
    assert recovered(tmp_path) == "clean"


@pytest.mark.parametrize(("step", "time", "done"), [
    ("intent", 1, "rolled back"), ("lexical", 1, "rolled back"), ("side", 1, "rolled back"), ("sync", 1, "rolled back"),
    ("manifest", 1, "rolled back"), ("pointer", 1, "rolled forward"), ("intent-removed", 1, "rolled forward"),
    ("intent", 2, "rolled forward"), ("chunks", 1, "rolled forward"), ("sources", 1, "rolled forward"),
    ("sync", 2, "rolled forward"), ("manifest", 2, "rolled forward"), ("pointer", 2, "finished"),
])  # fmt: skip
def test_back_before_the_text_was_published_and_forward_from_then_on(tmp_path, step, time, done):
    publish(tmp_path, {"a.txt": ["a red fox"], "b.txt": ["a grey wolf"]})
    work = publication(tmp_path)
    put(work, {"a.txt": ["a green fox"], "b.txt": None, "c.txt": ["a blue whale"]})
    interrupt(tmp_path, work, step, time)
    expected = {"a red fox", "a grey wolf"} if done == "rolled back" else {"a green fox", "a blue whale"}
    assert texts(tmp_path) == expected
    assert recovered(tmp_path) == done
    assert texts(tmp_path) == expected
    assert not manifests.current(tmp_path).tables_behind
    assert recovered(tmp_path) == "clean"
    assert all(one.ok for one in check.checks(tmp_path) if one.name not in {"vectors", "orphans"})


def test_until_the_tables_have_the_text_doctor_says_so_and_nothing_is_wrong(tmp_path):
    work = publication(tmp_path)
    put(work, {"a.txt": ["a red fox"]})
    work.commit()
    assert texts(tmp_path) == {"a red fox"}
    assert not list((tmp_path / "lance").glob("*"))
    (found,) = [one for one in check.checks(tmp_path) if not one.ok and one.name != "vectors"]
    assert found.name == "tables" and not found.fatal and found.remedy == "Run `hermes-lance build`."


def test_a_comparison_finds_what_the_list_of_changes_says(tmp_path):
    """After an interruption nobody has the list; both ways must lead to the same tables."""
    first = {"a.txt": ["a red fox"], "b.txt": ["a grey wolf"], "c.txt": ["one", "two"], "d.txt": ["stays"]}
    then: dict[str, list[str] | None] = {"a.txt": ["a green fox", "more"], "b.txt": None, "c.txt": [], "e.txt": ["new"]}
    for name, known in (("known", True), ("compared", False)):
        dataset = tmp_path / name
        publish(dataset, dict(first))
        work = publication(dataset)
        put(work, then)
        catch_up(dataset, work.tables, work.commit(), work.changes if known else None)
        assert all(one.ok for one in check.checks(dataset) if one.name not in {"vectors", "orphans"})
    assert contents_of(tmp_path / "known") == contents_of(tmp_path / "compared")


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


def test_going_forward_keeps_what_the_run_was_made_with(tmp_path):
    work = publication(tmp_path)
    put(work, {"a.txt": ["a red fox"]})
    interrupt(tmp_path, work, "sources")
    assert recovered(tmp_path) == "rolled forward"
    found = manifests.current(tmp_path)
    assert (found.fingerprints, found.space, found.config, found.roots) == (
        FACTS.fingerprints,
        SPACE,
        FACTS.config,
        FACTS.roots,
    )


def lose_what_was_not_flushed(dataset: Path, before: set[Path]) -> None:
    """As after a power cut: new files are there, and empty."""
    for path in set((dataset / "lance").rglob("*")) - before:
        if path.is_file():
            path.write_bytes(b"")


@pytest.mark.parametrize("step", ["start", "intent", "vectors", "lexical", "sync", "manifest"])
def test_after_a_power_cut_before_the_text_was_published_the_last_state_counts(tmp_path, monkeypatch, step):
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


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("step", ["chunks", "sources", "sync"])
def test_after_a_power_cut_the_tables_get_the_published_text_anew(tmp_path, monkeypatch, step, first):
    if not first:
        publish(tmp_path, {"a.txt": ["a red fox"], "b.txt": ["a grey wolf"]})
    before = {*(tmp_path / "lance").rglob("*")}
    work = publication(tmp_path)
    put(work, {"a.txt": ["a green fox"], "c.txt": ["a blue whale"]})
    interrupt(tmp_path, work, step, 2 if step == "sync" else 1)
    lose_what_was_not_flushed(tmp_path, before)
    monkeypatch.setattr(unflushed, "boot_id", lambda: "the next boot")
    assert recovered(tmp_path) == "rolled forward"
    assert texts(tmp_path) == {"a green fox", "a blue whale"} | (set() if first else {"a grey wolf"})
    assert all(one.ok for one in check.checks(tmp_path) if one.name not in {"vectors", "orphans"})


@pytest.mark.parametrize("step", ["intent", "vectors", "lexical", "manifest"])
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
    put(work, {"a.txt": ["a green fox"], "b.txt": ["a grey wolf"]})
    interrupt(tmp_path, work, "chunks")
    for step in ("intent", "chunks", "sources", "sync", "manifest", "intent"):
        with pytest.MonkeyPatch.context() as patch:

            def reach(name, step=step):
                if name == step:
                    raise FailpointReached(name)

            patch.setattr(failpoints, "reach", reach)
            with pytest.raises(FailpointReached):
                recovered(tmp_path)
        assert texts(tmp_path) == {"a green fox", "a grey wolf"}
    assert recovered(tmp_path) == "rolled forward"
    publish(tmp_path, {"a.txt": ["a blue fox"]})
    assert texts(tmp_path) == {"a blue fox", "a grey wolf"}


def test_a_table_that_was_only_begun_is_made_anew(tmp_path):
    for name in ("chunks", "sources", ACTIVE["table"]):
        (tmp_path / "lance" / f"{name}.lance" / "_transactions").mkdir(parents=True)
    assert Tables(tmp_path).names() == []
    publish(tmp_path, {"a.txt": ["a red fox"]}, vectors=True)
    assert texts(tmp_path) == {"a red fox"}


def test_tables_that_ran_ahead_without_a_note_go_back_to_what_was_published(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"]})
    Tables(tmp_path).delete("chunks", "path", ["a.txt"])
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
    recover.rebuild(tmp_path, Tables(tmp_path), facts=recover.facts_of(old), newer_than=old)
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
        finish(tmp_path, work)
        raise KeyError
    assert texts(tmp_path) == {"a green fox"}


def test_a_note_that_a_power_cut_has_emptied_stops_nobody(tmp_path):
    publish(tmp_path, {"a.txt": ["a red fox"]})
    work = publication(tmp_path)
    put(work, {"b.txt": ["a grey wolf"]})
    interrupt(tmp_path, work, "side")
    (tmp_path / manifests.INTENT).write_bytes(b"")
    assert recovered(tmp_path) == "rolled back"
    publish(tmp_path, {"c.txt": ["a blue whale"]})
    assert texts(tmp_path) == {"a red fox", "a blue whale"}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("attempts", [1, 2])
def test_tables_that_were_behind_are_rebuilt_from_when_they_were_complete(tmp_path, first, attempts):
    """However often the next run has begun to write them: torn rows must not be taken for the truth."""
    if not first:
        publish(tmp_path, {"a.txt": ["a red fox"], "b.txt": ["a grey wolf"]})
    work = publication(tmp_path)
    put(work, {"a.txt": ["a green fox"], "c.txt": ["a blue whale"]})
    interrupt(tmp_path, work, "chunks")
    newest = manifests.current(tmp_path)
    for _ in range(attempts - 1):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(FailpointReached):
            patch.setattr(failpoints, "reach", lambda name: _stop_at("chunks", name))
            recovered(tmp_path)
    tables = Tables(tmp_path)
    recover.settle_tables(tmp_path, tables, newest)
    recover.rebuild(tmp_path, tables, facts=FACTS, newer_than=newest)
    assert texts(tmp_path) == (set() if first else {"a red fox", "a grey wolf"})
    assert all(one.ok for one in check.checks(tmp_path) if one.name not in {"vectors", "orphans"})


def _stop_at(step: str, name: str) -> None:
    if name == step:
        raise FailpointReached(name)


def test_a_time_beyond_the_columns_of_a_table_stops_no_build(tmp_path):
    work = publication(tmp_path)
    state = replace(known_file("a.txt", chunks=1), mtime_ns=10**19, inode=(1 << 64) - 1)
    work.put_file(state, chunk_rows("a.txt", ["a red fox"]))
    finish(tmp_path, work)
    publish(tmp_path, {"b.txt": ["a grey wolf"]})
    assert all(one.ok for one in check.checks(tmp_path) if one.name not in {"vectors", "orphans"})
