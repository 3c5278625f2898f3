"""A file of named arrays that is written once and read through a memory map.

Layout: magic, then each array at a multiple of 64 bytes, then a JSON table of contents, its length, magic. Reading
needs neither numpy nor pyarrow: `cast` gives plain memory views. `array` gives numpy views, shapes kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import DatasetDamaged
from hermes_lance.store.durable import disk_errors, open_private

if TYPE_CHECKING:
    import numpy.typing as npt

MAGIC = b"HLSEG01\n"
_ALIGN = 64
_BUFFER_BYTES = 1 << 20
_TAIL = struct.Struct("<Q8s")


class SegmentWriter:
    """Writes one file. Arrays come whole (`put`) or in pieces (`begin`, `append`, `end`), one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._contents: dict[str, dict[str, Any]] = {}
        self._open_name: str | None = None
        self._digest = hashlib.sha256()
        self._at = 0
        self._buffer = bytearray()
        with disk_errors(str(path.parent)):
            self._file = os.fdopen(open_private(path), "wb", buffering=0)
        self._write(MAGIC)

    def _write(self, data: bytes | memoryview) -> None:
        # Rows come by the hundred thousand and are short: hash and write them a megabyte at a time.
        size = len(data) if isinstance(data, bytes) else data.nbytes
        self._at += size
        if size < _BUFFER_BYTES:
            self._buffer += data
            if len(self._buffer) < _BUFFER_BYTES:
                return
            data = b""
        self._through(self._buffer)
        self._buffer = bytearray()
        self._through(data)

    def _through(self, data: bytes | bytearray | memoryview) -> None:
        """Straight to the file and into the hash."""
        with disk_errors(str(self.path.parent)), memoryview(data) as whole:
            rest = whole
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
            del rest
        self._digest.update(data)

    def begin(self, name: str, kind: str = "B", shape: Sequence[int] | None = None) -> None:
        """Starts an array of the `struct` letter `kind`."""
        self._write(bytes(-self._at % _ALIGN))
        self._contents[name] = {"at": self._at, "kind": kind, "shape": list(shape) if shape else None, "bytes": 0}
        self._open_name = name

    def append(self, data: bytes | memoryview) -> None:
        """Adds bytes to the array that was begun last."""
        self._write(data)

    def end(self) -> None:
        """Closes that array."""
        assert self._open_name is not None
        entry = self._contents[self._open_name]
        entry["bytes"] = self._at - entry["at"]
        self._open_name = None

    def put(self, name: str, data: bytes | memoryview, kind: str = "B", shape: Sequence[int] | None = None) -> None:
        """Writes one array whole."""
        self.begin(name, kind, shape)
        self.append(data if isinstance(data, bytes) else data.cast("B"))
        self.end()

    def put_numbers(self, name: str, numbers: Iterable[int], kind: str) -> None:
        """Writes integers of the `array` type code `kind`."""
        from array import array

        self.put(name, array(kind, numbers).tobytes(), kind)

    def put_array(self, name: str, values: npt.NDArray[Any]) -> None:
        """Writes a numpy array with its shape."""
        import numpy as np

        contiguous = np.ascontiguousarray(values)
        # Its own memory, not a copy; an empty view has no bytes to show.
        data = contiguous.reshape(-1).view(np.uint8).data if contiguous.size else b""
        self.put(name, data, contiguous.dtype.str, contiguous.shape)

    def close(self) -> dict[str, Any]:
        """Finishes the file; its name, size and SHA-256 for the manifest."""
        contents = json.dumps(self._contents, separators=(",", ":")).encode()
        self._write(contents)
        self._write(_TAIL.pack(len(contents), MAGIC))
        self._through(self._buffer)
        with disk_errors(str(self.path.parent)):
            self._file.close()
        return {"file": self.path.name, "size": self._at, "sha256": self._digest.hexdigest()}

    def discard(self) -> None:
        """Closes and removes an unfinished file."""
        self.path.unlink(missing_ok=True)
        # The rest of the buffer need not reach a disk that may be full.
        with contextlib.suppress(OSError):
            self._file.close()


class reading:
    """Turns what damaged content provokes inside the block into `DatasetDamaged`, which names the file.

    A class, since the generator of `contextlib` takes four times as long, and a search enters a hundred of these.
    """

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, _PROVOKED):
            raise DatasetDamaged(f"{self._path}: its content cannot be read ({type(error).__name__})") from error


_PROVOKED = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, struct.error)


class Segment:
    """A finished file, mapped. Views stay valid as long as one of them lives, also after the file is unlinked."""

    def __init__(self, path: Path, expected_size: int | None = None) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            raise DatasetDamaged(f"{path}: missing") from None
        except (OSError, ValueError) as error:
            raise DatasetDamaged(f"{path}: cannot be mapped ({error})") from error
        size = len(self._map)
        if expected_size is not None and size != expected_size:
            raise DatasetDamaged(f"{path}: {size} bytes where {expected_size} were written")
        try:
            length, magic = _TAIL.unpack(self._map[size - _TAIL.size :])
            if magic != MAGIC or self._map[: len(MAGIC)] != MAGIC:
                raise ValueError("no such mark")
            start = size - _TAIL.size - length
            self._contents: dict[str, dict[str, Any]] = json.loads(self._map[start : size - _TAIL.size])
            if not isinstance(self._contents, dict):
                raise ValueError("no table of contents")
        except (ValueError, struct.error) as error:
            raise DatasetDamaged(f"{path}: not a segment file ({error})") from error
        self._view = memoryview(self._map)

    def names(self) -> list[str]:
        """The arrays in the file."""
        return list(self._contents)

    def raw(self, name: str) -> memoryview:
        """The bytes of an array."""
        with reading(self.path):
            entry = self._contents[name]
            return self._view[entry["at"] : entry["at"] + entry["bytes"]]

    def cast(self, name: str) -> memoryview:
        """The array as a view of numbers, without numpy."""
        with reading(self.path):
            return self.raw(name).cast(self._contents[name]["kind"])

    def array(self, name: str) -> npt.NDArray[Any]:
        """The array as numpy sees it, with its shape; not a copy."""
        import numpy as np

        with reading(self.path):
            entry = self._contents[name]
            flat: npt.NDArray[Any] = np.frombuffer(self.raw(name), dtype=np.dtype(entry["kind"]))
            return flat.reshape(entry["shape"]) if entry["shape"] else flat

    def forget(self, name: str) -> None:
        """Lets the system take the pages of an array out of this process; they come back when they are read again.

        What was read of a mapped file counts as memory of the process until then, and not by the byte: Linux maps
        what it has in its cache around it, 64 kB or 2 MB.
        """
        dont_need = getattr(mmap, "MADV_DONTNEED", None)
        if dont_need is None:
            return
        with reading(self.path):
            entry = self._contents[name]
            start = entry["at"] // mmap.PAGESIZE * mmap.PAGESIZE
            self._map.madvise(dont_need, start, entry["at"] + entry["bytes"] - start)


def file_sha256(path: Path) -> str:
    """SHA-256 of a whole file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
