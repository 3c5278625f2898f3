"""A run that publishes artifacts is stopped after every step: readers see the state before or after it, never between,
and the next run ends as a clean build would.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field

import pytest

from hermes_lance.core.errors import DatasetMissing
from hermes_lance.store import failpoints
from hermes_lance.store import manifest as manifests
from hermes_lance.store.failpoints import FailpointReached
from hermes_lance.testing import Contents


@dataclass
class Steps:
    """Stands in for the failpoints: notes every step of a run and stops at a chosen one."""

    stop_at: int = -1
    reached: list[str] = field(default_factory=list)

    def __call__(self, name: str) -> None:
        self.reached.append(name)
        if len(self.reached) - 1 == self.stop_at:
            raise FailpointReached(name)


def stop(act, name):
    """Runs `act` up to a step."""

    def reach(reached):
        if reached == name:
            raise FailpointReached(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failpoints, "reach", reach)
        with pytest.raises(FailpointReached):
            act()


def restore(dataset, saved):
    shutil.rmtree(dataset, ignore_errors=True)
    if saved.exists():
        shutil.copytree(saved, dataset)


def write(home, name, text):
    path = home.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def skill(home, name, description, related=""):
    write(home, f"skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: {description}\n{related}---\nSteps.\n")


def write_sources(home):
    home.write("whale.md", "# Whales", "The blue whale sings at night.")
    skill(home, "deploy", "Put a release on the server.", "related_skills: [roll-back]\n")
    skill(home, "roll-back", "Take a release off the server.")
    write(home, "scripts/push.sh", "#!/bin/sh\n# Push the release.\n")
    write(
        home, "cron/jobs.json", json.dumps({"jobs": [{"name": "nightly", "script": "push.sh", "skills": ["deploy"]}]})
    )


def edit_sources(home):
    """Changed, removed, new; a link that goes and one that comes."""
    skill(home, "deploy", "Put a release on every server.", "related_skills: [smoke-test]\n")
    skill(home, "smoke-test", "Ask each server whether it lives.")
    shutil.rmtree(home.folder / "skills" / "roll-back")
    home.write("wolf.md", "# Wolves", "A grey wolf runs.")


def collect(home):
    home.library().index_artifacts(wait_seconds=0.0)


def both(home):
    home.build()
    collect(home)


def nothing(home):
    """Nothing was ever published."""
    write_sources(home)


def documents_only(home):
    write_sources(home)
    home.build()


def built(home):
    write_sources(home)
    both(home)
    edit_sources(home)


def torn(home):
    """A run was killed when the table of artifacts was written and that of links was not."""
    built(home)
    stop(lambda: collect(home), "artifacts")


def documents_changed(home):
    """A build of documents only, over a generation with artifacts."""
    write_sources(home)
    both(home)
    home.write("wolf.md", "# Wolves", "A grey wolf runs.")


SITUATIONS = {
    "first of all": (nothing, collect),
    "first after documents": (documents_only, collect),
    "update": (built, collect),
    "recovery of torn tables": (torn, collect),
    "build of documents": (documents_changed, lambda home: home.build()),
}


def look(home) -> Contents | None:
    try:
        seen: Contents = home.contents()
    except DatasetMissing:
        return None
    return seen


@pytest.fixture
def clean(make_home):
    """What one run of each kind gives in a home without a past."""

    def made(home) -> Contents:
        fresh = make_home("clean", home.workspace)
        shutil.copy2(home.folder / "config.yaml", fresh.folder)
        for name in ("skills", "scripts", "cron"):
            shutil.copytree(home.folder / name, fresh.folder / name)
        both(fresh)
        seen: Contents = fresh.contents()
        return seen

    return made


def same(one: Contents, other: Contents) -> bool:
    """Equal but for the moments of files, which a copy of a folder may not keep."""

    def timeless(contents):
        return {key: (row.title, row.summary, row.triggers, row.related) for key, row in contents.artifacts.items()}

    return (
        timeless(one) == timeless(other)
        and (one.edges, one.rows) == (other.edges, other.rows)
        and one.artifact_vectors == other.artifact_vectors
        and len(one.artifact_vectors) == len(one.artifacts)
    )


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_run_stopped_after_any_step_shows_before_or_after_and_is_finished_by_the_next(
    situation, home, clean, monkeypatch
):
    arrange, act = SITUATIONS[situation]
    arrange(home)
    saved = home.folder / "saved"
    if home.dataset.exists():
        shutil.copytree(home.dataset, saved)
    wanted = clean(home)
    steps = Steps()
    monkeypatch.setattr(failpoints, "reach", steps)
    seen = [look(home)]

    def move_and_look(dataset, generation):
        move(dataset, generation)
        seen.append(home.contents())

    move = manifests.move_pointer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifests, "move_pointer", move_and_look)
        act(home)
    for number, name in enumerate(list(steps.reached)):
        restore(home.dataset, saved)
        steps.reached, steps.stop_at = [], number
        with pytest.raises(FailpointReached, match=name):
            act(home)
        steps.stop_at = -1
        assert look(home) in seen, f"between two states after step {number} ({name})"
        both(home)
        assert same(home.contents(), wanted), f"not like a clean build after step {number} ({name})"
        assert home.healthy(swept=False)
    home.library().collect_garbage(wait_seconds=0.0)
    assert same(home.contents(), wanted)
    assert home.healthy()


RUN = """
import sys, hermes_lance
hermes_lance.open(sys.argv[1]).index_artifacts(wait_seconds=0.0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["start", "artifacts", "edges", "lexical", "side", "pointer", "retention"])
def test_a_process_killed_there_leaves_nothing_that_the_next_run_cannot_finish(name, home, clean, child):
    built(home)
    wanted, before = clean(home), look(home)
    process = child(RUN, home.folder, HERMES_LANCE_FAILPOINT=f"{name}:kill")
    _, errors = process.communicate()
    assert (process.returncode, errors) == (137, "")
    seen = look(home)
    assert seen is not None and (seen == before or seen.artifacts.keys() == wanted.artifacts.keys())
    both(home)
    assert same(home.contents(), wanted)
    home.library().collect_garbage(wait_seconds=0.0)
    assert same(home.contents(), wanted) and home.healthy()


def test_what_is_derived_is_made_again_from_the_tables(home):
    built(home)
    both(home)
    before = home.contents()
    shutil.rmtree(home.dataset / "side")
    assert [one for one in home.library().doctor(fix=True) if not one.ok and one.fatal] == []
    assert (home.contents().artifacts, home.contents().edges) == (before.artifacts, before.edges)
    both(home)
    assert home.contents() == before and home.healthy()


def test_a_purge_takes_the_artifact_of_the_forgotten_file_with_it(home):
    write_sources(home)
    (home.folder / "config.yaml").write_text(
        (home.folder / "config.yaml").read_text(encoding="utf-8")
        + f"local_knowledge: {{source_root: {home.workspace}, include_markdown_docs: true}}\n",
        encoding="utf-8",
    )
    home.write("secret-plan.md", "# Plan of the heron", "The heron lands at the quay on Friday.")
    both(home)
    assert "doc:secret-plan" in home.contents().artifacts
    made = home.library().forget(["secret-plan.md"], purge=True)
    assert made is not None
    both(home)
    assert "doc:secret-plan" not in home.contents().artifacts
    assert not [path for path in home.dataset.rglob("*") if path.is_file() and b"heron lands" in path.read_bytes()]
    assert home.healthy()
