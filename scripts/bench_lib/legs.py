"""Warm queries of the product beside the floors, in one process: `python -m bench_lib.legs HOME FOLDER COUNT`.

Every question is asked once in each mode, hybrid first, so that no memory of questions can answer. Floors for the
same questions, each right before or after the hybrid one: *raw model*, tokenising and one run of a session like the
product's; *raw tantivy*, the OR of the question's terms on the product's own index, 100 best rows; *raw scan*, over
its mapped vectors: float32 product where the product scans exactly, else sign bits and 1,000 rows rescored. What the
floors prepare (terms, question vector, float32 copy) is prepared outside of their time. Milliseconds; one JSON object.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import hermes_lance
from hermes_lance.learn.known_items import draw

WARM_UP = 5
DEPTH = 100
SHORTLIST = 1_000
BLOCK_VALUES = 400_000
"""Numbers of a matrix in one product with a vector: above 460,800 numpy's BLAS wakes a second thread, which spins and
on a busy machine costs many times what it saves. A floor should not depend on that."""
MODES = ("hybrid", "lexical", "dense")
FLOORS = ("raw model", "raw tantivy", "raw scan")
Ask = Callable[[str], object]


def raw_model(library: Any) -> tuple[Ask, str]:
    """Tokenising and one run of the session, and what the product's own embedder is called."""
    embedder = library.embedder()
    if embedder.name != "minilm":
        return embedder.embed_query, str(embedder.name)
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    from hermes_lance.models import minilm

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        str(minilm.FOLDER / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_file(str(minilm.FOLDER / "tokenizer.json"))
    most = embedder.window_tokens

    def ask(text: str) -> object:
        ids = np.array([tokenizer.encode(text).ids[:most]], dtype=np.int64)
        return session.run(["embedding"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})

    return ask, "minilm"


def raw_tantivy(snapshot: Any, questions: list[str]) -> Ask:
    """The OR of a question's terms in the text of passages."""
    import tantivy

    from hermes_lance.core.words import Analyser

    terms = {question: Analyser().query(question).terms for question in questions}
    index = tantivy.Index.open(str(snapshot.dataset / "lexical" / snapshot.manifest.lexical["folder"] / "chunks"))
    schema, searcher = index.schema, index.searcher()
    query, should = tantivy.Query, tantivy.Occur.Should

    def ask(text: str) -> object:
        clauses = [(should, query.term_query(schema, "text", term, "freq")) for term in terms[text]]
        return searcher.search(query.boolean_query(clauses), DEPTH, count=False).hits if clauses else None

    return ask


def raw_scan(snapshot: Any, library: Any, questions: list[str]) -> Ask:
    """The best rows of the mapped vectors, straight through numpy."""
    import numpy as np

    from hermes_lance.store.vectors import EXACT_BYTES, sign_bits

    vectors = {question: library.embedder().embed_query(question) for question in questions}
    segments = [(one.matrix, one.bits) for one in snapshot.vectors.segments]
    if not segments:
        return lambda text: None
    exact = len(snapshot.vectors) * snapshot.vectors.dimensions * 4 <= EXACT_BYTES
    copies = [matrix.astype(np.float32) for matrix, _ in segments] if exact else []

    step = BLOCK_VALUES // snapshot.vectors.dimensions
    blocks = [copy[at : at + step] for copy in copies for at in range(0, len(copy), step)]

    def scanned(text: str) -> object:
        scores = np.concatenate([block @ vectors[text] for block in blocks])
        return np.argpartition(-scores, min(DEPTH, len(scores) - 1))[:DEPTH]

    def shortlisted(text: str) -> object:
        signs = sign_bits(vectors[text][None, :])[:, 0]
        return [rescored(matrix, bits, signs, vectors[text], SHORTLIST // len(segments)) for matrix, bits in segments]

    return scanned if exact else shortlisted


def rescored(matrix: Any, bits: Any, signs: Any, vector: Any, size: int) -> Any:
    """Scores of the `size` rows whose signs are nearest: `float16[n, d]`, `uint64[d / 64, n]`, `uint64[d / 64]`."""
    import numpy as np

    far = np.zeros(len(matrix), dtype=np.uint16)
    for word, column in zip(signs, bits, strict=True):
        far += np.bitwise_count(column ^ word)
    best = np.argpartition(far, min(size, len(far) - 1))[:size]
    return matrix[best].astype(np.float32) @ vector


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU milliseconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu)


def percentile(values: list[float], share: float) -> float:
    """The value that this share of them does not pass."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main(home: str, folder: str, count: str) -> dict[str, Any]:
    """p50 and p95 of modes, floors and the sum of the floors; medians of CPU time."""
    library = hermes_lance.open(home)
    questions = [item.query for item in draw(Path(folder), count=int(count))]
    warm_up = [f"{question} again" for question in questions[:WARM_UP]]
    snapshot = library.snapshot()
    model, name = raw_model(library)
    floors: dict[str, Ask] = {
        "raw model": model,
        "raw tantivy": raw_tantivy(snapshot, questions + warm_up),
        "raw scan": raw_scan(snapshot, library, questions + warm_up),
    }
    ours: dict[str, Ask] = {mode: partial(library.search, mode=mode) for mode in MODES}
    for text in warm_up:
        for work in (*ours.values(), *floors.values()):
            work(text)
    wall: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)

    def note(what: str, work: Ask, text: str) -> float:
        spent, used = timed(partial(work, text))
        wall[what].append(spent)
        cpu[what].append(used)
        return spent

    for number, text in enumerate(questions):
        if number % 2:
            note("hybrid", ours["hybrid"], text)
        wall["floors"].append(sum(note(what, work, text) for what, work in floors.items()))
        cpu["floors"].append(sum(cpu[what][-1] for what in floors))
        if not number % 2:
            note("hybrid", ours["hybrid"], text)
    for mode in MODES[1:]:
        for text in questions:
            note(mode, ours[mode], text)
    return {
        "queries": len(questions),
        "model": name,
        "vectors": len(snapshot.vectors),
        "p50": {what: statistics.median(values) for what, values in wall.items()},
        "p95": {what: percentile(values, 0.95) for what, values in wall.items()},
        "cpu": {what: statistics.median(values) for what, values in cpu.items()},
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
