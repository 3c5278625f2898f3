"""The product's steps that no command line has, each as a process of its own: `python -m bench_lib.ours STEP …`.

`text HOME`: a build without vectors; tells when the text could be searched. `edits HOME COPY N FIRST`: N times one
file changed and a build. `running HOME COPY N FIRST`: a process that lives on; N times one file changed, indexed and
found. `asking HOME FOLDER N`: a process that only searches. Each prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import hermes_lance
from bench_lib.corpus import Edit, edits
from bench_lib.processes import HEAVY, BenchError, tree_cpu
from hermes_lance.core.memory import collector_seldom


class TextSearchable:
    """Notes when a build has published all text, from what it tells about its progress.

    Stages are `read` while files are read. The first other stage after the last file is the moment; a build without
    any such stage has no moment of its own, and counts whole.
    """

    def __init__(self) -> None:
        self.cpu: float | None = None
        self.wall: float | None = None
        self.imported: list[str] = []
        self._began = time.monotonic()

    def progress(self, stage: str, done: int, total: int, path: str) -> None:
        """To be given to `Library.index`."""
        if stage == "read":
            self.cpu = self.wall = None
        elif self.cpu is None:
            self.cpu, self.wall = tree_cpu(), time.monotonic() - self._began
            self.imported = loaded()


def loaded() -> list[str]:
    """Heavy packages that this process has imported."""
    return [name for name in HEAVY if name in sys.modules]


def text(home: str) -> dict[str, Any]:
    """CPU, wall seconds and imports when the text is published (none: only with the tables), and passages.

    In a process that does nothing else, with the collector of cycles set as `hermes-lance build` sets it.
    """
    moment = TextSearchable()
    library = hermes_lance.open(home)
    with collector_seldom():
        report = library.index(embed=False, progress=moment.progress)
    library.close()
    imported = loaded() if moment.cpu is None else moment.imported
    return {"cpu": moment.cpu, "wall": moment.wall, "chunks": report.chunks.total, "imported": imported}


def several_edits(home: str, copy: str, count: str, first: str) -> dict[str, Any]:
    """Wall seconds of all builds, each by a library of its own."""
    spent = 0.0
    for _ in islice(edits(Path(copy), int(first)), int(count)):
        began = time.monotonic()
        library = hermes_lance.open(home)
        library.index()
        library.close()
        spent += time.monotonic() - began
    return {"wall": spent, "edits": int(count)}


def running(home: str, copy: str, count: str, first: str) -> dict[str, Any]:
    """Wall seconds until a changed file is found, after a walk over everything and when its path is given."""
    library = hermes_lance.open(home)
    changes = edits(Path(copy), int(first))
    # One change of each kind before: what a process loads once belongs to its start.
    library.search("anything")
    for paths in (False, True):
        _until_found(library, next(changes), paths=paths)
    walked, named = [], []
    for _ in range(int(count)):
        walked.append(_until_found(library, next(changes), paths=False))
        named.append(_until_found(library, next(changes), paths=True))
    return {"walked": walked, "named": named}


def _until_found(library: Any, edit: Edit, *, paths: bool) -> float:
    began = time.monotonic()
    library.index(only_paths=[edit.path] if paths else None)
    hits = library.search(edit.sentence).hits
    spent = time.monotonic() - began
    if not any(edit.path.as_posix().endswith(hit.path) for hit in hits[:1]):
        raise BenchError(f"{edit.path}: changed, indexed and not found by {edit.word}")
    return spent


def asking(home: str, folder: str, count: str) -> dict[str, Any]:
    """How many questions were asked, in hybrid mode."""
    from hermes_lance.learn.known_items import draw

    library = hermes_lance.open(home)
    items = draw(Path(folder), count=int(count))
    for item in items:
        library.search(item.query)
    return {"queries": len(items)}


STEPS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "text": text,
    "edits": several_edits,
    "running": running,
    "asking": asking,
}

if __name__ == "__main__":
    print(json.dumps(STEPS[sys.argv[1]](*sys.argv[2:])))
