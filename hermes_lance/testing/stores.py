"""The contract of index stores, checked, and a small store that keeps it: one JSON file, every word counted alike."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.records import ChunkRow, KnownFile
from hermes_lance.testing.contracts import check_shape, promise
from hermes_lance.testing.rows import chunk_rows, known_file

if TYPE_CHECKING:
    from hermes_lance.core.contracts import IndexSession, IndexStore, Vectors


class FileStore:
    """A store for tests, ours and those of authors. Reads all of its file, and writes all of it at a commit."""

    name = "file_store"

    def signature(self) -> str:
        """Name and version."""
        return "file_store/1"

    def open(self, folder: Path, *, dimensions: int | None) -> FileSession:
        """Makes the folder where there is none."""
        folder.mkdir(parents=True, exist_ok=True)
        return FileSession(folder / "rows.json")


class FileSession:
    """Everything in memory; nothing on disk before `commit`."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._files: dict[str, dict[str, Any]] = json.loads(file.read_text("utf-8")) if file.is_file() else {}

    def put_file(self, file: KnownFile, rows: Sequence[ChunkRow], vectors: Sequence[Vectors], stamp: str) -> None:
        """Keeps id, words and vectors of each passage."""
        kept = [
            {"id": row.id, "words": row.text.lower().split(), "vectors": of_row.tolist()}
            for row, of_row in zip(rows, vectors, strict=True)
        ]
        self._files[file.id] = {"stamp": stamp, "rows": kept}

    def drop_file(self, source_id: str) -> None:
        """Forgets it."""
        self._files.pop(source_id, None)

    def files(self) -> Mapping[str, str]:
        """Their stamps."""
        return {key: one["stamp"] for key, one in self._files.items()}

    def lexical(self, text: str, rows: int, source_ids: Collection[str] | None = None) -> list[tuple[str, float]]:
        """Words of the question that a passage holds."""
        wanted = text.lower().split()
        scored = (
            (row["id"], float(sum(row["words"].count(word) for word in wanted))) for row in self._rows(source_ids)
        )
        return _best([one for one in scored if one[1] > 0], rows)

    def dense(self, vector: Vectors, rows: int, source_ids: Collection[str] | None = None) -> list[tuple[str, float]]:
        """The nearest vector of each passage."""
        asked = vector.tolist()
        scored = [
            (row["id"], max(sum(a * b for a, b in zip(asked, one, strict=True)) for one in row["vectors"]))
            for row in self._rows(source_ids)
            if row["vectors"]
        ]
        return _best(scored, rows)

    def _rows(self, source_ids: Collection[str] | None) -> list[dict[str, Any]]:
        chosen = self._files if source_ids is None else [key for key in source_ids if key in self._files]
        return [row for key in chosen for row in self._files[key]["rows"]]

    def commit(self) -> None:
        """Writes beside, then replaces."""
        beside = self._file.with_suffix(".new")
        beside.write_text(json.dumps(self._files), "utf-8")
        os.replace(beside, self._file)

    def close(self) -> None:
        """Nothing is held."""


def _best(scored: list[tuple[str, float]], rows: int) -> list[tuple[str, float]]:
    return sorted(scored, key=lambda one: (-one[1], one[0]))[:rows]


def check_index_store(store: IndexStore, folder: Path) -> None:
    """In an empty `folder`: puts, replaces and drops files, asks both legs, closes and opens again."""
    import numpy as np

    name = check_shape("index_stores", store)
    texts = {
        "a.md": ["the harbour office", "boats moor here"],
        "b.md": ["harbour harbour", 'don\'t "quote" (this) NOT'],
    }
    files = {path: known_file(path, chunks=len(found)) for path, found in texts.items()}
    rows = {path: chunk_rows(path, found) for path, found in texts.items()}
    axes = np.eye(4, dtype=np.float32)
    vectors = {"a.md": [axes[:2], axes[2:3]], "b.md": [axes[3:4], axes[:0]]}
    session = store.open(folder, dimensions=4)
    _check_empty(name, session, axes[0])
    for path in texts:
        session.put_file(files[path], rows[path], vectors[path], f"{path}/1")
    session.commit()
    session.close()
    session = store.open(folder, dimensions=4)
    stamps = {files[path].id: f"{path}/1" for path in texts}
    promise(dict(session.files()) == stamps, f"{name}: opened again, it holds {dict(session.files())}, not {stamps}")
    _check_legs(name, session, files, rows, axes)
    _check_changes(name, store, session, folder, files, rows, axes)


def _check_empty(name: str, session: IndexSession, vector: Any) -> None:
    promise(dict(session.files()) == {}, f"{name}: a new index is not empty")
    promise(len(session.lexical("harbour", 5)) == 0, f"{name}: a new index finds words")
    promise(len(session.dense(vector, 5)) == 0, f"{name}: a new index finds vectors")
    session.drop_file("nothing")


def _check_legs(name: str, session: IndexSession, files: Any, rows: Any, axes: Any) -> None:
    found = [row for row, _ in session.lexical("harbour", 5)]
    wanted = {rows["a.md"][0].id, rows["b.md"][0].id}
    promise(set(found) == wanted, f"{name}: the word of two passages finds {len(found)} rows, not exactly these")
    promise(len(session.lexical("harbour", 1)) == 1, f"{name}: it gives more rows than were asked for")
    only = [row for row, _ in session.lexical("harbour", 5, {files["a.md"].id})]
    promise(only == [rows["a.md"][0].id], f"{name}: words are found outside the files that were asked for")
    promise(len(session.lexical("harbour", 5, set())) == 0, f"{name}: no files were asked for, and yet words are found")
    for odd in ("", " ", "don't", 'say "', "NOT (", "a:b", "*", "港口"):
        promise(len(session.lexical(odd, 5)) <= 5, f"{name}: the question {odd!r} is not answered")
    for at, path, row in ((0, "a.md", 0), (1, "a.md", 0), (2, "a.md", 1), (3, "b.md", 0)):
        near = session.dense(axes[at], 5)
        promise(bool(near) and near[0][0] == rows[path][row].id, f"{name}: the passage of a vector is not its nearest")
        promise(len({one for one, _ in near}) == len(near), f"{name}: a passage with two vectors comes twice")
        promise([s for _, s in near] == sorted((s for _, s in near), reverse=True), f"{name}: the best is not first")
        promise(rows["b.md"][1].id not in {one for one, _ in near}, f"{name}: a passage without vectors is near one")
    only = [row for row, _ in session.dense(axes[3], 5, {files["a.md"].id})]
    promise(rows["b.md"][0].id not in only, f"{name}: vectors are found outside the files that were asked for")


def _check_changes(
    name: str, store: IndexStore, session: IndexSession, folder: Path, files: Any, rows: Any, axes: Any
) -> None:
    changed = chunk_rows("a.md", ["lighthouse"])
    session.put_file(files["a.md"], changed, [axes[1:2]], "a.md/2")
    session.drop_file(files["b.md"].id)
    session.close()
    session = store.open(folder, dimensions=4)
    promise(len(session.files()) == 2, f"{name}: what was never committed is there after it was closed")
    session.put_file(files["a.md"], changed, [axes[1:2]], "a.md/2")
    session.drop_file(files["b.md"].id)
    session.commit()
    promise(dict(session.files()) == {files["a.md"].id: "a.md/2"}, f"{name}: a file that was dropped is listed")
    promise(len(session.lexical("harbour", 5)) == 0, f"{name}: old passages of a changed or dropped file are found")
    promise([row for row, _ in session.lexical("lighthouse", 5)] == [changed[0].id], f"{name}: new text is not found")
    promise([row for row, _ in session.dense(axes[3], 5)] == [changed[0].id], f"{name}: old vectors are found")
    session.close()
