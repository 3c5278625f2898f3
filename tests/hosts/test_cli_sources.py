"""`workspace sources`: what the last turn was given, the check of an answer, and nothing of it after a purge."""

from __future__ import annotations

import io
import json

import hermes_lance
from hermes_lance.hosts.cli.main import run


def ask(capsys, *words):
    status = run([str(word) for word in words])
    return status, capsys.readouterr()


def served(home, message="when does the harbour office open?", mode="always"):
    library = hermes_lance.open(home)
    if library.manifest_or_none() is None:
        library.index()
    return library.context(message, mode=mode, record=True, session_id="one", turn_id="1")


def test_before_any_turn_there_is_nothing_to_show(home, capsys):
    status, output = ask(capsys, "--home", home, "workspace", "sources")
    assert status == 0 and "No turn has been recorded yet." in output.out
    _, output = ask(capsys, "--home", home, "workspace", "sources", "--json")
    assert json.loads(output.out) == {"success": True, "recorded": False, "turn": None}


def test_the_sources_of_the_last_turn_are_listed(home, capsys):
    made = served(home)
    status, output = ask(capsys, "--home", home, "workspace", "sources")
    assert status == 0 and f"1. {made.sources[0].citation}" in output.out and "harbour office" in output.out
    _, output = ask(capsys, "--home", home, "workspace", "sources", "--json", "--session", "one")
    turn = json.loads(output.out)["turn"]
    assert turn["injected"] and turn["turn_id"] == "1" and turn["sources"][0]["path"] == made.sources[0].path


def test_a_session_without_a_turn_is_named_where_others_have_some(home, capsys):
    served(home)
    status, output = ask(capsys, "--home", home, "workspace", "sources", "--session", "two")
    assert status == 0 and "No turn of the session two has been recorded yet." in output.out


def test_the_stage_that_ended_the_last_turn_is_named(home, capsys):
    served(home)
    served(home, "the and of", "gated")
    _, output = ask(capsys, "--home", home, "workspace", "sources")
    assert "No context. Ended by gate" in output.out


def test_an_answer_is_checked_and_its_status_says_whether_it_is_sound(home, capsys, tmp_path, monkeypatch):
    citation = served(home).sources[0].citation
    answer = tmp_path / "answer.md"
    answer.write_text(f"At seven [Source: {citation}].")
    status, output = ask(capsys, "--home", home, "workspace", "sources", "--check", answer)
    assert status == 0 and f"exact: {citation}" in output.out
    monkeypatch.setattr("sys.stdin", io.StringIO("At nine [Source: made/up.md:3]."))
    status, output = ask(capsys, "--home", home, "workspace", "sources", "--check", "-", "--json")
    found = json.loads(output.out)
    assert status == 1 and found["sound"] is False and found["citations"][0]["verdict"] == "unknown source"
    assert citation in found["uncited"]
    status, output = ask(capsys, "--home", home, "workspace", "sources", "--check", tmp_path / "none")
    assert status != 0 and "none" in output.err


def test_after_a_purge_no_recorded_turn_names_the_document(home, capsys):
    served(home)
    served(home, "what do the tides of notes/tides.txt do?")
    path = home / "local_knowledge/hermes_lance_usage.sqlite"
    assert any(b"notes/tides.txt" in one.read_bytes() for one in path.parent.iterdir())
    status, output = ask(capsys, "--home", home, "forget", "--purge", "notes/tides.txt", "--json")
    assert status == 0 and json.loads(output.out)["turns_removed"] >= 1
    assert all(b"tides.txt" not in one.read_bytes() for one in path.parent.iterdir())
    status, output = ask(capsys, "--home", home, "workspace", "sources", "--json")
    assert status == 0 and "tides" not in output.out


def test_turns_lie_in_the_state_folder_and_a_purge_finds_those_from_before_it_was_set_too(home, tmp_path, capsys):
    served(home)
    with (home / "config.yaml").open("a", encoding="utf-8") as file:
        file.write(f"local_knowledge: {{state_dir: {tmp_path / 'state'}}}\n")
    status, output = ask(capsys, "--home", home, "workspace", "sources")
    assert status == 0 and "notes/tides.txt" not in output.out
    served(home)
    status, output = ask(capsys, "--home", home, "workspace", "sources")
    assert status == 0 and "notes/tides.txt" in output.out
    folders = [home / "local_knowledge", tmp_path / "state"]
    held = [any(b"notes/tides.txt" in one.read_bytes() for one in folder.iterdir()) for folder in folders]
    assert held == [True, True]
    status, output = ask(capsys, "--home", home, "forget", "--purge", "notes/tides.txt", "--json")
    assert status == 0 and json.loads(output.out)["turns_removed"] == 2
    assert all(b"tides.txt" not in one.read_bytes() for folder in folders for one in folder.iterdir())
