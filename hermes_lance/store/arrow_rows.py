"""Rows of a text segment as an Arrow table, column by column and mostly without copying."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_lance.core import ids, schema
from hermes_lance.store.columns import NO_NUMBER
from hermes_lance.store.rows import CODED, LISTS, NUMBERS, PER_FILE, TextSegment
from hermes_lance.store.segment import reading

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

HEX_DIGITS = 32


def arrow_rows(segment: TextSegment, indices: npt.NDArray[np.intp], run: str) -> Any:
    """`pyarrow.Table` with the columns of `schemas/chunks.json`, of the rows at `indices`, in that order."""
    import pyarrow as pa

    with reading(segment.file.path):
        made = _Columns(segment, indices, run)
        wanted = schema.arrow_schema("chunks")
        return pa.Table.from_arrays([made.column(item.name).cast(item.type) for item in wanted], schema=wanted)


class _Columns:
    """Each column as an Arrow array."""

    def __init__(self, segment: TextSegment, indices: npt.NDArray[np.intp], run: str) -> None:
        import pyarrow as pa

        self.segment, self.run = segment, run
        self.rows = pa.array(indices)

    def column(self, name: str) -> Any:
        import pyarrow as pa

        segment, rows = self.segment, self.rows
        if name in NUMBERS:
            values = segment.numbers(name).array()
            return pa.array(values, mask=values == NO_NUMBER).take(rows)
        if name in CODED or name in LISTS:
            coded = segment.coded(name)
            kind = pa.list_(pa.string()) if name in LISTS else pa.string()
            return pa.array(coded.distinct(), type=kind).take(pa.array(coded.codes()).take(rows))
        if name in PER_FILE:
            at = PER_FILE.index(name)
            of_files = pa.array([record[at] for record in segment.sources], type=pa.string())
            return of_files.take(pa.array(segment.file.array("row_source")).take(rows))
        if name == "id":
            return self._hexadecimal("ids").take(rows)
        if name == "embed_keys":
            offsets = pa.array(segment.file.array("keys_offsets"), type=pa.int32())
            return pa.ListArray.from_arrays(offsets, self._hexadecimal("keys")).take(rows)
        if name == "text":
            return self._texts().take(rows)
        if name == "text_sha":
            return pa.array([ids.text_sha(segment.text(row)) for row in rows.to_pylist()])
        if name == "run":
            return pa.array([self.run] * len(rows))
        raise KeyError(f"column {name} of chunks is in no segment")

    def _hexadecimal(self, name: str) -> Any:
        import numpy as np
        import pyarrow as pa

        keys = self.segment.keys_of(name)
        offsets = np.arange(len(keys) + 1, dtype=np.int64) * HEX_DIGITS
        return pa.LargeStringArray.from_buffers(
            len(keys), pa.py_buffer(offsets), pa.py_buffer(keys.hexadecimal())
        ).cast(pa.string())

    def _texts(self) -> Any:
        import pyarrow as pa

        offsets = self.segment.file.array("text_offsets").astype("int64")
        data = pa.py_buffer(self.segment.file.raw("text"))
        return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), data)
