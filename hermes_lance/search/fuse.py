"""Two rankings into one. The default is a convex sum of z-scores, with passages that hold the question verbatim first.

Convex combination over reciprocal ranks after Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
Retrieval" (ACM TOIS 2023); z-scores instead of min-max keep the outlier that an exact match is. RRF after Cormack,
Clarke and Büttcher (SIGIR 2009). Measured side by side in docs/BENCHMARKS.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

RRF_K = 60
FOREIGN_WEIGHT = 0.1
"""Weight of the dense leg for questions mostly outside the scripts that the model was made for."""

Ranking = Sequence[tuple[int, float]]
"""Row and score, best first."""


class Fused(NamedTuple):
    """One row of the fused ranking; scores and ranks (from 1) of the legs where it was found."""

    serial: int
    score: float
    lexical: float | None
    dense: float | None
    lexical_rank: int | None
    dense_rank: int | None
    tier: int = 0
    """How literally the row answers the question; 0 = not at all, see `ranking`."""
    rerank: float | None = None
    """What a reranker thinks of it."""


def zscores(ranking: Ranking) -> dict[int, float]:
    """Each score as its distance from the mean in standard deviations; all 0 where the scores are equal or single."""
    if not ranking:
        return {}
    mean = sum(score for _, score in ranking) / len(ranking)
    deviation = math.sqrt(sum((score - mean) ** 2 for _, score in ranking) / len(ranking))
    if deviation < 1e-9:
        return {row: 0.0 for row, _ in ranking}
    return {row: (score - mean) / deviation for row, score in ranking}


def minmax(ranking: Ranking) -> dict[int, float]:
    """Each score between the list's lowest (0) and highest (1); all .5 where the scores are equal or single."""
    if not ranking:
        return {}
    low, high = min(score for _, score in ranking), max(score for _, score in ranking)
    if high - low < 1e-9:
        return {row: 0.5 for row, _ in ranking}
    return {row: (score - low) / (high - low) for row, score in ranking}


def reciprocal_ranks(ranking: Ranking, k: int = RRF_K) -> dict[int, float]:
    """1 / (k + rank), ranks from 1."""
    return {row: 1.0 / (k + rank) for rank, (row, _) in enumerate(ranking, start=1)}


def fused(
    lexical: Ranking,
    dense: Ranking,
    *,
    method: str = "zscore",
    weight: float = 0.5,
    tiers: Mapping[int, int] | None = None,
    lexical_complete: bool = False,
) -> list[Fused]:
    """One ranking of all rows of both legs, best first; equal scores by row.

    `weight` is that of the dense leg (RRF takes both legs alike). A row that one leg lacks gets that leg's minimum
    (nothing with RRF). An empty leg says nothing and the other counts in full.
    `lexical_complete`: every row that shares a word with the question is in that list. All others then have a score of
    0 and count as such, so that the one passage that holds a rare word stands out instead of being its own average.
    Rows with a higher tier come before all others, in fused order among themselves; a row that neither leg found is
    left out, whatever its tier.
    """
    scale = {"zscore": zscores, "convex": minmax, "rrf": reciprocal_ranks}[method]
    found_by_words = {row for row, _ in lexical}
    rest = [(row, 0.0) for row, _ in dense if row not in found_by_words]
    with_the_rest = lexical_complete and lexical and method != "rrf"
    by_words, by_meaning = scale([*lexical, *rest] if with_the_rest else lexical), scale(dense)
    alone = not (lexical and dense)
    words_share, meaning_share = (1.0, 1.0) if method == "rrf" or alone else (1.0 - weight, weight)
    words_floor = 0.0 if method == "rrf" or not by_words else min(by_words.values())
    meaning_floor = 0.0 if method == "rrf" or not by_meaning else min(by_meaning.values())
    words = {row: (score, rank) for rank, (row, score) in enumerate(lexical, start=1)}
    meaning = {row: (score, rank) for rank, (row, score) in enumerate(dense, start=1)}
    tiers = tiers or {}
    found = []
    for row in words | meaning:
        score = words_share * by_words.get(row, words_floor) + meaning_share * by_meaning.get(row, meaning_floor)
        word_score, word_rank = words.get(row, _NOT_FOUND)
        meaning_score, meaning_rank = meaning.get(row, _NOT_FOUND)
        found.append(Fused(row, score, word_score, meaning_score, word_rank, meaning_rank, tiers.get(row, 0)))
    found.sort(key=lambda one: (-one.tier, -one.score, one.serial))
    return found


_NOT_FOUND = (None, None)


def averaged(first: Sequence[Fused], second: Sequence[Fused]) -> list[Fused]:
    """The mean of two fused rankings of the same method, best first; a row that one of them lacks has its lowest score
    there. Scores and ranks of the legs are those of `first`, where it has the row. An empty ranking says nothing."""
    if not (first and second):
        return [*first, *second]
    mine, theirs = {one.serial: one for one in first}, {one.serial: one for one in second}
    low, lowest = min(one.score for one in first), min(one.score for one in second)
    found = []
    for row in mine | theirs:
        a, b = mine.get(row), theirs.get(row)
        score = ((low if a is None else a.score) + (lowest if b is None else b.score)) / 2
        shown = a or b
        assert shown is not None
        found.append(shown._replace(score=score, tier=max(one.tier for one in (a, b) if one is not None)))
    found.sort(key=lambda one: (-one.tier, -one.score, one.serial))
    return found


def dense_weight(own: float, share_outside: float) -> float:
    """The model's own weight, or the lower one where most letters of the question are outside its scripts."""
    return min(own, FOREIGN_WEIGHT) if share_outside > 0.5 else own
