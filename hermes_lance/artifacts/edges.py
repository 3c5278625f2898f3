"""Links between artifacts: those that somebody has written down, and those that rare words in common suggest.

Their number is linear in that of the artifacts: a word that many share says nothing, and each artifact has few links
of this kind.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hermes_lance.artifacts.naming import slug
from hermes_lance.core.artifact import Artifact, Edge
from hermes_lance.core.stop_words import STOP_WORDS

EXACT, SUFFIX, BASE_NAME = 1.0, 0.9, 0.8
"""How sure a reference is of its target, by how it was resolved."""
MOST_DERIVED = 8
"""Derived links of one artifact, in each direction."""
MOST_HOLDERS = 32
"""Artifacts that share a word, at most, for it to count."""
FEWEST_SHARED = 2
WORDS_LOOKED_AT = 20
_EVIDENCE_WORDS = 5
_SEPARATORS = re.compile(r"[/\\]+")
_TARGETS = frozenset({"script", "runbook", "memory_doc"})
_ENTRIES = frozenset({"cron_job", "mcp_server"})
"""Entries of a file that holds many: its path names none of them."""


def edges_between(artifacts: Sequence[Artifact]) -> tuple[Edge, ...]:
    """Every link, by source, target and kind; both ends are among the artifacts."""
    found: dict[tuple[str, str, str], Edge] = {}
    for edge in (*_declared(artifacts), *_derived(artifacts)):
        found.setdefault((edge.source_id, edge.target_id, edge.kind), edge)
    return tuple(found[key] for key in sorted(found))


# -- references -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Places:
    """Artifacts by what a reference may call them."""

    ids: set[str] = field(default_factory=set)
    paths: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By display path, and by every end of it."""
    full: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By whole display path."""

    def add(self, one: Artifact) -> None:
        self.ids.add(one.id)
        if one.type in _ENTRIES:
            return
        self.full[one.path].add(one.id)
        parts = _SEPARATORS.split(one.path)
        for at in range(len(parts)):
            self.paths["/".join(parts[at:])].add(one.id)

    def resolve(self, reference: str) -> tuple[str, float] | None:
        """The one artifact that a reference means and how sure that is; none where it may be several."""
        if reference in self.ids:
            return reference, EXACT
        if ":" not in reference and f"skill:{slug(reference)}" in self.ids:
            return f"skill:{slug(reference)}", EXACT
        if (whole := self.full.get(reference)) and len(whole) == 1:
            return next(iter(whole)), EXACT
        parts = [part for part in _SEPARATORS.split(reference) if part not in {"", ".", "~"}]
        # The longest end that anything has decides; if several have it, it decides nothing.
        for at in range(len(parts)):
            ends = self.paths.get("/".join(parts[at:]))
            if ends is not None:
                sure = SUFFIX if len(parts) - at > 1 else BASE_NAME
                return (next(iter(ends)), sure) if len(ends) == 1 else None
        return None


def _declared(artifacts: Sequence[Artifact]) -> Iterator[Edge]:
    places = _Places()
    for one in artifacts:
        places.add(one)
    for one in artifacts:
        for reference in one.related:
            target = places.resolve(reference)
            if target is not None and target[0] != one.id:
                yield Edge(one.id, target[0], "related_to", "directed", target[1], reference)


# -- words in common ------------------------------------------------------------------------------------------------


def _words(one: Artifact) -> list[str]:
    """The first significant words of title, summary and triggers."""
    text = " ".join([one.title, one.summary, *one.triggers]).lower()
    found = dict.fromkeys(word for word in re.findall(r"[^\W\d_]{3,}", text) if word not in STOP_WORDS)
    return list(found)[:WORDS_LOOKED_AT]


def _derived(artifacts: Sequence[Artifact]) -> Iterator[Edge]:
    words = {one.id: _words(one) for one in artifacts if one.type == "skill" or one.type in _TARGETS}
    holders = Counter(word for of_one in words.values() for word in of_one)
    by_word: dict[str, list[str]] = defaultdict(list)
    for one in artifacts:
        if one.type in _TARGETS:
            for word in words[one.id]:
                if holders[word] <= MOST_HOLDERS:
                    by_word[word].append(one.id)
    total = max(1, len(words))
    weight = {word: math.log(1 + total / count) for word, count in holders.items()}
    candidates = [
        (score, one.id, target, shared)
        for one in artifacts
        if one.type == "skill"
        for target, shared, score in _nearest(words[one.id], by_word, weight)
    ]
    yield from _within_limits(candidates, weight)


def _nearest(
    words: Sequence[str], by_word: Mapping[str, Sequence[str]], weight: Mapping[str, float]
) -> list[tuple[str, list[str], float]]:
    """The targets that share most with a skill: id, shared words, sum of their weights."""
    shared: dict[str, list[str]] = defaultdict(list)
    for word in words:
        for target in by_word.get(word, ()):
            shared[target].append(word)
    scored = [
        (target, in_common, sum(weight[word] for word in in_common))
        for target, in_common in shared.items()
        if len(in_common) >= FEWEST_SHARED
    ]
    return sorted(scored, key=lambda one: (-one[2], one[0]))[:MOST_DERIVED]


def _within_limits(
    candidates: Sequence[tuple[float, str, str, list[str]]], weight: Mapping[str, float]
) -> Iterator[Edge]:
    """The best links first, until a target has enough of them."""
    taken: Counter[str] = Counter()
    for score, source, target, shared in sorted(candidates, key=lambda one: (-one[0], one[1], one[2])):
        if taken[target] >= MOST_DERIVED:
            continue
        taken[target] += 1
        # Two words that nothing else has are worth about 0.5; it grows with more and never reaches a reference.
        most = 4 * max(weight.values(), default=1.0)
        confidence = round(min(0.7, score / most), 3)
        evidence = " ".join(sorted(shared[:_EVIDENCE_WORDS]))
        yield Edge(source, target, "keyword_overlap", "mutual", confidence, evidence)
