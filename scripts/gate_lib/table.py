"""The tables of the report: what each group is given, where the others ended, and the curve."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from .asking import Asked
from .sets import Group

SHIFTS = (-2.0, -1.5, -1.0, -0.6, -0.3, 0.0, 0.3, 0.6, 1.0, 1.5, 2.0)
Z = 1.96


def wilson(hits: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    if not total:
        return 0.0, 1.0
    part, spread = hits / total, Z * Z / total
    middle, half = part + spread / 2, Z * math.sqrt(part * (1 - part) / total + spread / (4 * total))
    return (middle - half) / (1 + spread), (middle + half) / (1 + spread)


def right(group: Group, one: Asked, least: float = 0.0) -> bool:
    """Given where needed, not given where not."""
    return one.given(least) == group.needed


def main_table(groups: Sequence[Group], found: Mapping[str, Sequence[Asked]]) -> list[str]:
    """One line for each group: both halves, with intervals on the one that nothing was chosen on."""
    lines = [
        "| group | wanted | messages | first half | second half | 95 % interval | target | ended before a search "
        "| ended by evidence |",
        "|---|---|--:|--:|--:|---|--:|--:|--:|",
    ]
    for group in groups:
        halves = {half: [one for one in found[group.name] if one.message.half == half] for half in ("tune", "held")}
        shares = [f"{_share(group, halves[half]):.3f}" for half in ("tune", "held")]
        low, high = wilson(sum(right(group, one) for one in halves["held"]), len(halves["held"]))
        ended = Counter(_ending(one) for one in found[group.name])
        lines.append(
            f"| {group.name} | {_verb(group)} | {len(found[group.name])} | {' | '.join(shares)} "
            f"| {low:.3f}–{high:.3f} | {f'≥ {group.target:.2f}' if group.target else '–'} "
            f"| {ended['before']} | {ended['evidence']} |"
        )
    return lines


def curve(groups: Sequence[Group], found: Mapping[str, Sequence[Asked]]) -> list[str]:
    """What other settings of `knowledgebase.gate.evidence` would do, both halves together."""
    shown = [group for group in groups if group.target or group.name == "everyday, all together"]
    lines = [
        f"| evidence | {' | '.join(f'{group.name} {_verb(group)}' for group in shown)} |",
        f"|--:|{'--:|' * len(shown)}",
    ]
    for least in SHIFTS:
        cells = [f"{_share(group, found[group.name], least):.3f}" for group in shown]
        lines.append(f"| {least:+.1f} | {' | '.join(cells)} |")
    return lines


def by_kind(group: Group, found: Sequence[Asked]) -> list[str]:
    """What everyday messages of each kind are given, and how many end before a search."""
    lines = ["| kind | messages | ended before a search | ended by evidence | given |", "|---|--:|--:|--:|--:|"]
    for kind in dict.fromkeys(one.message.kind for one in found):
        mine = [one for one in found if one.message.kind == kind]
        ended = Counter(_ending(one) for one in mine)
        lines.append(f"| {kind} | {len(mine)} | {ended['before']} | {ended['evidence']} | {ended['given']} |")
    return lines


def missed(groups: Sequence[Group], found: Mapping[str, Sequence[Asked]]) -> list[str]:
    """The groups with a target that do not reach it on the second half."""
    return [
        group.name
        for group in groups
        if group.target
        and _share(group, [one for one in found[group.name] if one.message.half == "held"]) < group.target
    ]


def _verb(group: Group) -> str:
    return "kept" if group.needed else "withheld"


def _share(group: Group, asked: Sequence[Asked], least: float = 0.0) -> float:
    return sum(right(group, one, least) for one in asked) / len(asked)


def _ending(one: Asked) -> str:
    if one.given():
        return "given"
    return "evidence" if one.stage == "injected" else "before"


__all__ = ["by_kind", "curve", "main_table", "missed", "wilson"]
