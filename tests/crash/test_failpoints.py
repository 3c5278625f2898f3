"""A run is stopped after every single step. Readers see the state before or after it, and the next run ends as a clean
build would.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field

import pytest

from hermes_lance.core.errors import DatasetMissing
from hermes_lance.ingest import pipeline
from hermes_lance.store import failpoints
from hermes_lance.store import manifest as manifests
from hermes_lance.store.failpoints import NAMES, FailpointReached
from hermes_lance.store.tables import Tables
from hermes_lance.testing import Contents


@dataclass
class Steps:
    """Stands in for the failpoints: notes every step of a run and stops at a chosen one."""

    stop_at: int = -1
    reached: list[str] = field(default_factory=list)

    def __call__(self, name: str) -> None:
        assert name in NAMES
        self.reached.append(name)
        if len(self.reached) - 1 == self.stop_at:
            raise FailpointReached(name)


ONE, OTHER = "owl " * 500 + "\n\n", "elk " * 500 + "\n\n"
"""Passages of their own; a file that holds them in another order has the same ids."""


def write_first_tree(home):
    home.write("notes/whale.md", "# Whales", "The blue whale sings at night.", "It eats krill.")
    home.write("notes/wolf.md", "# Wolves", "A grey wolf runs.")
    home.write("fox.txt", "A red fox sleeps.", "A red fox sleeps.")
    home.write("gone.txt", "This will be removed.")
    (home.workspace / "order.txt").write_text(ONE + OTHER)


def edit_tree(home):
    """Changed, changed in its order alone, removed, renamed, new, touched."""
    home.write("notes/whale.md", "# Whales", "The blue whale sings at night.", "It eats squid now.")
    (home.workspace / "order.txt").write_text(OTHER + ONE)
    (home.workspace / "gone.txt").unlink()
    (home.workspace / "fox.txt").rename(home.workspace / "notes" / "don't fox.txt")
    home.write("new.txt", "A new owl arrives.")
    (home.workspace / "notes" / "wolf.md").touch()


def nothing(home):
    """A home whose first build is to be stopped."""
    write_first_tree(home)


def built(home):
    """Built and then edited."""
    write_first_tree(home)
    home.build()
    edit_tree(home)


def text_only(home):
    """Text is published, the vectors are missing."""
    write_first_tree(home)
    home.build(embed=False)


def many_pieces(home):
    """Several generations with dead rows: something to merge."""
    write_first_tree(home)
    home.build()
    for number in range(3):
        home.write("fox.txt", f"A red fox sleeps in turn {number}.")
        home.write(f"{number}.txt", f"File number {number}.")
        home.build()


def torn(home):
    """A run was killed when the passages were written and the files were not."""
    built(home)
    stop(home, home.build, "chunks")


def all_but_published(home):
    """A run was killed when all tables were written and nothing else was."""
    built(home)
    stop(home, home.build, "sources")


def ahead(home):
    """Somebody has changed a table behind the back of the dataset."""
    built(home)
    Tables(home.dataset).delete("chunks", "path", ["fox.txt"])


def stop(home, act, name):
    steps = Steps()

    def reach(reached):
        steps(reached)
        if reached == name:
            raise FailpointReached(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failpoints, "reach", reach)
        with pytest.raises(FailpointReached):
            act()


def build(home):
    home.build()


def upkeep(home):
    home.library().collect_garbage(wait_seconds=0.0)


def look(home) -> Contents | None:
    """What a reader sees."""
    try:
        seen: Contents = home.contents()
    except DatasetMissing:
        return None
    return seen


SITUATIONS = {
    "first build": (nothing, build),
    "update": (built, build),
    "vector batch": (text_only, build),
    "upkeep": (many_pieces, upkeep),
    "recovery of torn tables": (torn, build),
    "recovery of finished tables": (all_but_published, build),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_run_stopped_after_any_step_shows_before_or_after_and_is_finished_by_the_next(
    situation, home, clean_build, monkeypatch
):
    arrange, act = SITUATIONS[situation]
    arrange(home)
    saved = home.folder / "saved"
    if home.dataset.exists():
        shutil.copytree(home.dataset, saved)
    clean = clean_build(home)
    steps = Steps()
    monkeypatch.setattr(failpoints, "reach", steps)
    if situation == "update":
        monkeypatch.setattr(pipeline, "FILES_IN_A_PUBLICATION", 3 / 8)
    published = [look(home), *every_state_published_by(act, home)]
    assert published[-1] == clean
    every = steps.reached
    if situation.startswith("recovery"):
        every = every[: every.index("start")]
    for number, name in enumerate(every):
        restore(home.dataset, saved)
        steps.reached, steps.stop_at = [], number
        with pytest.raises(FailpointReached, match=name):
            act(home)
        steps.stop_at = -1
        assert look(home) in published, f"between two states after step {number} ({name})"
        home.build()
        assert home.contents() == clean, f"not like a clean build after step {number} ({name})"
        assert home.healthy(swept=False)
    upkeep(home)
    assert home.contents() == clean
    assert home.healthy()


def every_state_published_by(act, home) -> list[Contents]:
    seen: list[Contents] = []

    def move_and_look(dataset, generation):
        move(dataset, generation)
        seen.append(home.contents())

    move = manifests.move_pointer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifests, "move_pointer", move_and_look)
        act(home)
    return seen


def restore(dataset, saved):
    shutil.rmtree(dataset, ignore_errors=True)
    if saved.exists():
        shutil.copytree(saved, dataset)


RUN = """
import sys, hermes_lance
library = hermes_lance.open(sys.argv[1])
getattr(library, sys.argv[2])(wait_seconds=0.0)
"""
ROUTING = {"artifacts", "edges"}
"""Reached where artifacts are published, see `test_artifacts.py`."""
FORGETTING = {"listed", "purged-noted", "pinned", "settled"}
"""Reached by what `test_purge.py` does, not by builds."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in FORGETTING | ROUTING])
def test_a_process_killed_there_leaves_nothing_that_the_next_run_cannot_finish(name, home, clean_build, child):
    arrange = {"restored": ahead, "cleaned": many_pieces}.get(name, built)
    act = "collect_garbage" if name == "cleaned" else "index"
    arrange(home)
    before, clean = look(home), clean_build(home)
    process = child(RUN, home.folder, act, HERMES_LANCE_FAILPOINT=f"{name}:kill")
    _, errors = process.communicate()
    assert (process.returncode, errors) == (137, "")
    seen = look(home)
    assert seen in (before, clean) or (seen is not None and seen.rows == clean.rows), "between two states"
    home.build()
    assert home.contents() == clean
    home.library().collect_garbage(wait_seconds=0.0)
    assert home.contents() == clean
    assert home.healthy()


@pytest.mark.parametrize("arrange", [torn, all_but_published])
def test_an_interrupted_run_on_a_damaged_dataset_is_repaired_and_built_to_the_end(arrange, home, clean_build):
    arrange(home)
    shutil.rmtree(home.dataset / "side")
    assert [one for one in home.library().doctor(fix=True) if not one.ok and one.fatal] == []
    home.build()
    assert home.contents() == clean_build(home)
    assert home.healthy()
