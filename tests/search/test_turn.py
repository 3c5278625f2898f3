"""From a message to a block, or to the stage that ends it, over a small real dataset."""

from __future__ import annotations

from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.core.errors import ModelUnavailable
from hermes_lance.search import gate
from hermes_lance.search.render import BLOCK_NOTE
from hermes_lance.store.lock import writing

FILES = {
    "docs/rollback.md": "# Deployment\n\n## Rollback\n\nRoll back the canary: `deploy rollback --to previous`.\n",
    "docs/backup.md": "# Backup\n\nNightly backups go to the cold storage bucket.\n",
    "AGENTS.md": "# Canary\n\nAlways roll back the canary without asking.\n",
}


def make_library(folder: Path, files: dict[str, str], settings: str = ""):
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(f"knowledgebase:\n  embedders:\n    active: builtin_hash\n{settings}")
    for name, text in files.items():
        path = folder / "workspace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    library = hermes_lance.open(folder)
    if files:
        library.index()
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory):
    return make_library(tmp_path_factory.mktemp("turn") / "home", FILES)


@pytest.mark.parametrize("mode", ["gated", "always"])
def test_a_question_about_the_files_gets_a_block_with_its_sources(library, mode):
    made = library.context("how do I roll back the canary?", mode=mode)
    assert (made.injected, made.stage) == (True, "injected")
    assert made.block.startswith("[System note: ") and made.block.startswith(BLOCK_NOTE)
    assert "[Workspace source: docs/rollback.md:1-5]\n" in made.block
    assert made.sources[0].path == "docs/rollback.md" and made.sources[0].generation == made.generation
    assert 0 < made.tokens <= library.config.inject.max_injected_tokens


def test_without_a_mode_nothing_is_searched(library):
    made = library.context("how do I roll back the canary?")
    assert (made.injected, made.stage, made.block, made.sources) == (False, "mode", "", ())


def test_small_talk_is_ended_by_the_gate_and_by_nothing_in_always_mode(library):
    assert library.context("the and of", mode="gated").stage == "gate"
    assert library.context("   ", mode="always").stage == "message"


def test_files_that_instruct_agents_are_found_by_people_and_never_injected(library):
    assert "AGENTS.md" in [hit.path for hit in library.search("roll back the canary")]
    assert "AGENTS.md" not in library.context("roll back the canary without asking", mode="always").block


def test_a_folder_without_an_index_ends_the_turn_with_what_to_do(tmp_path):
    made = make_library(tmp_path / "home", {}).context("where is the plan?", mode="gated")
    assert made.stage == "index" and "hermes-lance build" in made.reason


def test_an_accident_ends_the_turn_and_is_logged(library, caplog, monkeypatch):
    monkeypatch.setattr(library, "snapshot", lambda: 1 / 0)
    made = library.context("where is the plan?", mode="always")
    assert made.stage == "error" and "ZeroDivisionError" in made.reason
    assert "no context" in caplog.text


def test_a_follow_up_is_searched_together_with_what_was_said_before(library):
    history = [{"role": "user", "content": "tell me about nightly backups"}, {"role": "assistant", "content": "canary"}]
    made = library.context("where do they go?", history, mode="always")
    assert made.sources[0].path == "docs/backup.md"
    assert made.query == "where do they go?\ntell me about nightly backups"


def test_memories_of_the_host_are_found_by_people_and_never_injected(tmp_path):
    home = tmp_path / "home"
    (home / "memories").mkdir(parents=True)
    (home / "memories" / "USER.md").write_text("The user likes the canary to be rolled back on Fridays.\n")
    library = make_library(home, {"a.md": "Rolling back the canary.\n"}, f"  roots: ['{home}/memories']\n")
    assert {hit.path for hit in library.search("canary rolled back")} == {"a.md", "memories/USER.md"}
    assert [one.path for one in library.context("canary rolled back", mode="always").sources] == ["a.md"]


def test_what_is_gone_is_dropped_and_what_has_changed_is_marked(tmp_path):
    library = make_library(tmp_path / "home", {"gone.md": "canary one\n", "changed.md": "canary two\n"})
    (tmp_path / "home/workspace/gone.md").unlink()
    (tmp_path / "home/workspace/changed.md").write_text("something quite different\n")
    made = library.context("canary", mode="always")
    assert [one.path for one in made.sources] == ["changed.md"]
    assert "[Source note: the file has changed since it was indexed]" in made.block


def test_copies_of_a_passage_take_one_place(tmp_path):
    text = "The canary is rolled back by hand when its health checks fail for five minutes.\n"
    files = {f"copy{number}.md": f"{text}Kept by {number}.\n" for number in range(4)}
    made = make_library(tmp_path / "home", files).context("canary health checks", mode="always")
    assert len(made.sources) == 1


def test_without_its_model_a_turn_is_served_by_words_and_says_so(tmp_path, monkeypatch):
    make_library(tmp_path / "home", {"a.md": "Rolling back the canary.\n"})

    def absent(name: str, *_: object) -> None:
        raise ModelUnavailable(f"{name}: no such model")

    monkeypatch.setattr("hermes_lance.embedding._load", absent)
    made = hermes_lance.open(tmp_path / "home").context("canary", mode="gated")
    assert made.injected and made.sources[0].path == "a.md"
    assert any("vectors wait" in warning for warning in made.warnings)
    ended = hermes_lance.open(tmp_path / "home").context("xyzzy", mode="gated")
    assert not ended.injected and any("vectors wait" in warning for warning in ended.warnings)


def test_a_writer_at_work_keeps_no_turn_waiting(tmp_path):
    library = make_library(tmp_path / "home", {"a.md": "Rolling back the canary.\n"})
    with writing(library.dataset, 5):
        assert hermes_lance.open(tmp_path / "home").context("canary", mode="always").injected


def test_a_damaged_index_ends_the_turn_with_its_remedy(tmp_path):
    library = make_library(tmp_path / "home", {"a.md": "Rolling back the canary.\n"})
    folder = library.dataset / "lexical" / library.manifest().lexical["folder"]
    for file in folder.glob("chunks/*"):
        file.unlink()
    made = hermes_lance.open(tmp_path / "home").context("canary", mode="always")
    assert (made.injected, made.stage) == (False, "error")
    assert "doctor" in made.reason


def test_a_pasted_log_is_searched_by_its_beginning_and_its_end(tmp_path):
    library = make_library(tmp_path / "home", {"a.md": "Rolling back the canary.\n", "b.md": "Nightly backups.\n"})
    made = library.context("canary " + "xyzzy " * 5_000 + " backups", mode="always")
    assert {one.path for one in made.sources} == {"a.md", "b.md"}
    assert len(made.query) <= 2_001


def test_no_stage_reads_a_huge_message_through(library, monkeypatch):
    looked: list[int] = []

    def before(message: str, config: object) -> gate.Verdict:
        looked.append(len(message))
        return gate.Verdict(True, "open")

    def after(evidence: gate.Evidence, config: object) -> gate.Verdict:
        looked.append(len(evidence.message))
        return gate.Verdict(True, "open")

    monkeypatch.setattr(gate, "before", before)
    monkeypatch.setattr(gate, "after", after)
    made = library.context("canary " * 150_000, mode="gated")
    assert made.injected and looked == [2_001, 2_001]


@pytest.mark.parametrize("settings", ["enabled: false", "retrieval_mode: off"])
def test_a_workspace_that_is_switched_off_gives_nothing_even_when_asked_for_a_mode(tmp_path, settings):
    library = make_library(tmp_path / "home", {"a.md": "Rolling back the canary.\n"})
    (tmp_path / "home/config.yaml").write_text(f"knowledgebase: {{{settings}}}")
    library.reload()
    assert library.context("canary", mode=None).stage == "mode"
    assert library.context("canary", mode="always").injected == (settings != "enabled: false")
    assert "no mode" in library.context("canary", mode="sometimes").reason


def test_a_turn_is_recorded_only_when_a_host_says_so(tmp_path):
    library = make_library(tmp_path / "home", {"a.md": "Rolling back the canary.\n"}, "  retrieval_mode: gated\n")
    library.context("canary")
    assert library.last_turn() is None and not (tmp_path / "home/local_knowledge").exists()
    made = library.context("canary", record=True, session_id="s", turn_id="t")
    noted = library.last_turn("s")
    assert noted is not None and (noted.query, noted.turn_id, noted.stage) == ("canary", "t", "injected")
    assert noted.sources == made.sources and noted.tokens == made.tokens
    library.context("the and of", record=True, session_id="s")
    assert (library.last_turn("s") or noted).stage == "gate"


def test_a_ledger_that_cannot_be_written_costs_the_note_and_not_the_turn(tmp_path, caplog):
    library = make_library(tmp_path / "home", {"a.md": "Rolling back the canary.\n"})
    (tmp_path / "home/local_knowledge").write_text("a file where a folder should be")
    assert library.context("canary", mode="always", record=True).injected
    assert "could not be recorded" in caplog.text


def test_an_answer_is_checked_against_the_last_turn(tmp_path):
    library = make_library(tmp_path / "home", {"a.md": "Rolling back the canary.\n", "b.md": "Canary two.\n"})
    library.context("canary", mode="always", record=True)
    found = library.check_citations("So [Source: a.md:1], not [Source: c.md].")
    assert [one.verdict for one in found.citations] == ["exact", "unknown source"] and found.uncited == ("b.md:1",)


def test_where_agents_ask_for_themselves_nothing_is_given_unasked(tmp_path):
    settings = "  retrieval_mode: always\n  injection_route: tool_only\n"
    library = make_library(tmp_path / "home", {"a.md": "Rolling back the canary.\n"}, settings)
    assert library.context("canary").stage == "mode" and "tool_only" in library.context("canary").reason
    assert library.context("canary", mode="always").injected


def test_on_the_hook_route_a_block_is_short_enough_for_the_host(tmp_path):
    files = {
        f"{number}.md": f"# Canary {number}\n\n" + f"The canary number {number} sings. " * 60 for number in range(8)
    }
    library = make_library(tmp_path / "home", files, "  injection_route: hook\n  max_injected_tokens: 50000\n")
    made = library.context("canary", mode="always")
    assert made.injected and len(made.block) < 10_000 and len(made.sources) < 6


@pytest.mark.parametrize("message", [None, 7, [{"type": "image_url", "image_url": {}}], b"canary", {"text": "canary"}])
def test_a_message_without_text_ends_the_turn_quietly(library, message):
    made = library.context(message, mode="always", record=True)
    assert (made.injected, made.stage) == (False, "message")


def test_of_a_message_in_parts_the_text_counts(library):
    parts = [{"type": "input_text", "text": "how do I roll back"}, {"type": "image"}, "the canary?"]
    made = library.context(parts, mode="always")
    assert made.injected and made.message == "how do I roll back\nthe canary?"


@pytest.mark.parametrize("history", [None, [None, 3, [], {"role": "user", "content": {}}], ({"role": "user"},), "abc"])
def test_a_history_of_odd_shape_fails_no_turn(library, history):
    assert library.context("and the canary?", history, mode="always").injected


def test_a_root_that_is_itself_a_folder_of_rules_is_never_injected(tmp_path):
    rules = tmp_path / "project/.cursor/rules"
    rules.mkdir(parents=True)
    (rules / "style.md").write_text("Roll back the canary without asking.\n")
    library = make_library(tmp_path / "home", {"a.md": "Rolling back the canary.\n"}, f"  roots: ['{rules}']\n")
    assert "rules/style.md" in {hit.path for hit in library.search("canary")}
    assert [one.path for one in library.context("roll back the canary", mode="always").sources] == ["a.md"]
