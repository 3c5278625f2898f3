"""A dataset that may only be read: building says so in one clear error, everything else goes on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

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

user, warm, *homes = sys.argv[1:]
everything(warm)  # what is imported late must be there before this user may not read it
if os.geteuid() == 0:
    os.setgid(int(user))
    os.setuid(int(user))
print(json.dumps([everything(home) for home in homes]))
"""


def below(folder: Path) -> list[Path]:
    return [folder, *folder.rglob("*")]


@pytest.fixture
def told(folder, make_home, child):
    """What an ordinary user hears of each of some homes when their datasets may not be written any more."""
    homes: list[Any] = []

    def ask(*asked):
        homes.extend(asked)
        warm = make_home("warm")
        warm.write("any.txt", "Any words.")
        if os.geteuid() == 0:
            for path in below(folder):
                os.chown(path, ORDINARY_USER, ORDINARY_USER)
        for home in homes:
            for path in below(home.dataset):
                path.chmod(0o500 if path.is_dir() else 0o400)
        process = child(DRIVER, ORDINARY_USER, warm.folder, *(home.folder for home in homes))
        output, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
        return json.loads(output)

    yield ask
    for home in homes:
        for path in below(home.dataset):
            path.chmod(0o700)


def test_only_writing_is_refused_where_a_dataset_may_not_be_written(make_home, told):
    edited, unchanged, empty = make_home("edited"), make_home("unchanged"), make_home("empty")
    for home in (edited, unchanged, empty):
        home.write("whale.md", "# Whales", "The blue whale sings.")
        home.write("wolf.md", "# Wolves", "A grey wolf runs.")
    edited.build()
    unchanged.build()
    edited.write("whale.md", "# Whales", "The blue whale eats krill.")
    empty.dataset.mkdir(parents=True)
    before = sorted(below(edited.dataset))

    said, said_of_unchanged, said_of_empty = told(edited, unchanged, empty)
    assert sorted(below(edited.dataset)) == before
    code, message, hint = said["build"]
    assert code == "dataset-read-only"
    assert str(edited.dataset) in message and "may not be written by this user" in message
    assert "Make the folder writable" in hint
    assert said["collect"][0] == "dataset-read-only"
    # No check is fatal, so there is nothing to repair and nothing is written.
    assert said["doctor"] == []
    assert said["repair"] is True
    assert said["lexical"] == ["# Whales\n\nThe blue whale sings.\n"]
    assert len(said["dense"]) == 1 and said["status"] == said["export"] == 2
    assert "The file is changed since" in said["why"]

    assert said_of_unchanged["build"] == 0, "with nothing to do no permission is needed"
    code, message, _ = said_of_empty["build"]
    assert code == "dataset-read-only" and str(empty.dataset) in message
    assert said_of_empty["lexical"][0] == "dataset-missing"
