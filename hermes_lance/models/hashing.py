"""The embedder that needs nothing: signed feature hashing of words, in any script, with no model behind it.

It knows words, not meanings, so it is fused with a low weight and never takes the place of lexical search. Scripts
without spaces give pairs of characters. Rules, stop words or number of dimensions are part of the signature.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hermes_lance.core.errors import Cancelled, ConfigError
from hermes_lance.core.signature import digest
from hermes_lance.core.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Vectors

RULES = 1
"""Raised whenever the same text would give another vector."""

FEWEST_DIMENSIONS, MOST_DIMENSIONS, DEFAULT_DIMENSIONS = 32, 4096, 1024
REMEMBERED_WORDS = 200_000
"""Distinct spellings whose features are kept; about 40 MB at most, then the memory starts afresh."""


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
        # A feature is an int: slot, with the sign in the lowest bit. Two words that share both are one feature,
        # as they would be one number of the vector in any case.
        self._known: dict[str, tuple[int, ...]] = {}

    def signature(self) -> str:
        """Rules, stop words and number of dimensions."""
        return f"builtin_hash/{RULES}/{digest(sorted(STOP_WORDS))[:8]}/{self.dimensions}"

    def embed_documents(self, texts: Sequence[str], *, cancelled: Callable[[], bool] | None = None) -> Vectors:
        """float32 `[len(texts), dims]`, zero rows for texts without a word. `cancelled` is asked now and then."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for index, text in enumerate(texts):
            if cancelled is not None and index % 256 == 0 and cancelled():
                raise Cancelled("embedding was stopped by the caller")
            self._embed(text, vectors[index])
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """float32 `[dims]`."""
        import numpy as np

        vector = np.zeros(self.dimensions, dtype=np.float32)
        self._embed(text, vector)
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words and pairs of characters of each text, stop words included."""
        from hermes_lance.models.hash_words import words

        return [len(words(text)) for text in texts]

    def _embed(self, text: str, into: Vectors) -> None:
        import numpy as np

        from hermes_lance.models.hash_words import words

        known = self._known
        features: list[int] = []
        for word in words(text):
            found = known.get(word)
            features += found if found is not None else self._learn(word)
        if not features:
            return
        counts = Counter(features)
        codes = np.fromiter(counts.keys(), dtype=np.int64, count=len(counts))
        weights = np.fromiter(map(_weight, counts.values()), dtype=np.float64, count=len(counts))
        weights *= 1 - 2 * (codes & 1)
        vector = np.bincount(codes >> 1, weights=weights, minlength=self.dimensions)
        length = math.sqrt(float(vector @ vector))
        if length > 0:
            into[:] = vector / length

    def _learn(self, word: str) -> tuple[int, ...]:
        if len(self._known) >= REMEMBERED_WORDS:
            self._known.clear()
        from hermes_lance.models.hash_words import features

        codes = tuple(self._code(feature) for feature in features(word))
        self._known[word] = codes
        return codes

    def _code(self, feature: str) -> int:
        hashed = hashlib.sha256(feature.encode("utf-8", "surrogatepass")).digest()
        return (int.from_bytes(hashed[:8], "big") % self.dimensions) << 1 | (hashed[8] & 1)


_WEIGHTS = tuple(1 + math.log(count) for count in range(1, 65))


def _weight(count: int) -> float:
    return _WEIGHTS[count - 1] if count <= len(_WEIGHTS) else 1 + math.log(count)
