"""Our retriever, for those who name it, set it up, or build their own upon it: both legs, fused.

A question to our own retriever goes straight through `ranking`, which knows more than a view: which passages hold the
question word for word, and how much the embedder's vectors are worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_lance.core.errors import ConfigError
from hermes_lance.core.records import Query
from hermes_lance.search import fuse

if TYPE_CHECKING:
    from hermes_lance.core.contracts import SearchView

FUSIONS = ("zscore", "convex", "rrf")


class HybridRetriever:
    """Words and meaning, fused as `knowledgebase.search` says unless its own options say otherwise."""

    name = "builtin_hybrid"

    def __init__(self, fusion: str = "", dense_weight: float | None = None, candidates: int | None = None) -> None:
        where = f"knowledgebase.retrievers.{self.name}"
        if fusion and fusion not in FUSIONS:
            raise ConfigError(f"{where}.fusion is {fusion!r}; {', '.join(FUSIONS)}")
        if dense_weight is not None and not 0 <= dense_weight <= 1:
            raise ConfigError(f"{where}.dense_weight is {dense_weight}; 0 to 1")
        if candidates is not None and candidates < 1:
            raise ConfigError(f"{where}.candidates is {candidates}; at least 1")
        self.fusion = fusion
        self.dense_weight = dense_weight
        self.candidates = candidates

    def signature(self) -> str:
        """Name and version."""
        return f"{self.name}/1"

    def retrieve(self, query: Query, view: SearchView, rows: int) -> list[tuple[int, float]]:
        """The fused ranking of both legs, equal scores by row."""
        depth = max(rows, self.candidates or 0)
        lexical, dense = view.lexical(query.text, depth), view.dense(query.text, depth)
        weight = 0.5 if self.dense_weight is None else self.dense_weight
        found = fuse.fused(lexical, dense, method=query.fusion or self.fusion or "zscore", weight=weight)
        return [(one.serial, one.score) for one in found[:rows]]


class RrfRetriever(HybridRetriever):
    """The same with reciprocal ranks."""

    name = "builtin_hybrid_rrf"

    def __init__(self, candidates: int | None = None) -> None:
        super().__init__("rrf", candidates=candidates)
