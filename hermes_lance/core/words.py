"""Query and text analysis, one for the lexical index, the gate, the hashing embedder and the router.

Words are what Tantivy's simple tokenizer makes (runs of letters and digits in any script), folded, lower-cased and
stemmed; beside them the parts of camelCase words, one token for each whole snake_case word, pairs of characters for
scripts without spaces, and short grams for the other non-Latin scripts. Only `Analyser` needs tantivy.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple, TypeVar

from hermes_lance.core import identifiers
from hermes_lance.core.scripts import (
    dominant_script,
    runs_without_spaces,
    script_of,
    script_shares,
    share_outside,
    spaced_words,
)
from hermes_lance.core.signature import digest
from hermes_lance.core.stop_words import STOP_WORDS

_T = TypeVar("_T")

__all__ = [
    "STOP_WORDS",
    "AnalysedQuery",
    "AnalysedText",
    "Analyser",
    "clean",
    "dominant_script",
    "encodable",
    "pairs",
    "script_shares",
    "share_outside",
    "spaced_grams",
    "without_contractions",
]

_CONTRACTION = re.compile(r"(?<=[A-Za-z])['\u2019](?:[stdmSTDM]|re|ve|ll|RE|VE|LL)(?![A-Za-z0-9])")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"\s+")
_TRIM = " \t\r\n\"'`()[]{}<>,;:!?.\u201c\u201d\u2018\u2019\u00ab\u00bb\u3002\u3001\uff1f\uff01"
_JOINED = re.compile(r"[^\s.,;:!?\"'()\[\]{}][-_./:#@+\\][^\s.,;:!?\"'()\[\]{}]|[^\W\d_]\d|\d[^\W\d_]")

# Letters that Arabic writers use for one another, and what only decorates a letter in Hebrew and Arabic.
_UNIFIED = {
    **dict.fromkeys(map(ord, "أإآٱ"), "ا"),
    ord("ى"): "ي",
    ord("ی"): "ي",
    ord("ئ"): "ي",
    ord("ؤ"): "و",
    ord("ة"): "ه",
    ord("ک"): "ك",
    ord("ς"): "σ",
    **dict.fromkeys(
        [0x0640, 0x0670, 0x200C, 0x200D, *range(0x0300, 0x0370), *range(0x0591, 0x05BE), *range(0x064B, 0x0660)]
    ),
}


def encodable(text: str) -> str:
    """`text` with lone surrogates replaced by U+FFFD, so that every engine accepts it; otherwise unchanged."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def clean(text: str) -> str:
    """`text` in composed form (NFC), without lone surrogates. For words; names and keys stay as they are."""
    text = encodable(text)
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


class _Folding(dict[int, str]):
    """What Tantivy's `ascii_fold` makes of a character, by its number; asked once for each."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = folded = next(iter(_folder().analyze(character)), character)
        return folded


_FOLDING = _Folding()
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def folded(text: str) -> str:
    """Lower case, letters with accents and the like as ASCII where there is such a form: what words are made from.

    Done here for a whole text: as filters of the tokenizer, word by word, it is a twentieth of the work of indexing.
    """
    if not text.isascii():
        # Folding before lower-casing: the lower case of a dotted capital I is two characters, which nothing folds.
        text = _BEYOND_ASCII.sub(lambda found: found[0].translate(_FOLDING), text)
    return text.lower()


def without_contractions(text: str) -> str:
    """`text` with the English endings behind an apostrophe (`'s`, `'ll`) as a space, as questions are analysed."""
    return _CONTRACTION.sub(" ", text)


def pairs(run: str) -> list[str]:
    """Overlapping pairs of characters of a run without spaces, then its last character alone.

    The last one makes every character the beginning of some token, so that one character can be looked for.
    """
    run = unicodedata.normalize("NFKC", run)
    return [*map(add, run, run[1:]), run[-1:]]


def unified(text: str) -> str:
    """`text` decomposed (NFKD), in lower case, without accents and with letter variants as one: what grams are made
    from, except for Korean."""
    return unicodedata.normalize("NFKD", text).lower().translate(_UNIFIED)


def spaced_grams(word: str, size: int = 4) -> list[str]:
    """Overlapping grams of a non-Latin word in a form that ignores accents and letter variants.

    Decomposed (NFKD), lower case, Arabic letters unified, vowel signs of Indic scripts kept. Korean words stay composed
    and give pairs, since one of their characters is a whole syllable. A short word is its own only gram.
    """
    if script_of(word[0]) == "Hangul":
        folded, size = unicodedata.normalize("NFKC", word), 2
    else:
        folded = unified(word)
    if len(folded) <= size:
        return [folded] if folded else []
    return [folded[at : at + size] for at in range(len(folded) - size + 1)]


class AnalysedText(NamedTuple):
    """What the lexical index stores for one text of a document."""

    words: str
    """For the tokenizer called `words`: the text, a new line, and the tokens that are added to it."""
    pairs: str
    """Blank-separated tokens; empty where the text has no script without spaces."""
    grams: str
    """Blank-separated tokens; empty where every letter is Latin or in a script without spaces."""


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """A question as tokens. Every tuple holds distinct tokens in order of appearance, but `phrase`."""

    text: str
    """The cleaned question."""
    terms: tuple[str, ...] = ()
    """Stemmed words without stop words (with them if nothing else is left), and parts of camelCase words."""
    phrase: tuple[tuple[int, str], ...] = ()
    """Position and stemmed word of the whole question, stop words included."""
    neighbours: tuple[tuple[str, str], ...] = ()
    """Stemmed words that follow one another in the question, stop words left out."""
    snake_phrases: tuple[tuple[str, ...], ...] = ()
    """The words inside each snake_case name."""
    names: tuple[str, ...] = ()
    """Tokens of whole identifiers: one for each snake_case name, and each camelCase word as one word."""
    pairs: tuple[str, ...] = ()
    """Pairs of characters of runs without spaces; a run of one character is that character."""
    grams: tuple[str, ...] = ()
    """Grams of spaced non-Latin words."""
    file_names: tuple[str, ...] = ()
    """Lower-case words of the question that look like file names."""
    whole_file_name: str | None = None
    """The whole question in lower case, when it is short enough to be a file name."""
    identifier: str | None = None
    """The token of the identifier that the question consists of, if it is one identifier."""
    plain: bool = True
    """False where something in the question is joined, mixed or shaped like a name: `a-b`, `v2`, `fooBar`."""
    only_stop_words: bool = False
    """True when every word is a stop word; `terms` then holds them all the same."""

    @property
    def empty(self) -> bool:
        """True when no token is left, so that nothing can match."""
        return not (self.terms or self.pairs or self.grams)


@dataclass(frozen=True, slots=True)
class Analyser:
    """Builds documents and questions from the same parameters, which `digest` names."""

    longest_token_bytes: int = 80
    gram_size: int = 4
    snake_mark: str = "idz"
    """Begins the token of a whole snake_case word, so that it equals no word of a language."""
    language: str = "english"

    def digest(self) -> str:
        """Changes when the same text would give other tokens."""
        return digest({
            "analyser": 2,
            "token": self.longest_token_bytes,
            "gram": self.gram_size,
            "mark": self.snake_mark,
            "language": self.language,
        })  # fmt: skip

    def tokenizers(self) -> Mapping[str, Any]:
        """Name to `tantivy.TextAnalyzer`; to be registered after every opening of an index. They take `folded` text."""
        return {"words": self._word_tokenizer(stem=True), "tokens": _token_tokenizer()}

    def texts(self, texts: Sequence[str]) -> list[AnalysedText]:
        """Each text as the index stores it. Fast when given many at once."""
        cleaned = [clean(text) for text in texts]
        found = identifiers.find_all(cleaned)
        parts = list(map(identifiers.spaced_parts, found.camel))
        names = list(map(identifiers.compact, found.underscored))
        ranges = zip(cleaned, pairwise(found.camel_from), pairwise(found.underscored_from), strict=True)
        mark = self.snake_mark
        return [
            self._text(text, parts[first:last] + [mark + name for name in names[begin:end] if name])
            for text, (first, last), (begin, end) in ranges
        ]

    def words(self, text: str) -> list[tuple[str, str]]:
        """Surface form (folded, lower case) and stem of each word of `text`, in order."""
        text = folded(clean(text))
        surface = self._word_tokenizer(stem=False).analyze(text)
        return list(zip(surface, self._word_tokenizer(stem=True).analyze(text), strict=True))

    def query(self, text: str) -> AnalysedQuery:
        """A question as tokens; any string is fine."""
        text = clean(text).replace("\x00", " ")
        runs = runs_without_spaces().findall(text) if not text.isascii() else []
        spaced = runs_without_spaces().sub(" ", text) if runs else text
        names = identifiers.find(spaced)
        phrase = self._phrase(spaced)
        kept, only_stop_words = self._kept(spaced)
        camel = [part for word in names.camel for part in identifiers.camel_parts(word)]
        terms = [*kept, *self._stems(" ".join(camel))]
        snake = [self._stems(name) for name in names.snake]
        tokens = [*self._stems(" ".join(map(self._snake_token, names.snake))), *self._stems(" ".join(names.camel))]
        identifier = self._identifier(text, names)
        return AnalysedQuery(
            text=text,
            terms=_distinct(terms),
            phrase=phrase,
            neighbours=_distinct(pairwise(kept)) if len(phrase) > 2 and not only_stop_words else (),
            snake_phrases=tuple(tuple(words) for words in snake if len(words) > 1),
            names=_distinct(tokens),
            pairs=_distinct(token for run in runs for token in _query_pairs(run)),
            grams=_distinct(self._grams(spaced)),
            file_names=_file_names(text),
            whole_file_name=_whole_file_name(text),
            identifier=identifier,
            plain=identifier is None and not names.camel and not _JOINED.search(spaced),
            only_stop_words=only_stop_words and not runs,
        )

    def _text(self, text: str, added: list[str]) -> AnalysedText:
        words = folded(f"{text}\n{' '.join(added)}" if added else text)
        if text.isascii():
            return AnalysedText(words, "", "")
        runs = runs_without_spaces().findall(text)
        if runs and (beside := _beside_runs(text)):
            words = f"{words}\n{folded(' '.join(beside))}"
        tokens = " ".join(token for run in runs for token in pairs(run))
        return AnalysedText(words, tokens, " ".join(self._grams(text)))

    def _snake_token(self, name: str) -> str:
        return self.snake_mark + identifiers.compact(name)

    def _grams(self, text: str) -> list[str]:
        if text.isascii():
            return []
        return [gram for word in spaced_words().findall(text) for gram in spaced_grams(word, self.gram_size)]

    def _word_tokenizer(self, *, stem: bool) -> Any:
        return _word_tokenizer(self.longest_token_bytes, self.language if stem else None)

    def _stems(self, text: str) -> list[str]:
        return self._word_tokenizer(stem=True).analyze(folded(text)) if text else []

    def _phrase(self, text: str) -> tuple[tuple[int, str], ...]:
        tokens = self._word_tokenizer(stem=True).pre_tokenize(folded(text)).tokens
        return tuple((token.position, token.text) for token in tokens)

    def _kept(self, text: str) -> tuple[list[str], bool]:
        """Stems without stop words, and whether there were stop words only (then all stems)."""
        every = self.words(without_contractions(text))
        kept = [stem for surface, stem in every if surface not in STOP_WORDS]
        if kept:
            return kept, False
        return self._stems(text), bool(every)

    def _identifier(self, text: str, names: identifiers.Identifiers) -> str | None:
        word = text.strip(_TRIM)
        if len(names.snake) == 1 and word.strip("_") == names.snake[0]:
            return next(iter(self._stems(self._snake_token(names.snake[0]))), None)
        if names.camel == (word,):
            return next(iter(self._stems(word)), None)
        return None


@cache
def _word_tokenizer(longest: int, language: str | None) -> Any:
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.remove_long(longest))
    return (builder.filter(tantivy.Filter.stemmer(language)) if language else builder).build()


@cache
def _folder() -> Any:
    import tantivy

    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.ascii_fold()).build()


@cache
def _token_tokenizer() -> Any:
    import tantivy

    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


def _distinct(tokens: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(tokens))


def _query_pairs(run: str) -> list[str]:
    found = pairs(run)
    return found[:-1] or found


def _beside_runs(text: str) -> list[str]:
    """Words that touch a run without spaces; the tokenizer would make one token of both."""
    found = []
    for chunk in _SPACE.split(text):
        parts = runs_without_spaces().split(chunk)
        if len(parts) > 1:
            found += [part for part in parts if part]
    return found


_LONGEST_NAME_CHARS = 200
_NAMES_WITHIN_CHARS = 4_096


def _file_names(text: str) -> tuple[str, ...]:
    words = (word.strip(_TRIM).lower() for word in _SPACE.split(text[:_NAMES_WITHIN_CHARS]))
    return _distinct(word for word in words if len(word) <= _LONGEST_NAME_CHARS and _JOINED.search(word))


def _whole_file_name(text: str) -> str | None:
    whole = text.strip(_TRIM).lower()
    return whole if 0 < len(whole) <= _LONGEST_NAME_CHARS else None
