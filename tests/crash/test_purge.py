"""A purge is stopped after every single step: readers never see more than before, and the next build finishes it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace

import pytest

from hermes_lance.store import compact, failpoints, forgotten
from hermes_lance.store.failpoints import FailpointReached
from hermes_lance.store.lock import writing
from hermes_lance.store.proof import look
from hermes_lance.store.purge import traces
from hermes_lance.store.tables import Tables


@dataclass
class Steps:
    """Stands in for the failpoints: notes every step and stops at a chosen one."""

    stop_at: int = -1
    reached: list[str] = field(default_factory=list)

    def __call__(self, name: str) -> None:
        self.reached.append(name)
        if len(self.reached) - 1 == self.stop_at:
            raise FailpointReached(name)


SECRET = ("# Private", "The zanzibar heliotrope conspiracy begins at noon.", "Nobody may read of quuxville again.")


def arrange(home):
    """The document in the present generation, in older ones under other contents, in a kept one, and as a copy."""
    home.write("notes/whale.md", "# Whales", "The blue whale sings at night.")
    home.write("private.md", *SECRET, "An earlier end about quuxville.")
    home.build()
    home.write("private.md", *SECRET)
    home.write("copy.md", *SECRET)
    home.write("fox.txt", "A red fox sleeps.")
    home.build()
    with writing(home.dataset, 0):
        compact.pin(home.dataset, home.library().manifest().id)


def purge(home):
    home.library().forget(["private.md"], purge=True, wait_seconds=0)


def seen(home):
    return {hit.path for hit in home.library().search("zanzibar quuxville", mode="lexical")}


@pytest.mark.slow
def test_a_purge_stopped_after_any_step_is_finished_by_the_next_build(home, monkeypatch):
    arrange(home)
    tables = Tables(home.dataset)
    listed = forgotten.Forgotten()
    known = {one.path: one for one in home.library().snapshot().files.all().values()}["private.md"]
    stone = forgotten.Tombstone(known.id, known.root, known.path, None, (str(known.sha256),), "", "private.md")
    listed.put([stone])
    listed.entries[known.id] = replace(stone, purge=True)
    wanted = traces(home.dataset, tables, listed)
    assert len(wanted.texts) > 2 and look(home.dataset, tables, wanted).found, "there is something to be found"
    saved = home.folder / "saved"
    shutil.copytree(home.dataset, saved)
    steps = Steps()
    monkeypatch.setattr(failpoints, "reach", steps)
    purge(home)
    home.build()
    clean, every = home.contents(), steps.reached
    assert {"listed", "vectors", "lexical", "cleaned", "purged-noted", "retention", "pinned", "settled"} <= set(every)
    for number, name in enumerate(every[: every.index("settled") + 1]):
        shutil.rmtree(home.dataset)
        shutil.copytree(saved, home.dataset)
        steps.reached, steps.stop_at = [], number
        with pytest.raises(FailpointReached, match=name):
            purge(home)
        steps.stop_at = -1
        assert seen(home) <= {"private.md", "copy.md"}
        home.build()
        assert home.contents() == clean, f"not as after a whole purge, stopped after step {number} ({name})"
        assert look(home.dataset, Tables(home.dataset), wanted).found == [], f"stopped after step {number} ({name})"
        assert not any((home.dataset / "pinned").iterdir())
        assert not forgotten.read(home.dataset).pending
        assert home.healthy(swept=False)


PURGE = """
import sys, hermes_lance
hermes_lance.open(sys.argv[1]).forget(["private.md"], purge=True, wait_seconds=0.0)
"""


@pytest.mark.parametrize("finish", ["index", "index_artifacts"])
def test_the_build_that_finishes_a_purge_takes_the_turns_that_were_served_meanwhile(finish, home, monkeypatch):
    arrange(home)
    steps = Steps(stop_at=0)
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", steps)
        with pytest.raises(FailpointReached, match="listed"):
            purge(home)
    home.library().context("the zanzibar heliotrope conspiracy", mode="always", record=True)
    noted = home.library().last_turn()
    assert noted is not None and noted.sources
    (home.folder / "skills" / "deploy").mkdir(parents=True)
    (home.folder / "skills" / "deploy" / "SKILL.md").write_text("---\nname: deploy\n---\n")
    getattr(home.library(), finish)()
    assert home.library().last_turn() is None
    assert seen(home) == set() and not forgotten.read(home.dataset).pending


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["listed", "sources", "vectors", "side", "pointer", "cleaned", "purged-noted", "pinned"]
)
def test_a_purge_killed_there_is_finished_by_the_next_build(name, home, child):
    arrange(home)
    process = child(PURGE, home.folder, HERMES_LANCE_FAILPOINT=f"{name}:kill")
    _, errors = process.communicate()
    assert (process.returncode, errors) == (137, "")
    home.build()
    assert seen(home) == set()
    assert not forgotten.read(home.dataset).pending
    assert home.healthy(swept=False)
