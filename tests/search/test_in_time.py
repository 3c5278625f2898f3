"""Calls that may hang: waited for so long and no longer, and never two of them at a time."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from hermes_lance.core.errors import ModelUnavailable
from hermes_lance.search.in_time import Calls, Punctual, StillAtWork, TooLate
from hermes_lance.testing import WordCountEmbedder


def test_what_comes_in_time_is_given_and_what_it_raises_is_raised() -> None:
    calls = Calls()
    assert calls.within(20, lambda: 7, "x") == 7
    with pytest.raises(ZeroDivisionError):
        calls.within(20, lambda: 1 // 0, "x")


def test_what_would_end_the_process_ends_the_call_alone() -> None:
    def leave() -> None:
        raise SystemExit(3)

    with pytest.raises(RuntimeError, match="SystemExit"):
        Calls().within(20, leave, "x")


def test_while_a_late_call_is_at_work_none_is_begun_and_afterwards_again() -> None:
    calls, goes_on = Calls(), threading.Event()
    with pytest.raises(TooLate):
        calls.within(0.01, lambda: goes_on.wait(20), "x")
    with pytest.raises(StillAtWork):
        calls.within(20, lambda: pytest.fail("begun"), "x")
    goes_on.set()
    end = time.monotonic() + 20
    while True:
        try:
            assert calls.within(20, lambda: 7, "x") == 7
            return
        except StillAtWork:
            assert time.monotonic() < end


def test_an_embedder_that_is_too_late_says_so_and_what_gives_it_more_time() -> None:
    goes_on = threading.Event()

    class Slow(WordCountEmbedder):
        def embed_query(self, text: str):
            goes_on.wait(20)
            return super().embed_query(text)

    slow = Punctual(Slow(), time.monotonic() + 0.01, Calls())
    with pytest.raises(ModelUnavailable, match="not done in time") as caught:
        slow.embed_query("tea")
    assert "max_wait_ms" in caught.value.hint
    goes_on.set()
    quick = Punctual(WordCountEmbedder(), time.monotonic() + 20, Calls())
    assert np.array_equal(quick.embed_query("tea"), WordCountEmbedder().embed_query("tea"))
    assert quick.dimensions == 64, "all else is the embedder's own"
