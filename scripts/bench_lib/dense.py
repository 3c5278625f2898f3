"""The dense leg at size: `python -m bench_lib.dense HOME FOLDER ROWS COUNT`.

The default embedder's vectors of a folder (those of the home where it has them, else of a sample of its passages) are
repeated with noise up to ROWS, written as the product writes them, and asked for the COUNT known items. Noise is a
random vector of half the length, so that a copy has a cosine of .89 to its original. Milliseconds of the leg and of
the same scan straight through numpy; recall@10 against the exact float32 product over the same stored rows.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import hermes_lance
from bench_lib.legs import DEPTH, SHORTLIST, percentile, rescored, timed
from hermes_lance.learn.known_items import draw
from hermes_lance.models import load

SEED = 7
NOISE = 0.5
SAMPLE = 1_500
K = 10


def base_vectors(library: Any, model: Any) -> Any:
    """float32 `[n, d]` of real passages."""
    import numpy as np

    snapshot = library.snapshot()
    if snapshot.manifest.space["active"]["embedder"] == model.name and len(snapshot.vectors):
        return np.concatenate([one.matrix for one in snapshot.vectors.segments]).astype(np.float32)
    alive = snapshot.text.alive()
    chosen = alive[:: max(1, len(alive) // SAMPLE)]
    return model.embed_documents([snapshot.text.row(int(serial)).text for serial in chosen])


def repeated(base: Any, rows: int) -> Any:
    """`base` over and over, each repetition with other noise; float16 `[rows, d]`, length 1."""
    import numpy as np

    generator = np.random.default_rng(SEED)
    parts = [base[:rows]]
    while sum(map(len, parts)) < rows:
        part = base[: rows - sum(map(len, parts))]
        noise = generator.standard_normal(part.shape, dtype=np.float32)
        parts.append(part + NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True))
    every = np.concatenate(parts)
    lengths = np.linalg.norm(every, axis=1, keepdims=True)
    return (every / np.where(lengths > 0, lengths, 1)).astype(np.float16)


def main(home: str, folder: str, rows: str, count: str) -> dict[str, Any]:
    """p50 and p95 of the leg, p50 of the raw scan, recall@10."""
    import numpy as np

    from hermes_lance.store.rows import DeadRows
    from hermes_lance.store.vectors import VectorRows, sign_bits, write_vectors

    library = hermes_lance.open(home)
    model = load.embedder("minilm")
    base = base_vectors(library, model)
    matrix = repeated(base, int(rows))
    questions = [model.embed_query(item.query) for item in draw(Path(folder), count=int(count))]
    numbers = np.arange(len(matrix), dtype=np.uint64)
    with tempfile.TemporaryDirectory() as place:
        entry = write_vectors(
            Path(place) / "many.vectors", matrix, numbers, numbers, [f"{number:032x}" for number in numbers.tolist()]
        )
        stored = VectorRows(Path(place), [entry], DeadRows())
        segment = stored.segments[0]
        exact = segment.matrix.astype(np.float32)
        stored.search(questions[0], DEPTH)
        # Each for all questions before the next begins: the exact product would throw the others out of the caches.
        ours = [timed(partial(stored.search, vector, DEPTH))[0] for vector in questions]
        raw = []
        for vector in questions:
            signs = sign_bits(vector[None, :])[:, 0]
            scan = partial(rescored, segment.matrix, segment.bits, signs, vector, SHORTLIST)
            raw.append(timed(scan)[0])
        found = 0
        exact = segment.matrix.astype(np.float32)
        for vector in questions:
            best = set(np.argsort(-(exact @ vector), kind="stable")[:K].tolist())
            found += len(best & {serial for serial, _ in stored.search(vector, DEPTH)[:K]})
    return {
        "rows": len(matrix),
        "base": len(base),
        "p50": statistics.median(ours),
        "p95": percentile(ours, 0.95),
        "raw": statistics.median(raw),
        "recall": found / (K * len(questions)),
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
