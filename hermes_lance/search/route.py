"""The flow from a question to the artifacts that should be opened first: candidates, scores, rules, families, page.

It names whole things and returns none of their text. The same index and question always give the same page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_lance.core.artifact import Artifact
from hermes_lance.core.words import Analyser
from hermes_lance.search.route_order import Candidate, Rules
from hermes_lance.search.route_query import RouteQuery, analysed
from hermes_lance.store.artifact_rows import kind_key

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder
    from hermes_lance.store.artifact_lexical import ArtifactIndex
    from hermes_lance.store.artifact_rows import ArtifactRows
    from hermes_lance.store.snapshot import Snapshot

FEWEST_CANDIDATES = 100
CANDIDATES_FOR_EACH = 20
"""Candidates for each row of the page."""
NEAREST = 100
WORDS_SHARE = 0.2
"""What matching words can add to a cosine."""
NEAR_ENOUGH = 0.35
"""Cosine from which on an artifact is an answer that shares no word with the question; nonsense stays below."""
NEAR_ENOUGH_FOR_A_SENTENCE = 0.2
"""The same for a question of some length, which is no nonsense."""
FEWEST_WORDS_OF_A_SENTENCE = 4
SUPPORT = "skill_support_doc"
NONE_COLLECTED = "no artifacts are collected yet; run `hermes-lance knowledge build`"


@dataclass(frozen=True, slots=True)
class Routed:
    """One artifact on a page."""

    artifact: Artifact
    score: float
    lexical: float | None
    dense: float | None
    reason: str
    """Why it stands where it stands, in words."""


@dataclass(frozen=True, slots=True)
class RoutePage:
    """The answer of the router."""

    query: str
    kind: str | None
    generation: str
    rows: tuple[Routed, ...]
    has_more: bool
    warnings: tuple[str, ...] = ()


def route(
    text: str,
    snapshot: Snapshot,
    *,
    limit: int = 8,
    offset: int = 0,
    kind: str | None = None,
    embedder: Embedder | None = None,
) -> RoutePage:
    """The page for a question. `kind` allows one kind of artifact only; one that does not exist finds nothing.

    With `embedder`, which has made the vectors of the snapshot, meanings are compared too.
    """
    query = analysed(text)
    index = snapshot.artifact_index
    ordered: list[Routed] = []
    if index is not None and not query.empty and limit > 0:
        near = _near(query, snapshot, embedder, kind)
        ordered = _Routing(query, index, snapshot.artifacts, limit + offset, kind, near).ordered()
    page = tuple(ordered[offset : offset + limit])
    warnings = (NONE_COLLECTED,) if index is None else ()
    return RoutePage(text, kind, snapshot.id, page, len(ordered) > offset + limit, warnings)


def _near(
    query: RouteQuery, snapshot: Snapshot, embedder: Embedder | None, kind: str | None
) -> list[tuple[int, float]]:
    """Position and cosine of the artifacts nearest in meaning; none for a question that is quoted or only names."""
    vectors = snapshot.artifact_vectors
    if embedder is None or vectors is None or query.quoted or query.only_identifiers:
        return []
    wanted = [kind_key(kind)] if kind else None
    return vectors.search(embedder.embed_query(query.text), NEAREST, source_ids=wanted)


class _Routing:
    """One question on its way."""

    def __init__(
        self,
        query: RouteQuery,
        index: ArtifactIndex,
        rows: ArtifactRows,
        wanted: int,
        kind: str | None,
        near: Sequence[tuple[int, float]],
    ) -> None:
        self._query, self._index, self._rows = query, index, rows
        self._depth = max(CANDIDATES_FOR_EACH * wanted, FEWEST_CANDIDATES)
        self._kinds = (kind,) if kind else ()
        self._expanded: dict[str, list[str]] = {}
        self._found: dict[int, Candidate] = {}
        self._near = near

    def ordered(self) -> list[Routed]:
        """Everything that matches, best first, families put together."""
        self._expand()
        self._collect()
        rules = Rules(self._query, self._expanded, Analyser())
        self._bring_near()
        every = list(self._found.values())
        rules.read(every)
        self._fuse(rules)
        every.sort(key=rules.key)
        rows = [_routed(one, rules, self._query) for one in every]
        if self._query.quoted or self._kinds:
            return rows
        return self._families(rows)

    # -- candidates ------------------------------------------------------------------------------------------------

    def _expand(self) -> None:
        """Words that nothing has are taken as the beginning of a word, else as a misspelt one."""
        for word in self._query.words:
            if len(word.stem) >= 4:
                self._expanded[word.stem] = self._index.beginning_with(word.stem)
            if not self._expanded.get(word.stem) and not self._index.known(word.stem):
                self._expanded[word.stem] = self._index.like(word.stem)

    def _tokens(self, stem: str) -> list[str]:
        return [stem, *self._expanded.get(stem, ())]

    def _collect(self) -> None:
        query, index, depth = self._query, self._index, self._depth
        if query.quoted:
            for position, score in index.phrases(query.phrases, depth, self._kinds):
                self._candidate(position).phrase = True
                self._score(position, score)
            if query.pure_phrase:
                return
        every = [self._tokens(word.stem) for word in query.words]
        specific = [self._tokens(word.stem) for word in query.specific]
        wide = [*every, *([name] for name in query.names)]
        if query.joined and len(query.words) > 1:
            wide.append([stem for _, stem in Analyser().words(query.joined)])
        searches = [index.all_of(every, depth, self._kinds), index.all_of(specific, depth, self._kinds, naming=True)]
        if query.kinds and not self._kinds:
            searches.append(index.any_of(specific, depth, sorted(query.kinds)))
        searches.append(index.any_of(wide, depth, self._kinds))
        for found in searches:
            for position, _ in found:
                self._candidate(position)
        # One measure for all of them: how well the words match, whichever search has found them.
        for position, score in index.any_of(wide, max(depth, len(self._found) * 4), self._kinds):
            if position in self._found:
                self._score(position, score)
        if query.pairs or query.grams:
            for position, score in index.beside_words(query.pairs, query.grams, depth, self._kinds):
                self._candidate(position)
                self._score(position, score)

    def _candidate(self, position: int) -> Candidate:
        found = self._found.get(position)
        if found is None:
            found = self._found[position] = Candidate(position, self._rows.row(position))
        return found

    def _score(self, position: int, score: float) -> None:
        one = self._found[position]
        one.lexical = score + (one.lexical or 0.0)

    def _bring_near(self) -> None:
        """What is near in meaning joins the candidates; without a word in common it must be near enough."""
        words = len(self._query.words)
        least = NEAR_ENOUGH if words < FEWEST_WORDS_OF_A_SENTENCE else NEAR_ENOUGH_FOR_A_SENTENCE
        for position, cosine in self._near:
            if position in self._found or cosine >= least:
                self._candidate(position).dense = cosine

    def _fuse(self, rules: Rules) -> None:
        """One score from both legs: the cosine, and up to `WORDS_SHARE` for words, by how well they match (against the
        best one) and how much of the question they cover. By words alone it is their score."""
        every = list(self._found.values())
        if not self._near:
            for one in every:
                one.fused = one.lexical or 0.0
            return
        best = max((one.lexical or 0.0 for one in every), default=0.0) or 1.0
        rarity = {word.stem: self._index.rarity(self._tokens(word.stem)) for word in self._query.words}
        total = sum(rarity.values()) or 1.0
        furthest = min(cosine for _, cosine in self._near)
        for one in every:
            covered = sum(rarity[word.stem] for word in self._query.words if rules.hit(one, word)) / total
            by_words = math.sqrt(max(0.0, (one.lexical or 0.0) / best * covered))
            one.fused = (furthest if one.dense is None else one.dense) + WORDS_SHARE * by_words

    # -- families --------------------------------------------------------------------------------------------------

    def _families(self, rows: Sequence[Routed]) -> list[Routed]:
        """The skill that owns a support document comes right before it, and only one such document of a skill stays."""
        placed: dict[str, Routed] = {}
        by_id = {one.artifact.id: one for one in rows}
        owners: set[str] = set()
        for one in rows:
            if one.artifact.type == SUPPORT and one.artifact.related:
                owner = one.artifact.related[0]
                if owner in owners:
                    continue
                owners.add(owner)
                if owner not in placed and (skill := by_id.get(owner) or self._owner(owner, one)) is not None:
                    placed[owner] = skill
            placed.setdefault(one.artifact.id, one)
        return list(placed.values())

    def _owner(self, key: str, support: Routed) -> Routed | None:
        row = self._rows.get(key)
        if row is None or row.type != "skill":
            return None
        return Routed(row, support.score, None, None, f"owns {support.artifact.title}")


def _routed(one: Candidate, rules: Rules, query: RouteQuery) -> Routed:
    return Routed(one.row, round(one.fused, 6), one.lexical, one.dense, _reason(one, rules, query))


def _reason(one: Candidate, rules: Rules, query: RouteQuery) -> str:
    if one.phrase:
        return "holds the quoted phrase"
    identity = rules.identity(one)
    if identity == 0:
        return "is called so"
    if identity == 1:
        return "its name holds the words"
    hits = [word.surface for word in query.words if rules.hit(one, word)]
    if hits:
        return f"matches {' '.join(hits[:8])}"
    return "is close in meaning" if one.dense is not None else "matches parts of words"
