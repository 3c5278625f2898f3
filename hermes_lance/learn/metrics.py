"""How good rankings are: nDCG@k, Recall@k, MRR@k and Hit@k for each query, in Polars.

Graded judgements count with linear gain (a document of relevance 2 is worth 2, discounted by log2(rank + 1)), the
convention of trec_eval and BEIR, not the exponential one. Comparisons are paired over queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

RESAMPLES = 10_000
SEED = 20_240_229
LEVEL = 0.05
_BLOCK = 256
"""Resamples drawn at a time, so that memory stays small however many queries there are."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired comparison of two systems on the same queries."""

    difference: float
    """Mean of the first minus mean of the second."""
    p_value: float
    """Share of resamples in which the first is not below the second."""
    below: bool
    """True when the first is below the second beyond noise."""


def run_frame(rankings: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Rankings (query to documents, best first) as rows of query_id, doc_id, rank; ranks from 1."""
    import polars as pl

    rows = [(query, document, rank) for query, found in rankings.items() for rank, document in enumerate(found, 1)]
    schema = {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def qrels_frame(qrels: Mapping[str, Mapping[str, int]]) -> pl.DataFrame:
    """Judgements (query to document to relevance) as rows of query_id, doc_id, relevance."""
    import polars as pl

    rows = [(query, document, grade) for query, judged in qrels.items() for document, grade in judged.items()]
    schema = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def best_passages(run: pl.DataFrame) -> pl.DataFrame:
    """A ranking of passages as one of documents: each document stands where its best passage stood, ranks from 1."""
    import polars as pl

    best = run.group_by("query_id", "doc_id").agg(pl.col("rank").min())
    return best.with_columns(pl.col("rank").rank("ordinal").over("query_id").cast(pl.Int64)).sort("query_id", "rank")


def per_query(run: pl.DataFrame, qrels: pl.DataFrame, k: int = 10) -> pl.DataFrame:
    """One row for each query with a relevant document: query_id, ndcg, recall, mrr, hit, hit_1; all at `k`.

    A query for which nothing was found scores zero; queries without a relevant document are not scored.
    """
    import polars as pl

    gain, discount = pl.col("relevance"), (pl.col("rank") + 1).log(2)
    relevant = qrels.filter(pl.col("relevance") > 0)
    ideal = (
        relevant.sort("query_id", "relevance", descending=[False, True])
        .with_columns(rank=pl.int_range(1, pl.len() + 1).over("query_id"))
        .group_by("query_id", maintain_order=True)
        .agg(
            ideal=(gain / discount).filter(pl.col("rank") <= k).sum(),
            relevant=pl.len(),
        )
    )
    found = (
        run.filter(pl.col("rank") <= k)
        .join(relevant, on=["query_id", "doc_id"])
        .group_by("query_id")
        .agg(
            dcg=(gain / discount).sum(),
            found=pl.len(),
            first=pl.col("rank").min(),
        )
    )
    return ideal.join(found, on="query_id", how="left").select(
        "query_id",
        ndcg=(pl.col("dcg") / pl.col("ideal")).fill_null(0.0),
        recall=(pl.col("found") / pl.col("relevant")).fill_null(0.0),
        mrr=(1.0 / pl.col("first")).fill_null(0.0),
        hit=pl.col("first").is_not_null().cast(pl.Float64),
        hit_1=(pl.col("first") == 1).fill_null(False).cast(pl.Float64),
    )


def means(scores: pl.DataFrame, k: int = 10) -> dict[str, float]:
    """The means over queries, named as reports name them: `ndcg@10`, `recall@10`, `mrr@10`, `hit@10`, `hit@1`."""
    names = {"ndcg": f"ndcg@{k}", "recall": f"recall@{k}", "mrr": f"mrr@{k}", "hit": f"hit@{k}", "hit_1": "hit@1"}
    if scores.is_empty():
        return dict.fromkeys(names.values(), 0.0)
    row = scores.select(list(names)).mean().row(0)
    return {name: float(value) for name, value in zip(names.values(), row, strict=True)}


def evaluated(
    rankings: Mapping[str, Sequence[str]], qrels: Mapping[str, Mapping[str, int]], k: int = 10
) -> dict[str, float]:
    """The means for rankings of documents, best first."""
    return means(per_query(run_frame(rankings), qrels_frame(qrels), k), k)


def compared(
    first: Iterable[float],
    second: Iterable[float],
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = SEED,
) -> Comparison:
    """Is the first system below the second beyond noise? One-sided paired bootstrap over queries.

    `first` and `second` hold one score for each query, in the same order. The differences are drawn with
    replacement; the first is below when fewer than `level` of the resampled means are zero or more. Source: Efron
    and Tibshirani, An Introduction to the Bootstrap (1993), ch. 16.
    """
    import numpy as np

    a, b = np.fromiter(first, dtype=np.float64), np.fromiter(second, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"{len(a)} scores cannot be paired with {len(b)}")
    if len(a) == 0:
        return Comparison(0.0, 1.0, False)
    differences = a - b
    random = np.random.default_rng(seed)
    not_below = 0
    for start in range(0, resamples, _BLOCK):
        drawn = random.integers(0, len(a), size=(min(_BLOCK, resamples - start), len(a)))
        # Sums of many equal terms that cancel are rarely exactly zero.
        not_below += int((differences[drawn].mean(axis=1) >= -1e-12).sum())
    p_value = not_below / resamples
    return Comparison(float(differences.mean()), p_value, p_value < level)


def compared_queries(first: pl.DataFrame, second: pl.DataFrame, metric: str = "ndcg") -> Comparison:
    """`compared` for two frames of `per_query` over the same judgements, paired by query."""
    joined = first.select("query_id", metric).join(second.select("query_id", other=metric), on="query_id")
    if not len(first) == len(second) == len(joined):
        raise ValueError("the two systems were not scored on the same queries")
    joined = joined.sort("query_id")
    return compared(joined[metric], joined["other"])
