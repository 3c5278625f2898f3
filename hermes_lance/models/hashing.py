"""The embedder that needs nothing: signed feature hashing of words, in any script, with no model behind it.

It knows words, not meanings, so it is fused with a low weight and never takes the place of lexical search. Scripts
without spaces give pairs of characters. Rules, stop words or number of dimensions are part of the signature.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from hermes_lance.core.errors import Cancelled, ConfigError
from hermes_lance.core.signature import digest
from hermes_lance.core.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Vectors

RULES = 1
"""Raised whenever the same text would give another vector."""

FEWEST_DIMENSIONS, MOST_DIMENSIONS, DEFAULT_DIMENSIONS = 32, 4096, 1024
REMEMBERED_WORDS = 400_000
"""Distinct spellings whose features are kept; about 60 MB at most, then the memory starts afresh."""

TEXTS_AT_ONCE = 256


class HashEmbedder:
    """`dims` numbers for each text: each distinct word adds 1 + ln(its count) at its slot, with its sign; length 1.

    Method: K. Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", 2009. Slot and sign come from
    the SHA-256 of the word, so that vectors are the same on every machine. Words are split at changes of case and
    between letters and digits, lower-cased, freed of Latin accents and of -ing, -ed, -es, -s; English stop words and
    single letters are left out.
    """

    name = "builtin_hash"
    scripts: frozenset[str] = frozenset()
    fusion_weight = 0.2
    window_tokens = 1_000_000
    """No window: the whole text counts."""

    def __init__(self, dims: int = DEFAULT_DIMENSIONS) -> None:
        if isinstance(dims, bool) or not isinstance(dims, int) or not FEWEST_DIMENSIONS <= dims <= MOST_DIMENSIONS:
            raise ConfigError(
                f"embedder builtin_hash: dims is {dims!r}; a whole number from {FEWEST_DIMENSIONS} "
                f"to {MOST_DIMENSIONS} is needed",
                hint="Correct knowledgebase.embedders.builtin_hash.dims.",
            )
        self.dimensions = dims
        self._known = _Features(dims)

    def signature(self) -> str:
        """Rules, stop words and number of dimensions."""
        return f"builtin_hash/{RULES}/{digest(sorted(STOP_WORDS))[:8]}/{self.dimensions}"

    def embed_documents(self, texts: Sequence[str], *, cancelled: Callable[[], bool] | None = None) -> Vectors:
        """float32 `[len(texts), dims]`, zero rows for texts without a word. `cancelled` is asked now and then."""
        import numpy as np

        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            if cancelled is not None and cancelled():
                raise Cancelled("embedding was stopped by the caller")
            end = start + TEXTS_AT_ONCE
            vectors[start:end] = self._embed(texts[start:end])
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """float32 `[dims]`."""
        vector: Vectors = self._embed([text])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words and pairs of characters of each text, stop words included."""
        from hermes_lance.models.hash_words import words

        return [len(words(text)) for text in texts]

    def _embed(self, texts: Sequence[str]) -> Vectors:
        """All at once: words are looked up one by one, what follows is a few passes over arrays."""
        import numpy as np

        from hermes_lance.models.hash_words import words

        if len(self._known) >= REMEMBERED_WORDS:
            # Another thread may be reading the old one.
            self._known = _Features(self.dimensions)
        features_of = self._known.__getitem__
        codes: list[int] = []
        sizes = []
        for text in texts:
            before = len(codes)
            codes.extend(chain.from_iterable(map(features_of, words(text))))
            sizes.append(len(codes) - before)
        # One number for each feature of each text; equal ones are neighbours once they are in order.
        every = np.array(codes, dtype=np.int64)
        every += np.repeat(np.arange(len(texts), dtype=np.int64) * (2 * self.dimensions), sizes)
        every.sort()
        starts = np.flatnonzero(np.diff(every, prepend=-1))
        distinct = every[starts]
        weights = 1 + np.log(np.diff(starts, append=len(every)))
        weights *= 1 - 2 * (distinct & 1)
        matrix = np.bincount(distinct >> 1, weights=weights, minlength=len(texts) * self.dimensions)
        matrix = matrix.reshape(len(texts), self.dimensions)
        lengths = np.sqrt(np.vecdot(matrix, matrix))
        # What has no word has length 0, and stays zero.
        vectors: Vectors = (matrix / np.where(lengths > 0, lengths, 1)[:, None]).astype(np.float32)
        return vectors


class _Features(dict[str, tuple[int, ...]]):
    """The features of each spelling, worked out when it is first asked for."""

    def __init__(self, dimensions: int) -> None:
        super().__init__()
        self._dimensions = dimensions
        # Most words are one feature: one tuple for all of those takes half the room.
        self._single: dict[int, tuple[int, ...]] = {}

    def __missing__(self, word: str) -> tuple[int, ...]:
        from hermes_lance.models.hash_words import features

        found = tuple([self._code(feature) for feature in features(word)])
        if len(found) == 1:
            found = self._single.setdefault(found[0], found)
        self[word] = found
        return found

    def _code(self, feature: str) -> int:
        """Slot, with the sign in the lowest bit. Two words that share both are one feature, as they would be one number
        of the vector in any case."""
        hashed = hashlib.sha256(feature.encode("utf-8", "surrogatepass")).digest()
        return (int.from_bytes(hashed[:8], "big") % self._dimensions) << 1 | (hashed[8] & 1)
