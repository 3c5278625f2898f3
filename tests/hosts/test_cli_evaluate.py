"""`evaluate` and `bench`: figures from a dataset of their own, the home untouched."""

from __future__ import annotations

import json

import pytest

DOCUMENTS = {
    "tides": ("Tides", "High tide is at noon on Thursday, low tide follows six hours later."),
    "berths": ("Berths", "The harbour master hands out berths at the north quay."),
    "lamps": ("", "Lamps are lit at dusk by the keeper of the lighthouse."),
}
QUERIES = {"q1": "when is high tide", "q2": "who hands out berths", "q3": "nobody knows this"}
QRELS = {"q1": "tides", "q2": "berths"}


def judged(folder, lang=None):
    (folder / "qrels").mkdir(parents=True)
    meta = {"metadata": {"lang": lang}} if lang else {}
    (folder / "corpus.jsonl").write_text(
        "".join(
            json.dumps({"_id": key, "title": title, "text": text, **meta}) + "\n"
            for key, (title, text) in DOCUMENTS.items()
        ),
        encoding="utf-8",
    )
    (folder / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": key, "text": text, **meta}) + "\n" for key, text in QUERIES.items()),
        encoding="utf-8",
    )
    lines = ["query-id\tcorpus-id\tscore", *(f"{query}\t{document}\t1" for query, document in QRELS.items())]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path):
    top = tmp_path / "papers"
    top.mkdir()
    for key, (title, text) in DOCUMENTS.items():
        (top / f"{key}.md").write_text(f"# {title}\n\n{text}\n" + "More about it here.\n" * 70, encoding="utf-8")
    return top


def test_a_judged_set_gives_figures_for_each_mode(cli, home, tmp_path):
    place = judged(tmp_path / "small")
    document = cli("--home", home, "evaluate", "beir", place, "--json").json
    assert set(document) >= {"success", "dataset", "queries", "k", "metrics", "seconds"}
    assert (document["dataset"], document["queries"], document["k"]) == ("small", 2, 10)
    assert set(document["metrics"]) == {"lexical", "dense", "hybrid"}
    assert set(document["metrics"]["lexical"]) >= {"ndcg@10", "recall@10", "mrr@10", "hit@1"}
    assert document["metrics"]["lexical"]["hit@1"] == 1.0
    assert not (home / "knowledgebase").exists()


def test_one_mode_and_another_depth_can_be_asked_for(cli, home, tmp_path):
    place = judged(tmp_path / "small", lang="en")
    ending = cli("--home", home, "evaluate", "beir", place, "--mode", "lexical", "--k", "3")
    assert ending.status == 0
    assert "ndcg@3" in ending.out and "dense" not in ending.out


def test_a_folder_that_is_no_judged_set_is_an_error(cli, home, tmp_path):
    ending = cli("--home", home, "evaluate", "beir", tmp_path)
    assert ending.status == 33 and "corpus.jsonl" in ending.err
    assert cli("--home", home, "evaluate", "beir", tmp_path / "absent").status == 33


def test_known_items_are_found(cli, home, folder):
    document = cli("--home", home, "evaluate", "known-items", folder, "--mode", "lexical", "--json").json
    assert document["queries"] >= 3
    assert document["metrics"]["lexical"]["name@1"] == 1.0
    assert not (home / "knowledgebase").exists()


def test_bench_measures_index_and_queries(cli, home, folder):
    index = cli("--home", home, "bench", "index", folder, "--json").json
    assert (index["files"], index["chunks"] >= 3) == (3, True)
    assert all(index[step]["cpu_seconds"] >= 0 for step in ("build", "unchanged", "one_file"))
    assert index["size_bytes"] > 0
    assert set(index["floors"]) == {"walk_stat", "read_hash"}
    query = cli("--home", home, "bench", "query", folder, "--count", "3", "--json").json
    assert set(query["modes"]) == {"lexical", "hybrid"}
    assert all(found["cold_seconds"] > 0 and found["p50_ms"] > 0 for found in query["modes"].values())
    assert not (home / "knowledgebase").exists()


def test_bench_index_reads_well(cli, home, folder):
    out = cli("--home", home, "bench", "index", folder).out
    assert [line.split("  ")[0] for line in out.splitlines() if "  " in line][1:] == [
        "build", "unchanged", "one new file", "floor: walk + stat", "floor: read + hash",
    ]  # fmt: skip
    assert "3 files" in " ".join(out.split())


def test_a_bench_shows_medians():
    from hermes_lance.hosts.cli.bench import median

    runs = [{"seconds": one, "cpu_seconds": 2 * one} for one in (0.3, 0.1, 0.9)]
    assert median(runs) == {"seconds": 0.3, "cpu_seconds": 0.6}
