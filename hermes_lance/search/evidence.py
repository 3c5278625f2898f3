"""How much of what was found speaks for itself: shared telling words and nearness of meaning, in a few numbers.

Two things are told from one another: a question that some passage is about, and one for which the legs return their
best rows all the same, because they always do. Why these measures and these figures: docs/decisions/0010-gate.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from hermes_lance.core.function_words import FOREIGN_WORDS, FUNCTION_CHARACTERS, FUNCTION_PAIRS, FUNCTION_WORDS
from hermes_lance.core.scripts import runs_without_spaces, share_outside
from hermes_lance.core.stop_words import STOP_WORDS
from hermes_lance.core.words import Analyser, clean, pairs, without_contractions

PASSAGES = 8
"""Best candidates that are looked at: as many as a block is chosen from."""
DEPTH = 40
"""Rows of the dense leg that the best one is compared with."""
CHANCE = 0.1
"""Cosine that stands for rows which a small collection does not have: that of unrelated English texts in MiniLM."""
MOST_WORDS = 24
"""Telling words of a message that are looked up; more would only cost time."""
MOST_MASS = 3.0
"""Shared words count up to so many that stand in one passage only."""
MOST_COUNTED = 6
"""Telling words that speak for a message as such."""
BEGINNING = 4
"""Letters that an inflected word keeps, at least."""


class Word(NamedTuple):
    """One telling word of a message, or a pair of characters of a script without spaces."""

    text: str
    """As it is looked up: stemmed, or the beginning of it."""
    kind: str
    """`word`, `beginning` or `pair`."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What was found for a message, in numbers. `shared` and `cosine` are those of one passage, the best by both."""

    words: int
    """Telling words of the message, at most 6."""
    held: int
    """How many of all its telling words the passage holds."""
    shared: float
    """Rarity of its words that the passage holds; 1 = one word that stands in no other passage. At most 3."""
    coverage: float
    """The same as a share of all its words, 0 to 1."""
    cosine: float
    """Of the passage; 0 without vectors."""
    lead: float
    """`cosine` less the mean of the dense ranks 21 to 40."""
    alone: float
    """Cosine of the best passage for the message without what was said before; that of the best one where nothing was.
    """
    length: float
    """Power of ten of the characters of the passage, 2 to 4: a longer one holds more words by mere chance."""
    asks: float
    """1 where the message has the form of a question or a request."""
    foreign: bool
    """Whether the message is in a language that the embedder was not made for; false without vectors."""

    def as_detail(self) -> Mapping[str, float | int | bool]:
        """For the trace, rounded."""
        return {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(self).items()}


def is_foreign(message: str) -> bool:
    """Whether most function words of a message are those of other languages than English."""
    ours = others = 0
    for surface, _ in Analyser().words(message):
        ours += surface in STOP_WORDS
        others += surface in FOREIGN_WORDS and surface not in STOP_WORDS
    return others > ours


def telling_words(message: str, *, foreign: bool) -> list[Word]:
    """The distinct words of a message that say something about its subject, in their order.

    Words of other languages than English are looked for by their beginning, since the index stems English only.
    """
    text = clean(message).replace("\x00", " ")
    runs = [] if text.isascii() else runs_without_spaces().findall(text)
    spaced = runs_without_spaces().sub(" ", text) if runs else text
    found: dict[Word, None] = {}
    for surface, stem in Analyser().words(without_contractions(spaced)):
        if surface in FUNCTION_WORDS or (len(surface) == 1 and not surface.isdigit()):
            continue
        if (foreign or not surface.isascii()) and len(surface) > BEGINNING:
            found[Word(surface[: max(BEGINNING, len(surface) - 2)], "beginning")] = None
        else:
            found[Word(stem, "word")] = None
    for run in runs:
        found.update((Word(pair, "pair"), None) for pair in pairs(run)[:-1] if _tells(pair))
    return list(found)[:MOST_WORDS]


def _tells(pair: str) -> bool:
    if pair in FUNCTION_PAIRS or not FUNCTION_CHARACTERS.isdisjoint(pair):
        return False
    return not all("\u3041" <= character <= "\u309f" for character in pair)  # hiragana: endings and particles


def rarity(rows: int, holding: int) -> float:
    """1 for a word that at most one of `rows` passages holds, towards 0 for one that all hold (BM25's idf, scaled)."""
    return min(1.0, _idf(rows, holding) / _idf(rows, 1)) if rows else 0.0


def _idf(rows: int, holding: int) -> float:
    return math.log(1 + (max(0, rows - holding) + 0.5) / (holding + 0.5))


@dataclass(frozen=True, slots=True)
class Passage:
    """One candidate as it is measured."""

    text: str
    """Of the passage and of what names it: its section and file."""
    cosine: float | None
    """None where the dense leg did not find it."""


def measured(
    message: str,
    passages: Sequence[Passage],
    cosines: Sequence[float],
    rows: int,
    holding: Callable[[Word], int],
    *,
    alone: float | None,
    scripts: frozenset[str],
    asks: bool,
) -> Measures:
    """The measures of a message against its best candidates.

    `cosines` of the dense leg, best first, empty without vectors; `alone`: the best one for a follow-up by itself;
    `rows`: passages of the collection;
    `holding(word)`: how many of them hold it; `scripts` that the embedder was made for.
    """
    other = is_foreign(message)
    words = telling_words(message, foreign=other)
    weights = [rarity(rows, holding(word)) for word in words]
    mass = sum(weights)
    # Where the collection has fewer rows, the missing ones stand for any other text.
    padded = [*cosines[:DEPTH], *[CHANCE] * (DEPTH - len(cosines[:DEPTH]))]
    usual = sum(padded[DEPTH // 2 :]) / (DEPTH - DEPTH // 2)
    first = cosines[0] if cosines else 0.0
    last = cosines[min(len(cosines), DEPTH) - 1] if cosines else 0.0
    best, best_rank = (0.0, 0.0, 0, 0), -1.0
    for passage in passages[:PASSAGES]:
        held = _held(passage.text, words)
        shared = sum(weight for weight, there in zip(weights, held, strict=True) if there)
        cosine = last if passage.cosine is None else passage.cosine
        rank = cosine + 0.15 * min(shared, MOST_MASS)
        if rank > best_rank:
            best, best_rank = (shared, cosine, sum(held), len(passage.text)), rank
    shared, cosine, count, size = best
    if alone is not None and words and not shared:
        # What was said before lends no nearness to a message that speaks of something else.
        cosine = min(cosine, alone)
    outside = bool(cosines) and bool(scripts) and (other or share_outside(message, scripts) > 0.5)
    return Measures(
        min(len(words), MOST_COUNTED), count, min(shared, MOST_MASS), shared / mass if mass else 0.0, cosine,
        cosine - usual if cosines else 0.0, first if alone is None else alone,
        min(4.0, max(2.0, math.log10(max(1, size)))), float(asks), outside,
    )  # fmt: skip


def _held(text: str, words: Sequence[Word]) -> list[bool]:
    """For each word whether a text holds it."""
    kinds = {word.kind for word in words}
    every = Analyser().words(text) if kinds & {"word", "beginning"} else []
    stems = {stem for _, stem in every}
    joined = f" {' '.join(surface for surface, _ in every)}" if "beginning" in kinds else ""
    runs = " ".join(runs_without_spaces().findall(clean(text))) if "pair" in kinds else ""
    tests: Mapping[str, Callable[[str], bool]] = {
        "word": stems.__contains__,
        "beginning": lambda start: f" {start}" in joined,
        "pair": runs.__contains__,
    }
    return [tests[word.kind](word.text) for word in words]
