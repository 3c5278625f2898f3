"""Another index store beside ours: kept in step, asked while it is, and ours answers while it is not."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.core.errors import HermesLanceError

STORE = """
from hermes_lance.testing import FileStore
from hermes_lance.testing.stores import FileSession

class Session(FileSession):
    def lexical(self, text, rows, source_ids=None):
        return [(row, score + 1000) for row, score in super().lexical(text, rows, source_ids)]

class Mine(FileStore):
    name = "mine"

    def signature(self):
        return "mine/1"

    def open(self, folder, *, dimensions):
        folder.mkdir(parents=True, exist_ok=True)
        return Session(folder / "rows.json")
"""

PICKY = """class Session(FileSession):
    def put_file(self, file, *rest):
        assert file.path == "c.txt"
        super().put_file(file, *rest)
"""


class Home:
    """A home with the store above; its library is opened afresh for every act."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "workspace").mkdir(parents=True)
        self.rows = folder / "knowledgebase" / "index_stores" / "mine" / "rows.json"
        choice = "{active: builtin_hash, builtin_hash: {dims: 64}}"
        (folder / "config.yaml").write_text(
            f"knowledgebase:\n  embedders: {choice}\n  index_stores: {{active: mine}}\n", encoding="utf-8"
        )
        self.store(STORE)

    def store(self, source: str) -> None:
        folder = self.folder / "plugins" / "workspace" / "index_stores" / "mine"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text(source, encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        (self.folder / "workspace" / name).write_text(text, encoding="utf-8")
        os.utime(self.folder / "workspace" / name, (1, 1))

    @property
    def library(self):
        return hermes_lance.open(self.folder)

    def build(self):
        return self.library.index()

    def ask(self, words: str, **how):
        """Paths, whether the store has answered by words, and what was said."""
        answer = self.library.search(words, **how)
        scores = [hit.scores["lexical"] for hit in answer]
        return [hit.path for hit in answer], any(score and score > 1000 for score in scores), list(answer.warnings)


@pytest.fixture
def home(tmp_path) -> Home:
    made = Home(tmp_path / "home")
    made.write("a.txt", "The narwhal sings.")
    made.write("b.txt", "The walrus listens.")
    assert made.build().warnings == []
    return made


def test_its_legs_answer_questions_and_turns_within_the_filters(home):
    assert home.ask("narwhal", mode="lexical") == (["a.txt"], True, [])
    assert home.ask("narwhal", mode="lexical", path="b.txt") == ([], False, [])
    assert home.ask("narwhal", mode="dense")[0][0] == "a.txt"
    turn = home.library.context("narwhal", mode="always")
    assert turn.sources[0].path == "a.txt" and turn.warnings == ()


def test_it_follows_changed_new_and_deleted_files(home):
    home.write("a.txt", "The porpoise sleeps.")
    home.write("c.txt", "The manatee eats.")
    (home.folder / "workspace" / "b.txt").unlink()
    home.build()
    for words, paths in (("porpoise", ["a.txt"]), ("manatee", ["c.txt"]), ("walrus", []), ("narwhal", [])):
        assert home.ask(words, mode="lexical") == (paths, bool(paths), [])
    assert "walrus" not in home.rows.read_text(encoding="utf-8")


def test_vectors_that_come_later_reach_it(home):
    home.write("c.txt", "The manatee eats.")
    home.library.index(embed=False)
    assert home.ask("manatee", mode="lexical") == (["c.txt"], True, [])
    home.build()
    assert "c.txt" in home.ask("manatee", mode="dense")[0]


def test_what_has_not_changed_is_not_put_again(home):
    before = home.rows.stat().st_mtime_ns
    home.build()
    assert home.rows.stat().st_mtime_ns == before, "nothing to do"
    home.store(STORE.replace("class Session(FileSession):", PICKY))
    home.write("c.txt", "The manatee eats.")
    assert home.build().warnings == []
    assert home.ask("manatee", mode="lexical") == (["c.txt"], True, [])


def test_a_dropped_and_a_purged_document_leave_it(home):
    home.library.drop(["a.txt"])
    assert home.ask("narwhal", mode="lexical") == ([], False, [])
    assert "narwhal" not in home.rows.read_text(encoding="utf-8")
    dropped = home.library.forget(["b.txt"], purge=True)
    assert dropped.proof is not None
    assert "walrus" not in home.rows.read_text(encoding="utf-8")


def test_another_signature_fills_it_again_and_touches_nothing_of_ours(home):
    generation = home.library.manifest().id
    home.store(STORE.replace("mine/1", "mine/2"))
    paths, by_store, warnings = home.ask("narwhal", mode="lexical")
    assert paths == ["a.txt"] and not by_store and "does not hold this generation" in warnings[0]
    home.build()
    assert home.library.manifest().id == generation
    assert home.ask("narwhal", mode="lexical") == (["a.txt"], True, [])


def test_an_index_that_is_gone_or_of_another_dataset_is_made_again(home):
    shutil.rmtree(home.folder / "knowledgebase" / "index_stores")
    assert home.ask("narwhal", mode="lexical")[:2] == (["a.txt"], False)
    home.build()
    assert home.ask("narwhal", mode="lexical") == (["a.txt"], True, [])
    shutil.rmtree(home.folder / "knowledgebase" / "indexes")
    home.write("a.txt", "The dugong dives.")
    home.build()
    assert home.ask("dugong", mode="lexical") == (["a.txt"], True, [])
    assert home.ask("narwhal", mode="lexical") == ([], False, [])


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("def put_file(self, *rest):\n        raise ValueError('full')", "ValueError: full"),
        ("def files(self):\n        return {}", "does not list the files"),
        ("def commit(self):\n        raise OSError('no')", "OSError: no"),
    ],
)
def test_a_store_that_cannot_be_filled_ends_no_build_and_ours_answers(home, broken, said):
    home.store(
        STORE.replace("mine/1", "mine/2").replace(
            "class Session(FileSession):", f"class Session(FileSession):\n    {broken}\n"
        )
    )
    home.write("c.txt", "The manatee eats.")
    assert said in home.build().warnings[0]
    paths, by_store, warnings = home.ask("manatee", mode="lexical")
    assert paths == ["c.txt"] and not by_store and "lance answers" in warnings[0]


def test_a_leg_that_raises_is_answered_for_by_ours(home):
    home.store(STORE.replace("return [(row", "return 1 / 0 or [(row"))
    paths, by_store, warnings = home.ask("narwhal")
    assert "a.txt" in paths and not by_store
    assert "ZeroDivisionError" in warnings[0] and "lance has answered" in warnings[0]


@pytest.mark.parametrize("score", ["float('nan')", "float('inf')", "__import__('sys').exit(1)"])
def test_scores_that_are_none_unsettle_no_ranking(home, score):
    home.store(STORE.replace("score + 1000", score))
    paths, by_store, warnings = home.ask("narwhal")
    assert paths[0] == "a.txt" and not by_store
    assert any("lance has answered" in warning for warning in warnings)


def test_a_store_that_cannot_say_its_version_any_more_ends_no_question(home):
    home.store(STORE.replace('return "mine/1"', "raise RuntimeError('no version')"))
    paths, by_store, warnings = home.ask("narwhal", mode="lexical")
    assert (paths, by_store) == (["a.txt"], False) and "no version" in warnings[0]


def test_a_purge_that_cannot_remove_the_other_index_says_so_and_forgets_nothing(home, monkeypatch):
    def refuse(path: object, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("hermes_lance.mirroring.shutil.rmtree", refuse)
        with pytest.raises(HermesLanceError, match="index_stores"):
            home.library.forget(["b.txt"], purge=True)
    assert home.ask("walrus", mode="lexical")[0] == ["b.txt"]


def test_a_store_that_cannot_be_had_is_said_by_every_door(home):
    home.store("import nothing_of_that_name\n")
    assert "plugin mine (index_stores)" in home.build().warnings[0]
    assert "plugin mine (index_stores)" in home.ask("narwhal")[2][0]
    state = home.library.status()["plugins"]["index_stores"]
    assert (state["resolved"], state["fallback"]) == ("lance", True)


def test_an_older_generation_is_answered_by_ours(home):
    first = home.library.manifest().id
    home.write("c.txt", "The manatee eats.")
    home.build()
    paths, by_store, _ = home.ask("narwhal", mode="lexical", generation=first)
    assert paths == ["a.txt"] and not by_store
