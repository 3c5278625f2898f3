"""Chunker: source code by function and class, small neighbours joined, large ones cut between lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hermes_lance.core.records import Document, Piece
from hermes_lance.parse.definitions import Mark, by_grammar
from hermes_lance.parse.generated import is_minified
from hermes_lance.parse.grammars import grammar
from hermes_lance.parse.line_shapes import by_lines
from hermes_lance.parse.window import Cutter, without_blank_pieces

_ALONE = 0.3
"""Share of the target from which a definition is a passage of its own."""
_CRUMB = 0.08
"""Share of the target below which leftovers (a class head, closing lines) join any neighbour."""
_GRAMMAR_BYTES = 4_000_000
_NAMES = 6


@dataclass(slots=True)
class _Member:
    start: int
    end: int
    mark: Mark
    tokens: float


class SymbolsChunker:
    """One definition a passage, with the comments above it; scopes as trail, names as symbol."""

    name = "symbols"
    media_types: Sequence[str] = ("text/x-*",)

    def __init__(self, target_tokens: int = 512, overlap_tokens: int = 80) -> None:
        self.target_tokens = target_tokens
        self.overlap_tokens = min(overlap_tokens, target_tokens - 1)
        self._last: tuple[Document, str] | None = None

    def signature(self) -> str:
        """Name, version and sizes."""
        return f"symbols/2:{self.target_tokens}:{self.overlap_tokens}"

    def chunker_label(self, document: Document) -> str:
        """`symbols/2:<language>` where a grammar cut it, `…:lines` where line shapes did, `…:window` if minified."""
        last = self._last
        how = last[1] if last is not None and last[0] is document else self._cut(document)[0]
        return f"symbols/2:{how}"

    def pieces(self, document: Document) -> list[Piece]:
        """Passages that tile the text but for overlaps inside a definition that had to be cut."""
        how, pieces = self._cut(document)
        # The label is asked for right after the pieces; parsing twice for it would halve the speed.
        self._last = (document, how)
        return pieces

    def _cut(self, document: Document) -> tuple[str, list[Piece]]:
        text = document.text
        cutter = Cutter(text, self.target_tokens, self.overlap_tokens)
        if is_minified(text):
            # Its one line is no definition, and parsers take minutes over such files.
            spans = cutter.spans(0, len(text))
            return "window", without_blank_pieces(text, [Piece(low, high, "code") for low, high in spans])
        how, marks = self._marks(document)
        return how, _packed(cutter, _members(cutter, marks))

    def _marks(self, document: Document) -> tuple[str, list[Mark]]:
        text = document.text
        language = document.lang
        known = grammar(language) if language else None
        if language is None or known is None or len(text) > _GRAMMAR_BYTES:
            return "lines", by_lines(text, language)
        data = text.encode("utf-8", "surrogatepass")
        # Code has about three bytes to a token.
        marks = by_grammar(data, known, int(self.target_tokens * _ALONE * 3))
        if marks is None:
            return "lines", by_lines(text, language)
        return language, marks if len(data) == len(text) else _in_characters(data, marks)


def _in_characters(data: bytes, marks: list[Mark]) -> list[Mark]:
    moved = []
    byte = char = 0
    for mark in marks:
        char += len(data[byte : mark.start].decode("utf-8", "surrogatepass"))
        byte = mark.start
        moved.append(Mark(char, mark.name, mark.trail, mark.defines, mark.scope))
    return moved


def _members(cutter: Cutter, marks: list[Mark]) -> list[_Member]:
    """Stretches from mark to mark; what stands before the first belongs to it."""
    if not marks:
        marks = [Mark(0, None, (), False, ())]
    starts = [0] + [mark.start for mark in marks[1:]] + [len(cutter.text)]
    distances = [cutter.ruler.distance(start) for start in starts]
    tokens = [after - before for before, after in pairwise(distances)]
    return list(map(_Member, starts, starts[1:], marks, tokens))


def _packed(cutter: Cutter, members: list[_Member]) -> list[Piece]:
    pieces: list[Piece] = []
    for group in _without_crumbs(_grouped(members, cutter.target), cutter.target):
        trail, symbol = group[0].mark.trail, _symbol(group)
        spans = cutter.spans(group[0].start, group[-1].end)
        pieces.extend(Piece(low, high, "code", trail, symbol) for low, high in spans)
    return without_blank_pieces(cutter.text, pieces)


def _grouped(members: list[_Member], target: int) -> list[list[_Member]]:
    """Small neighbours of one scope together; a definition of some size alone."""
    groups: list[list[_Member]] = []
    size = 0.0
    closed = True
    for member in members:
        alone = member.mark.defines and member.tokens >= target * _ALONE
        if closed or alone or groups[-1][0].mark.scope != member.mark.scope or size + member.tokens > target:
            groups.append([member])
            size = 0.0
        else:
            groups[-1].append(member)
        size += member.tokens
        closed = alone
    return groups


def _without_crumbs(groups: list[list[_Member]], target: int) -> list[list[_Member]]:
    """Groups of a few tokens joined to a neighbour: a class head to what follows it, closing lines to what is above."""
    sizes = [sum(member.tokens for member in group) for group in groups]
    kept: list[list[_Member]] = []
    kept_size = 0.0
    for index, group in enumerate(groups):
        size = sizes[index]
        if kept and kept[-1][-1].end == group[0].start:
            joins = kept_size + size <= target
            head = kept_size < target * _CRUMB and kept[-1][0].mark.scope == group[0].mark.scope
            ends_here = index + 1 == len(groups) or groups[index + 1][0].mark.scope != group[0].mark.scope
            if joins and (head or (size < target * _CRUMB and (ends_here or kept_size < target * _CRUMB))):
                kept[-1].extend(group)
                kept_size += size
                continue
        kept.append(list(group))
        kept_size = size
    return kept


def _symbol(group: list[_Member]) -> str | None:
    names = [member.mark.name for member in group if member.mark.name and member.mark.defines]
    return ", ".join(dict.fromkeys(names[:_NAMES])) if names else None
