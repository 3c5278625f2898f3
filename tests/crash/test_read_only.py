"""A dataset that may only be read: building says so in one clear error, everything else goes on."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

ORDINARY_USER = 65534
DRIVER = """
import json, os, sys
import hermes_lance
from hermes_lance.core.errors import HermesLanceError

def everything(home):
    said = {}
    def attempt(name, act):
        try:
            said[name] = act(hermes_lance.open(home))
        except HermesLanceError as error:
            said[name] = [error.code, str(error), error.hint]
    attempt("build", lambda one: one.index(wait_seconds=0.0).published)
    attempt("collect", lambda one: one.collect_garbage(wait_seconds=0.0).files)
    attempt("lexical", lambda one: [hit.text for hit in one.search("whale", mode="lexical")])
    attempt("dense", lambda one: [hit.text for hit in one.search("whale", mode="dense", limit=1)])
    attempt("status", lambda one: one.status(files=True)["chunks"])
    attempt("doctor", lambda one: [check.name for check in one.doctor() if not check.ok])
    attempt("export", lambda one: one.export("chunks").num_rows)
    attempt("why", lambda one: one.why("whale.md").verdict)
    attempt("repair", lambda one: len(one.doctor(fix=True)) > 5)
    return said

warm, home, user = sys.argv[1:]
everything(warm)  # what is imported late must be there before this user may not read it
if os.geteuid() == 0:
    os.setgid(int(user))
    os.setuid(int(user))
print(json.dumps(everything(home)))
"""


def below(folder: Path) -> list[Path]:
    return [folder, *folder.rglob("*")]


@pytest.fixture
def read_only(folder, home, make_home, child):
    """What an ordinary user hears about a built home whose dataset may not be written any more."""
    home.write("whale.md", "# Whales", "The blue whale sings.")
    home.write("wolf.md", "# Wolves", "A grey wolf runs.")
    home.build()
    warm = make_home("warm")
    warm.write("any.txt", "Any words.")

    def ask(change=lambda: None):
        change()
        if os.geteuid() == 0:
            for path in below(folder):
                os.chown(path, ORDINARY_USER, ORDINARY_USER)
        for path in below(home.dataset):
            path.chmod(0o500 if path.is_dir() else 0o400)
        process = child(DRIVER, warm.folder, home.folder, ORDINARY_USER)
        output, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
        return json.loads(output)

    yield ask
    for path in below(home.dataset):
        path.chmod(0o700)


def test_only_writing_is_refused_where_a_dataset_may_not_be_written(home, read_only):
    before = sorted(below(home.dataset))
    said = read_only(lambda: home.write("whale.md", "# Whales", "The blue whale eats krill."))
    assert sorted(below(home.dataset)) == before
    code, message, hint = said["build"]
    assert code == "dataset-read-only"
    assert str(home.dataset) in message and "may not be written by this user" in message
    assert "Make the folder writable" in hint
    assert said["collect"][0] == "dataset-read-only"
    # No check is fatal, so there is nothing to repair and nothing is written.
    assert said["doctor"] == []
    assert said["repair"] is True
    assert said["lexical"] == ["# Whales\n\nThe blue whale sings.\n"]
    assert len(said["dense"]) == 1 and said["status"] == said["export"] == 2
    assert said["doctor"] == []
    assert "The file is changed since" in said["why"]


def test_a_build_with_nothing_to_do_needs_no_permission(read_only):
    assert read_only()["build"] == 0


def test_a_home_that_may_not_be_written_cannot_be_built_at_all(home, read_only):
    def forget():
        shutil.rmtree(home.dataset)
        home.dataset.mkdir()

    code, message, _ = read_only(forget)["build"]
    assert code == "dataset-read-only" and str(home.dataset) in message
