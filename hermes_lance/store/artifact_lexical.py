"""The Tantivy index of artifacts: which of them hold all words of a question, any of them, or a quoted phrase.

Every question is built from tokens by hand, as for passages. The wanted kind is a clause of the query, so that it
applies before the best rows are cut.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from hermes_lance.core.words import Analyser
from hermes_lance.store.lexical import LexicalReader
from hermes_lance.store.lexical_fields import GRAMS, PAIRS, engine_errors
from hermes_lance.store.lexical_query import Builder

Alternatives = Sequence[str]
"""Tokens that stand for one word of a question."""

MOST_EXPANSIONS = 24
"""Tokens that one beginning or misspelling may stand for."""
FEWEST_TYPO_LETTERS = 5
NAMING_FIELDS = ("title", "path")


class ArtifactIndex(LexicalReader):
    """Answers from one committed index; rows are positions in `ArtifactRows`."""

    def __init__(self, folder: Path, analyser: Analyser | None = None) -> None:
        super().__init__(folder, "artifacts", analyser)

    def any_of(self, words: Sequence[Alternatives], limit: int, kinds: Collection[str] = ()) -> list[tuple[int, float]]:
        """Rows with at least one of the words, and their BM25 scores with the weights of the fields; best first."""
        with engine_errors(self.folder):
            build = Builder(self._schema)
            found = [self._word(build, tokens, self._layout.analysed) for tokens in words if tokens]
            return self._best(build, build.any_of(found) if found else None, limit, kinds)

    def all_of(
        self, words: Sequence[Alternatives], limit: int, kinds: Collection[str] = (), *, naming: bool = False
    ) -> list[tuple[int, float]]:
        """Rows with every one of the words; `naming` looks only at titles and paths."""
        if not words or not all(words):
            return []
        fields = NAMING_FIELDS if naming else self._layout.analysed
        with engine_errors(self.folder):
            build = Builder(self._schema)
            return self._best(build, build.all_of([self._word(build, one, fields) for one in words]), limit, kinds)

    def beside_words(
        self, pairs: Sequence[str], grams: Sequence[str], limit: int, kinds: Collection[str] = ()
    ) -> list[tuple[int, float]]:
        """Rows with some of these pairs or grams, for scripts that have no words of their own or other endings."""
        with engine_errors(self.folder):
            build = Builder(self._schema)
            found = [build.term(PAIRS, one) for one in pairs] + [build.term(GRAMS, one) for one in grams]
            return self._best(build, build.any_of(found) if found else None, limit, kinds)

    def phrases(
        self, phrases: Sequence[Sequence[tuple[int, str]]], limit: int, kinds: Collection[str] = ()
    ) -> list[tuple[int, float]]:
        """Rows that hold every one of the phrases (position and token of each word), each within one field."""
        with engine_errors(self.folder):
            build = Builder(self._schema)
            needed = []
            for phrase in phrases:
                if len(phrase) == 1:
                    needed.append(self._word(build, [phrase[0][1]], self._layout.analysed))
                elif phrase:
                    needed.append(build.any_of([build.phrase(name, phrase) for name in self._layout.phrases]))
            return self._best(build, build.all_of(needed) if needed else None, limit, kinds)

    def known(self, token: str) -> bool:
        """Some artifact has the token."""
        return any(self._searcher.doc_freq(name, token) for name in self._layout.analysed)

    def rarity(self, tokens: Alternatives) -> float:
        """How much a word says: the logarithm of how many artifacts there are for each that has it (IDF)."""
        rows = max((self._searcher.doc_freq(name, one) for one in tokens for name in self._layout.analysed), default=0)
        return math.log(1 + self._searcher.num_docs / (1 + rows))

    def beginning_with(self, token: str) -> list[str]:
        """Tokens that begin with this one, itself left out, those that most rows have first."""
        with engine_errors(self.folder):
            counts: dict[str, int] = {}
            for name in self._layout.analysed:
                for term, rows in self._searcher.terms_with_prefix(name, token, limit=MOST_EXPANSIONS):
                    if term != token:
                        counts[term] = counts.get(term, 0) + rows
            return sorted(counts, key=lambda term: (-counts[term], term))[:MOST_EXPANSIONS]

    def like(self, word: str) -> list[str]:
        """Tokens that a misspelt word may mean: they begin as it does and differ in one letter (two where it is long).

        Looked up only for words that no artifact has.
        """
        if len(word) < FEWEST_TYPO_LETTERS:
            return []
        most = 1 if len(word) < 9 else 2
        with engine_errors(self.folder):
            found: dict[str, int] = {}
            for name in self._layout.analysed:
                for term, _ in self._searcher.terms_with_prefix(name, word[:2]):
                    if term not in found and abs(len(term) - len(word)) <= most:
                        distance = edits(word, term, most)
                        if distance <= most:
                            found[term] = distance
            return sorted(found, key=lambda term: (found[term], term))[:MOST_EXPANSIONS]

    def _word(self, build: Builder, tokens: Alternatives, fields: Sequence[str]) -> Any:
        """One word of the question in any of the fields: the best of them counts, not their sum."""
        weights = self._layout.weights
        return build.best_of([build.term(name, one, weights.of(name)) for one in tokens for name in fields])

    def _best(self, build: Builder, query: Any | None, limit: int, kinds: Collection[str]) -> list[tuple[int, float]]:
        if query is None:
            return []
        if kinds:
            wanted = build.query.term_set_query(self._schema, "type", sorted(kinds))
            query = build.all_of([query, build.query.const_score_query(wanted, 0.0)])
        return self._rows(query, limit)


def edits(one: str, other: str, most: int) -> int:
    """Letters to insert, remove, replace or swap with their neighbour (Damerau 1964, restricted) to make one word of
    the other; `most + 1` where it takes more."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        here = [row]
        for column, wanted in enumerate(other, 1):
            cost = min(last[column] + 1, here[-1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                cost = min(cost, before[column - 2] + 1)
            here.append(cost)
        if min(here) > most:
            return most + 1
        before, last = last, here
    return min(last[-1], most + 1)
