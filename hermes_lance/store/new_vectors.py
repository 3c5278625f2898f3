"""The vectors that a publication gathers: those that will answer queries, for side files, and those for the table.

Both hold the same blocks in memory where a vector is new; nothing is copied row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core import ids
from hermes_lance.store.vectors import write_vectors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Block = npt.NDArray[np.float16]

BYTES_IN_A_SEGMENT = 48 << 20
"""After so many another side file is begun: bounds memory where a whole space is published at once."""


class NewVectors:
    """`put` and `store` gather; `close_segments` and `table_rows` give what is to be published. Files that are begun in
    the folder `side` are noted in `made`."""

    def __init__(self, side: Path, made: list[Path]) -> None:
        # Not a method of the publication: the two would be a cycle, which holds all this until a collector comes by.
        self._side, self._made = side, made
        self._serials: list[int] = []
        self._sources: list[int] = []
        self._keys: list[str] = []
        self._blocks: list[Block] = []
        self._bytes = 0
        self._segments: list[dict[str, Any]] = []
        self.stored_keys: list[str] = []
        """Keys for the table."""
        self._stored_blocks: list[Block] = []
        self._stored_bytes = 0

    def put(self, serials: Sequence[int], sources: Sequence[int], keys: Sequence[str], matrix: Block) -> None:
        """Vectors that answer queries: `matrix[i]` is of row `serials[i]` of the file with hash `sources[i]`."""
        self._serials.extend(serials)
        self._sources.extend(sources)
        self._keys.extend(keys)
        self._blocks.append(matrix)
        self._bytes += int(matrix.nbytes)
        if self._bytes > BYTES_IN_A_SEGMENT:
            self._close_segment()

    def store(self, keys: Sequence[str], matrix: Block) -> None:
        """Vectors for the table. It has none of these keys, and none is given twice."""
        self.stored_keys.extend(keys)
        self._stored_blocks.append(matrix)
        self._stored_bytes += int(matrix.nbytes)

    @property
    def bytes(self) -> int:
        """Size of the vectors in memory."""
        return max(self._bytes, self._stored_bytes)

    @property
    def serve(self) -> bool:
        """Some of them answer queries."""
        return bool(self._serials or self._segments)

    def __bool__(self) -> bool:
        return self.serve or bool(self.stored_keys)

    def table_rows(self) -> Any:
        """`pyarrow.Table` of the vectors for the table, at least one."""
        import pyarrow as pa

        from hermes_lance.core.schema import arrow_schema

        dimensions = int(self._stored_blocks[0].shape[1])
        # Block by block, as they lie in memory: one matrix would be a copy of all of them.
        vectors = pa.chunked_array(
            [
                pa.FixedSizeListArray.from_arrays(pa.array(block.ravel(), type=pa.float16()), dimensions)
                for block in self._stored_blocks
            ]
        )
        return pa.Table.from_arrays([pa.array(self.stored_keys), vectors], schema=arrow_schema("vectors", dimensions))

    def close_segments(self) -> list[dict[str, Any]]:
        """Entries for the manifest of all segments."""
        if self._serials:
            self._close_segment()
        return self._segments

    def _close_segment(self) -> None:
        import numpy as np

        path = self._side / f"{ids.unique_name()}.vectors"
        self._made.append(path)
        entry = write_vectors(
            path,
            np.concatenate(self._blocks).astype(np.float16, copy=False),
            np.array(self._serials, dtype=np.uint64),
            np.array(self._sources, dtype=np.uint64),
            self._keys,
        )
        self._segments.append(entry)
        self._serials, self._sources, self._keys, self._blocks, self._bytes = [], [], [], [], 0
