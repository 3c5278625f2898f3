"""The result for people: a table by kind at 80 columns, then every miss."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from check_lib.expect import Judged, Miss
from check_lib.runs import Ran

WIDTH = 80
HEAD: tuple[str, ...] = ("kind", "rows", "outcome", "contained", "absent", "noise")
MB = 1e6


@dataclass(frozen=True, slots=True)
class Checked:
    """One tree, built by one account, and its rows judged."""

    tree: str
    account: str
    ran: Ran
    rows: Sequence[Judged]

    def misses(self, *, explained: bool) -> list[Miss]:
        """Those that somebody has explained, or those that nobody has."""
        return [miss for row in self.rows for miss in row.misses if bool(miss.reason) == explained]

    @property
    def right(self) -> bool:
        """Nothing is missed but what is explained, and everything adds up."""
        return not self.misses(explained=False) and not self.ran.faults


def lines(checked: Checked) -> Iterator[str]:
    """The whole part of one tree."""
    ran = checked.ran
    yield from textwrap.wrap(
        f"{checked.tree}, built as {checked.account}: {len(ran.files)} files, {ran.seconds:.1f} s "
        f"({ran.cpu:.1f} s of CPU), memory at most {ran.tree / MB:,.0f} MB in all processes, "
        f"{ran.largest / MB:,.0f} MB in the largest",
        WIDTH,
    )
    yield ""
    kinds = sorted({row.expected.kind for row in checked.rows})
    cells: list[tuple[str, ...]] = [HEAD]
    cells += [_cells(kind, [row for row in checked.rows if row.expected.kind == kind]) for kind in kinds]
    cells.append(_cells("all", checked.rows))
    widths = [max(len(row[at]) for row in cells) for at in range(len(HEAD))]
    for row in cells:
        padded = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join([row[0].ljust(widths[0]), *padded])
    for title, texts in (
        ("Missed", [_sentence(miss) for miss in checked.misses(explained=False)]),
        ("Does not add up", [ascii(fault)[1:-1] for fault in ran.faults]),
        ("Explained", [f"{_sentence(miss)} -- {miss.reason}" for miss in checked.misses(explained=True)]),
        (
            "Noise",
            [f"{_name(row.expected.path)}: {', '.join(map(ascii, row.noise))}" for row in checked.rows if row.noise],
        ),
    ):
        if texts:
            yield ""
            yield f"{title} ({len(texts)}):"
            for text in texts:
                yield from textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _cells(kind: str, rows: Sequence[Judged]) -> tuple[str, ...]:
    """Numbers as `right/all`; noise alone is a number of what should not be there."""
    right = sum(row.outcome_right for row in rows)
    found = sum(row.found for row in rows)
    wanted = sum(len(row.expected.must) for row in rows if row.outcome == "indexed" or not row.outcome_right)
    absent, unwanted = sum(row.absent for row in rows), sum(len(row.expected.must_not) for row in rows)
    noise, possible = sum(len(row.noise) for row in rows), sum(len(row.expected.should_not) for row in rows)
    pairs = ((right, len(rows)), (found, wanted), (absent, unwanted))
    shown = (f"{have}/{whole}" if whole else "-" for have, whole in pairs)
    return (kind, str(len(rows)), *shown, f"{noise}/{possible}" if possible else "-")


def _sentence(miss: Miss) -> str:
    return f"{_name(miss.path)}: {miss.check}: {ascii(miss.detail)[1:-1]}"


def _name(path: str) -> str:
    """A path that fits on a line, harmless on a terminal."""
    shown = ascii(path)[1:-1]
    return shown if len(shown) <= WIDTH - 10 else f"{shown[:30]}...{shown[-30:]}"
