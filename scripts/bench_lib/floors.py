"""The least that any index must do with a folder, each as a process of its own: `python -m bench_lib.floors NAME DIR`.

`walk`: list every file and ask for its size and times. `read`: that, and the SHA-256 of every file. `parse`: what
tree-sitter takes for the files that it has a grammar for, nothing done with the trees. `tantivy`: windows of 2,048
characters with 320 overlap into Tantivy with its default analyser, reading and decoding included, nothing else stored;
with a third argument the folder to write into. Each prints one JSON object.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WINDOW, OVERLAP = 2_048, 320
HEAP_BYTES = 96_000_000


def walk(top: str) -> Iterator[tuple[str, os.stat_result]]:
    """Path and status of every file that is not hidden, in no order."""
    waiting = [top]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.path, entry.stat(follow_symlinks=False)


def walked(top: str) -> dict[str, Any]:
    """Files and bytes."""
    sizes = [status.st_size for _, status in walk(top)]
    return {"files": len(sizes), "bytes": sum(sizes)}


def read(top: str) -> dict[str, Any]:
    """Files and bytes, each read and hashed."""
    files = size = 0
    for path, _ in walk(top):
        data = _bytes(path)
        hashlib.sha256(data).digest()
        files += 1
        size += len(data)
    return {"files": files, "bytes": size}


def parse(top: str) -> dict[str, Any]:
    """Files and bytes that tree-sitter parsed."""
    import tree_sitter

    from hermes_lance.parse.grammars import grammar
    from hermes_lance.parse.media import language_of, media_type

    files = size = 0
    parsers: dict[str, Any] = {}
    for path, _ in walk(top):
        data = _bytes(path)
        language = language_of(media_type(path, data)) or ""
        if language not in parsers:
            found = grammar(language)
            parsers[language] = None if found is None else tree_sitter.Parser(found.language)
        if parsers[language] is None:
            continue
        parsers[language].parse(data)
        files += 1
        size += len(data)
    return {"files": files, "bytes": size}


def tantivy(top: str, into: str) -> dict[str, Any]:
    """Windows indexed, and the bytes of the index."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="default", index_option="position")
    builder.add_unsigned_field("row", fast=True)
    index = tantivy.Index(builder.build(), into, reuse=False)
    writer = index.writer(heap_size=HEAP_BYTES, num_threads=1)
    rows = 0
    for path, _ in walk(top):
        text = _bytes(path).decode("utf-8", "replace")
        for start in range(0, max(1, len(text) - OVERLAP), WINDOW - OVERLAP):
            document = tantivy.Document()
            document.add_text("text", text[start : start + WINDOW])
            document.add_unsigned("row", rows)
            writer.add_document(document)
            rows += 1
    writer.commit()
    writer.wait_merging_threads()
    return {"windows": rows, "bytes": sum(file.stat().st_size for file in Path(into).iterdir())}


def _bytes(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()


def main(name: str, top: str, into: str | None = None) -> dict[str, Any]:
    """The figures of one floor."""
    if name == "tantivy":
        if into is not None:
            return tantivy(top, into)
        with tempfile.TemporaryDirectory() as place:
            return tantivy(top, place)
    return {"walk": walked, "read": read, "parse": parse}[name](top)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
