"""The dataset follows the files while they change: every way of saving, nothing missed, nothing done twice."""

from __future__ import annotations

import os
import shutil
import threading
import time

import pytest

import hermes_lance
from hermes_lance.ingest import inbox
from hermes_lance.ingest import watch as watching
from hermes_lance.models.hashing import HashEmbedder
from hermes_lance.store.lock import writing
from tests.watch.conftest import until


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Looks over everything would hide what events miss, so none comes in time; errors are tried again at once."""
    monkeypatch.setattr(watching, "QUIET_SECONDS", 10_000.0)
    monkeypatch.setattr(watching, "LONGEST_UNQUIET_SECONDS", 10_000.0)
    monkeypatch.setattr(watching, "FIRST_PAUSE_SECONDS", 0.1)
    monkeypatch.setattr(watching, "LOOK_SHARE", 1.0)
    monkeypatch.setattr(watching, "TICK_SECONDS", 0.2)


@pytest.fixture
def embedded(monkeypatch):
    """The texts whose vectors were made."""
    texts: list[str] = []
    real = HashEmbedder.embed_documents

    def embed(self, given, **options):
        texts.extend(given)
        return real(self, given, **options)

    monkeypatch.setattr(HashEmbedder, "embed_documents", embed)
    return texts


def test_a_watch_begins_with_what_is_there_and_follows_new_changed_and_deleted_files(watched, fresh):
    assert watched.found("heron") == ["docs/plan.md"]
    watched.write("new.txt", "An egret lands.\n")
    watched.until_found("egret", "new.txt")
    watched.write("new.txt", "An ibis lands.\n")
    watched.until_found("ibis", "new.txt")
    assert watched.found("egret") == []
    (watched.workspace / "docs" / "notes.txt").unlink()
    watched.until_told("removed", "docs/notes.txt")
    assert watched.found("kestrel") == []
    watched.write("docs/plan.md", "")
    watched.until_told("skipped", "docs/plan.md")
    assert watched.found("heron") == []
    watched.stop()
    assert watched.contents().files == fresh(watched).files


def test_a_change_soon_after_another_is_delayed_and_not_dropped(watched):
    for number in range(6):
        watched.write("docs/plan.md", f"The heron of turn {number}.\n")
        time.sleep(0.07)
    watched.until_found("turn 5", "docs/plan.md")


def test_a_file_that_changes_while_it_is_indexed_ends_with_its_last_text(watched, monkeypatch):
    from hermes_lance.ingest.apply import Applier

    real, once = Applier.apply, threading.Event()

    def apply(self, item, work):
        real(self, item, work)
        if item.file.path == "docs/plan.md" and not once.is_set():
            once.set()
            watched.write("docs/plan.md", "The stork is last.\n")

    monkeypatch.setattr(Applier, "apply", apply)
    watched.write("docs/plan.md", "The crane is first.\n")
    watched.until_found("stork is last", "docs/plan.md")


def test_an_atomic_save_is_a_change_and_never_a_deletion(watched):
    for number in range(5):
        beside = watched.write(f"docs/.plan.md.{number}", f"The heron of save {number}.\n")
        os.replace(beside, watched.workspace / "docs" / "plan.md")
        watched.until_found(f"save {number}", "docs/plan.md")
    assert [one.kind for one in watched.changes if one.path == "docs/plan.md"].count("removed") == 0


def test_a_save_that_moves_the_old_file_out_of_the_way_first_is_a_change_too(watched, monkeypatch):
    monkeypatch.setattr(inbox, "VANISHED_SECONDS", 20.0)
    plan = watched.workspace / "docs" / "plan.md"
    for number in range(3):
        plan.rename(plan.with_name("plan.md~"))
        time.sleep(0.1)
        plan.write_text(f"The heron of save {number}.\n")
        watched.until_found(f"save {number}", "docs/plan.md")
    assert watched.last("removed", "docs/plan.md") is None


def test_swap_files_that_go_again_are_published_nowhere(watched):
    for name in (".plan.md.swp", "4913~", "#plan.md#", "~$plan.docx", "x.tmp"):
        watched.write(f"docs/{name}", "swapped").unlink()
    watched.write("last.txt", "The end.\n")
    watched.until_told("indexed", "last.txt")
    known = {row["path"] for row in hermes_lance.open(watched.home).status(files=True)["files_detail"]}
    assert known == {"docs/plan.md", "docs/notes.txt", "started.txt", "last.txt"}


def test_moved_files_and_folders_are_moved_and_embed_nothing(watched, embedded, fresh):
    (watched.workspace / "docs").rename(watched.workspace / "papers")
    assert watched.until_told("moved", "papers/plan.md").detail == "docs/plan.md"
    (watched.workspace / "papers" / "plan.md").rename(watched.workspace / "Plan.md")
    watched.until_told("moved", "Plan.md")
    (watched.workspace / "Plan.md").rename(watched.workspace / "PLAN.md")
    assert watched.until_told("moved", "PLAN.md").detail == "Plan.md"
    watched.until_found("heron", "PLAN.md")
    watched.write("papers/notes.txt", "A kestrel hovers again.\n")  # a folder is still heard of under its new name
    watched.until_found("hovers again", "papers/notes.txt")
    watched.settle()
    assert [text for text in embedded if "again" not in text and "begun" not in text] == []
    watched.stop()
    assert watched.contents() == fresh(watched)


def test_a_rename_of_hundreds_of_files_embeds_nothing_and_takes_few_publications(make_watched, fresh, embedded):
    home = make_watched()
    for number in range(500):
        home.write(f"many/{number}.txt", f"Sparrow number {number}.\n")
    hermes_lance.open(home.home).index()
    home.start()
    embedded.clear()
    for number in range(500):
        os.rename(home.workspace / f"many/{number}.txt", home.workspace / f"many/moved {number}.txt")
    until(lambda: sum(one.kind == "moved" for one in home.changes) >= 500)
    done = home.stop()
    assert [text for text in embedded if "Sparrow" in text] == []
    assert done.runs <= 12
    assert home.contents() == fresh(home)


def test_more_changes_at_once_than_are_named_singly_are_all_found(watched, monkeypatch, fresh):
    monkeypatch.setattr(watching, "MOST_PATHS", 5)
    for number in range(60):
        watched.write(f"burst/{number % 7}/{number}.txt", f"Gull number {number}.\n")
    until(lambda: sum(one.path.startswith("burst/") for one in watched.changes) >= 60)
    watched.stop()
    assert watched.contents() == fresh(watched)


def test_touching_a_file_writes_no_passage(watched, embedded):
    plan = watched.workspace / "docs" / "plan.md"
    told = len(watched.changes)
    os.utime(plan, (1, 1))
    record = until(
        lambda: [one for one in watched.contents().files.values() if one["mtime_ns"] == 10**9], "the new time"
    )
    assert record[0]["path"] == "docs/plan.md"
    assert (watched.changes[told:], [text for text in embedded if "heron" in text]) == ([], [])


def test_an_edit_of_equal_length_with_the_old_time_is_seen(watched):
    plan = watched.workspace / "docs" / "plan.md"
    os.utime(plan, (1_000_000_000, 1_000_000_000))
    until(lambda: any(one["mtime_ns"] == 10**18 for one in watched.contents().files.values()))
    with open(plan, "r+b") as file:
        file.seek(plan.read_bytes().index(b"heron"))
        file.write(b"robin")
        file.flush()
        os.utime(plan, (1_000_000_000, 1_000_000_000))
    watched.until_found("robin", "docs/plan.md")


def test_a_file_becomes_a_folder_and_a_file_again(watched, fresh):
    place = watched.workspace / "docs" / "notes.txt"
    place.unlink()
    watched.write("docs/notes.txt/inner.txt", "A kite inside.\n")
    watched.until_found("kite", "docs/notes.txt/inner.txt")
    assert watched.found("kestrel") == []
    shutil.rmtree(place)
    place.write_text("A kestrel returns.\n")
    watched.until_found("kestrel returns", "docs/notes.txt")
    assert watched.found("kite") == []
    watched.stop()
    assert watched.contents() == fresh(watched)


def test_files_in_folders_that_are_made_together_with_them_are_found(watched):
    for number in range(20):
        watched.write(f"deep {number}/a/b/c/file.txt", f"Wren {number} sings.\n")
    until(lambda: sum(one.path.endswith("c/file.txt") for one in watched.changes) >= 20)
    shutil.rmtree(watched.workspace / "deep 3")
    watched.until_told("removed", "deep 3/a/b/c/file.txt")
    watched.write("deep 4/a/b/c/later.txt", "A wren comes later.\n")
    watched.until_found("comes later", "deep 4/a/b/c/later.txt")


def test_rules_of_the_user_act_when_they_are_written(watched, fresh):
    watched.write("docs/.gitignore", "*.txt\n")
    watched.until_told("skipped", "docs/notes.txt")
    assert (watched.found("kestrel"), watched.found("heron")) == ([], ["docs/plan.md"])
    (watched.workspace / "docs" / ".gitignore").unlink()
    watched.until_found("kestrel", "docs/notes.txt")
    watched.write(".hermesignore", "docs/\n")
    watched.until_told("removed", "docs/plan.md")
    watched.stop()
    assert watched.contents() == fresh(watched)


def test_a_folder_that_becomes_build_output_is_left_out(watched):
    watched.write("build/page.md", "A dunlin.\n")
    watched.until_found("dunlin", "build/page.md")
    watched.write("package.json", "{}\n")
    watched.until_told("removed", "build/page.md")


def test_the_configuration_is_read_again_when_it_changes_and_a_wrong_one_is_waited_out(watched, tmp_path):
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "far.txt").write_text("An albatross glides.\n")
    config = watched.home / "config.yaml"
    text = config.read_text()
    config.write_text("knowledgebase: [\n")
    until(lambda: any("earlier configuration holds" in one for one in watched.said))
    config.write_text(f"{text}  roots:\n    - path: {extra}\n")
    watched.until_found("albatross", "extra/far.txt")
    (extra / "near.txt").write_text("A gannet dives.\n")
    watched.until_found("gannet", "extra/near.txt")
    config.write_text(text)
    watched.until_found("albatross")


def test_a_root_that_goes_keeps_its_passages_and_is_followed_when_it_is_back(make_watched, tmp_path):
    extra = tmp_path / "disk"
    extra.mkdir()
    (extra / "a.txt").write_text("A puffin nests.\n")
    home = make_watched(more=f"  roots:\n    - path: {extra}\n").start()
    home.until_told("indexed", "disk/a.txt")
    away = extra.rename(tmp_path / "away")
    until(lambda: any("is not there; its files are kept" in one for one in home.said))
    home.write("other.txt", "A lark rises.\n")
    home.until_found("lark", "other.txt")
    assert {one["path"] for one in home.contents().files.values()} >= {"a.txt"}
    away.rename(extra)
    (extra / "b.txt").write_text("A puffin returns.\n")
    home.until_found("puffin returns", "disk/b.txt")
    assert home.last("removed", "disk/a.txt") is None


def test_a_workspace_that_goes_is_not_made_anew_and_loses_nothing(watched):
    away = watched.workspace.rename(watched.home / "away")
    until(lambda: any("is not there; its files are kept" in one for one in watched.said))
    assert not watched.workspace.exists()
    away.rename(watched.workspace)
    watched.write("back.txt", "A swift is back.\n")
    watched.until_found("swift", "back.txt")
    assert watched.found("heron") == ["docs/plan.md"]


def test_another_writer_is_waited_for_and_nothing_is_lost(watched):
    with writing(watched.dataset, 5.0):
        watched.write("docs/plan.md", "The heron of the long wait.\n")
        until(lambda: any("is writing to it" in one for one in watched.said))
        watched.write("docs/second.md", "The second heron.\n")
    watched.until_found("long wait", "docs/plan.md")
    watched.until_found("second heron", "docs/second.md")


def test_a_failure_is_tried_again_with_what_has_changed(watched, monkeypatch):
    from hermes_lance.core.errors import DiskFull
    from hermes_lance.store.publish import Publication

    real = Publication.commit
    failures: list[int] = []

    def commit(self, note=""):
        if len(failures) < 2:
            failures.append(1)
            raise DiskFull("no space left")
        return real(self, note)

    monkeypatch.setattr(Publication, "commit", commit)
    watched.write("docs/plan.md", "The heron of the full disk.\n")
    watched.until_found("full disk", "docs/plan.md")
    assert len(failures) == 2 and any("no space left" in one for one in watched.said)


def test_names_that_are_not_utf8_are_followed_by_looking(watched, monkeypatch):
    config = watched.home / "config.yaml"
    config.write_text(config.read_text() + "  watch_interval_seconds: 0.2\n")
    until(lambda: any("configuration has changed" in one for one in watched.said))
    monkeypatch.setattr(watching, "QUIET_SECONDS", 0.1)
    place = os.fsencode(watched.workspace) + b"/caf\xe9.txt"
    with open(place, "wb") as file:
        file.write(b"A cormorant dries its wings.\n")
    watched.until_found("cormorant", "caf\\xe9.txt")
    with open(place, "ab") as file:
        file.write(b"It dives again.\n")
    watched.until_found("dives again", "caf\\xe9.txt")
    until(lambda: any("not UTF-8" in one for one in watched.said))
    watched.write("docs/plan.md", "The heron is heard.\n")
    watched.until_found("heron is heard", "docs/plan.md")


def test_without_events_the_folders_are_looked_at(make_watched, fresh):
    home = make_watched(more="  watch_interval_seconds: 0.1\n", poll=True)
    home.write("a.txt", "A coot swims.\n")
    home.start()
    home.write("b.txt", "A teal swims.\n")
    home.until_found("teal", "b.txt")
    home.write("a.txt", "A coot runs.\n")
    home.until_found("coot runs", "a.txt")
    (home.workspace / "b.txt").unlink()
    home.until_told("removed", "b.txt")
    (home.workspace / "a.txt").rename(home.workspace / "c.txt")
    home.until_told("moved", "c.txt")
    home.stop()
    assert home.contents() == fresh(home)


def test_where_the_system_gives_no_events_the_folders_are_looked_at(make_watched, monkeypatch):
    import watchfiles._rust_notify as rust

    def refuse(*_):
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr(rust, "RustNotify", refuse)
    home = make_watched(more="  watch_interval_seconds: 0.1\n").start()
    home.write("a.txt", "A coot swims.\n")
    home.until_found("coot", "a.txt")
    assert any("watch limit reached" in one and "looked at every 0.1 s" in one for one in home.said)


def test_a_look_follows_when_it_is_quiet_and_finds_what_no_event_told(watched, monkeypatch):
    from hermes_lance.ingest.listening import Listening

    config = watched.home / "config.yaml"
    config.write_text(config.read_text() + "  watch_interval_seconds: 0.1\n")
    until(lambda: any("configuration has changed" in one for one in watched.said))
    monkeypatch.setattr(watching, "QUIET_SECONDS", 0.2)
    real = Listening._heard
    lost = lambda paths: [one for one in paths if not one.endswith("lost.txt")]  # noqa: E731
    monkeypatch.setattr(
        Listening, "_heard", lambda self, root, paths: real(self, root, lost(paths)) if lost(paths) else None
    )
    watched.write("lost.txt", "Nobody was told of this dove.\n")
    watched.write("seen.txt", "All were told of this one.\n")
    watched.until_found("this dove", "lost.txt")


def test_upkeep_waits_until_it_is_quiet(watched, monkeypatch):
    from hermes_lance.store import compact
    from hermes_lance.store import manifest as manifests

    config = watched.home / "config.yaml"
    config.write_text(config.read_text() + "  watch_interval_seconds: 0.1\n")
    until(lambda: any("configuration has changed" in one for one in watched.said))
    # One change is one to three commits: the six of below are fewer than what a busy watch waits for (four times as
    # many), also on a slow machine, and with the last one more than what a quiet one does.
    monkeypatch.setattr(compact, "COMMITS_BETWEEN_COMPACTIONS", 5)
    watched.write("docs/plan.md", "The heron comes.\n")  # from now on it is not quiet
    watched.until_found("heron comes", "docs/plan.md")
    watched.settle()
    before = manifests.current(watched.dataset).tables["chunks"].get("compacted", 0)
    for number in range(5):
        watched.write("docs/plan.md", f"The heron of turn {number}.\n")
        watched.until_found(f"turn {number}", "docs/plan.md")
    watched.settle()
    assert manifests.current(watched.dataset).tables["chunks"].get("compacted", 0) == before
    monkeypatch.setattr(watching, "QUIET_SECONDS", 0.1)
    watched.write("docs/plan.md", "The heron rests.\n")
    until(lambda: manifests.current(watched.dataset).tables["chunks"].get("compacted", 0) > before)
    assert watched.found("heron rests") == ["docs/plan.md"]


def test_vectors_follow_the_text_and_give_way_to_the_next_save(watched, monkeypatch):
    entered, interrupted = threading.Event(), threading.Event()
    real = HashEmbedder.embed_documents

    def slow(self, given, *, cancelled=None, **options):
        if not interrupted.is_set():
            entered.set()
            end = time.monotonic() + 20
            while not cancelled():
                assert time.monotonic() < end, "never interrupted"
                time.sleep(0.01)
            interrupted.set()
        return real(self, given, cancelled=cancelled, **options)

    monkeypatch.setattr(HashEmbedder, "embed_documents", slow)
    watched.write("slow.txt", "An owl is searchable before it has a vector.\n")
    watched.until_found("before it has a vector", "slow.txt")
    assert entered.wait(20)
    watched.write("next.txt", "The next owl does not wait.\n")
    watched.until_found("does not wait", "next.txt")
    assert interrupted.is_set()
    watched.settle()
    assert watched.contents().vectors.keys() == watched.contents().rows.keys()


def test_a_watch_that_is_stopped_ends_at_once(watched):
    began = time.monotonic()
    watched.stop()
    assert time.monotonic() - began < 5
