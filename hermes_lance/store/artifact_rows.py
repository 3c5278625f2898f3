"""Artifacts and their links as queries read them: one mapped file of a generation, without Lance.

It is written anew whenever an artifact has changed. Rows are sorted by id, and their positions are the row numbers
that Tantivy knows them by.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from hermes_lance.core.artifact import ARTIFACT_COLUMNS, EDGE_COLUMNS, LISTS, Artifact, Edge
from hermes_lance.core.ids import source_hash, text_sha
from hermes_lance.store import columns
from hermes_lance.store.lexical_fields import lexical_digest
from hermes_lance.store.segment import Segment, SegmentWriter, reading
from hermes_lance.store.vectors import write_vectors

_ENDS = ("source_id", "target_id")
_REST = tuple(name for name in EDGE_COLUMNS if name not in _ENDS)


def write_artifacts(path: Path, artifacts: Sequence[Artifact], edges: Sequence[Edge]) -> dict[str, Any]:
    """Writes the file, rows by id; its entry for the manifest. Both ends of an edge are among the artifacts."""
    rows = sorted(artifacts, key=lambda one: one.id)
    position = {one.id: at for at, one in enumerate(rows)}
    if len(position) != len(rows):
        raise ValueError("two artifacts have the same id")
    file = SegmentWriter(path)
    try:
        columns.put_texts(file, "ids", [one.id.encode("utf-8") for one in rows])
        records = [columns.as_json([getattr(one, name) for name in ARTIFACT_COLUMNS]) for one in rows]
        columns.put_texts(file, "rows", records)
        links = sorted(edges, key=lambda one: (one.source_id, one.target_id, one.kind))
        columns.put_texts(file, "links", [columns.as_json([getattr(one, name) for name in _REST]) for one in links])
        touching: list[list[int]] = [[] for _ in rows]
        for number, one in enumerate(links):
            for end in {one.source_id, one.target_id}:
                touching[position[end]].append(number)
        for name in _ENDS:
            file.put_numbers(name, (position[getattr(one, name)] for one in links), "I")
        file.put_numbers("touching", (number for of_row in touching for number in of_row), "I")
        file.put_numbers("touching_offsets", accumulate(map(len, touching), initial=0), "Q")
        entry = file.close()
    except BaseException:
        file.discard()
        raise
    return {**entry, "rows": len(rows), "edges": len(links), "lexical": lexical_digest("artifacts")}


def write_artifact_vectors(path: Path, artifacts: Sequence[Artifact], matrix: Any) -> dict[str, Any]:
    """Writes the vectors of artifacts (float16 `[artifacts by id, dimensions]`); the entry for the manifest."""
    import numpy as np

    rows = sorted(artifacts, key=lambda one: one.id)
    kinds = np.array([source_hash(kind_key(one.type)) for one in rows], dtype=np.uint64)
    return write_vectors(
        path, matrix, np.arange(len(rows), dtype=np.uint64), kinds, [one.embed_keys[0] for one in rows]
    )


def kind_key(kind: str) -> str:
    """What stands in the place of a file where vectors are filtered: the kind of artifact."""
    return text_sha(kind)


@dataclass(frozen=True, slots=True)
class Link:
    """An edge as seen from one of its ends."""

    edge: Edge
    other: int
    """Position of the other end."""


class ArtifactRows:
    """The artifacts of a generation; empty when there is no file."""

    def __init__(self, folder: Path, entry: dict[str, Any] | None) -> None:
        self.path = folder / entry["file"] if entry else folder
        self._file = Segment(self.path, entry["size"]) if entry else None
        nothing = memoryview(b"").cast("Q")
        self._offsets = {
            name: self._file.cast(f"{name}_offsets") if self._file else nothing
            for name in ("ids", "rows", "links", "touching")
        }

    def __len__(self) -> int:
        return max(0, len(self._offsets["rows"]) - 1)

    def _slice(self, name: str, at: int) -> bytes:
        assert self._file is not None
        offsets = self._offsets[name]
        return bytes(self._file.raw(name)[offsets[at] : offsets[at + 1]])

    def id(self, position: int) -> str:
        """The id at a position."""
        with reading(self.path):
            return str(self._slice("ids", position), "utf-8")

    def row(self, position: int) -> Artifact:
        """The artifact at a position."""
        with reading(self.path):
            values = dict(zip(ARTIFACT_COLUMNS, json.loads(self._slice("rows", position)), strict=True))
            return Artifact(**{**values, **{name: tuple(values[name]) for name in LISTS}})

    def position(self, key: str) -> int | None:
        """Where an id is; none where there is no such artifact. Reads a dozen ids of a thousand."""
        wanted = key.encode("utf-8", "replace")
        with reading(self.path):
            at = bisect_left(range(len(self)), wanted, key=lambda one: self._slice("ids", one))
            return at if at < len(self) and self._slice("ids", at) == wanted else None

    def get(self, key: str) -> Artifact | None:
        """The artifact of an id."""
        at = self.position(key)
        return None if at is None else self.row(at)

    def all(self) -> list[Artifact]:
        """Every artifact, by id."""
        return [self.row(at) for at in range(len(self))]

    def _edge(self, number: int) -> tuple[Edge, int, int]:
        assert self._file is not None
        ends = [int(self._file.cast(name)[number]) for name in _ENDS]
        rest = dict(zip(_REST, json.loads(self._slice("links", number)), strict=True))
        return Edge(source_id=self.id(ends[0]), target_id=self.id(ends[1]), **rest), ends[0], ends[1]

    def edges(self) -> Iterator[Edge]:
        """Every edge, by source, target and kind."""
        for number in range(max(0, len(self._offsets["links"]) - 1)):
            with reading(self.path):
                edge, _, _ = self._edge(number)
            yield edge

    def links(self, position: int) -> list[Link]:
        """The edges of an artifact in both directions: the surest first (references are surer than derived ones), then
        by the id of the other end."""
        if self._file is None:
            return []
        with reading(self.path):
            offsets = self._offsets["touching"]
            found = []
            for number in self._file.cast("touching")[offsets[position] : offsets[position + 1]]:
                edge, source, target = self._edge(number)
                found.append(Link(edge, target if source == position else source))
            return sorted(found, key=_surest_first)


def _surest_first(link: Link) -> tuple[Any, ...]:
    edge = link.edge
    return (edge.kind != "related_to", -edge.confidence, link.other, edge.source_id)
