"""From an analysed question to a Tantivy query, built by hand and never by the query parser.

User text reaches Tantivy only as single terms, so no character in it is an operator. Filters are clauses of the query
(constant score 0), so that they apply before the best rows are cut and leave BM25 scores alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_lance.core.words import AnalysedQuery, encodable
from hermes_lance.store.lexical_fields import FIRST, FOLDER, GRAMS, NAME, PAIRS, Layout, folder_term

MOST_TERMS = 64
"""Words of a question that are looked up; of more, the rarest."""

MOST_GRAMS = 192
"""The same for pairs and for grams."""

LONGEST_PHRASE = 200
"""Words; a longer text is more than one passage and is no phrase."""

MOST_NEIGHBOURS = 32
"""Pairs of neighbouring words that are looked for."""

NEIGHBOUR_SLOP = 3
"""Words that may stand between neighbours, or positions by which they may be moved."""

FEWEST_PLAIN_WORDS = 4
"""A question of fewer plain words is no quotation, even if they happen to stand together."""

MOST_BEGINNINGS = 64
"""Pairs that a single character without spaces is looked up by."""


@dataclass(frozen=True, slots=True)
class LexicalFilters:
    """Which rows may be found at all."""

    folder: str | None = None
    """A value of `lexical_fields.folder_key`: a folder or file of a root."""
    source_ids: Collection[str] | None = None
    """Only these files; an empty collection finds nothing."""


class Builder:
    """Short names for the constructors of one schema."""

    def __init__(self, schema: Any) -> None:
        import tantivy

        self.query, self.occur, self.schema = tantivy.Query, tantivy.Occur, schema

    def term(self, field: str, token: str, boost: float = 1.0, option: str = "freq") -> Any:
        return self.boosted(self.query.term_query(self.schema, field, token, option), boost)

    def phrase(self, field: str, words: Sequence[Any], boost: float = 1.0, slop: int = 0) -> Any:
        return self.boosted(self.query.phrase_query(self.schema, field, list(words), slop), boost)

    def boosted(self, query: Any, boost: float) -> Any:
        return query if boost == 1.0 else self.query.boost_query(query, boost)

    def any_of(self, queries: Sequence[Any]) -> Any:
        if len(queries) == 1:
            return queries[0]
        return self.query.boolean_query([(self.occur.Should, query) for query in queries])

    def best_of(self, queries: Sequence[Any]) -> Any:
        """Any of them; the score is that of the best one."""
        return queries[0] if len(queries) == 1 else self.query.disjunction_max_query(list(queries), tie_breaker=0.3)

    def all_of(self, queries: Sequence[Any], extra: Sequence[Any] = ()) -> Any:
        """All of `queries`; `extra` only adds to the score."""
        if len(queries) == 1 and not extra:
            return queries[0]
        clauses = [(self.occur.Must, query) for query in queries]
        return self.query.boolean_query([*clauses, *((self.occur.Should, query) for query in extra)])


def ranked(
    schema: Any, searcher: Any, layout: Layout, query: AnalysedQuery, filters: LexicalFilters | None
) -> Any | None:
    """The query whose BM25 scores rank rows; none when nothing can match."""
    if query.empty:
        return None
    build, weights = Builder(schema), layout.weights
    found: list[Any] = []
    for term in _rarest(searcher, layout.body, query.terms, MOST_TERMS):
        found += [build.term(field, term, weights.of(field)) for field in layout.analysed if weights.of(field)]
    for name in query.names[:MOST_TERMS]:
        found += [build.term(field, name, weights.name * weights.of(field)) for field in layout.analysed]
    found += _phrases(build, layout, query)
    found += [build.term(PAIRS, pair, weights.pairs) for pair in _pair_terms(searcher, query)]
    found += [build.term(GRAMS, gram, weights.grams) for gram in _rarest(searcher, GRAMS, query.grams, MOST_GRAMS)]
    found += [build.term(NAME, name, weights.file_name, "basic") for name in query.file_names[:MOST_TERMS]]
    if query.whole_file_name:
        found.append(build.term(NAME, FIRST + query.whole_file_name, weights.whole_file_name, "basic"))
    kinds = query.terms[:MOST_TERMS] if "kind" in layout.raw else ()
    extra = [build.term("kind", term, weights.kind, "basic") for term in kinds]
    return _filtered(build, build.any_of(found), filters, extra)


def _phrases(build: Builder, layout: Layout, query: AnalysedQuery) -> list[Any]:
    weights, found = layout.weights, []
    if 2 <= len(query.phrase) <= LONGEST_PHRASE:
        found.append(build.phrase(layout.body, query.phrase, weights.phrase))
    # The sequential dependence model (Metzler and Croft 2005) in its simplest form.
    for pair in query.neighbours[:MOST_NEIGHBOURS]:
        found.append(build.phrase(layout.body, pair, weights.neighbours, NEIGHBOUR_SLOP))
    for words in query.snake_phrases[:MOST_TERMS]:
        if len(words) < len(query.phrase):
            found.append(build.phrase(layout.body, words[:LONGEST_PHRASE], weights.snake_phrase))
    return found


def verbatim(schema: Any, layout: Layout, query: AnalysedQuery, filters: LexicalFilters | None) -> Any | None:
    """The query for rows that hold the whole question word for word; none where the rule does not apply.

    One identifier is found by its own token, a file name also by the file that bears it (its first passage).
    """
    build, found = Builder(schema), []
    if query.identifier is not None:
        fields = [layout.body, *(field for field in ("symbol",) if field in layout.analysed)]
        found += [build.term(field, query.identifier) for field in fields]
    else:
        found += _whole(build, layout, query)
    if query.whole_file_name and not query.plain:
        weight = layout.weights.whole_file_name
        found.append(build.term(NAME, FIRST + query.whole_file_name, weight, "basic"))
    return _filtered(build, build.any_of(found), filters) if found else None


def _whole(build: Builder, layout: Layout, query: AnalysedQuery) -> list[Any]:
    """The clause for all words of the question in their order; none for a short question of plain words."""
    size = len(query.phrase) + len(query.pairs)
    if size < 2 or size > LONGEST_PHRASE or (query.plain and size < FEWEST_PLAIN_WORDS):
        return []
    if not query.pairs:
        return [build.phrase(layout.body, query.phrase)]
    # Pairs have no positions, and words on both sides of a run are not neighbours once the run is cut out.
    needed = [build.term(PAIRS, pair) for pair in query.pairs]
    return [build.all_of([*needed, *(build.term(layout.body, token) for _, token in query.phrase)])]


def _filtered(build: Builder, query: Any, filters: LexicalFilters | None, extra: Sequence[Any] = ()) -> Any | None:
    needed = [query]
    if filters is not None and filters.folder is not None:
        needed.append(
            build.query.const_score_query(build.term(FOLDER, folder_term(filters.folder), option="basic"), 0.0)
        )
    if filters is not None and filters.source_ids is not None:
        if not filters.source_ids:
            return None
        wanted = build.query.term_set_query(build.schema, "source_id", sorted(map(encodable, filters.source_ids)))
        needed.append(build.query.const_score_query(wanted, 0.0))
    return build.all_of(needed, extra)


def _rarest(searcher: Any, field: str, tokens: Sequence[str], most: int) -> Sequence[str]:
    """`tokens`, or of too many the `most` that fewest rows hold (but at least one)."""
    if len(tokens) <= most:
        return tokens
    rows = {token: searcher.doc_freq(field, token) for token in tokens}
    return sorted(tokens, key=lambda token: (rows[token] == 0, rows[token]))[:most]


def _pair_terms(searcher: Any, query: AnalysedQuery) -> list[str]:
    found: list[str] = []
    for pair in _rarest(searcher, PAIRS, query.pairs, MOST_GRAMS):
        if len(pair) == 1:
            # Any text that holds the character has a token that begins with it.
            found += [token for token, _ in searcher.terms_with_prefix(PAIRS, pair, limit=MOST_BEGINNINGS)]
        else:
            found.append(pair)
    return found
