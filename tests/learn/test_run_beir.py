"""A judged set is asked in modes that name fusion and reranker, and a failure is never taken for a measurement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.core.errors import ModelUnavailable
from hermes_lance.learn import beir, run_beir


@pytest.fixture
def judged(tmp_path: Path) -> beir.JudgedSet:
    folder = tmp_path / "set"
    (folder / "qrels").mkdir(parents=True)
    texts = {
        "a": "the canary sings",
        "b": "a canary and a canary and a canary",
        "c": "back to the canary, roll it back",
    }
    corpus = [json.dumps({"_id": id, "title": "", "text": text}) for id, text in texts.items()]
    (folder / "corpus.jsonl").write_text("\n".join(corpus) + "\n")
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "roll canary back"}) + "\n")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tc\t1\n")
    return beir.read(folder)


def opened(documents: Path) -> hermes_lance.library.Library:
    home = documents.parent / "home"
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text(
        f"workspace:\n  path: {documents}\nknowledgebase:\n  embedders: {{active: builtin_hash}}\n"
    )
    return hermes_lance.open(home)


def test_a_mode_names_its_reranker_and_is_compared_with_itself_without(judged, tmp_path):
    found = run_beir.run(judged, opened, tmp_path / "work", modes=["hybrid", "hybrid:rrf", "hybrid+heuristic"])
    assert set(found.metrics) == {"hybrid", "hybrid:rrf", "hybrid+heuristic"}
    assert found.metrics["hybrid+heuristic"]["hit@1"] == 1
    assert list(found.reranked) == ["hybrid+heuristic"]
    expected = found.metrics["hybrid+heuristic"]["ndcg@10"] - found.metrics["hybrid"]["ndcg@10"]
    assert found.reranked["hybrid+heuristic"].difference == pytest.approx(expected)


def test_a_reranker_that_cannot_be_had_ends_the_evaluation(judged, tmp_path, monkeypatch):
    for variable in ("COHERE_API_KEY", "CO_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ModelUnavailable, match="COHERE_API_KEY"):
        run_beir.run(judged, opened, tmp_path / "work", modes=["hybrid+cohere"])
