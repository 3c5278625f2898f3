"""Which of the candidates an agent is given unasked: nothing twice, not too much of one file, nothing that commands.

Order matters: what may not be given at all leaves first, what is suspicious steps back, what repeats or crowds goes
before the list is cut, so that it takes no place; then the rest is put in an order that covers more than the best
passage and its neighbours. Maximal marginal relevance after Carbonell and Goldstein (SIGIR 1998).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from hermes_lance.core.records import Candidate, Hit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SUSPECT = "suspect:"
"""Flags that begin so make a passage step back behind the others."""
SUSPECT_PLACES = 3
"""How many others pass it."""
COVERED = 0.8
"""A passage of which so much stands in those before it is a near-duplicate."""
SHINGLE_WORDS = 4
SAME_FILE = 0.7
"""How alike two passages of one file count, at least."""

INSTRUCTION_FILES = frozenset(
    """
    agents.md agents.override.md claude.md claude.local.md gemini.md soul.md copilot-instructions.md .cursorrules
    .windsurfrules .clinerules .goosehints
    """.split()  # noqa: SIM905 (read as words)
)
"""Files in which people give agents orders, lower case. They can be searched; nobody gets their text as reference."""
_INSTRUCTION_FOLDERS = frozenset({(".cursor", "rules"), (".windsurf", "rules"), (".github", "instructions")})


class Option(NamedTuple):
    """A candidate: the passage, and its row in the index."""

    hit: Hit
    serial: int
    tier: int = 0
    """How literally it answers the question, see `ranking`."""

    @property
    def file(self) -> tuple[str, str]:
        """Root and path."""
        return self.hit.root, self.hit.path

    @property
    def candidate(self) -> Candidate:
        """As a reranker sees it."""
        hit, scores = self.hit, self.hit.scores
        return Candidate(hit.text, hit.path, hit.section, scores["lexical"], scores["dense"], scores["fused"])

    def reranked(self, score: float | None) -> Option:
        """The same with the score of a reranker."""
        scores = {**self.hit.scores, "rerank": score}
        return self._replace(hit=replace(self.hit, scores=scores, score=self.hit.score if score is None else score))


def gives_orders(path: str) -> bool:
    """Whether a file is made to instruct agents, by its path."""
    parts = [part.casefold() for part in PurePosixPath(path).parts]
    return bool(parts) and (parts[-1] in INSTRUCTION_FILES or not _INSTRUCTION_FOLDERS.isdisjoint(pairwise(parts)))


def is_suspect(hit: Hit) -> bool:
    """Whether a passage may be an attempt to command the agent."""
    return any(flag.startswith(SUSPECT) for flag in hit.flags)


def finalists(options: Sequence[Option], *, per_file: int, most: int) -> list[Option]:
    """The first `most` options that repeat nothing and crowd nobody out, suspicious ones a few places further back.

    Not behind all others: where one alone answers the question, the rest would be given in its place.
    """
    seen: set[int] = set()
    files: Counter[tuple[str, str]] = Counter()
    kept: list[Option] = []
    for option in _stepping_back(options):
        if len(kept) == most:
            break
        shingles = _shingles(option.hit.text)
        if files[option.file] >= per_file or (shingles and len(shingles & seen) >= COVERED * len(shingles)):
            continue
        seen |= shingles
        files[option.file] += 1
        kept.append(option)
    return kept


def _stepping_back(options: Sequence[Option]) -> list[Option]:
    suspect = [is_suspect(option.hit) for option in options]
    order = sorted(range(len(options)), key=lambda at: (at + SUSPECT_PLACES * suspect[at], suspect[at]))
    return [options[at] for at in order]


_WORD = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]|\w+")


def _shingles(text: str) -> set[int]:
    """Hashes of every four words in a row; of the whole where there are fewer."""
    words = _WORD.findall(text.lower())
    if len(words) <= SHINGLE_WORDS:
        return {hash(tuple(words))} if words else set()
    return {hash(tuple(words[at : at + SHINGLE_WORDS])) for at in range(len(words) - SHINGLE_WORDS + 1)}


Vectors = Mapping[int, "npt.NDArray[np.float32]"]


def in_diverse_order(
    options: Sequence[Option], vectors: Callable[[Sequence[int]], Vectors], diversity: float
) -> list[Option]:
    """The same options: the first stays, and each next one is good and unlike those before it. Suspicious ones keep
    their place.

    `diversity`: weight of likeness against rank, 0 to 1; with 0 the order stays.
    `vectors` gives those stored for some rows; options without one differ from all but those of their own file.
    """
    if len(options) <= 2 or not diversity:
        return list(options)
    known = vectors([option.serial for option in options])
    ordered = _marginal([option for option in options if not is_suspect(option.hit)], known, diversity)
    for at, option in enumerate(options):
        if is_suspect(option.hit):
            ordered.insert(at, option)
    return ordered


def _marginal(options: Sequence[Option], vectors: Vectors, diversity: float) -> list[Option]:
    """Greedy, by rank and not by score: scores of rerankers and of fusions are on scales of their own."""
    left = list(options)
    worth = {option.serial: 1.0 - rank / len(left) for rank, option in enumerate(left)}
    nearest = dict.fromkeys(worth, 0.0)
    ordered: list[Option] = []
    while left:
        best = max(left, key=lambda one: (1 - diversity) * worth[one.serial] - diversity * nearest[one.serial])
        left.remove(best)
        ordered.append(best)
        for other in left:
            nearest[other.serial] = max(nearest[other.serial], _likeness(best, other, vectors))
    return ordered


def _likeness(first: Option, second: Option, vectors: Vectors) -> float:
    """Cosine of the stored vectors, and at least `SAME_FILE` for passages of one file."""
    alike = SAME_FILE if first.file == second.file else 0.0
    a, b = vectors.get(first.serial), vectors.get(second.serial)
    return alike if a is None or b is None else max(alike, float(a @ b))
