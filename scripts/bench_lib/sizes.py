"""What a dataset takes on the disk, part by part, and against the bytes that it cannot do without.

The ratio has below it, all raw: the text of the passages twice (in Lance and mapped), their float16 vectors twice (in
Lance, where equal strings stand once, and mapped, once for each passage), the sign bits, and the Tantivy folder of the
current generation. Above it stands every file of the dataset, older generations included, a file with several names
once, pinned generations left out. Bytes are lengths of files; `python -m bench_lib.sizes DATASET` prints one object.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PARTS = (
    "lance text", "lance vectors", "lance other", "mapped text", "mapped rows", "mapped vectors", "bits",
    "tantivy", "older generations", "other",
)  # fmt: skip
FLOAT16 = 2
PINNED = "pinned"


@dataclass(frozen=True, slots=True)
class Needed:
    """Raw bytes: the sum below the ratio."""

    text: int
    lance_vectors: int
    mapped_vectors: int
    bits: int
    tantivy: int

    @property
    def total(self) -> int:
        """Text counts twice."""
        return 2 * self.text + self.lance_vectors + self.mapped_vectors + self.bits + self.tantivy


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes by part, which add up to `total`, and what is needed at least."""

    parts: dict[str, int]
    total: int
    pinned: int
    needed: Needed

    @property
    def ratio(self) -> float:
        """All by needed."""
        return self.total / max(1, self.needed.total)

    def as_json(self) -> dict[str, Any]:
        """Everything, ratio and sums included."""
        return {**asdict(self), "needed_total": self.needed.total, "ratio": self.ratio}


def measure(dataset: Path) -> Size:
    """The split of a dataset on disk. Raises what the product raises where there is no generation."""
    from hermes_lance.store import manifest as manifests

    current = manifests.current(dataset)
    parts: Counter[str] = Counter(dict.fromkeys(PARTS, 0))
    total = pinned = 0
    seen: set[int] = set()
    # Of files with several names the current Tantivy folder has the first say, and a pinned copy the last.
    for file, status in sorted(_files(dataset), key=lambda found: _rank(found[0].relative_to(dataset), current)):
        relative = file.relative_to(dataset)
        if status.st_ino in seen:
            continue
        seen.add(status.st_ino)
        if relative.parts[0] == PINNED:
            pinned += status.st_size
            continue
        total += status.st_size
        for part, size in _split(relative, file, status.st_size, current).items():
            parts[part] += size
    return Size(dict(parts), total, pinned, _needed(dataset, current))


def _files(dataset: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for top, _, names in os.walk(dataset):
        for name in names:
            file = Path(top, name)
            yield file, file.stat()


def _folder_name(current: Any) -> str:
    return str(current.lexical.get("folder", ""))


def _rank(relative: Path, current: Any) -> int:
    """0 for the current Tantivy folder, 2 for what is pinned, 1 for the rest."""
    if relative.parts[0] == PINNED:
        return 2
    return int(_folder_name(current) not in relative.parts)


def _split(relative: Path, file: Path, size: int, current: Any) -> dict[str, int]:
    """The bytes of one file by part."""
    top, inner = relative.parts[0], relative.parts[1] if len(relative.parts) > 1 else ""
    if top == "lance":
        if inner.startswith("vectors"):
            return {"lance vectors": size}
        return {"lance text" if inner.startswith("chunks") else "lance other": size}
    if top == "lexical":
        return {"tantivy" if inner == _folder_name(current) else "older generations": size}
    if top == "side":
        if file.name not in _named(current):
            return {"older generations": size}
        return _arrays(file, size)
    return {"other": size}


def _named(current: Any) -> set[str]:
    """Side files of the current generation."""
    single = [entry for entry in (current.dead, current.files) if entry]
    return {entry["file"] for entry in [*current.text_segments, *current.vector_segments, *single]}


def _arrays(file: Path, size: int) -> dict[str, int]:
    """Bytes of the arrays of a side file that have a part of their own; the rest is what belongs to rows."""
    from hermes_lance.store.segment import Segment

    segment = Segment(file)
    names = set(segment.names())
    found = {
        part: segment.raw(name).nbytes
        for name, part in (("text", "mapped text"), ("vectors", "mapped vectors"), ("bits", "bits"))
        if name in names
    }
    return {**found, "mapped rows": size - sum(found.values())}


def _needed(dataset: Path, current: Any) -> Needed:
    active = (current.space or {}).get("active") or {}
    dimensions = int(active.get("dimensions") or 0)
    mapped = sum(entry["rows"] for entry in current.vector_segments)
    stored = current.tables.get(active.get("table"), {}).get("rows", 0)
    lexical = dataset / "lexical" / _folder_name(current)
    return Needed(
        text=sum(entry["text_bytes"] for entry in current.text_segments),
        lance_vectors=stored * dimensions * FLOAT16,
        mapped_vectors=mapped * dimensions * FLOAT16,
        bits=mapped * dimensions // 8,
        tantivy=sum(file.stat().st_size for file in lexical.rglob("*") if file.is_file()),
    )


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1])).as_json()))
