"""The flow from a question to the artifacts that should be opened first: candidates, scores, rules, families, page.

It names whole things and returns none of their text. The same index and question always give the same page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_lance.core.artifact import Artifact
from hermes_lance.core.words import Analyser
from hermes_lance.search.route_order import Candidate, Rules
from hermes_lance.search.route_query import RouteQuery, analysed

if TYPE_CHECKING:
    from hermes_lance.store.artifact_lexical import ArtifactIndex
    from hermes_lance.store.artifact_rows import ArtifactRows
    from hermes_lance.store.snapshot import Snapshot

FEWEST_CANDIDATES = 100
CANDIDATES_FOR_EACH = 20
"""Candidates for each row of the page."""
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


def route(text: str, snapshot: Snapshot, *, limit: int = 8, offset: int = 0, kind: str | None = None) -> RoutePage:
    """The page for a question; `kind` allows one kind of artifact only, and one that does not exist finds nothing."""
    query = analysed(text)
    index = snapshot.artifact_index
    ordered: list[Routed] = []
    if index is not None and not query.empty and limit > 0:
        ordered = _Routing(query, index, snapshot.artifacts, limit + offset, kind).ordered()
    page = tuple(ordered[offset : offset + limit])
    warnings = (NONE_COLLECTED,) if index is None else ()
    return RoutePage(text, kind, snapshot.id, page, len(ordered) > offset + limit, warnings)


class _Routing:
    """One question on its way."""

    def __init__(
        self, query: RouteQuery, index: ArtifactIndex, rows: ArtifactRows, wanted: int, kind: str | None
    ) -> None:
        self._query, self._index, self._rows = query, index, rows
        self._depth = max(CANDIDATES_FOR_EACH * wanted, FEWEST_CANDIDATES)
        self._kinds = (kind,) if kind else ()
        self._expanded: dict[str, list[str]] = {}
        self._found: dict[int, Candidate] = {}

    def ordered(self) -> list[Routed]:
        """Everything that matches, best first, families put together."""
        self._expand()
        self._collect()
        rules = Rules(self._query, self._expanded, Analyser())
        every = list(self._found.values())
        rules.read(every)
        for one in every:
            one.fused = one.lexical or 0.0
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
