"""The ledger of turns: private, versioned, without secrets, and without a trace of what was purged."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading

import pytest

from hermes_lance.core.errors import DatasetBusy, DatasetDamaged, DatasetNewer
from hermes_lance.core.injected import InjectedSource
from hermes_lance.learn import injections, usage
from hermes_lance.learn.injections import Injection


def source(path: str, sha: str | None = "ab" * 32) -> InjectedSource:
    return InjectedSource("workspace", path, f"{path}:1-2", 1, 2, None, None, "0" * 32, sha, "7")


def turn(query: str, *paths: str, **changes: object) -> Injection:
    facts: dict[str, object] = {
        "mode": "gated", "stage": "injected" if paths else "gate", "reason": "r", "tokens": 9, "generation": "7",
        "sources": tuple(map(source, paths)),
    }  # fmt: skip
    return Injection(query, **{**facts, **changes})  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path):
    return usage.file_in(tmp_path / "home")


def test_the_last_turn_comes_back_as_it_was_recorded(file):
    assert injections.latest(file) is None and not file.exists()
    injections.record(file, turn("first", "a.md"))
    injections.record(
        file, turn("where is it?", "b.md", "c.md", session_id="s", turn_id="t", at="2026-01-02T03:04:05Z")
    )
    assert injections.latest(file) == turn(
        "where is it?", "b.md", "c.md", session_id="s", turn_id="t", at="2026-01-02T03:04:05Z"
    )


def test_the_last_turn_of_a_session_is_told_from_those_of_others(file):
    injections.record(file, turn("mine", "a.md", session_id="1"))
    injections.record(file, turn("other", session_id="2"))
    found = injections.latest(file, "1")
    assert found is not None and found.query == "mine" and found.at.endswith("Z")
    assert injections.latest(file, "3") is None


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_folder_file_and_logs_are_for_their_owner_only_whatever_the_umask(file):
    before = os.umask(0)
    try:
        with usage.opened(file) as connection:
            connection.execute("SELECT 1")
            found = {one.name: stat.S_IMODE(one.stat().st_mode) for one in file.parent.iterdir()}
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert set(found.values()) == {0o600} and len(found) >= 2


def test_a_message_with_a_secret_is_recorded_without_it(file):
    injections.record(file, turn("is password: hunter2hunter2 right?", "a.md"))
    found = injections.latest(file)
    assert found is not None and "hunter2" not in found.query and "is password" in found.query
    assert all(b"hunter2" not in one.read_bytes() for one in file.parent.iterdir())


def test_of_a_huge_message_only_the_beginning_is_looked_through(file, monkeypatch):
    looked: list[int] = []

    def redact(text: str) -> str:
        looked.append(len(text))
        return text

    monkeypatch.setattr(injections, "redact", redact)
    injections.record(file, turn("word " * 200_000))
    assert max(looked) == injections.LONGEST_LOOKED_AT_CHARS


def test_names_and_messages_that_are_no_utf8_are_recorded(file):
    injections.record(file, turn("what \udcff is", "caf\udce9.md"))
    found = injections.latest(file)
    assert found is not None and found.sources[0].path == "caf\\udce9.md"


def test_a_purge_takes_turns_that_were_given_the_document_a_copy_or_that_name_it(file):
    injections.record(file, turn("plain question", "notes/private.md"))
    injections.record(file, turn("about its copy", "copy.md"))
    injections.record(file, turn("what does Private.MD say?"))
    injections.record(file, turn("the zanzibar heliotrope conspiracy begins at noon, right?"))
    injections.record(file, turn("semiprivate.md is another file", session_id="\ud800"))
    injections.record(file, turn("and now?", stage="error", reason="notes/private.md: cannot be read"))
    injections.record(file, turn("harmless", "other.md", sources=(source("other.md", "cd" * 32),)))
    assert injections.purge(file, {"notes/private.md"}, {"ab" * 32}, ["zanzibar heliotrope conspiracy"]) == 5
    found = injections.latest(file)
    assert found is not None and found.query == "harmless"
    for needle in (b"notes/private", b"zanzibar", b"about its copy", b"what does"):
        assert all(needle not in one.read_bytes().lower() for one in file.parent.iterdir())
    assert injections.purge(file, {"nothing.md"}, set()) == 0


def test_a_purge_where_nothing_was_recorded_makes_no_file(file):
    assert injections.purge(file, {"a.md"}, set()) == 0 and not file.exists()


def test_a_purge_that_another_process_is_in_the_way_of_says_so_and_removes_nothing(file, monkeypatch):
    injections.record(file, turn("q", "a.md"))
    monkeypatch.setattr(usage, "BUSY_SECONDS", 0.0)
    with usage.opened(file), pytest.raises(DatasetBusy, match="another process"):
        injections.purge(file, {"a.md"}, set())
    found = injections.latest(file)
    assert found is not None and found.query == "q"


def test_old_turns_go_when_there_are_too_many(file, monkeypatch):
    monkeypatch.setattr(injections, "MOST_TURNS", 20)
    monkeypatch.setattr(injections, "_CLEANED_EVERY", 10)
    for number in range(40):
        injections.record(file, turn(f"question {number}", "a.md"))
    with usage.reading(file) as connection:
        assert connection is not None
        counts = [connection.execute(f"SELECT COUNT(*) FROM {one}").fetchone()[0] for one in
                  ("injections", "injected_sources")]  # fmt: skip
    assert counts == [20, 20]


def test_a_file_of_a_later_release_is_left_alone(file):
    injections.record(file, turn("q"))
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(DatasetNewer, match="99"):
        injections.record(file, turn("q"))
    with pytest.raises(DatasetNewer):
        injections.latest(file)


def test_an_older_file_gets_the_steps_that_it_lacks(file, monkeypatch):
    injections.record(file, turn("q", "a.md"))
    monkeypatch.setattr(usage, "STEPS", (*usage.STEPS, "CREATE TABLE later (id INTEGER PRIMARY KEY)"))
    injections.record(file, turn("r"))
    with usage.reading(file) as connection:
        assert connection is not None
        assert connection.execute("SELECT COUNT(*) FROM later").fetchone()[0] == 0
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 2
        assert connection.execute("SELECT COUNT(*) FROM injections").fetchone()[0] == 2


def test_a_file_that_is_no_database_is_named_with_its_remedy(file):
    file.parent.mkdir(parents=True)
    file.write_bytes(b"not a database, and longer than a header of one would be" * 50)
    with pytest.raises(DatasetDamaged, match="no database") as problem:
        injections.record(file, turn("q"))
    assert "aside" in problem.value.hint


def test_threads_and_profiles_record_side_by_side(tmp_path):
    files = [usage.file_in(tmp_path / name) for name in ("one", "two")]

    def work(number: int) -> None:
        for _ in range(5):
            injections.record(files[number % 2], turn(f"question {number}", "a.md"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for file in files:
        with usage.reading(file) as connection:
            assert connection is not None
            assert connection.execute("SELECT COUNT(*) FROM injections").fetchone()[0] == 10
