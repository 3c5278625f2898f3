"""Two vector spaces on the same questions: is the new one worse beyond noise?

Either a judged set in the layout of BEIR, or questions about the person's own files, one JSON object a line:
`{"query": "how do we roll back", "expected": "runbooks/rollback.md"}`, or a list of paths. Hybrid answers are compared
query by query, since that is what people are given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import FileMissing, UsageError
from hermes_lance.learn import beir, metrics, run_beir
from hermes_lance.learn.beir import JudgedQuery
from hermes_lance.learn.run_beir import Progress, Searchable

if TYPE_CHECKING:
    import polars as pl

K = 10
_LINE = 'one JSON object a line: {"query": "…", "expected": "path as results show it"}'


@dataclass(frozen=True, slots=True)
class Judgement:
    """The new space against the old one."""

    data: str
    queries: int
    old: Mapping[str, float]
    """`ndcg@10`, `recall@10`, `mrr@10`, `hit@10`, `hit@1`, means over queries."""
    new: Mapping[str, float]
    difference: float
    """Mean nDCG@10 of the new minus that of the old."""
    p_value: float
    """Share of resamples in which the new one is not below."""
    worse: bool
    """Below beyond noise; see `metrics.compared`."""
    left_out: int = 0
    """Questions none of whose expected files is indexed."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question and the display paths of the files that answer it."""

    query: str
    expected: tuple[str, ...]


def read_questions(file: Path) -> list[Question]:
    """The questions of a JSONL file. `FileMissing`, or `UsageError` that names the line."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise FileMissing(f"{file}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: not in UTF-8", hint="Save it as UTF-8.") from error
    found = [_question(f"{file}:{at}", line) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not found:
        raise UsageError(f"{file}: holds no question", hint=f"Write {_LINE}.")
    return found


def _question(where: str, line: str) -> Question:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where}: not valid JSON", hint=f"Write {_LINE}.") from error
    row = row if isinstance(row, dict) else {}
    query, expected = row.get("query"), row.get("expected")
    paths = expected if isinstance(expected, list) else [expected]
    right = isinstance(query, str) and query.strip() and all(isinstance(path, str) and path for path in paths)
    if not right or not paths:
        raise UsageError(f"{where}: not a question with its files", hint=f"Write {_LINE}.")
    return Question(str(query), tuple(map(str, paths)))


def judge_questions(
    name: str,
    questions: Sequence[Question],
    files: Collection[str],
    old: Searchable,
    new: Searchable,
    progress: Progress | None = None,
) -> Judgement:
    """Both spaces asked about the person's own files. `files`: display paths of all that are indexed."""
    known = [one for one in questions if any(path in files for path in one.expected)]
    if not known:
        first = questions[0].expected[0]
        raise UsageError(f"{name}: none of the expected files is indexed, such as {first}", hint=f"Write {_LINE}.")
    asked = [JudgedQuery(str(at), one.query) for at, one in enumerate(known)]
    qrels = metrics.qrels_frame({str(at): dict.fromkeys(one.expected, 1) for at, one in enumerate(known)})
    names = {path: path for path in files}

    def scored(library: Searchable, stage: str) -> pl.DataFrame:
        rankings = {}
        for number, query in enumerate(asked, 1):
            rankings[query.id] = run_beir.best_documents(library, query, names, mode="hybrid", fusion=None, k=K)
            if progress is not None:
                progress(stage, number, len(asked), name)
        return metrics.per_query(metrics.run_frame(rankings), qrels, K)

    return _judged(name, scored(old, "ask the old"), scored(new, "ask the new"), len(questions) - len(known))


def judge_beir(
    folder: Path,
    old: Callable[[Path], Searchable],
    new: Callable[[Path], Searchable],
    work: Path,
    progress: Progress | None = None,
) -> Judgement:
    """Both spaces on a judged set. `old` and `new` give a library of that space for a folder of files."""
    judged = beir.read(folder)
    if not judged.answerable:
        raise UsageError(f"{folder}: no query has a relevant document")
    first, second = (
        run_beir.scored_queries(judged, opened, work / name, mode="hybrid", k=K, progress=progress)
        for name, opened in (("old", old), ("new", new))
    )
    return _judged(judged.name, first, second)


def _judged(name: str, old: Any, new: Any, left_out: int = 0) -> Judgement:
    found = metrics.compared_queries(new, old)
    return Judgement(
        name,
        len(new),
        metrics.means(old, K),
        metrics.means(new, K),
        found.difference,
        found.p_value,
        found.below,
        left_out,
    )
