"""Runs a judged set through the whole system: documents become files, are indexed, and every query is asked.

A document counts where its best passage stands. The library comes from the caller, since nothing here may know how
files are indexed or searched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hermes_lance.learn import beir, metrics
from hermes_lance.learn.beir import JudgedQuery, JudgedSet
from hermes_lance.learn.metrics import Comparison
from hermes_lance.learn.whole import whole

if TYPE_CHECKING:
    import polars as pl

MODES = ("lexical", "dense", "hybrid")
MOST_PASSAGES = 640
"""Passages after which looking for further documents stops."""

Progress = Callable[[str, int, int, str], None]


class Page(Protocol):
    """Passages, best first; `path` names the file of each."""

    @property
    def has_more(self) -> bool:
        """Whether there are passages after these."""
        ...

    def __iter__(self) -> Any:
        """The passages."""
        ...


class Searchable(Protocol):
    """What is asked of a library."""

    def index(self, *, progress: Progress | None = None) -> Any:
        """Index the folder that the library was made for."""
        ...

    def search(
        self,
        query: str,
        *,
        limit: int = 8,
        mode: str = "hybrid",
        fusion: str | None = None,
        rerank: str | None = None,
    ) -> Page:
        """A page of passages."""
        ...

    def close(self) -> None:
        """Let go of files."""
        ...


@dataclass(slots=True)
class Evaluation:
    """Figures of one set. `metrics`: mode to name to mean over queries."""

    dataset: str
    documents: int
    queries: int
    k: int
    metrics: dict[str, dict[str, float]] = field(default_factory=dict)
    languages: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    """The same for each language of a set in several; empty otherwise."""
    hybrid_and_best_leg: dict[str, Any] | None = None
    """Hybrid against the best single leg by nDCG: leg, difference, p_value, and whether it is below beyond noise."""
    reranked: dict[str, Comparison] = field(default_factory=dict)
    """Modes with a reranker against the same without, by nDCG."""
    seconds: float = 0.0


def run(
    judged: JudgedSet,
    open_folder: Callable[[Path], Searchable],
    work: Path,
    *,
    modes: Sequence[str] = MODES,
    fusion: str | None = None,
    k: int = 10,
    progress: Progress | None = None,
) -> Evaluation:
    """Figures for a judged set; a set in several languages is asked language by language, each with its own corpus.

    `open_folder` gives a library for a folder of files; `work` is a folder for these. A mode may name its fusion:
    `hybrid:rrf`, and its reranker: `hybrid+heuristic`.
    """
    began = time.monotonic()
    parts = beir.by_language(judged)
    scores: dict[str, list[pl.DataFrame]] = {mode: [] for mode in modes}
    result = Evaluation(judged.name, len(judged.documents), sum(len(part.answerable) for part in parts), k)
    for number, part in enumerate(parts):
        frames = _scored(part, open_folder, work / f"set{number}", modes, fusion, k, progress)
        for mode, frame in frames.items():
            scores[mode].append(frame)
        if len(parts) > 1:
            language = part.name.rpartition("/")[2]
            result.languages[language] = {mode: metrics.means(frame, k) for mode, frame in frames.items()}
    whole = {mode: _concatenated(frames) for mode, frames in scores.items()}
    result.metrics = {mode: metrics.means(frame, k) for mode, frame in whole.items()}
    result.reranked = {
        mode: metrics.compared_queries(frame, whole[plain])
        for mode, frame in whole.items()
        if (plain := mode.partition("+")[0]) != mode and plain in whole
    }
    result.hybrid_and_best_leg = _against_best_leg(whole, result.metrics, k)
    result.seconds = round(time.monotonic() - began, 1)
    return result


def scored_queries(
    judged: JudgedSet,
    open_folder: Callable[[Path], Searchable],
    work: Path,
    *,
    mode: str = "hybrid",
    k: int = 10,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Scores of each query in one mode, as `metrics.per_query` has them; language by language like `run`."""
    parts = enumerate(beir.by_language(judged))
    frames = [_scored(part, open_folder, work / f"set{at}", [mode], None, k, progress)[mode] for at, part in parts]
    return _concatenated(frames)


def _scored(
    judged: JudgedSet,
    open_folder: Callable[[Path], Searchable],
    work: Path,
    modes: Sequence[str],
    fusion: str | None,
    k: int,
    progress: Progress | None,
) -> dict[str, pl.DataFrame]:
    """Scores of each query in each mode."""
    folder = work / "documents"
    names = beir.materialise(judged, folder)
    library = open_folder(folder)
    library.index(progress=progress)
    qrels = metrics.qrels_frame({query.id: judged.qrels[query.id] for query in judged.answerable})
    frames = {}
    for mode in modes:
        rankings = {}
        asked, _, reranker = mode.partition("+")
        leg, _, named = asked.partition(":")
        ask = partial(best_documents, library, mode=leg, fusion=named or fusion, k=k, rerank=reranker or None)
        for number, query in enumerate(judged.answerable, start=1):
            rankings[query.id] = ask(query, names)
            if progress is not None:
                progress(f"ask {mode}", number, len(judged.answerable), judged.name)
        frames[mode] = metrics.per_query(metrics.run_frame(rankings), qrels, k)
    library.close()
    return frames


def best_documents(
    library: Searchable,
    query: JudgedQuery,
    names: Mapping[str, str],
    *,
    mode: str,
    fusion: str | None,
    k: int,
    rerank: str | None = None,
) -> list[str]:
    """The first `k` documents, each where its best passage stands. More passages are asked for until there are `k`."""
    limit = 2 * k
    while True:
        page = whole(library.search(query.text, limit=limit, mode=mode, fusion=fusion, rerank=rerank), rerank)
        found = list(dict.fromkeys(_documents(page, names)))
        if len(found) >= k or not page.has_more or limit >= MOST_PASSAGES:
            return found[:k]
        limit *= 2


def _documents(page: Iterable[Any], names: Mapping[str, str]) -> Iterable[str]:
    return (names[hit.path] for hit in page)


def _concatenated(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(frames)


def _against_best_leg(
    scores: Mapping[str, pl.DataFrame], means: Mapping[str, Mapping[str, float]], k: int
) -> dict[str, Any] | None:
    legs = [mode for mode in ("lexical", "dense") if mode in scores]
    if "hybrid" not in scores or not legs:
        return None
    best = max(legs, key=lambda mode: means[mode][f"ndcg@{k}"])
    comparison = metrics.compared_queries(scores["hybrid"], scores[best])
    return {
        "leg": best,
        "difference": comparison.difference,
        "p_value": comparison.p_value,
        "below": comparison.below,
    }
