"""The rules by which artifacts are put in order: what was named comes before what merely matches.

Each rule looks at one artifact and the question; the order is that of the rules, then that of the scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hermes_lance.core.artifact import Artifact, joined_names
from hermes_lance.core.words import Analyser
from hermes_lance.search.route_query import RouteQuery, Word

PROSE = frozenset({"doc", "runbook", "memory_doc"})
GUIDES = frozenset({"skill", "skill_support_doc"})
KIND_ORDER = ("skill", "script", "cron_job", "mcp_server", "memory_doc", "runbook", "tool_okf")
FEWEST_LETTERS_OF_A_BEGINNING = 4


@dataclass(slots=True)
class Candidate:
    """An artifact that may be an answer, and what is known of it so far."""

    position: int
    row: Artifact
    lexical: float | None = None
    dense: float | None = None
    fused: float = 0.0
    phrase: bool = False
    """Holds every quoted phrase."""
    tokens: dict[str, frozenset[str]] = field(default_factory=dict)
    """Field to its tokens."""


class Rules:
    """The rules for one question. `expanded`: for words that nothing has, the tokens that they may be meant for."""

    def __init__(self, query: RouteQuery, expanded: Mapping[str, Iterable[str]], analyser: Analyser) -> None:
        self._query = query
        self._meant = {word.stem: frozenset([word.stem, *expanded.get(word.stem, ())]) for word in query.words}
        self._analyser = analyser

    def read(self, candidates: Iterable[Candidate]) -> None:
        """Cuts the texts of all candidates into tokens, at once."""
        every = list(candidates)
        texts = [text for one in every for text in _fields(one.row).values()]
        tokens = iter(self._tokens(texts))
        for one in every:
            one.tokens = {name: next(tokens) for name in _fields(one.row)}

    def _tokens(self, texts: list[str]) -> list[frozenset[str]]:
        tokenizer = self._analyser.tokenizers()["words"]
        return [frozenset(tokenizer.analyze(one.words)) for one in self._analyser.texts(texts)]

    def key(self, one: Candidate) -> tuple[object, ...]:
        """What candidates are sorted by."""
        query = self._query
        identity = self.identity(one)
        strict = self._has_all(one, query.words)
        return (
            0 if not query.quoted or one.phrase else 1,
            self.operation(one, strict=strict),
            min(identity, 2),
            0 if strict and query.words else 1,
            -round(one.fused, 6),
            _kind_order(one.row.type),
            one.row.title,
            one.row.id,
        )

    def identity(self, one: Candidate) -> int:
        """0: the question is its name; 1: its name holds all specific words; 2: its path does; 3: nothing of it."""
        query = self._query
        if query.names and set(query.names) & one.tokens["names"]:
            return 0
        specific = query.specific
        if query.quoted or not specific:
            return 3
        joined = query.joined or "".join(word.surface for word in specific)
        if joined in joined_names(one.row):
            return 0
        if len(specific) < 2:
            return 3
        if self._in(one, "name", specific):
            return 1
        return 2 if self._in(one, "path", specific) else 3

    def operation(self, one: Candidate, *, strict: bool) -> int:
        """The place of an artifact where a kind was asked for; 0 for all where none was."""
        query, kind = self._query, one.row.type
        if not query.kinds:
            return 0
        specific = [word for word in query.words if word.specific]
        if query.lone_script and strict and kind in GUIDES:
            return 0
        if kind in query.kinds:
            enough = (
                any(self.hit(one, word) for word in specific) if query.lone_script else self._has_all(one, specific)
            )
            if enough or not specific:
                return 1
        if kind in GUIDES and self._has_all(one, specific):
            return 2
        return 3 if kind in PROSE else 4

    def hit(self, one: Candidate, word: Word) -> bool:
        """Some field has the word, another form of it, or a longer word that begins with it."""
        return any(self._has(tokens, word) for tokens in one.tokens.values())

    def _has_all(self, one: Candidate, words: Iterable[Word]) -> bool:
        return all(self.hit(one, word) for word in words)

    def _in(self, one: Candidate, field: str, words: Iterable[Word]) -> bool:
        return all(self._has(one.tokens[field], word) for word in words)

    def _has(self, tokens: frozenset[str], word: Word) -> bool:
        if not tokens.isdisjoint(self._meant[word.stem]):
            return True
        long = len(word.stem) >= FEWEST_LETTERS_OF_A_BEGINNING
        return long and any(token.startswith(word.stem) for token in tokens)


def _fields(row: Artifact) -> dict[str, str]:
    entry = row.type in {"cron_job", "mcp_server"}
    path = row.title if entry else row.path
    return {
        "name": f"{row.title} {row.id.partition(':')[2]}",
        "path": path,
        "triggers": " ".join([*row.triggers, *row.entities]),
        "summary": row.summary,
        "names": row.search_text,
    }


def _kind_order(kind: str) -> int:
    return KIND_ORDER.index(kind) if kind in KIND_ORDER else len(KIND_ORDER)
