"""Turns in a process that lives on, and a build with made-up vectors: `python -m bench_lib.turns STEP …`.

`build HOME`: the index of a home whose passages get vectors of the default embedder's space that are drawn instead of
computed. Making the true ones of 100,000 passages takes the better part of an hour, and how long a question takes does
not depend on their values; the question itself is embedded by the model. `turns HOME FOLDER N`: N messages, a third of
them follow-ups with a history, and what each costs. One JSON object.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import hermes_lance
from hermes_lance.learn.known_items import draw

WARM_UP = 10
SEED = 11


def build(home: str) -> dict[str, Any]:
    """Indexes the home."""
    import numpy as np

    from hermes_lance.models.minilm import MiniLmEmbedder

    random = np.random.default_rng(SEED)

    def drawn(self: MiniLmEmbedder, texts: Any, **_: object) -> Any:
        made = random.standard_normal((len(texts), self.dimensions), dtype=np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    MiniLmEmbedder.embed_documents = drawn  # type: ignore[method-assign]
    report = hermes_lance.open(home).index()
    return {"chunks": report.chunks.total}


def messages(folder: Path, count: int) -> list[tuple[str, list[str]]]:
    """Messages with their histories: file names in a sentence, sentences, and follow-ups to either."""
    queries = [item.query for item in draw(folder, count=max(3, count // 2))]
    made: list[tuple[str, list[str]]] = []
    for number, query in enumerate(queries):
        history = [queries[number - 1], queries[number - 2]]
        if number % 3 == 2:
            made.append((f"and what about {query}?", history))
        else:
            made.append((f"where is {query} explained" if len(query.split()) < 3 else query, history))
    return made


def turns(home: str, folder: str, count: str) -> dict[str, Any]:
    """Milliseconds of CPU and of the clock for each turn, p50 and p95; how many had a block, and its tokens."""
    library = hermes_lance.open(home)
    asked = messages(Path(folder), int(count))
    for message, history in asked[-WARM_UP:]:
        library.context(message, history, "gated")
    cpu, wall, tokens, stages = [], [], [], dict[str, int]()
    for message, history in asked:
        began, spent = time.perf_counter(), time.process_time()
        made = library.context(message, history, "gated")
        cpu.append((time.process_time() - spent) * 1000)
        wall.append((time.perf_counter() - began) * 1000)
        stages[made.stage] = stages.get(made.stage, 0) + 1
        if made.injected:
            tokens.append(made.tokens)
    snapshot = library.snapshot()
    return {
        "messages": len(asked),
        "chunks": snapshot.manifest.totals["chunks"],
        "vectors": len(snapshot.vectors),
        "cpu": quantiles(cpu),
        "wall": quantiles(wall),
        "stages": stages,
        "tokens": statistics.median(tokens) if tokens else 0,
    }


def quantiles(values: list[float]) -> dict[str, float]:
    """p50 and p95."""
    cut = statistics.quantiles(values, n=20, method="inclusive")
    return {"p50": statistics.median(values), "p95": cut[18]}


def main() -> None:
    """One step."""
    step = {"build": build, "turns": turns}[sys.argv[1]]
    print(json.dumps(step(*sys.argv[2:])))


if __name__ == "__main__":
    main()
