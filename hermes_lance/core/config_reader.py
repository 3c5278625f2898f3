"""Reading one mapping of settings: types, origins, unknown keys with the nearest known one, variables that lie over it.

Every message names the place (file or variable), the key, the value and what would be right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from hermes_lance.core.errors import ConfigError

Into = TypeVar("Into")
_YES, _NO = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", tuple: "a list", str: "text"}


@dataclass(slots=True)
class Reader:
    """Reads one file and the variables over it. `origins`: key to the place that set it."""

    where: str
    variables: Mapping[str, str] = field(default_factory=dict)
    """Key to the variable, such as `$HERMES_LANCE_FUSION`, whose value stands in its place."""
    elsewhere: Callable[[], Iterable[str]] = tuple
    """All keys that there are, to find one that stands at the wrong place."""
    origins: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def place(self, key: str) -> str:
        """What set a key: the variable, or the file."""
        return self.variables.get(key, self.where)

    def note(self, key: str, more: str = "") -> None:
        """The key was set."""
        self.origins[key] = f"{self.place(key)}{more}"

    def wrong(self, key: str, value: object, rule: str, default: object = None) -> ConfigError:
        """The error for a value: what it is, what would be right, and how to get the default."""
        place = self.place(key)
        what = "Unset that variable" if place.startswith("$") else "Leave it out"
        shown = str(default).lower() if isinstance(default, bool) else default
        remedy = f"{what} for the default, {shown}." if default not in (None, "", ()) else None
        return ConfigError(f"{place}: {key} is {value!r}; {rule}", hint=remedy)

    def section(self, parent: Mapping[str, Any], key: str, prefix: str = "") -> Mapping[str, Any]:
        """The block of a key; empty where there is none. `ConfigError` where it is something else."""
        value = parent.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            name = f"{prefix}{key}"
            raise ConfigError(
                f"{self.where}: {name} is {value!r}, and must be a block of keys",
                hint=f"Write its keys below it, indented, or remove {name}.",
            )
        return value

    def unknown(self, section: Mapping[str, Any], known: Iterable[str], prefix: str) -> None:
        """Warns of keys that are not known here, with the nearest that is."""
        names = list(known)
        for key in section:
            if key not in names:
                self.warn_unknown(str(key), names, prefix)

    def warn_unknown(self, key: str, known: Iterable[str], prefix: str) -> None:
        """`… is not a known key; did you mean …?`"""
        near = self._nearest(key, list(known), prefix)
        advice = f"; did you mean {near}?" if near else ""
        self.warnings.append(f"{self.where}: {prefix}{key} is not a known key{advice}")

    def _nearest(self, key: str, known: list[str], prefix: str) -> str | None:
        near = nearest(key, known)
        if near is not None:
            return f"{prefix}{near}"
        # The right key one level too high or too low.
        return next((one for one in self.elsewhere() if one.rpartition(".")[2] == key), None)

    def fill(self, into: Into, section: Mapping[str, Any], prefix: str) -> Into:
        """`into` (a dataclass) with the values of `section`, each of the type of its default."""
        changes: dict[str, Any] = {}
        for item in fields(into):  # type: ignore[arg-type]
            if section.get(item.name) is None:
                continue
            name = f"{prefix}{item.name}"
            changes[item.name] = self.typed(name, section[item.name], getattr(into, item.name), str(item.type))
            self.note(name)
        return replace(into, **changes)  # type: ignore[type-var]

    def nested(self, into: Into, section: Mapping[str, Any], prefix: str) -> Into:
        """The same for a section of its own, whose other keys are not known."""
        self.unknown(section, (item.name for item in fields(into)), prefix)  # type: ignore[arg-type]
        return self.fill(into, section, prefix)

    def typed(self, name: str, value: Any, default: Any, declared: str = "") -> Any:
        """The value as its default is typed; `ConfigError` where it is of another kind."""
        kind: Any = float if "float" in declared else type(default)
        wrong = self.wrong(name, value, f"{_KINDS.get(kind, 'another kind of value')} is needed", default)
        if kind is bool:
            word = value.strip().lower() if isinstance(value, str) else value
            if word is True or word in _YES:
                return True
            if word is False or word in _NO:
                return False
            raise wrong
        if kind in (int, float):
            return _number(value, kind, wrong)
        if kind is tuple:
            if isinstance(value, str):
                return tuple(part.strip() for part in value.split(",") if part.strip())
            if not isinstance(value, list):
                raise wrong
            return tuple(str(part) for part in value)
        if value is False:
            return "off"  # what YAML 1.1 makes of the bare word
        if not isinstance(value, str):
            raise wrong
        return value.strip()


def nearest(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known word that is most like one, if any is; `difflib` says how like."""
    from difflib import get_close_matches

    folded = {one.lower().replace("-", "_"): one for one in reversed(list(known))}
    near = get_close_matches(word.lower().replace("-", "_"), folded, 1, likeness)
    return folded[near[0]] if near else None


def _number(value: Any, kind: type, wrong: ConfigError) -> Any:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise wrong from None
    if isinstance(value, bool) or not math.isfinite(number) or (kind is int and number % 1):
        raise wrong
    return int(number) if kind is int else number


def overlaid(
    data: Mapping[str, Any], environment: Mapping[str, str], targets: Mapping[str, str]
) -> tuple[Mapping[str, Any], dict[str, str]]:
    """The settings with the values of variables in their places, and key to variable of those that are set.

    `targets`: variable to key, such as `knowledgebase.search.fusion`.
    """
    found: dict[str, str] = {}
    for variable, key in targets.items():
        value = environment.get(variable, "").strip()
        if value:
            data = _with(data, key.split("."), value)
            found[key] = f"${variable}"
    return data, found


def _with(block: Mapping[str, Any], path: list[str], value: str) -> Mapping[str, Any]:
    first, *rest = path
    if not rest:
        return {**block, first: value}
    inner = block.get(first)
    if inner is not None and not isinstance(inner, Mapping):
        return block  # wrong in the file, which is said when that is read
    return {**block, first: _with(inner or {}, rest, value)}
