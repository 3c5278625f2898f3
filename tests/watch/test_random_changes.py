"""Whatever is done to the files while they are watched, the dataset ends like a fresh build of the same tree."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hermes_lance.ingest import inbox
from hermes_lance.ingest import watch as watching
from hermes_lance.store import manifest as manifests
from tests.watch.conftest import until

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

saves: Any = pytest.importorskip("bench_lib.saves", reason="the scripts are not beside the tests")
watch_table: Any = pytest.importorskip("bench_lib.watch_table")


def filled(home) -> None:
    for number in range(40):
        text = "".join(f"Line {line} of file {number}, which is about the sea.\n" for line in range(40))
        home.write(f"part {number % 5}/section {number % 2}/file {number}.txt", f"# {number}\n\n{text}")


def unmoved(home) -> bool:
    """Nothing has been published for longer than anything is delayed."""
    before = manifests.current_id(home.dataset)
    time.sleep(2.0)
    return manifests.current_id(home.dataset) == before


@pytest.mark.parametrize("looks", [False, True], ids=["by events alone", "with looks"])
def test_random_changes_end_like_a_fresh_build(make_watched, fresh, monkeypatch, looks):
    home = make_watched(more="  watch_interval_seconds: 0.2\n")
    filled(home)
    monkeypatch.setattr(watching, "QUIET_SECONDS", 0.3 if looks else 10_000.0)
    monkeypatch.setattr(watching, "LONGEST_UNQUIET_SECONDS", 1.0 if looks else 10_000.0)
    monkeypatch.setattr(inbox, "LATE_SECONDS", 0.5)
    home.start()
    person = saves.Person(home.workspace, seed=3 + looks)
    kinds = set()
    for number, change in enumerate(person.changes(60)):
        kinds.add(change.kind)
        if number % 6 == 5:
            time.sleep(person.random.random() * 0.2)
        if change.edit is not None and number % 20 == 19:
            home.until_found(change.edit.sentence, change.edit.path.relative_to(home.workspace).as_posix())
    assert len(kinds) >= 6
    until(lambda: unmoved(home), "the end of all work")
    home.stop()
    assert home.contents() == fresh(home)


def test_the_share_of_saves_that_are_found_soon_counts_the_slow_ones():
    values = [float(number) for number in range(1, 101)]
    assert [watch_table.share(values, part) for part in (0.5, 0.95, 1.0)] == [50.0, 95.0, 100.0]
    assert watch_table.share([3.0], 0.95) == 3.0
