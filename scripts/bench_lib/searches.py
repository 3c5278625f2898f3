"""What `bench_search` measures on one indexed folder: cold, warm, memory; figures by name, for every run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_lib.builds import MB, imports
from bench_lib.processes import Run, product, python, run

COLD_MODES = ("lexical", "hybrid")


@dataclass(slots=True)
class Asked:
    """What one folder gave; `values` has every run, by name."""

    name: str
    embedder: str
    queries: int = 0
    vectors: int = 0
    values: dict[str, list[float]] = field(default_factory=dict)
    imported: dict[str, list[str]] = field(default_factory=dict)
    dense: dict[str, float] = field(default_factory=dict)

    def note(self, kind: str, value: float) -> None:
        """One value more."""
        self.values.setdefault(kind, []).append(value)


def cold(found: Asked, home: Path, questions: list[str]) -> None:
    """One process for each question: start, answer, exit."""
    for mode in COLD_MODES:
        arguments = ("--home", home, "search", "--mode", mode, "--json", "--")
        run(product(*arguments, questions[0]))
        runs: list[Run] = [run(product(*arguments, question)) for question in questions]
        found.values[f"cold {mode} cpu"] = [one.cpu for one in runs]
        found.values[f"cold {mode} wall"] = [one.wall for one in runs]
        found.imported[f"cold {mode}"] = imports(product(*arguments, questions[0], options=["-X", "importtime"]))


def warm(found: Asked, home: Path, folder: Path, count: int, runs: int) -> None:
    """All modes and floors in one process, `runs` times in a new one."""
    for _ in range(runs):
        told: dict[str, Any] = json.loads(run(python("-m", "bench_lib.legs", home, folder, count)).out)
        found.queries, found.vectors = told["queries"], told["vectors"]
        for kind in ("p50", "p95", "cpu"):
            for what, value in told[kind].items():
                found.note(f"{what} {kind}", value)
        found.note("tail", told["p95"]["hybrid"] / told["p50"]["hybrid"])


def memory(found: Asked, home: Path, folder: Path, count: int) -> None:
    """The peak of a process that asks one question after the other."""
    done = run(python("-m", "bench_lib.ours", "asking", home, folder, count), memory=True)
    assert done.largest is not None
    found.note("memory", done.largest / MB)


def dense(found: Asked, home: Path, folder: Path, rows: int, count: int) -> None:
    """The dense leg over many rows."""
    found.dense = json.loads(run(python("-m", "bench_lib.dense", home, folder, rows, count)).out)
