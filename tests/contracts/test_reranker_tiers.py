"""What every reranker tier promises, whether it computes here or asks a service."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hermes_lance
from hermes_lance import testing
from hermes_lance.core import plugins
from hermes_lance.core.contracts import Reranker
from hermes_lance.core.records import Candidate
from tests.contracts.conftest import SECRET
from tests.contracts.rerank_service import VARIABLES, RerankService
from tests.models.tiny_cross_encoder import make_cross_encoder

VOYAGE = pytest.param("voyage", marks=pytest.mark.voyage)
TIERS = ["heuristic", pytest.param("local_cross_encoder", marks=pytest.mark.torch), "cohere", VOYAGE]
QUESTION = "where does the dog sleep"
TEXTS = [
    "The bridge is closed.",
    "The dog has a place to sleep.",
    "A car needs fuel.",
    "Überall Brücken, 港口, привет.",
]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    made: list[Path] = []

    def folder() -> Path:
        made[1:] = made or [make_cross_encoder(tmp_path_factory.mktemp("models") / "tiny")]
        return made[0]

    return folder


@pytest.fixture(params=TIERS)
def options(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, weights: Callable[[], Path]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and options of each tier."""
    name = request.param
    if name in VARIABLES:
        monkeypatch.setenv(VARIABLES[name][0], SECRET)
        service = RerankService(name)
        yield name, {"base_url": service.url}
        service.close()
    elif name == "local_cross_encoder":
        yield name, {"model": str(weights()), "device": "cpu"}
    else:
        yield name, {}


@pytest.fixture
def tier(options: tuple[str, dict[str, Any]]) -> Any:
    return plugins.make("rerankers", *options)


def given(*texts: str) -> list[Candidate]:
    return [Candidate(text, f"notes/{at}.md", ("Notes",), 1.0, 0.5, 1.0) for at, text in enumerate(texts)]


def scores(tier: Any, *texts: str, question: str = QUESTION) -> list[float | None]:
    return list(tier.scores(question, given(*texts), timeout=60))


def test_it_keeps_the_promises_that_plugins_are_held_to(tier, options):
    testing.check_reranker(tier)
    assert tier.timeout_seconds == 30
    assert isinstance(tier, Reranker) and tier.name == options[0]
    assert tier.signature().isprintable() and "/" in tier.signature()
    assert getattr(tier, "sends_to", None) is None, "this machine is nobody else"


def test_a_score_for_each_passage_in_their_order_whatever_the_company(tier):
    together = scores(tier, *TEXTS)
    assert all(isinstance(score, float) for score in together)
    assert scores(tier, *TEXTS[::-1])[::-1] == pytest.approx(together, abs=1e-5)
    assert [scores(tier, text)[0] for text in TEXTS] == pytest.approx(together, abs=1e-5)


def test_the_passage_that_answers_has_the_best_score_where_a_tier_can_judge(tier, options):
    if options[0] == "local_cross_encoder":
        pytest.skip("its weights are random")
    found = scores(tier, *TEXTS)
    assert found.index(max(score for score in found if score is not None)) == 1


@pytest.mark.parametrize(
    "odd", ["", " \n", "\ud800 half", "nul \x00 inside", "🦄" * 50, "x" * 200_000, "a\u202eb\ufeff"]
)
def test_no_text_is_too_odd_or_too_long(tier, odd):
    found = scores(tier, odd, TEXTS[1])
    assert len(found) == 2 and found[1] is not None
    assert len(scores(tier, TEXTS[0], TEXTS[1], question=f"dog {odd}")) == 2


def test_two_of_one_kind_agree(tier, options):
    other = plugins.make("rerankers", *options)
    assert other.signature() == tier.signature()
    assert scores(other, *TEXTS) == pytest.approx(scores(tier, *TEXTS), abs=1e-6)


def test_threads_that_share_it_get_what_one_alone_would(tier):
    texts = [f"passage number {number} about {word}" for number, word in enumerate(["tea", "dogs", "rain"] * 4)]
    expected = scores(tier, *texts)
    found: dict[int, Any] = {}

    def work(number: int) -> None:
        found[number] = scores(tier, *texts[number::3])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(3):
        assert found[number] == pytest.approx(expected[number::3], abs=1e-5)


def test_a_home_is_asked_with_it(tmp_path, options):
    name, how = options
    (tmp_path / "workspace").mkdir()
    for number, text in enumerate(TEXTS):
        (tmp_path / "workspace" / f"note{number}.md").write_text(f"# Note {number}\n\n{text}\n")
    lines = "".join(f"      {key}: {value}\n" for key, value in how.items())
    (tmp_path / "config.yaml").write_text(
        f"knowledgebase:\n  retrieval_mode: always\n  embedders: {{active: builtin_hash}}\n"
        f"  rerankers:\n    active: {name}\n" + (f"    {name}:\n{lines}" if lines else "")
    )
    library = hermes_lance.open(tmp_path)
    library.index()
    answer = library.search(QUESTION)
    assert not answer.warnings and len(answer) == 4
    found = [score for hit in answer if (score := hit.scores["rerank"]) is not None]
    assert len(found) == 4 and found == sorted(found, reverse=True)
    if name != "local_cross_encoder":
        assert answer.hits[0].path == "note1.md"
    turn = library.context(QUESTION)
    assert turn.injected and not turn.warnings
    assert [one.detail["by"] for one in turn.trace if one.stage == "rerank"] == [name]
    assert not library.status()["warnings"] and all(check.ok for check in library.doctor())
