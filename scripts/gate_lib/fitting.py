"""Chooses the figures of `search/gate_formulas.py` on the first halves: a logistic regression, then the least score.

Every group counts alike, whatever its size, and groups that need the files as much together as those that do not.
Newton's method with a small ridge penalty (Hoerl and Kennard 1970); measures are not scaled, all lie between 0 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hermes_lance.search.evidence import Measures
from hermes_lance.search.gate_formulas import FORMULAS, Formula

from .asking import Asked
from .sets import Group

Array = np.ndarray[Any, np.dtype[np.float64]]

RIDGE = 0.002
STEP = 0.05
MEASURES: Mapping[str, tuple[str, ...]] = {
    "words": ("shared", "coverage", "asks", "length"),
    "minilm": ("shared", "coverage", "cosine", "alone", "length"),
    "minilm foreign": ("shared", "coverage", "words", "asks", "cosine", "alone"),
    "vectors": ("shared", "coverage", "asks", "lead", "length"),
}
Answers = Mapping[str, Sequence[Asked]]


def of_model(groups: Sequence[Group], found: Answers) -> dict[str, Formula]:
    """The formulas of the bundled model, `minilm foreign` first.

    The least score of foreign messages is the one at which the worst group in another language is best; the other is
    the lowest that reaches all targets of withholding: a missing passage harms more than a superfluous one.
    """
    chosen = {name: _weighted(name, groups, found) for name in ("minilm foreign", "minilm")}
    foreign = [replace(group, target=0.95) for group in groups if group.foreign]
    chosen["minilm foreign"] = max(
        _leasts(chosen["minilm foreign"]),
        key=lambda tried: _worst(foreign, found, {**chosen, "minilm foreign": tried}),
    )
    withheld = [group for group in groups if group.target and not group.needed]
    chosen["minilm"] = next(
        tried for tried in _leasts(chosen["minilm"]) if _worst(withheld, found, {**chosen, "minilm": tried}) >= 0
    )
    return chosen


def of_any(name: str, groups: Sequence[Group], found: Answers) -> Formula:
    """`words` or `vectors`: where the worst of answerable sets and everyday messages is best.

    What is on the subject and yet not answered cannot be told by these measures; so it has no say.
    """
    weighted = _weighted(name, groups, found)
    counted = [group for group in groups if group.target and (group.needed or group.name.startswith("everyday"))]

    def worst(tried: Formula) -> float:
        return _worst(counted, found, dict.fromkeys(FORMULAS, tried))

    return max(_leasts(weighted), key=worst)


def _weighted(name: str, groups: Sequence[Group], found: Answers) -> Formula:
    keys = MEASURES[name]
    rows, labels, weights = [], [], []
    for group in groups:
        mine = [one for one in found[group.name] if group.fits and _serves(name, one) and one.message.half == "tune"]
        for one in mine:
            rows.append([*(float(one.measures[key]) for key in keys), 1.0])
            labels.append(group.needed)
            weights.append(1.0 / len(mine))
    matrix, target, weight = np.array(rows), np.array(labels, dtype=float), np.array(weights)
    for label in (0.0, 1.0):
        weight[target == label] /= weight[target == label].sum()
    chosen = _newton(matrix, target, weight)[:-1].tolist()
    return Formula(least=0.0, **{key: round(value, 2) for key, value in zip(keys, chosen, strict=True)})


def _serves(name: str, one: Asked) -> bool:
    """Whether a message is judged by that formula; `vectors` is fitted on those of the bundled model."""
    return one.score is not None and (one.formula == name or (name == "vectors" and one.formula.startswith("minilm")))


def _leasts(formula: Formula) -> Iterator[Formula]:
    for step in range(round(-6 / STEP), round(12 / STEP)):
        yield replace(formula, least=round(step * STEP, 2))


def _worst(groups: Sequence[Group], found: Answers, formulas: Mapping[str, Formula]) -> float:
    """How far the group that is worst off lies above its target on its first half."""
    return min(share(group, found[group.name], formulas, "tune") - (group.target or 0.0) for group in groups)


def share(group: Group, asked: Sequence[Asked], formulas: Mapping[str, Formula], half: str) -> float:
    """The share that is kept (where needed) or withheld (where not)."""
    given = [opened(one, formulas) for one in asked if one.message.half == half]
    return sum(given) / len(given) if group.needed else 1 - sum(given) / len(given)


def opened(one: Asked, formulas: Mapping[str, Formula]) -> bool:
    """Whether a message would be given a block with these formulas."""
    if one.sure or one.score is None:
        return one.sure
    return formulas[one.formula].score(Measures(**one.measures)) >= 0


def _newton(matrix: Array, target: Array, weight: Array) -> Array:
    penalty = np.full(matrix.shape[1], RIDGE)
    penalty[-1] = 0.0
    chosen = np.zeros(matrix.shape[1])
    for _ in range(60):
        likely = 1 / (1 + np.exp(-np.clip(matrix @ chosen, -30, 30)))
        slope = matrix.T @ (weight * (likely - target)) + penalty * chosen
        curve = (matrix * (weight * likely * (1 - likely))[:, None]).T @ matrix + np.diag(penalty)
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(curve)), slope)
        chosen -= step
        if np.abs(step).max() < 1e-7:
            break
    return chosen
