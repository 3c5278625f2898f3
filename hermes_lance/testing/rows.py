"""Rows and records of files that only exist in a test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hermes_lance.core import ids
from hermes_lance.core.records import ChunkRow, KnownFile


def known_file(path: str, *, chunks: int = 0, state: str = "indexed", root: str = "workspace") -> KnownFile:
    """The record of a file that only exists in a test."""
    return KnownFile(
        id=ids.source_id(root, path.encode()),
        root=root,
        path=path,
        raw_path=None,
        state=state,
        media_type="text/plain",
        size=len(path),
        sha256=ids.sha256_hex(path.encode()),
        chunks=chunks,
        run="test",
    )


def write_files(path: Path, files: Iterable[KnownFile]) -> dict[str, Any]:
    """Writes a whole state file, record by record; its entry for a manifest. Builds write only what changed."""
    from hermes_lance.store.files import FilesWriter, sort_key

    writer = FilesWriter(path)
    for known in sorted(files, key=sort_key):
        writer.add(known)
    return writer.close()


def chunk_rows(path: str, texts: Sequence[str], *, root: str = "workspace") -> list[ChunkRow]:
    """Passages of such a file, one after the other."""
    source = ids.source_id(root, path.encode())
    rows: list[ChunkRow] = []
    at = 0
    for ordinal, text in enumerate(texts):
        equals = sum(row.text == text for row in rows)
        rows.append(
            ChunkRow(
                id=ids.chunk_id(source, ids.text_sha(text), equals),
                source_id=source,
                root=root,
                path=path,
                kind="text",
                section=(),
                media_type="text/plain",
                text=text,
                embed_keys=(ids.text_sha(text),),
                ordinal=ordinal,
                char_start=at,
                char_end=at + len(text),
                chunker="test/1",
                parser="test/1",
                line_start=ordinal + 1,
                line_end=ordinal + 1,
            )
        )
        at += len(text)
    return rows
