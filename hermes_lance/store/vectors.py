"""Nearest neighbours over the mapped vectors of a generation, without Lance.

Vectors are stored as float16 rows and as sign bits, column-major: `uint64[d / 64][n]`. Small sets are scanned
exactly; larger ones by Hamming distance of the signs, whose best are rescored from the float16 rows. Filters mask
rows before anything is cut, so a selective filter loses nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.ids import source_hash
from hermes_lance.core.memory import resident
from hermes_lance.store.rows import KEY_BYTES, DeadRows
from hermes_lance.store.segment import Segment, SegmentWriter, reading

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

EXACT_BYTES = 32 << 20
"""Sets whose float32 form fits in this are scanned exactly (about 21,000 vectors of 384 dimensions)."""
SHORTLIST = 1_000
"""Rows rescored after the sign-bit pass, at least: recall@10 .997 against exact on 26,700 real vectors."""
SHORTLIST_OF_LIMIT = 25
"""The same for each row that is asked for: with 100 of them recall@10 is .995 on 75,000 vectors, with 15 it is .988."""
VECTORS_OF_A_ROW = 4
"""How many a row usually has at most; with more, the search for the best rows goes on."""
SPARSE = 4
"""A vector with fewer than one non-zero component in so many is compared by those components alone."""
PORTION_BYTES = 16 << 20
"""Of a vector file of which rows are taken at a time."""
LARGE_BYTES = 160 << 20
"""Memory of a process from which on pages of mapped files are given back."""
EXACT_BLOCK = 8_192
"""Rows widened at a time where the whole float32 form would be too large to keep."""


def sign_bits(matrix: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """`uint64[d / 64][n]`: one bit a component, set where it is positive."""
    import numpy as np

    # A float16 is positive where its bits are as a whole number; comparing those is several times as fast.
    whole = matrix.view(np.int16) if matrix.dtype == np.float16 else matrix
    packed = np.packbits(whole > 0, axis=1)
    padding = -packed.shape[1] % 8
    if padding:
        packed = np.pad(packed, ((0, 0), (0, padding)))
    words: npt.NDArray[np.uint64] = np.ascontiguousarray(packed).view(np.uint64)
    return np.ascontiguousarray(words.T)


def widened(matrix: npt.NDArray[np.float16]) -> npt.NDArray[np.float32]:
    """The same finite numbers as float32, seven times as fast as `astype`.

    A float16 is the upper bits of a float32 whose exponent is too small by 112: moved there as whole numbers and
    multiplied by 2 to the 112, every one of them is exact, the smallest (subnormal) ones too.
    """
    import numpy as np

    bits = matrix.view(np.int16).astype(np.int32)
    bits <<= 13
    # The sign, which was copied into all upper bits, and the 15 bits of exponent and fraction.
    bits &= np.int32(-0x70002000)
    wide: npt.NDArray[np.float32] = bits.view(np.float32)
    wide *= np.float32(2.0**112)
    return wide


def write_vectors(
    path: Path,
    matrix: npt.NDArray[np.float16],
    serials: npt.NDArray[np.uint64],
    sources: npt.NDArray[np.uint64],
    keys: Sequence[str],
) -> dict[str, Any]:
    """Writes one vector segment: `matrix[i]` belongs to row `serials[i]` of file `sources[i]`, text key `keys[i]`."""
    import numpy as np

    writer = SegmentWriter(path)
    writer.put_array("vectors", matrix.astype(np.float16, copy=False))
    writer.put_array("bits", sign_bits(matrix))
    writer.put_array("serials", serials)
    writer.put_array("sources", sources)
    writer.put("keys", b"".join(bytes.fromhex(key) for key in keys))
    return {**writer.close(), "rows": len(keys), "dimensions": int(matrix.shape[1])}


class VectorSegment:
    """One finished vector segment."""

    def __init__(self, path: Path, entry: dict[str, Any]) -> None:
        self.entry = entry
        self.file = Segment(path, entry["size"])

    def __len__(self) -> int:
        return int(self.entry["rows"])

    @property
    def matrix(self) -> npt.NDArray[np.float16]:
        """`float16[n][d]`."""
        return self.file.array("vectors")

    @property
    def bits(self) -> npt.NDArray[np.uint64]:
        """`uint64[d / 64][n]`."""
        return self.file.array("bits")

    @property
    def serials(self) -> npt.NDArray[np.uint64]:
        """The row of each vector."""
        return self.file.array("serials")

    @property
    def sources(self) -> npt.NDArray[np.uint64]:
        """The file (hash) of each vector."""
        return self.file.array("sources")

    def keys(self) -> npt.NDArray[Any]:
        """The text key of each vector, as fixed bytes `V16[n]`."""
        import numpy as np

        return np.frombuffer(self.file.raw("keys"), dtype=f"V{KEY_BYTES}")

    def key(self, index: int) -> str:
        """The text key of a vector."""
        return bytes(self.file.raw("keys")[index * KEY_BYTES : (index + 1) * KEY_BYTES]).hex()


class VectorRows:
    """All vectors of a generation."""

    def __init__(self, folder: Path, entries: Sequence[dict[str, Any]], dead: DeadRows) -> None:
        self.segments = [VectorSegment(folder / entry["file"], entry) for entry in entries if entry["rows"]]
        self.dead = dead
        self._float32: list[npt.NDArray[np.float32]] | None = None
        self._dead_masks: list[npt.NDArray[np.bool_] | None] | None = None

    def __len__(self) -> int:
        return sum(len(segment) for segment in self.segments)

    @property
    def dimensions(self) -> int | None:
        """Width of the vectors; none when there are none."""
        return int(self.segments[0].entry["dimensions"]) if self.segments else None

    def serials(self) -> npt.NDArray[np.uint64]:
        """Rows that have vectors, dead ones included; may repeat."""
        import numpy as np

        if not self.segments:
            return np.empty(0, dtype=np.uint64)
        return np.concatenate([segment.serials for segment in self.segments])

    def rows_with_vectors(self, living: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """For each of these serials whether it has vectors."""
        import numpy as np

        # A mark for every serial ever given takes less time than sorting.
        highest = max(
            (int(one.max()) for one in (living, *(part.serials for part in self.segments)) if len(one)), default=0
        )
        have = np.zeros(highest + 1, dtype=np.bool_)
        for segment in self.segments:
            have[segment.serials] = True
        return have[living]

    def by_key(self, keys: Collection[str]) -> dict[str, npt.NDArray[np.float16]]:
        """Vectors already stored for these text keys, whichever row they came from."""
        import numpy as np

        found: dict[str, npt.NDArray[np.float16]] = {}
        if not keys:
            return found
        wanted = {bytes.fromhex(key): key for key in keys}
        heads = np.frombuffer(b"".join(key[:8] for key in wanted), dtype=np.uint64)
        for segment in self.segments:
            raw = segment.file.raw("keys")
            stored = np.frombuffer(raw, dtype=np.uint64).reshape(-1, KEY_BYTES // 8)[:, 0]
            for at in np.flatnonzero(np.isin(stored, heads)).tolist():
                key = wanted.get(bytes(raw[at * KEY_BYTES : (at + 1) * KEY_BYTES]))
                if key is not None:
                    found.setdefault(key, segment.matrix[at])
        return found

    def of_rows(self, serials: Collection[int]) -> dict[int, npt.NDArray[np.float32]]:
        """The vectors of some rows, of length 1; of several that a row has, their mean. Rows without are left out."""
        import numpy as np

        wanted = np.fromiter(serials, dtype=np.uint64, count=len(serials))
        sums: dict[int, npt.NDArray[np.float32]] = {}
        for segment in self.segments:
            at = np.flatnonzero(np.isin(segment.serials, wanted))
            for serial, vector in zip(segment.serials[at].tolist(), widened(segment.matrix[at]), strict=True):
                sums[serial] = sums[serial] + vector if serial in sums else vector
        return {serial: vector / max(float(np.linalg.norm(vector)), 1e-9) for serial, vector in sums.items()}

    def search(
        self,
        query: npt.NDArray[np.float32],
        limit: int,
        *,
        source_ids: Collection[str] | None = None,
        exact: bool = False,
    ) -> list[tuple[int, float]]:
        """The `limit` living rows nearest to `query` by cosine, best first, ties by serial; a row's best vector counts.

        `query`: float32 `[d]`, length 1. `source_ids` limits the rows to those files.
        """
        if not self.segments or limit <= 0:
            return []
        with reading(self.segments[0].file.path.parent):
            return self._nearest(query, limit, source_ids, exact)

    def _nearest(
        self, query: npt.NDArray[np.float32], limit: int, source_ids: Collection[str] | None, exact: bool
    ) -> list[tuple[int, float]]:
        masks = self._masks(source_ids)
        total = len(self)
        if exact or total * len(query) * 4 <= EXACT_BYTES:
            serials, scores = self._exact(query, masks)
        else:
            serials, scores = self._shortlisted(query, masks, max(SHORTLIST, SHORTLIST_OF_LIMIT * limit))
        return _best(serials, scores, limit)

    def _masks(self, source_ids: Collection[str] | None) -> list[npt.NDArray[np.bool_] | None]:
        """For each segment which vectors may be returned; none = all."""
        import numpy as np

        if self._dead_masks is None:
            dead = self.dead.array()
            self._dead_masks = [~np.isin(one.serials, dead) if len(dead) else None for one in self.segments]
        if source_ids is None:
            return self._dead_masks
        wanted = np.fromiter((source_hash(one) for one in source_ids), dtype=np.uint64, count=len(source_ids))
        masks: list[npt.NDArray[np.bool_] | None] = []
        for segment, alive in zip(self.segments, self._dead_masks, strict=True):
            allowed = np.isin(segment.sources, wanted)
            masks.append(allowed if alive is None else allowed & alive)
        return masks

    def _exact(
        self, query: npt.NDArray[np.float32], masks: Sequence[npt.NDArray[np.bool_] | None]
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
        import numpy as np

        total = len(self)
        if self._float32 is None and total * len(query) * 4 <= EXACT_BYTES:
            self._float32 = [widened(segment.matrix) for segment in self.segments]
        # `vecdot` and not `@`: BLAS would share the product out among threads, which costs more than it brings, and
        # round a row's score by how many of them there are.
        serials, scores = [], []
        for number, (segment, mask) in enumerate(zip(self.segments, masks, strict=True)):
            if self._float32 is not None:
                values = np.vecdot(self._float32[number], query)
            else:
                blocks = range(0, len(segment), EXACT_BLOCK)
                matrix = segment.matrix
                values = np.concatenate([np.vecdot(widened(matrix[at : at + EXACT_BLOCK]), query) for at in blocks])
            serials.append(segment.serials if mask is None else segment.serials[mask])
            scores.append(values if mask is None else values[mask])
        return np.concatenate(serials), np.concatenate(scores)

    def _shortlisted(
        self, query: npt.NDArray[np.float32], masks: Sequence[npt.NDArray[np.bool_] | None], size: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
        import numpy as np

        signs, said = sign_bits(query[None, :])[:, 0], sign_bits(np.abs(query)[None, :])[:, 0]
        components = np.flatnonzero(query)
        # A question hashed into a few components says nothing about the others: their signs would drown its own.
        sparse = SPARSE * len(components) < len(query)
        far = np.uint16(len(query) + 1)
        distances = []
        for segment, mask in zip(self.segments, masks, strict=True):
            total = np.zeros(len(segment), dtype=np.uint16)
            for word, kept, column in zip(signs, said, segment.bits, strict=True):
                if not sparse:
                    total += np.bitwise_count(column ^ word)
                elif kept:
                    total += np.bitwise_count((column ^ word) & kept)
            if mask is not None:
                total[~mask] = far
            distances.append(total)
        every = np.concatenate(distances)
        best = np.sort(_nearest_by_signs(every, size, int(far)))
        serials, scores, start = [], [], 0
        for segment in self.segments:
            inside = best[(best >= start) & (best < start + len(segment))] - start
            serials.append(segment.serials[inside])
            rows = _gathered(segment, inside, components if sparse else None)
            scores.append(np.vecdot(widened(rows), query[components] if sparse else query))
            start += len(segment)
        return np.concatenate(serials), np.concatenate(scores)


def _gathered(
    segment: VectorSegment, rows: npt.NDArray[np.intp], components: npt.NDArray[np.intp] | None
) -> npt.NDArray[np.float16]:
    """Some vectors of a segment, whole or some of their components.

    Rows from all over a large file map nearly all of it, since the system maps what lies around each; so they are
    taken in portions of the file, and a portion is given back where the process would grow large.
    """
    import numpy as np

    matrix = segment.matrix
    portions = max(1, matrix.nbytes // PORTION_BYTES)
    found = []
    for portion in np.array_split(rows, portions):
        found.append(matrix[portion] if components is None else matrix[portion[:, None], components])
        if portions > 1 and resident().all > LARGE_BYTES:
            segment.file.forget("vectors")
    return np.concatenate(found)


def _nearest_by_signs(distances: npt.NDArray[np.uint16], size: int, far: int) -> npt.NDArray[np.intp]:
    """Positions of the `size` smallest distances below `far`; of those at the last one, the first that stand there.

    Distances are few whole numbers: counting them tells where to cut, five times sooner than a partition.
    """
    import numpy as np

    reached = np.cumsum(np.bincount(distances, minlength=far)[:far])
    last = int(np.searchsorted(reached, size))
    if last == far:
        return np.flatnonzero(distances < far)
    nearer = np.flatnonzero(distances < last)
    return np.concatenate([nearer, np.flatnonzero(distances == last)[: size - len(nearer)]])


def _best(serials: npt.NDArray[np.uint64], scores: npt.NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
    """The `limit` rows with the highest scores, ties by serial; of a row's several vectors the best one counts."""
    import numpy as np

    size = VECTORS_OF_A_ROW * limit
    while True:
        chosen, kept = serials, scores
        if size < len(scores):
            # All that may be among them, ties across the cut included, so that only a few are put in order.
            least = np.partition(scores, len(scores) - size)[len(scores) - size]
            inside = np.flatnonzero(scores >= least)
            chosen, kept = serials[inside], scores[inside]
        order = np.lexsort((chosen, -kept))
        best: dict[int, float] = {}
        for serial, score in zip(chosen[order].tolist(), kept[order].tolist(), strict=True):
            best.setdefault(serial, score)
            if len(best) == limit:
                break
        if len(best) == limit or len(kept) == len(scores):
            return list(best.items())
        size *= VECTORS_OF_A_ROW
