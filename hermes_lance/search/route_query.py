"""What a question to the router says: words, quoted phrases, a name, and the kinds of artifact it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hermes_lance.core.stop_words import STOP_WORDS
from hermes_lance.core.words import AnalysedQuery, Analyser

QUESTION_WORDS = frozenset({"find", "flow", "markdown", "need", "next", "show", "want", "what", "where", "which"})
"""Words that ask; they say nothing about what is asked for."""
KIND_WORDS = frozenset(
    """
    agent automation build code config cron doc docs file files hermes job jobs local note notes repo review run runbook
    script scripts server skill skills tool tools use when with workflow wrapper mcp
    """.split()  # noqa: SIM905 (read as words)
)
"""Words for kinds of things: they say less than the others do."""
WANTED_KINDS = {
    "script": {"script"}, "scripts": {"script"}, "cron": {"cron_job"}, "job": {"cron_job"}, "jobs": {"cron_job"},
    "mcp": {"mcp_server", "script"}, "wrapper": {"mcp_server", "script"},
}  # fmt: skip
"""A word of the question, and the kinds it asks for."""
MOST_WORDS = 48
FEWEST_WORDS_OF_SPEECH = 9
"""A longer quotation that is the whole question is a question."""
MOST_CHARS = 4_000

_QUOTED = re.compile(r'"([^"]{1,400})"|(?<!\w)\'([^\']{1,400})\'(?!\w)')


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a question."""

    surface: str
    """Folded and in lower case."""
    stem: str
    """The token of the index."""

    @property
    def specific(self) -> bool:
        """It says more than what kind of thing is meant."""
        return self.surface not in KIND_WORDS


@dataclass(frozen=True, slots=True)
class RouteQuery:
    """A question as the router sees it."""

    text: str
    words: tuple[Word, ...] = ()
    """Distinct words outside of quotes, without function words and question words."""
    phrases: tuple[tuple[tuple[int, str], ...], ...] = ()
    """Position and token of each word of each quoted phrase."""
    kinds: frozenset[str] = frozenset()
    """Kinds that the words ask for; none for a quoted question."""
    lone_script: bool = False
    """Of the kinds only a script is asked for."""
    names: tuple[str, ...] = ()
    """Tokens of whole identifiers in it (`LEDGER_DSN`)."""
    joined: str = ""
    """All its words as one, to be compared with names that were written without separators."""
    pairs: tuple[str, ...] = ()
    grams: tuple[str, ...] = ()
    only_identifiers: bool = False
    """Nothing but names of code or files: nothing that a meaning could be found for."""

    @property
    def quoted(self) -> bool:
        """Something in it is quoted."""
        return bool(self.phrases)

    @property
    def pure_phrase(self) -> bool:
        """Nothing in it is not quoted: what does not hold the phrase is no answer."""
        return self.quoted and not self.words

    @property
    def empty(self) -> bool:
        """Nothing is left to look for."""
        return not (self.words or self.phrases or self.pairs or self.grams)

    @property
    def specific(self) -> tuple[Word, ...]:
        """Words that say more than a kind; all of them where there are no such words."""
        return tuple(word for word in self.words if word.specific) or self.words


def analysed(text: str, analyser: Analyser | None = None) -> RouteQuery:
    """The question as the router sees it; any string is fine."""
    analyser = analyser or Analyser()
    text = text[:MOST_CHARS]
    rest = _QUOTED.sub(" ", text)
    spans = [found[0] or found[1] for found in _QUOTED.findall(text)]
    phrases = tuple(phrase for span in spans if (phrase := analyser.query(span).phrase))
    if len(phrases) == 1 and len(phrases[0]) >= FEWEST_WORDS_OF_SPEECH and not rest.strip():
        # Somebody has put quotes around a whole question: speech, not words that stand somewhere in this order.
        rest, phrases = spans[0], ()
    asked = analyser.query(rest)
    words = tuple(_distinct(_words(analyser, rest, asked)))[:MOST_WORDS]
    surfaces = {word.surface for word in words}
    kinds = frozenset[str]().union(*(WANTED_KINDS[one] for one in surfaces if one in WANTED_KINDS))
    return RouteQuery(
        text=text,
        words=words,
        phrases=phrases,
        kinds=frozenset() if phrases else kinds,
        lone_script=kinds == {"script"},
        names=asked.names if asked.identifier or "_" in rest else (),
        joined="".join(word.surface for word in words if word.specific),
        pairs=asked.pairs,
        grams=asked.grams,
        only_identifiers=bool(words) and not any(_speaks(part) for part in rest.split()),
    )


def _words(analyser: Analyser, text: str, asked: AnalysedQuery) -> Iterable[Word]:
    for surface, stem in analyser.words(text):
        if len(surface) > 1 and surface not in STOP_WORDS and surface not in QUESTION_WORDS:
            yield Word(surface, stem)
    # Parts of camelCase words, which have no surface of their own.
    spoken = {stem for _, stem in analyser.words(text)}
    for stem in asked.terms:
        if stem not in spoken and len(stem) > 1 and stem not in QUESTION_WORDS:
            yield Word(stem, stem)


def _distinct(words: Iterable[Word]) -> Iterable[Word]:
    return {word.stem: word for word in words}.values()


def _speaks(part: str) -> bool:
    """A plain word, not the name of a file, an option or a variable."""
    return bool(re.fullmatch(r"[\W_]*[^\W\d_]+(?:['’\-][^\W\d_]+)*[\W_]*", part)) and not part.isupper()
