"""Small honest stand-ins for tests, ours and those of plugin authors: rows, files, an embedder without weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_lance.core import ids
from hermes_lance.core.records import ChunkRow, KnownFile

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Vectors


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


class WordCountEmbedder:
    """Vectors of 64 numbers from the words of a text. Deterministic, instant, and near for texts that share words."""

    name = "word_count"
    dimensions = 64
    window_tokens = 256
    scripts: frozenset[str] = frozenset()
    fusion_weight = 0.2

    def __init__(self) -> None:
        self.embedded = 0
        """Texts embedded so far; tests count with it."""

    def signature(self) -> str:
        """Name and version."""
        return "word_count/1"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """float32 `[n, 64]`."""
        import numpy as np

        self.embedded += len(texts)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """float32 `[64]`, length 1, or zero without words."""
        import numpy as np

        vector = np.zeros(self.dimensions, dtype=np.float32)
        for word in text.lower().split():
            vector[int(ids.text_sha(word)[:8], 16) % self.dimensions] += 1.0
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words."""
        return [len(text.split()) for text in texts]
