"""From a message to a block, or to the stage that ends it, over a small real dataset."""

from __future__ import annotations

from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.search.render import BLOCK_NOTE

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
