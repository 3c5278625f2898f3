"""Does an answer cite what its agent was given? Each `[Source: …]` of it against the passages of the block.

Says nothing about whether the answer is true to its sources, only whether they were there: a place that nobody gave
it is made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hermes_lance.core.citation import Citation, readings
from hermes_lance.core.injected import InjectedSource
from hermes_lance.search.render import path_line

EXACT, WRONG_PLACE, UNKNOWN = "exact", "wrong lines", "unknown source"


@dataclass(frozen=True, slots=True)
class Cited:
    """One citation of an answer."""

    text: str
    """As the answer has it, without brackets."""
    verdict: str
    """`exact`, `wrong lines` (also pages), `unknown source`."""
    path: str | None
    """Display path of the source, where it is known."""
    given: tuple[str, ...] = ()
    """What the agent was given of that source."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The citations of one answer, in order, and the passages that it does not cite."""

    citations: tuple[Cited, ...]
    uncited: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether every citation is exact."""
        return all(one.verdict == EXACT for one in self.citations)


# A path may have brackets of its own: `app/[id]/page.tsx`.
_CITATION = re.compile(r"\[\s*sources?\s*:\s*((?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){1,2000})\]", re.IGNORECASE)


def check(answer: str, given: Sequence[InjectedSource]) -> Checked:
    """Every citation of `answer` against what was given. Of a file name alone the file is taken, if only one has it."""
    cited: list[Cited] = []
    used: set[str] = set()
    for text in _citations(answer, given):
        one, sources = _judged(text, given)
        cited.append(one)
        used.update(source.citation for source in sources)
    uncited = dict.fromkeys(one.citation for one in given if one.citation not in used)
    return Checked(tuple(cited), tuple(uncited))


def _citations(answer: str, given: Sequence[InjectedSource]) -> Iterator[str]:
    """The text of each; several in one pair of brackets stand between `;`, or between commas where the whole names
    nothing that was given."""
    for found in _CITATION.finditer(answer):
        for part in filter(None, map(str.strip, found[1].split(";"))):
            pieces = list(filter(None, map(str.strip, part.split(","))))
            whole = any(_of_path(one.path, given) for one in readings(part))
            several = len(pieces) > 1 and not whole and all(
                any(_of_path(one.path, given) for one in readings(piece)) for piece in pieces
            )  # fmt: skip
            yield from pieces if several else (part,)


def _judged(text: str, given: Sequence[InjectedSource]) -> tuple[Cited, list[InjectedSource]]:
    """The verdict on one citation, and the passages that it stands for."""
    for meant in readings(text):
        sources = _of_path(meant.path, given)
        if not sources:
            continue
        held = [one for one in sources if _touches(meant, one)]
        exact = bool(held) and _covered(meant, sources)
        known = tuple(one.citation for one in sources)
        return Cited(text, EXACT if exact else WRONG_PLACE, sources[0].path, known), held
    return Cited(text, UNKNOWN, None), []


def _of_path(path: str, given: Sequence[InjectedSource]) -> list[InjectedSource]:
    path = path.strip().strip("`'\"").removeprefix("./")
    # An answer can only repeat what its agent was shown, where brackets and hidden characters of a name are others.
    sources = [one for one in given if path in (one.path, path_line(one.path))]
    if not sources and path:
        ending = [one for one in given if one.path.endswith(f"/{path}")]
        sources = ending if len({one.path for one in ending}) == 1 else []
    return sources


def _span(one: InjectedSource | Citation) -> tuple[int, int] | None:
    """Pages where there are some, else lines; none where no place is named."""
    if one.page_start is not None:
        return one.page_start, one.page_end or one.page_start
    if one.line_start is not None:
        return one.line_start, one.line_end or one.line_start
    return None


def _same_kind(meant: Citation, one: InjectedSource) -> bool:
    """Pages are compared with pages and lines with lines."""
    return (meant.page_start is None) == (one.page_start is None)


def _touches(meant: Citation, one: InjectedSource) -> bool:
    cited, held = _span(meant), _span(one)
    if cited is None:
        return meant.locator is None or one.citation.endswith(f"#{meant.locator}")
    return held is not None and _same_kind(meant, one) and cited[0] <= held[1] and held[0] <= cited[1]


def _covered(meant: Citation, sources: Sequence[InjectedSource]) -> bool:
    """Whether every line or page that is cited stands in one of the passages."""
    cited = _span(meant)
    if cited is None:
        return True
    reached = cited[0]
    for start, end in sorted(span for one in sources if _same_kind(meant, one) and (span := _span(one)) is not None):
        if start <= reached:
            reached = max(reached, end + 1)
    return reached > cited[1]
