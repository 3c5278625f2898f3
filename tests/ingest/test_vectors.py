"""The vector step: what it asks, what it keeps when it ends early, and with which threads it runs."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.core.errors import UsageError
from hermes_lance.ingest import vectors
from hermes_lance.ingest.crew import Crew
from hermes_lance.models.hashing import HashEmbedder
from hermes_lance.store.tables import Tables
from hermes_lance.testing import contents_of


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Nine files of one passage each, the hashing embedder, and batches of two rows."""
    monkeypatch.setattr(vectors, "ROWS_IN_A_BATCH", 2)
    (tmp_path / "config.yaml").write_text("knowledgebase: {embedders: {active: builtin_hash}}\n")
    (tmp_path / "workspace").mkdir()
    for number in range(9):
        (tmp_path / "workspace" / f"{number}.txt").write_text(f"The whale of file {number}.\n")
    return tmp_path


def with_embedder(home, embedder):
    library = hermes_lance.open(home)
    library._embedder = embedder
    return library


class Shared(HashEmbedder):
    """Says that threads may share it, and notes each call: thread, its nice value, texts."""

    threads = 2

    def __init__(self):
        super().__init__()
        self.calls = []

    def embed_documents(self, texts, *, cancelled=None):
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        self.calls.append((threading.get_native_id(), nice, list(texts)))
        return super().embed_documents(texts, cancelled=cancelled)


def test_the_first_fill_of_a_table_asks_it_nothing(home, monkeypatch):
    asked = []
    real = Tables.vectors_for

    def noted(self, name, keys):
        asked.extend(keys)
        return real(self, name, keys)

    monkeypatch.setattr(Tables, "vectors_for", noted)
    hermes_lance.open(home).index()
    assert asked == []
    (home / "workspace" / "late.txt").write_text("A late whale.\n")
    hermes_lance.open(home).index()
    assert len(asked) == 1


def test_each_string_is_embedded_once_however_far_apart_its_rows_are(home, monkeypatch):
    monkeypatch.setattr(vectors, "SECONDS_BETWEEN_PUBLICATIONS", -1.0)
    monkeypatch.setattr(vectors, "BATCHES_AHEAD", 1)
    for number in (0, 4, 8):
        (home / "workspace" / f"{number}.txt").write_text("The same words everywhere.\n")
    model = Shared()
    library = with_embedder(home, model)
    report = library.index()
    texts = [text for _, _, given in model.calls for text in given]
    assert len(texts) == len(set(texts)) == report.vectors_written == 7
    assert library.manifest().totals["vectors_pending"] == 0
    assert len(contents_of(library.dataset).vectors) == 9


def test_an_error_of_the_embedder_ends_the_run_with_everything_finished_published(home):
    class Breaks(Shared):
        threads = 1

        def embed_documents(self, texts, *, cancelled=None):
            if any("file 6" in text for text in texts):
                raise OSError("the model is gone")
            return super().embed_documents(texts, cancelled=cancelled)

    library = with_embedder(home, Breaks())
    with pytest.raises(OSError, match="the model is gone"):
        library.index()
    assert library.manifest().totals["vectors_pending"] == 3
    model = Shared()
    assert with_embedder(home, model).index().vectors_written == 3
    assert len(hermes_lance.open(home).search("whale", mode="dense", limit=20)) == 9


def test_a_spent_time_budget_embeds_nothing_and_the_next_run_goes_on(home):
    library = hermes_lance.open(home)
    assert library.index(time_budget=0.0).vectors_written == 0
    assert len(library.search("whale", mode="lexical", limit=20)) == 9
    assert library.index().vectors_written == 9


def test_what_has_begun_when_the_time_is_over_is_finished_and_kept(home, monkeypatch):
    over, dropped = threading.Event(), threading.Event()
    real = Crew.drop_what_is_not_begun

    def drop(self):
        real(self)
        dropped.set()

    monkeypatch.setattr(vectors.Step, "over", lambda self: over.is_set())
    monkeypatch.setattr(Crew, "drop_what_is_not_begun", drop)

    class Late(Shared):
        threads = 1

        def embed_documents(self, texts, *, cancelled=None):
            if any("file 2" in text for text in texts):
                over.set()
            elif over.is_set():
                dropped.wait(20)
            return super().embed_documents(texts, cancelled=cancelled)

    library = with_embedder(home, Late())
    written = library.index().vectors_written
    assert written in (4, 6), "the batch at hand, and the next one if it has begun"
    assert library.manifest().totals["vectors_pending"] == 9 - written


@pytest.mark.parametrize(("options", "threads"), [({"workers": 2}, 2), ({"workers": 1}, 1), ({"background": True}, 1)])
def test_so_many_threads_embed_as_were_asked_for(home, options, threads, monkeypatch):
    model = Shared()
    together = threading.Barrier(threads)
    real = model.embed_documents
    met = threading.local()

    def embed(texts, *, cancelled=None):
        if not hasattr(met, "once"):
            met.once = True
            together.wait(20)
        return real(texts, cancelled=cancelled)

    monkeypatch.setattr(model, "embed_documents", embed)
    with_embedder(home, model).index(**options)
    assert len({thread for thread, _, _ in model.calls}) == threads


def test_no_worker_at_all_is_refused(home):
    with pytest.raises(UsageError, match="workers is 0"):
        hermes_lance.open(home).index(workers=0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a nice value for each thread")
def test_a_build_in_the_background_has_the_lowest_priority_in_every_thread_of_its_own_and_leaves_the_caller_alone(home):
    before = os.getpriority(os.PRIO_PROCESS, 0)
    here = threading.get_native_id()
    others = set(os.listdir("/proc/self/task"))
    seen: dict[str, set[int]] = {}

    def nice_of_threads(stage, *_):
        for task in set(os.listdir("/proc/self/task")) - others:
            try:
                name = Path(f"/proc/self/task/{task}/comm").read_text()
                nice = os.getpriority(os.PRIO_PROCESS, int(task))
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended between the list and the question
            if not name.startswith("lance"):  # Lance's runtime is the whole process's: whoever was first started it
                seen.setdefault(stage, set()).add(nice)
        assert os.getpriority(os.PRIO_PROCESS, here) == before
        assert threading.get_native_id() != here

    model = Shared()
    report = with_embedder(home, model).index(background=True, progress=nice_of_threads)
    assert {"read", "embed"} <= seen.keys() and all(values == {19} for values in seen.values())
    assert {nice for _, nice, _ in model.calls} == {19} or before >= 19
    assert os.getpriority(os.PRIO_PROCESS, here) == before
    assert report.vectors_written == 9 and not [one for one in report.warnings if "priority" in one]
    model.calls.clear()
    (home / "workspace" / "late.txt").write_text("A late whale.\n")
    with_embedder(home, model).index()
    assert {nice for _, nice, _ in model.calls} == {before}
