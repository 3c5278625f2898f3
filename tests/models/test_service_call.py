"""Waiting for a service: how long, how often, and for whom."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest

from hermes_lance.core.errors import Cancelled, ModelUnavailable
from hermes_lance.models import service_call
from hermes_lance.models.service_call import Failure, Patience, Service, told_wait


@pytest.fixture
def slept(monkeypatch):
    """A clock that only sleeping moves."""
    now = [1000.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(service_call, "time", clock)
    return lambda: now[0] - 1000.0


@pytest.fixture
def unspread(monkeypatch):
    """Waits are as long as they can be. The list: between what bounds they were to be spread."""
    bounds: list[tuple[float, float]] = []

    def longest(low: float, high: float) -> float:
        bounds.append((low, high))
        return high

    monkeypatch.setattr(service_call, "random", SimpleNamespace(uniform=longest))
    return bounds


def failing(*failures):
    """A request that fails in these ways, one after the other, and then answers."""
    left = list(failures)

    def request(seconds):
        if left:
            raise left.pop(0)
        return "answer"

    return request


def busy(wait=None):
    return Failure("busy", "wait", again=True, wait=wait, busy=True)


def test_waits_double_and_are_spread_so_that_threads_do_not_return_together(slept, unspread):
    fault = [Failure("fault", "later", again=True) for _ in range(4)]
    assert Service("s").ask(failing(*fault), Patience(60, 5)) == "answer"
    assert slept() == pytest.approx(0.5 + 1 + 2 + 4, abs=0.1)
    assert unspread == [(0.5, 1.0)] * 4


def test_a_busy_service_is_given_more_time_than_a_broken_one(slept, unspread):
    assert Service("s").ask(failing(busy(), busy()), Patience(60, 5)) == "answer"
    assert slept() == pytest.approx(2 + 4, abs=0.1)


def test_the_told_wait_is_kept_to_the_end_and_by_everybody(slept):
    service = Service("s")
    with pytest.raises(ModelUnavailable):
        service.ask(failing(busy(20.0)), Patience(60, 0))
    assert service.ask(failing(busy(20.0)), Patience(60, 1)) == "answer"
    assert slept() >= 20
    before = slept()
    service._not_before = 1000.0 + before + 7
    assert service.ask(failing(), Patience(60, 0)) == "answer"
    assert slept() - before >= 7


def test_tries_end_with_the_number_of_them_in_the_error(slept):
    with pytest.raises(ModelUnavailable, match=r"s: busy \(3 tries\)"):
        Service("s").ask(failing(*[busy()] * 9), Patience(60, 2))


def test_a_failure_that_will_not_pass_is_final(slept):
    with pytest.raises(ModelUnavailable, match=r"s: refused$"):
        Service("s").ask(failing(Failure("refused", "mend it")), Patience(60, 5))
    assert slept() == 0


def test_a_question_does_not_begin_a_wait_that_it_cannot_finish(slept):
    patience = Patience(5, 5, until=1000.0 + 5)
    with pytest.raises(ModelUnavailable, match="busy"):
        Service("s").ask(failing(busy(20.0)), patience)
    service = Service("s")
    service._not_before = 1000.0 + 20
    with pytest.raises(ModelUnavailable, match="patience"):
        service.ask(failing(), Patience(5, 5, until=1000.0 + 5))
    assert slept() == 0


def test_a_request_that_hangs_is_left_alone():
    release = threading.Event()
    with pytest.raises(ModelUnavailable, match=r"no answer within 0\.05 s"):
        Service("s").ask(lambda seconds: release.wait(30), Patience(0.05, 0))
    release.set()


def test_a_wish_to_stop_comes_before_the_first_request():
    asked: list[float] = []
    with pytest.raises(Cancelled):
        Service("s").ask(asked.append, Patience(60, 5, cancelled=lambda: True))
    assert asked == []


def test_waits_are_told_in_seconds_or_as_a_date():
    assert told_wait("17") == 17.0 and told_wait("0.5") == 0.5 and told_wait("-3") == 0.0
    assert told_wait(None) is told_wait("") is told_wait("soon") is None
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    wait = told_wait(date)
    assert wait is not None and 60 < wait <= 90
    assert told_wait("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
