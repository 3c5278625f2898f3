"""Threads that embed."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from hermes_lance.core.errors import Cancelled
from hermes_lance.ingest import crew
from hermes_lance.ingest.crew import Crew, threads_for


class Lengths:
    """The vector of a text is its length, twice. Notes who called with what."""

    name = "lengths"
    dimensions = 2
    window_tokens = 512
    scripts: frozenset[str] = frozenset()
    fusion_weight = 0.5
    threads: int
    requests_at_once: int
    """Set by some tests; the others have an embedder that names neither."""

    def __init__(self):
        self.calls = []
        self.together = threading.Barrier(2)

    def embed_documents(self, texts, *, cancelled=None):
        self.calls.append((threading.current_thread().name, list(texts)))
        if "meet" in texts:
            self.together.wait(20)
        if "fail" in texts:
            raise OSError("broken")
        if "short" in texts:
            return np.zeros((1, 1), dtype=np.float32)
        if "until asked" in texts:
            while not cancelled():
                pass
            raise Cancelled("asked")
        return np.array([[len(text)] * 2 for text in texts], dtype=np.float32).reshape(-1, 2)

    def signature(self):
        return "lengths/1"

    def embed_query(self, text):
        return self.embed_documents([text])[0]

    def count_tokens(self, texts):
        return [len(text.split()) for text in texts]


def never():
    return False


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_each_job_gets_the_vectors_of_its_strings_in_their_order(workers):
    jobs = [["a", "bbb"], [], ["cc"], ["dddd"] * 9]
    with Crew(Lengths(), workers, never) as hands:
        queued = [hands.put(strings) for strings in jobs]
        results = [hands.result(job) for job in queued]
    assert [result[:, 0].tolist() for result in results] == [[len(text) for text in job] for job in jobs]
    assert all(result.dtype == np.float16 and result.shape[1] == 2 for result in results)


def test_one_thread_is_given_whole_jobs_and_several_work_at_the_same_time_on_one():
    model = Lengths()
    with Crew(model, 1, never) as hands:
        hands.result(hands.put(["a", "b"]))
    assert [texts for _, texts in model.calls] == [["a", "b"]]
    model.calls.clear()
    with Crew(model, 2, never) as hands:
        hands.result(hands.put(["meet", "meet"]))
    assert [texts for _, texts in model.calls] == [["meet"], ["meet"]]
    assert len({name for name, _ in model.calls}) == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_embedder_is_raised_where_its_job_is_asked_for(workers):
    with Crew(Lengths(), workers, never) as hands:
        first, second = hands.put(["fine"]), hands.put(["fail"])
        third = hands.put(["never reached"] * 50)
        assert hands.result(first)[0, 0] == 4
        with pytest.raises(OSError, match="broken"):
            hands.result(second)
        with pytest.raises(OSError, match="broken"):
            hands.result(third)


def test_vectors_of_another_shape_are_an_error_and_not_spread_over_the_job():
    with Crew(Lengths(), 1, never) as hands, pytest.raises(ValueError, match="lengths"):
        hands.result(hands.put(["short", "b"]))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_request_to_stop_is_heard_inside_a_job(workers):
    asked = threading.Event()
    with Crew(Lengths(), workers, asked.is_set) as hands:
        job = hands.put(["until asked"] * 3)
        asked.set()
        with pytest.raises(Cancelled):
            hands.result(job)
        assert not job.complete


def test_the_end_of_the_block_ends_the_threads_whatever_was_queued():
    with pytest.raises(KeyboardInterrupt), Crew(Lengths(), 2, never) as hands:
        hands.put(["until asked", "until asked"])
        raise KeyboardInterrupt
    assert not [one for one in threading.enumerate() if one.name.startswith("hermes-lance-embed")]


def test_jobs_that_nobody_has_begun_can_be_dropped():
    release = threading.Event()

    class Slow(Lengths):
        def embed_documents(self, texts, *, cancelled=None):
            release.wait(20)
            return super().embed_documents(texts)

    with Crew(Slow(), 1, never) as hands:
        begun, dropped = hands.put(["a"]), hands.put(["b"])
        while not begun.begun:
            pass
        hands.drop_what_is_not_begun()
        release.set()
        assert hands.result(begun)[0, 0] == 1
        assert not dropped.begun


@pytest.mark.parametrize(
    ("named", "wanted", "cores", "threads"),
    [(None, None, 8, 1), (None, 4, 8, 1), (2, None, 8, 2), (2, None, 1, 1), (2, 4, 1, 4), (2, 1, 8, 1)],
)
def test_threads_are_those_asked_for_or_named_by_an_embedder_that_can_be_shared(
    monkeypatch, named, wanted, cores, threads
):
    monkeypatch.setattr(crew, "usable_cores", lambda: cores)
    model = Lengths()
    if named is not None:
        model.threads = named
    assert threads_for(model, wanted) == threads


@pytest.mark.parametrize(("named", "wanted", "threads"), [(4, None, 4), (4, 2, 2), (4, 9, 4), (1, None, 1)])
def test_one_behind_a_service_is_asked_from_as_many_threads_as_it_names_whatever_the_cores(
    monkeypatch, named, wanted, threads
):
    monkeypatch.setattr(crew, "usable_cores", lambda: 1)
    model = Lengths()
    model.requests_at_once = named
    assert threads_for(model, wanted) == threads


def test_threads_that_wait_for_a_service_are_given_whole_jobs():
    model = Lengths()
    model.requests_at_once = 2
    with Crew(model, 2, never) as hands:
        hands.result(hands.put(["a", "bb", "ccc"]))
    assert [len(texts) for _, texts in model.calls] == [3]
