"""Vectors of artifacts: taken from the table of the space where they are there, embedded where they are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hermes_lance.artifacts.meaning import text_of
from hermes_lance.core.artifact import Artifact
from hermes_lance.ingest.crew import Crew, threads_for

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from hermes_lance.core.contracts import Embedder
    from hermes_lance.store.tables import Tables

STRINGS_AT_ONCE = 1_024
"""New strings whose vectors are stored before the next ones are embedded: a killed build loses no more."""


class Vectors:
    """The vectors for some artifacts in one space. `missing` are strings by key that nobody has embedded yet."""

    def __init__(self, artifacts: Sequence[Artifact], tables: Tables, table: str, dimensions: int) -> None:
        self._dimensions = dimensions
        self._keys = [one.embed_keys[0] for one in sorted(artifacts, key=lambda one: one.id)]
        strings = {one.embed_keys[0]: text_of(one) for one in artifacts}
        self._known = tables.vectors_for(table, list(strings)) if table in tables.names() else {}
        self.missing = {key: text for key, text in strings.items() if key not in self._known}

    def embed(
        self, model: Embedder, cancelled: Callable[[], bool], most: int
    ) -> tuple[list[str], npt.NDArray[np.float16]]:
        """Embeds up to `most` of the missing strings: their keys, and float16 `[keys, dimensions]`."""
        keys = list(self.missing)[:most]
        with Crew(model, threads_for(model, None), cancelled) as crew:
            made = crew.result(crew.put([self.missing.pop(key) for key in keys]))
        self._known.update(zip(keys, made, strict=True))
        return keys, made

    def matrix(self) -> npt.NDArray[np.float16]:
        """float16 `[artifacts by id, dimensions]`, once nothing is missing."""
        import numpy as np

        rows = [self._known[key] for key in self._keys]
        return np.stack(rows).astype(np.float16) if rows else np.zeros((0, self._dimensions), dtype=np.float16)
