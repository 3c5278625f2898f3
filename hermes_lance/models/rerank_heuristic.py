"""The heuristic tier: how many of the question's words a passage holds. Needs nothing, costs about a millisecond.

Off unless it is chosen: on judged sets it is below the fused order that it takes the place of (docs/BENCHMARKS.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property, lru_cache

from hermes_lance.core.records import Candidate
from hermes_lance.core.words import AnalysedQuery, Analyser, clean, folded, unified
from hermes_lance.models.rerank_input import LIMIT_SECONDS, checked_limit

DENSE_SHARE = 0.1
"""Weight of the cosine beside the share of words, so that it decides between passages that hold equally many."""


class HeuristicReranker:
    """Share of the question's words, stop words left out, that stand in passage or section trail, plus a tenth of the
    cosine. Words are compared by their stems; scripts without spaces by pairs of characters.

    A question of stop words alone leaves the cosine. Scores lie between -0.1 and 1.1.
    """

    name = "heuristic"

    def __init__(self, *, timeout_seconds: float = LIMIT_SECONDS) -> None:
        self.timeout_seconds = checked_limit(self.name, timeout_seconds)

    def signature(self) -> str:
        """Name and version."""
        return f"{self.name}/1"

    def scores(self, query: str, candidates: Sequence[Candidate], *, timeout: float) -> list[float]:
        """A score for each candidate. `timeout` is of no use: there is nothing to wait for."""
        wanted = Analyser().query(query)
        return [
            _share(wanted, _Passage("\n".join((*one.section, one.text)))) + DENSE_SHARE * (one.dense or 0.0)
            for one in candidates
        ]


def _share(wanted: AnalysedQuery, passage: _Passage) -> float:
    terms = () if wanted.only_stop_words else wanted.terms
    asked = len(terms) + len(wanted.pairs) + len(wanted.grams)
    found = sum(map(passage.has_word, terms))
    found += sum(pair in passage.composed for pair in wanted.pairs)
    # Korean grams are composed, all others are not.
    found += sum(gram in passage.unified or gram in passage.composed for gram in wanted.grams)
    return found / asked if asked else 0.0


class _Passage:
    """A text in the forms that tokens are looked for in, each made when it is needed.

    Stemming every word of thirty passages would take four times as long as the whole search; so only words that begin
    like a wanted stem are stemmed.
    """

    def __init__(self, text: str) -> None:
        self.text = clean(text)

    @cached_property
    def folded(self) -> str:
        return folded(self.text)

    @cached_property
    def composed(self) -> str:
        return unicodedata.normalize("NFKC", self.text)

    @cached_property
    def unified(self) -> str:
        return unified(self.text)

    def has_word(self, stem: str) -> bool:
        text = self.folded
        written = self.text if len(text) == len(self.text) else text
        # Stemming changes the last letter of what it leaves, as in `canari`. Looked for with `find`: it is many times
        # faster than an expression.
        beginning = stem[:-1] if len(stem) > 2 else stem
        at = text.find(beginning)
        while at >= 0:
            # A word begins after a blank or a mark; or in the middle, where `fooBar` has a capital.
            if at == 0 or not text[at - 1].isalnum() or written[at].isupper():
                word = _WORD.match(text, at)
                if word is not None and _stem(word[0]) == stem:
                    return True
                part = _PART.match(written, at)
                if part is not None and _stem(part[0].lower()) == stem:
                    return True
            at = text.find(beginning, at + 1)
        return False


_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Za-z][a-z0-9]*(?=[A-Z])")
"""What a capital ends."""


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    return next((stem for _, stem in Analyser().words(word)), "")
