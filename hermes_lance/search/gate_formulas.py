"""The figures by which evidence is weighed, for each kind of embedder: one place for all of them.

A score is a sum of measures times weights (a logistic regression without its last step): 0 is the least that opens.
Fitted on one half of the sets named in docs/decisions/0010-gate.md, reported on the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_lance.search.evidence import Measures

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder


@dataclass(frozen=True, slots=True)
class Formula:
    """One weight for each measure."""

    least: float
    """What the weighed measures must add up to."""
    shared: float = 0.0
    coverage: float = 0.0
    words: float = 0.0
    asks: float = 0.0
    cosine: float = 0.0
    lead: float = 0.0
    alone: float = 0.0
    length: float = 0.0

    def score(self, found: Measures) -> float:
        """0 or more: there is enough."""
        return (
            self.shared * found.shared
            + self.coverage * found.coverage
            + self.words * found.words
            + self.asks * found.asks
            + self.cosine * found.cosine
            + self.lead * found.lead
            + self.alone * found.alone
            + self.length * found.length
            - self.least
        )


FORMULAS: Mapping[str, Formula] = {
    "words": Formula(-0.75, shared=2.29, coverage=2.05, asks=0.86, length=-1.43),
    "minilm": Formula(-0.55, shared=1.32, coverage=1.06, cosine=5.94, alone=3.92, length=-1.67),
    "minilm foreign": Formula(10.35, shared=1.85, coverage=1.39, words=1.0, asks=2.91, cosine=1.87, alone=1.23),
    "vectors": Formula(0.55, shared=2.03, coverage=1.68, asks=0.89, lead=4.46, length=-0.92),
}
"""`words`: no vectors were compared, or they are of the hashing kind, which see words only. `minilm`: the bundled
model; `minilm foreign`: for messages in languages that it was not made for. `vectors`: any other model, of whose
cosines only the lead over the others is taken, since their level differs from model to model."""


def formula_for(embedder: Embedder | None, *, foreign: bool) -> tuple[str, Formula]:
    """The formula for messages that were compared with an embedder's vectors (none: by words alone), and its name."""
    if embedder is None or embedder.fusion_weight < LEAST_TRUSTED:
        name = "words"
    elif embedder.name == "minilm":
        name = "minilm foreign" if foreign else "minilm"
    else:
        name = "vectors"
    return name, FORMULAS[name]


LEAST_TRUSTED = 0.4
"""Weight in fusion from which on an embedder is taken for one that knows meanings."""
