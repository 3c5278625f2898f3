"""Whether a passage still stands in a text: at its place, at another one, or not as it was. Pure comparisons."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from hermes_lance.core.records import ChunkRow

EXACT, MOVED, CHANGED, GONE = "exact", "moved", "changed", "gone"
PAGE_END = "\f"
"""Between two pages, in the texts of parsers that know pages."""
_MOST_ALIGNED_LINES = 20_000
"""Longer texts are not aligned: that takes time with the square of the lines."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What became of a passage, and where it is now (of a changed one: about where)."""

    verdict: str
    start: int | None = None
    """Line or page, from 1."""
    end: int | None = None
    detail: str = ""
    whitespace_only: bool = False
    """It is the same but for white space."""


def old_text(rows: Sequence[ChunkRow]) -> str:
    """The text that the passages of a file were cut from. Stretches of blanks that no passage holds are filled with as
    many new lines, or ends of pages, as there were."""
    text = ""
    for row in sorted(rows, key=lambda one: one.char_start):
        if row.char_end <= len(text):
            continue
        gap = row.char_start - len(text)
        if gap > 0:
            end = PAGE_END if row.page_start is not None else "\n"
            at = 1 + text.count(end)
            ends = min(gap, max(0, (row.page_start or row.line_start or at) - at))
            text += end * ends + " " * (gap - ends)
        text += row.text[max(0, -gap) :]
    return text


def lines_of(text: str) -> list[str]:
    """Lines as they are compared: without their ends, blank ones empty."""
    return [line if line and not line.isspace() else "" for line in (one.rstrip("\r") for one in text.split("\n"))]


def pages_of(text: str) -> list[str]:
    """Pages as they are compared: their lines without the blanks around them."""
    return ["\n".join(filter(None, map(str.strip, page.splitlines()))) for page in text.split(PAGE_END)]


def of_lines(old: Sequence[str], first: int, last: int, new: Sequence[str], unit: str = "lines") -> Standing:
    """What became of lines `first` to `last` (from 1) of a text whose lines were `old` and are `new`."""
    passage = list(old[first - 1 : last])
    if list(new[first - 1 : last]) == passage and len(passage) == last - first + 1:
        return Standing(EXACT, first, last)
    lead = next((at for at, line in enumerate(passage) if line), len(passage))
    core = passage[lead:]
    while core and not core[-1]:
        core.pop()
    if not core:
        return Standing(EXACT, first, last, "blank lines") if len(new) >= first else Standing(CHANGED)
    before, after = _places(old, core), _places(new, core)
    at = first - 1 + lead
    if after and len(after) >= len(before):
        # As many copies as before: ours is among them, in the same order as long as their number is the same.
        same = len(after) == len(before)
        place = after[before.index(at)] if same else min(after, key=lambda one: abs(one - at))
        start = max(1, place - lead + 1)
        end = min(len(new), start + last - first)
        return Standing(EXACT if place == at else MOVED, start, end)
    return _changed(old, first, last, new, core, unit)


def _changed(old: Sequence[str], first: int, last: int, new: Sequence[str], core: Sequence[str], unit: str) -> Standing:
    squeezed = _squeezed(core)
    # Where copies stand elsewhere, they were there before: only a new one can be ours with other blanks.
    blanks_only = _squeezed(new).count(squeezed) >= max(1, _squeezed(old).count(squeezed))
    there = set(new)
    kept = sum(line in there for line in core if line)
    detail = f"{kept} of its {sum(map(bool, core))} {unit} are still in the file"
    start, end = _aligned(old, first, last, new)
    return Standing(
        CHANGED, start, end, "only white space differs" if blanks_only else detail, whitespace_only=blanks_only
    )


def _squeezed(lines: Sequence[str]) -> str:
    return "".join("".join(lines).split())


def _aligned(old: Sequence[str], first: int, last: int, new: Sequence[str]) -> tuple[int | None, int | None]:
    """About where the lines are now, by what stands around them; none when nothing is left there."""
    if max(len(old), len(new)) > _MOST_ALIGNED_LINES:
        return None, None
    start = end = None
    for _, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if old_from < last and old_to > first - 1 and new_to > new_from:
            low = new_from + max(0, first - 1 - old_from) if old_to - old_from == new_to - new_from else new_from
            high = new_to - max(0, old_to - last) if old_to - old_from == new_to - new_from else new_to
            start, end = min(start or low + 1, low + 1), max(end or high, high)
    return start, end


def _places(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the wanted lines stand one after the other, from 0."""
    first = wanted[0]
    width = len(wanted)
    return [at for at, line in enumerate(lines) if line == first and list(lines[at : at + width]) == list(wanted)]


def holds(lines: Sequence[str], wanted: Sequence[str]) -> tuple[int, int] | None:
    """The first place (lines from 1) where the wanted lines stand; blank ones around them do not matter."""
    core = list(wanted)
    while core and not core[-1]:
        core.pop()
    while core and not core[0]:
        core.pop(0)
    found = _places(lines, core) if core else []
    return (found[0] + 1, found[0] + len(core)) if found else None


def of_pages(old: Sequence[ChunkRow], first: int, last: int, text: str, page_starts: Sequence[int]) -> Standing:
    """What became of pages `first` to `last`, of which the passages `old` have a part, in the text of today.

    Only for texts whose pages cannot be told apart: then a change on a page beside them may count too.
    """
    shifts: list[int] = []
    missing = 0
    for row in old:
        wanted = row.text.strip()
        pages = [bisect_right(page_starts, at) for at in _positions(text, wanted)]
        was = row.page_start or 1
        # The blanks at its beginning, which are not looked for, may be those of the page before.
        if any(was <= page <= (row.page_end or was) for page in pages):
            shifts.append(0)
        elif pages:
            shifts.append(min((page - was for page in pages), key=abs))
        else:
            missing += 1
    if missing or not shifts:
        return Standing(CHANGED, detail=f"{missing} of the {len(old)} passages there are not as they were")
    shift = min(shifts, key=lambda one: (-shifts.count(one), abs(one)))
    return Standing(MOVED if any(shifts) else EXACT, first + shift, last + shift)


def of_locator(old: Sequence[ChunkRow], new: Sequence[ChunkRow]) -> Standing:
    """What became of the passages of a slide, sheet or cell, given all passages of today. `detail` of one that moved
    names its new place."""
    here = old[0].locator
    wanted = [row.text.strip() for row in old]
    if wanted == [row.text.strip() for row in new if row.locator == here]:
        return Standing(EXACT)
    texts = {row.text.strip(): row.locator for row in reversed(new)}
    missing = sum(text not in texts for text in wanted)
    if missing:
        return Standing(CHANGED, detail=f"{missing} of the {len(old)} passages there are not as they were")
    places = list(dict.fromkeys(str(texts[text]) for text in wanted))
    return Standing(EXACT if places == [here] else MOVED, detail=", ".join(places))


def _positions(text: str, wanted: str) -> list[int]:
    found = []
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found
