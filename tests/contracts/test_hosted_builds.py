"""A build and a question against a service that fails: the text is there, finished vectors are kept, the rest waits."""

from __future__ import annotations

import threading

import pytest

import hermes_lance
from hermes_lance.core.errors import Cancelled, ModelUnavailable
from hermes_lance.ingest import vectors
from hermes_lance.learn.known_items import KnownItem
from hermes_lance.learn.run_known_items import shares
from hermes_lance.models import hosted as hosted_module
from tests.contracts.conftest import KEYS, Reply, refusal, until


@pytest.fixture
def home(tmp_path, service, monkeypatch):
    """Twelve files of one passage each, four in a request, and one request at a time."""
    monkeypatch.setattr(vectors, "ROWS_IN_A_BATCH", 4)
    (tmp_path / "config.yaml").write_text(
        f"knowledgebase:\n  embedders:\n    active: {service.name}\n    {service.name}:\n"
        f"      base_url: {service.url}\n      requests_at_once: 1\n      retries: 0\n      query_timeout: 2\n"
    )
    (tmp_path / "workspace").mkdir()
    for number in range(12):
        (tmp_path / "workspace" / f"{number:02}.txt").write_text(f"The whale of file number{number} sings.\n")
    return tmp_path


FAULTS = {
    "401": lambda name: Reply(401, refusal(name, 401, "Incorrect API key")),
    "429": lambda name: Reply(429, refusal(name, 429, "slow down"), {"Retry-After": "86400"}),
    "500": lambda name: Reply(500, refusal(name, 500, "oops")),
    "time-out": lambda name: Reply(hold=30),
    "another width": lambda name: Reply(change=lambda found: [vector[:8] for vector in found]),
    "half a batch": lambda name: Reply(change=lambda found: found[:2]),
    "not JSON": lambda name: Reply(body="<html>log in</html>"),
    "hangs up": lambda name: Reply(hang_up=True),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_build_that_fails_half_way_loses_nothing_and_the_next_one_goes_on(home, service, fault):
    if fault == "time-out":
        with (home / "config.yaml").open("a") as file:
            file.write("      timeout: 2\n")
    service.replies += [Reply(), FAULTS[fault](service.name)]
    service.always = FAULTS[fault](service.name)
    with pytest.raises(ModelUnavailable) as caught:
        hermes_lance.open(home).index()
    assert "4 of 12 passages are embedded and kept" in str(caught.value) and caught.value.hint
    library = hermes_lance.open(home)
    assert len(library.search("whale", mode="lexical", limit=50).hits) == 12
    first = set(service.sent[0].texts)

    service.always = None
    service.replies.clear()
    service.sent.clear()
    report = library.index()
    assert report.vectors_written == 8 and report.vectors_pending == 0
    again = service.texts
    assert len(again) == 8 and not first & set(again), "what was finished is not sent again"
    assert len(library.search("whale", mode="dense", limit=50).hits) == 12


@pytest.mark.parametrize("fault", [*FAULTS, "offline"])
def test_a_question_is_answered_by_its_words_when_the_service_fails(home, service, fault):
    library = hermes_lance.open(home)
    library.index()
    if fault == "offline":
        service.close()
    else:
        service.always = FAULTS["another width" if fault == "half a batch" else fault](service.name)
    answer = library.search("whale number7")
    assert answer.hits[0].path == "07.txt"
    assert [one for one in answer.warnings if "only words were compared" in one and service.name in one]
    service.always = None
    if fault != "offline":
        assert not library.search("whale number7").warnings


def test_a_slow_service_keeps_a_question_no_longer_than_it_may(home, service):
    library = hermes_lance.open(home)
    library.index()
    service.always = Reply(hold=60)
    answer = library.search("whale number7")
    assert "no answer within" in " ".join(answer.warnings) and answer.hits


def test_after_a_question_that_took_too_long_the_next_ones_do_not_wait(home, service, monkeypatch):
    monkeypatch.setattr(hosted_module, "REST_SECONDS", 3600.0)
    library = hermes_lance.open(home)
    library.index()
    service.always = Reply(hold=60)
    assert "no answer within" in " ".join(library.search("whale number7").warnings)
    answer = library.search("whale number8")
    assert answer.hits[0].path == "08.txt" and "did not answer in time a moment ago" in " ".join(answer.warnings)
    assert not [text for text in service.texts[12:] if "number8" in text], "it was not sent"


def test_a_question_that_was_asked_before_is_not_sent_again(home, service):
    library = hermes_lance.open(home)
    library.index()
    service.sent.clear()
    pages = [library.search("whale", limit=3, offset=offset).hits for offset in (0, 3, 6)]
    assert len(service.sent) == 1 and len({hit.path for page in pages for hit in page}) == 9


def test_without_a_key_the_first_build_takes_the_default_embedder_and_says_so(home, service, monkeypatch):
    text = (home / "config.yaml").read_text().replace(f"      base_url: {service.url}\n", "")
    (home / "config.yaml").write_text(text)
    monkeypatch.delenv(KEYS[service.name])
    report = hermes_lance.open(home).index()
    assert report.vectors_written == 12 and not service.sent
    assert [one for one in report.warnings if KEYS[service.name] in one and "minilm is used instead" in one]


def test_requests_side_by_side_of_which_one_fails_lose_nothing_that_was_answered(home, service):
    text = (home / "config.yaml").read_text().replace("requests_at_once: 1", "requests_at_once: 3")
    (home / "config.yaml").write_text(text)
    service.replies += [Reply(), Reply(401, refusal(service.name, 401, "no")), Reply(hold=0.3)]
    library = hermes_lance.open(home)
    with pytest.raises(ModelUnavailable, match=r"\d+ of 12 passages are embedded"):
        library.index()
    kept = 12 - library.manifest().totals["vectors_pending"]
    service.replies.clear()
    service.sent.clear()
    assert library.index().vectors_written == 12 - kept == len(service.texts)


def test_an_evaluation_is_ended_and_does_not_count_answers_of_words_alone(home, service):
    library = hermes_lance.open(home)
    library.index()
    items = [KnownItem("name", "number7", ("07.txt",))]
    assert shares(items, library, mode="hybrid")["name@1"] == 1.0
    items = [KnownItem("name", "number8", ("08.txt",))]
    service.always = Reply(500, refusal(service.name, 500, "oops"))
    with pytest.raises(ModelUnavailable, match=r"the evaluation was ended.*oops"):
        shares(items, library, mode="hybrid")


def test_a_question_by_meaning_alone_has_no_words_to_fall_back_to(home, service):
    library = hermes_lance.open(home)
    library.index()
    service.always = Reply(500, refusal(service.name, 500, "oops"))
    with pytest.raises(ModelUnavailable):
        library.search("whale", mode="dense")


def test_without_its_key_vectors_that_are_there_wait_and_words_answer(home, service, monkeypatch):
    hermes_lance.open(home).index()
    text = (home / "config.yaml").read_text().replace(f"      base_url: {service.url}\n", "")
    (home / "config.yaml").write_text(text)
    monkeypatch.delenv(KEYS[service.name])
    (home / "workspace" / "new.txt").write_text("A new whale.\n")
    library = hermes_lance.open(home)
    report = library.index()
    assert report.vectors_written == 0 and report.vectors_pending == 1
    assert [one for one in report.warnings if KEYS[service.name] in one]
    answer = library.search("whale", limit=50)
    assert len(answer.hits) == 13 and [one for one in answer.warnings if KEYS[service.name] in one]


def test_ctrl_c_ends_a_build_that_waits_for_the_service(home, service):
    service.replies += [Reply()]
    service.always = Reply(hold=60)
    stop = threading.Event()
    found: list[BaseException] = []

    def work() -> None:
        try:
            hermes_lance.open(home).index(cancelled=stop.is_set)
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: len(service.sent) >= 2)
    stop.set()
    thread.join(20)
    assert [type(one) for one in found] == [Cancelled] and "4 of 12" in str(found[0])


def test_requests_of_a_build_run_side_by_side_and_are_full(tmp_path, service, monkeypatch):
    monkeypatch.setattr(vectors, "ROWS_IN_A_BATCH", 4)
    (tmp_path / "config.yaml").write_text(
        f"knowledgebase:\n  embedders:\n    active: {service.name}\n"
        f"    {service.name}: {{base_url: '{service.url}', requests_at_once: 3}}\n"
    )
    (tmp_path / "workspace").mkdir()
    for number in range(24):
        (tmp_path / "workspace" / f"{number:02}.txt").write_text(f"The whale of file number{number} sings.\n")
    service.always = Reply(hold=0.3)
    assert hermes_lance.open(tmp_path).index().vectors_written == 24
    assert [len(one.texts) for one in service.sent] == [4] * 6
    assert service.most_at_once == 3
