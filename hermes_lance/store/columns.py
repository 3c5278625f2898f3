"""Columns of a segment: how a million small values are written in bulk and one of them is read without the others.

Three shapes, all with random access through plain memory views: whole numbers (32 bits where they fit), keys in
hexadecimal (16 bytes each), and coded values (each distinct one once, a number for every row).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from hermes_lance.store.segment import Segment, SegmentWriter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

KEY_BYTES = 16
NO_NUMBER = -1
"""Stands for a number that is not there; all others are positions and counts."""
_NOTHING = b"\xff"
"""Stands for a value that is not there: no text begins with this byte in UTF-8."""
_INT32_LIMIT = 1 << 31


def put_numbers(writer: SegmentWriter, name: str, values: Iterable[int | None]) -> None:
    """Writes numbers from 0 on, some of them perhaps missing."""
    numbers = [NO_NUMBER if value is None else value for value in values]
    writer.put_numbers(name, numbers, "i" if max(numbers, default=0) < _INT32_LIMIT else "q")


def put_keys(writer: SegmentWriter, name: str, keys: Iterable[str]) -> None:
    """Writes keys of 32 hexadecimal digits."""
    writer.put(name, bytes.fromhex("".join(keys)))


def put_texts(writer: SegmentWriter, name: str, texts: Sequence[bytes]) -> None:
    """Writes byte strings so that each is found by its number."""
    writer.put(name, b"".join(texts))
    writer.put_numbers(f"{name}_offsets", accumulate(map(len, texts), initial=0), "Q")


def put_coded(
    writer: SegmentWriter, name: str, values: Iterable[Any], encode: Callable[[Any], bytes] = str.encode
) -> None:
    """Writes values of which many are equal; `encode` gives the bytes of one that is not `None`."""
    code_of: dict[Any, int] = {}
    codes = [code_of.setdefault(value, len(code_of)) for value in values]
    put_texts(writer, name, [_NOTHING if value is None else encode(value) for value in code_of])
    writer.put_numbers(f"{name}_codes", codes, "I")


def as_json(value: Any) -> bytes:
    """Compact JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


class Numbers:
    """A column written by `put_numbers`."""

    def __init__(self, segment: Segment, name: str) -> None:
        self._segment, self._name = segment, name
        self._values = segment.cast(name)

    def __getitem__(self, row: int) -> int | None:
        value: int = self._values[row]
        return None if value == NO_NUMBER else value

    def array(self) -> npt.NDArray[Any]:
        """All numbers; `NO_NUMBER` where there is none."""
        return self._segment.array(self._name)


class Keys:
    """A column written by `put_keys`."""

    def __init__(self, segment: Segment, name: str) -> None:
        self._raw = segment.raw(name)

    def __len__(self) -> int:
        return len(self._raw) // KEY_BYTES

    def __getitem__(self, row: int) -> str:
        found = bytes(self._raw[row * KEY_BYTES : (row + 1) * KEY_BYTES])
        if len(found) != KEY_BYTES:
            raise IndexError("a key beyond the end")
        return found.hex()

    def hexadecimal(self) -> bytes:
        """All keys one after the other, 32 digits each."""
        return self._raw.hex().encode("ascii")

    def heads(self) -> npt.NDArray[np.uint64]:
        """The first eight bytes of each key as a number, as `int(key[:16], 16)` gives it."""
        import numpy as np

        heads: npt.NDArray[np.uint64] = np.frombuffer(self._raw, dtype=">u8")[::2].astype(np.uint64)
        return heads


class Texts:
    """A column written by `put_texts`."""

    def __init__(self, segment: Segment, name: str) -> None:
        self._raw = segment.raw(name)
        self._offsets = segment.cast(f"{name}_offsets")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, row: int) -> bytes:
        return bytes(self._raw[self._offsets[row] : self._offsets[row + 1]])


class Coded:
    """A column written by `put_coded`. Each distinct value is decoded once."""

    def __init__(self, segment: Segment, name: str, decode: Callable[[bytes], Any] = bytes.decode) -> None:
        self._segment, self._name, self._decode = segment, name, decode
        self._texts = Texts(segment, name)
        self._codes = segment.cast(f"{name}_codes")
        self._decoded: dict[int, Any] = {}

    def __getitem__(self, row: int) -> Any:
        return self._value(self._codes[row])

    def _value(self, code: int) -> Any:
        if code not in self._decoded:
            raw = self._texts[code]
            self._decoded[code] = None if raw == _NOTHING else self._decode(raw)
        return self._decoded[code]

    def distinct(self) -> list[Any]:
        """Each value once, by its code."""
        return [self._value(code) for code in range(len(self._texts))]

    def codes(self) -> npt.NDArray[np.uint32]:
        """The code of each row."""
        return self._segment.array(f"{self._name}_codes")
