"""The vector step of the product and the bare embedder, each in a process of its own, over the same strings.

`python -m bench_lib.embedding product HOME`: what `Library.index` takes to give every passage its vectors and publish
them, in a home whose text is indexed already. `… bare HOME`: two threads that share one session with one thread inside,
one text at a time, the longest first, over the strings that stand for the passages of that home. Imports and loading
of the model are left out on both sides. One JSON object: texts, wall seconds, CPU seconds of the process tree.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import hermes_lance
from bench_lib.processes import BenchError, tree_cpu

THREADS = 2


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What `work` returns, wall and CPU seconds."""
    wall, cpu = time.monotonic(), tree_cpu()
    result = work()
    return result, {"wall": time.monotonic() - wall, "cpu": tree_cpu() - cpu}


def product(home: str) -> dict[str, float]:
    """The vector step, publications included."""
    import lancedb  # noqa: F401 (loaded before the clock runs)

    library = hermes_lance.open(home)
    library.embedder().embed_documents(["a text", "another text"])
    report, used = timed(library.index)
    if report.vectors_pending:
        raise BenchError(f"{report.vectors_pending} passages have no vectors")
    return {"texts": report.vectors_written, **used}


def strings(home: str) -> list[str]:
    """The distinct strings to embed, in the order of their passages."""
    from hermes_lance.ingest.rows import strings_to_embed

    library = hermes_lance.open(home)
    rows = library.snapshot().text
    found: dict[str, None] = {}
    for serial, segment, index in rows.living():
        row = segment.row(index)
        assert serial >= 0
        found.update(dict.fromkeys(strings_to_embed(row.section, row.text, library.config.chunking)))
    return list(found)


def bare(home: str) -> dict[str, float]:
    """The embedder alone."""
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    from hermes_lance.models import minilm

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    file = str(minilm.FOLDER / "model.onnx")
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(minilm.FOLDER / "tokenizer.json"))
    most = hermes_lance.open(home).embedder().window_tokens
    texts = sorted(strings(home), key=len)
    count = len(texts)

    def work() -> None:
        while True:
            try:
                text = texts.pop()
            except IndexError:
                return
            ids = np.array([tokenizer.encode(text).ids[:most]], dtype=np.int64)
            session.run(["embedding"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})

    def both() -> None:
        threads = [threading.Thread(target=work) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    _, used = timed(both)
    return {"texts": count, **used}


if __name__ == "__main__":
    print(json.dumps({"product": product, "bare": bare}[sys.argv[1]](sys.argv[2])))
