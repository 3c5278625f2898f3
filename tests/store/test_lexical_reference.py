"""Lexical search over judged sets, whole documents under neutral names: the floor that chunking must not lose."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hermes_lance.core.words import Analyser
from hermes_lance.store.lexical import LexicalReader
from hermes_lance.store.lexical_query import LexicalFilters
from hermes_lance.store.lexical_writer import LexicalWriter

ANALYSER = Analyser()
DATA = os.environ.get("HERMES_LANCE_REFERENCE_DATA")

pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(DATA is None, reason="HERMES_LANCE_REFERENCE_DATA is not set"),
]


def judged(name: str) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]], dict[str, dict[str, int]]]:
    folder = Path(str(DATA)) / "beir" / name
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    queries = {}
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        queries[query["_id"]] = query
    relevant: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query_id, document_id, score = line.split("\t")
        relevant[query_id][document_id] = int(score)
    return documents, queries, relevant


def indexed(folder: Path, documents: list[dict[str, Any]]) -> LexicalReader:
    with LexicalWriter(folder) as writer:
        for serial, document in enumerate(documents):
            title = document.get("title") or ""
            row = {
                "id": str(serial), "source_id": (document.get("metadata") or {}).get("lang", "any"),
                "root": "workspace", "path": f"d{serial}.md", "kind": "markdown", "media_type": "text/markdown",
                "section": [title] if title else [], "symbol": None, "ordinal": 0,
                "text": f"# {title}\n\n{document['text']}" if title else document["text"],
            }  # fmt: skip
            writer.add(SimpleNamespace(**row), serial)
        writer.commit()
    return LexicalReader(folder)


def ndcg(ranked: list[str], relevant: dict[str, int], depth: int = 10) -> float:
    gain = sum(relevant.get(item, 0) / math.log2(place + 2) for place, item in enumerate(ranked[:depth]))
    best = sorted(relevant.values(), reverse=True)[:depth]
    return gain / sum(score / math.log2(place + 2) for place, score in enumerate(best))


@pytest.mark.parametrize(
    ("name", "floor"),
    [
        ("product-docs", 0.77), ("semble-code", 0.70), ("tldr-commands", 0.58), ("cosqa", 0.39), ("pubmedqa", 0.97),
        ("mtrag-followup", 0.81), ("chunk-spans", 0.79),
    ],
)  # fmt: skip
def test_judged_questions_find_their_documents(tmp_path, name, floor):
    documents, queries, relevant = judged(name)
    reader = indexed(tmp_path / "index", documents)
    scores = []
    for key, right in relevant.items():
        hits = reader.search(ANALYSER.query(queries[key]["text"]), 10)
        scores.append(ndcg([documents[serial]["_id"] for serial, _ in hits], right))
    assert sum(scores) / len(scores) >= floor


def test_each_of_eight_languages_is_found(tmp_path):
    documents, queries, relevant = judged("xquad-multilingual")
    reader = indexed(tmp_path / "index", documents)
    found: dict[str, list[bool]] = defaultdict(list)
    for key, right in relevant.items():
        language = queries[key]["metadata"]["lang"]
        hits = reader.search(ANALYSER.query(queries[key]["text"]), 10, LexicalFilters(source_ids=[language]))
        found[language].append(any(documents[serial]["_id"] in right for serial, _ in hits))
    rates = {language: sum(hits) / len(hits) for language, hits in found.items()}
    assert len(rates) == 8 and min(rates.values()) >= 0.94, rates
