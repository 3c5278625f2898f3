"""Questions while the embedder changes: every answer is of one space, right and without a warning, from the first one
before the change to the last one after the way back."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from hermes_lance import switching
from hermes_lance.core.config_file import resolve
from hermes_lance.ingest import vectors
from hermes_lance.library import Library

FILES = 24
TURNED = '''
"""The hashing embedder with its numbers in the other order: as wide, and wrong for questions of the other one."""

import numpy as np

from hermes_lance.models.hashing import HashEmbedder


class Turned:
    name = "turned"
    sends_to = None
    scripts = frozenset()
    fusion_weight = 1.0
    window_tokens = 1_000_000

    def __init__(self):
        self._inner = HashEmbedder(256)
        self.dimensions = 256

    def signature(self):
        return "turned/1"

    def embed_documents(self, texts, *, cancelled=None):
        return np.ascontiguousarray(self._inner.embed_documents(texts)[:, ::-1])

    def embed_query(self, text):
        return np.ascontiguousarray(self._inner.embed_query(text)[::-1])

    def count_tokens(self, texts):
        return self._inner.count_tokens(texts)
'''
CONFIG = (
    "workspace: {{path: {}}}\nknowledgebase: {{embedders: {{active: builtin_hash, builtin_hash: {{dims: 256}}}}}}\n"
)


def said(number: int) -> str:
    """Words that no other file has."""
    return " ".join(f"{word}{chr(97 + number)}" for word in ("whale", "pelican", "lantern"))


class Watched(Library):
    """Remembers what the last question was asked of, and with what."""

    view: Any = None
    model: Any = None

    def snapshot(self, generation=None):
        self.view = super().snapshot(generation)
        return self.view

    def query_embedder(self, snapshot):
        found = super().query_embedder(snapshot)
        self.model = found[0]() if found[0] is not None else None
        return found


@dataclass
class Asker(threading.Thread):
    """Asks without a pause, of a library that stays open and of one that is opened anew, by turns."""

    folder: Any
    wrong: list[str] = field(default_factory=list)
    spaces: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    answered: threading.Event = field(default_factory=threading.Event)

    __hash__ = threading.Thread.__hash__

    def __post_init__(self):
        super().__init__(daemon=True)

    def run(self):
        held, number = self.opened(), 0
        while not self.over.is_set():
            number = (number + 1) % FILES
            try:
                self.ask(held if number % 3 else self.opened(), number)
            except Exception as error:
                self.wrong.append(repr(error))
            self.answered.set()

    def opened(self):
        config = resolve(self.folder)
        return Watched(config, config.dataset)

    def ask(self, library, number):
        answer = library.search(said(number), mode="dense", limit=1)
        active, view, model = library.view.manifest.space["active"], library.view, library.model
        self.wrong += answer.warnings
        if [hit.path for hit in answer] != [f"{number}.txt"]:
            self.wrong.append(f"{number}.txt is not first by {active['embedder']}")
        widths = {segment.matrix.shape[1] for segment in view.vectors.segments}
        if model is None or model.signature() != active["signature"] or widths != {active["dimensions"]}:
            self.wrong.append(f"two spaces in generation {view.id}")
        self.spaces.append(active["embedder"])

    def wait_for_one_more(self, *_):
        self.answered.clear()
        assert self.answered.wait(30)


@pytest.fixture
def asker(home, monkeypatch):
    monkeypatch.setattr(vectors, "ROWS_IN_A_BATCH", 4)
    monkeypatch.setattr(vectors, "SECONDS_BETWEEN_PUBLICATIONS", -1.0)
    plugin = home.folder / "plugins" / "workspace" / "embedders" / "turned"
    plugin.mkdir(parents=True)
    (plugin / "__init__.py").write_text(TURNED, encoding="utf-8")
    (home.folder / "config.yaml").write_text(CONFIG.format(home.workspace), encoding="utf-8")
    for number in range(FILES):
        home.write(f"{number}.txt", said(number))
    home.build()
    asking = Asker(home.folder)
    asking.start()
    yield asking
    asking.over.set()
    asking.join(30)


def test_a_change_and_the_way_back_are_never_noticed_by_whoever_asks(home, asker, clean_build):
    asker.wait_for_one_more()
    there = switching.switch(home.library(), "turned", progress=asker.wait_for_one_more)
    assert there.switched and there.report and there.report.vectors_written == FILES
    asker.wait_for_one_more()
    asker.wait_for_one_more()
    back = switching.rollback(home.library(), progress=asker.wait_for_one_more)
    assert back.switched and back.report and back.report.vectors_written == 0
    asker.wait_for_one_more()
    asker.wait_for_one_more()
    assert asker.wrong == []
    assert set(asker.spaces) == {"builtin_hash", "turned"}
    assert [asker.spaces[0], asker.spaces[-1]] == ["builtin_hash", "builtin_hash"]
    assert home.contents() == clean_build(home)
    assert home.healthy()


def test_a_process_with_the_old_configuration_does_not_turn_it_back(home, asker):
    config = resolve(home.folder)
    old = Library(config, config.dataset)
    old.follows_file = True
    switching.switch(home.library(), "turned")
    home.write("late.txt", "a late whale")
    report = old.index()
    assert any("another embedder was configured meanwhile" in warning for warning in report.warnings)
    assert home.library().manifest().space["active"]["embedder"] == "turned"
    assert home.build().vectors_written == 1
    assert home.healthy()


def test_a_change_killed_in_the_middle_goes_on_with_the_next_build(home, asker, child):
    asker.over.set()
    plugin = home.folder / "plugins" / "workspace" / "embedders" / "turned" / "__init__.py"
    slow = TURNED.replace("        return np", "        time.sleep(0.3)\n        return np", 1)
    plugin.write_text(f"import time\n{slow}", encoding="utf-8")
    process = child(
        "import sys\n"
        "from hermes_lance.ingest import vectors\n"
        "vectors.ROWS_IN_A_BATCH, vectors.SECONDS_BETWEEN_PUBLICATIONS = 4, -1.0\n"
        "from hermes_lance.hosts.cli.main import run\n"
        "run(['--home', sys.argv[1], 'workspace', 'embedder', 'use', 'turned'])",
        home.folder,
    )
    for _ in range(600):
        space = home.library().manifest().space
        if space["building"] or process.poll() is not None:
            break
        time.sleep(0.05)
    process.kill()
    process.wait()
    shown = switching.spaces(home.library())
    assert shown["configured"]["embedder"] == "turned", "the configuration is written first"
    assert (shown["active"]["embedder"], shown["building"]["embedder"]) == ("builtin_hash", "turned")
    assert 0 < shown["building"]["vectors"] < shown["building"]["vectors_in_all"] == FILES
    assert home.library().search(said(3), mode="dense", limit=1).hits[0].path == "3.txt"
    plugin.write_text(TURNED, encoding="utf-8")
    assert 0 < home.build().vectors_written < FILES
    assert home.library().manifest().space["active"]["embedder"] == "turned"
    assert home.healthy()
