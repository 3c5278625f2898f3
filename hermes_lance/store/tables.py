"""The Lance tables: the durable truth. One writer, which holds the lock; readers name a version.

lancedb is imported when the first table is opened, never before: it costs a second and queries do without it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import timedelta
from pathlib import Path
from typing import Any

from hermes_lance.core import schema
from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.store.durable import disk_errors, make_private
from hermes_lance.store.lance_engine import lancedb
from hermes_lance.store.manifest import LANCE

VECTOR_PREFIX = "vectors_"
_LAST_NUMBER = (1 << 64) - 1
_DIGITS = len(str(_LAST_NUMBER))
_VALUES_IN_ONE_CONDITION = 2_000
_MOST_PASSES = 4
_NEVER = timedelta(days=36_500)
ROWS_WORTH_AN_INDEX = 20_000
CACHE_BYTES = 32 << 20
"""Lance's own caches may grow to gigabytes; nothing here reads the same page often."""


def quoted(value: str) -> str:
    """A string literal for a condition. The only place where a value enters SQL."""
    return "'" + value.replace("'", "''") + "'"


def any_of(column: str, values: Iterable[str]) -> str:
    """The condition that a column holds one of the values (at least one)."""
    return f"{column} IN ({', '.join(quoted(value) for value in values)})"


def vector_table(space: str) -> str:
    """Name of the table of a vector space."""
    return f"{VECTOR_PREFIX}{space}"


def versions_on_disk(folder: Path) -> dict[int, Path]:
    """The manifests of a table by version, read from their names: n is stored as 2^64 - 1 - n, so that the newest comes
    first, or as itself by older releases of Lance."""
    found = {}
    for path in (folder / "_versions").glob("*.manifest"):
        number = path.name.removesuffix(".manifest")
        if number.isdigit():
            found[int(number) if len(number) < _DIGITS else _LAST_NUMBER - int(number)] = path
    return found


def _begun(folder: Path) -> bool:
    """A kill while a table is made leaves a folder without any version; it is no table yet."""
    return bool(versions_on_disk(folder))


def _small_caches() -> Any:
    return lancedb().Session(index_cache_size_bytes=CACHE_BYTES, metadata_cache_size_bytes=CACHE_BYTES)


class Tables:
    """The tables of one dataset, opened late and kept open."""

    def __init__(self, dataset: Path) -> None:
        self.folder = dataset / LANCE
        self._connection: Any = None
        self._open: dict[str, Any] = {}

    def _connect(self) -> Any:
        if self._connection is None:
            with disk_errors(str(self.folder)):
                make_private(self.folder)
                self._connection = lancedb().connect(str(self.folder), session=_small_caches())
        return self._connection

    def names(self) -> list[str]:
        """Tables on disk; costs no import."""
        return sorted(path.name.removesuffix(".lance") for path in self.folder.glob("*.lance") if _begun(path))

    def ensure(self, name: str, dimensions: int | None = None) -> None:
        """Makes an empty table where there is none."""
        if name in self._open or _begun(self.folder / f"{name}.lance"):
            return
        kind = "vectors" if name.startswith(VECTOR_PREFIX) else name
        with disk_errors(str(self.folder)):
            table = self._connect().create_table(name, schema=schema.arrow_schema(kind, dimensions))
        self._open[name] = table

    def table(self, name: str) -> Any:
        """The table at its newest version."""
        table = self._open.get(name)
        if table is None:
            table = self._open[name] = self._opened(name)
        else:
            # A handle whose last commit lost a race stays behind for ever unless told.
            table.checkout_latest()
        return table

    def _opened(self, name: str) -> Any:
        try:
            return self._connect().open_table(name)
        except (ValueError, RuntimeError, OSError) as error:
            reason = str(error).strip().splitlines()[0]
            raise DatasetDamaged(f"{self.folder / name}.lance: cannot be opened ({reason})") from error

    def remove(self, name: str) -> None:
        """Deletes a table with all its versions."""
        self._open.pop(name, None)
        with disk_errors(str(self.folder)):
            shutil.rmtree(self.folder / f"{name}.lance", ignore_errors=True)

    def head(self, name: str) -> int:
        """Newest version."""
        return int(self.table(name).version)

    def newest(self, name: str) -> int | None:
        """The same by the names of its files, without Lance; none where there is no such table."""
        return max(versions_on_disk(self.folder / f"{name}.lance"), default=None)

    def rows(self, name: str) -> int:
        """Rows at the newest version."""
        return int(self.table(name).count_rows())

    def upsert(self, name: str, key: str, rows: Any, replaced: tuple[str, Sequence[str]] | None = None) -> None:
        """Writes rows by key in one commit; `replaced` names a column and values whose other rows vanish in it."""
        merge = self.table(name).merge_insert(key).when_matched_update_all().when_not_matched_insert_all()
        if replaced is not None and replaced[1]:
            merge = merge.when_not_matched_by_source_delete(any_of(*replaced))
        with disk_errors(str(self.folder)):
            merge.execute(rows)

    def append(self, name: str, rows: Any) -> None:
        """Adds rows whose keys are certainly not there, in one commit."""
        with disk_errors(str(self.folder)):
            self.table(name).add(rows)

    def delete(self, name: str, column: str, values: Sequence[str]) -> None:
        """Removes rows in one commit."""
        with disk_errors(str(self.folder)):
            self.table(name).delete(any_of(column, values))

    def restore(self, name: str, version: int) -> None:
        """Makes the content of an older version the newest one again."""
        table = self.table(name)
        with disk_errors(str(self.folder)):
            table.checkout(version)
            table.restore()
        self._open.pop(name, None)

    def read(
        self, name: str, columns: Sequence[str], *, version: int | None = None, where: str | None = None
    ) -> Iterator[Any]:
        """Record batches of a table, at a version or the newest. `DatasetDamaged` when that version is not there."""
        table = self._opened(name) if version is not None else self.table(name)
        if version is not None:
            try:
                table.checkout(version)
            except (ValueError, RuntimeError, OSError) as error:
                raise DatasetDamaged(f"{self.folder / name}.lance: version {version} is not there") from error
        query = table.search().select(list(columns))
        if where is not None:
            query = query.where(where)
        yield from query.to_batches(8_192)

    def vectors_for(self, name: str, keys: Sequence[str]) -> dict[str, Any]:
        """Stored vectors (float16 arrays) by key, for those of `keys` that are there."""
        found: dict[str, Any] = {}
        for start in range(0, len(keys), _VALUES_IN_ONE_CONDITION):
            some = keys[start : start + _VALUES_IN_ONE_CONDITION]
            for batch in self.read(name, ["key", "vector"], where=any_of("key", some)):
                matrix = batch.column("vector").flatten().to_numpy().reshape(batch.num_rows, -1)
                found.update(zip(batch.column("key").to_pylist(), matrix, strict=True))
        return found

    def compact(self, name: str) -> None:
        """Merges fragments and brings scalar indices up to date; the rows stay what they are, the version may grow."""
        with disk_errors(str(self.folder)):
            self._index(name)
            for _ in range(_MOST_PASSES):
                before = self.head(name)
                # Only `clean` may remove old versions, after the new one is published: the default goes by their age.
                self.table(name).optimize(cleanup_older_than=_NEVER)
                # Until nothing is left to merge, so that `clean`, which is the same call, makes no version of its own.
                if self.head(name) == before:
                    return

    def rewrite(self, name: str, kept: tuple[str, Set[str]] | None = None) -> None:
        """Writes all rows anew in one commit, in files of their own: unlike a compaction this leaves no deleted row in
        any of them. `kept` names a column and the values whose rows stay."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = self.table(name).schema
        values = pa.array(sorted(kept[1]), pa.string()) if kept is not None else None

        def batches() -> Iterator[Any]:
            for batch in self.read(name, wanted.names):
                if kept is not None:
                    batch = batch.filter(pc.is_in(batch.column(kept[0]), values))
                yield pa.RecordBatch.from_arrays([batch.column(one) for one in wanted.names], schema=wanted)

        with disk_errors(str(self.folder)):
            self.table(name).add(pa.RecordBatchReader.from_batches(wanted, batches()), mode="overwrite")

    def _index(self, name: str) -> None:
        """Gives a large table the scalar indices that its schema asks for; a small one is scanned faster."""
        table = self.table(name)
        if table.count_rows() < ROWS_WORTH_AN_INDEX:
            return
        from lancedb.index import BTree

        there = {column for index in table.list_indices() for column in index.columns}
        kind = "vectors" if name.startswith(VECTOR_PREFIX) else name
        for column in schema.load(kind).indexed:
            if column not in there:
                table.create_index(column, config=BTree())

    def clean(self, name: str) -> None:
        """Removes old versions and stray files; only while the newest version is published."""
        # Nothing at all would draw a warning about other writers, of which the lock allows none.
        nearly_none = timedelta(milliseconds=1)
        with disk_errors(str(self.folder)):
            self.table(name).optimize(cleanup_older_than=nearly_none, delete_unverified=True)
