"""Cases for the router: a small tree of files, questions about it, and what their pages must and must not show.

The format: `files` (path to text, with `@ROOT@` and `@STATE@` for the folders), `cases` and `expected_edges`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_lance.core.artifact import Artifact, Edge

Ask = Callable[[str, int, str | None], Sequence[Artifact]]
"""Question, limit and kind to the artifacts of the page."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One case that was not met."""

    id: str
    tier: str
    query: str
    broken: tuple[str, ...]
    """The promises that the page does not keep."""
    page: tuple[str, ...]
    """Ids on the page."""


def load(path: Path) -> Mapping[str, Any]:
    """The cases in a file."""
    loaded = json.loads(path.read_text(encoding="utf-8"))
    return dict(loaded)


def write_files(cases: Mapping[str, Any], folder: Path) -> Path:
    """Writes the tree below a folder; its home."""
    for name, text in cases["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        filled = text.replace("@ROOT@", str(folder / "root")).replace("@STATE@", str(folder / "state"))
        path.write_text(filled, encoding="utf-8")
    return folder / "home"


def failures(cases: Mapping[str, Any], ask: Ask) -> Iterator[Failure]:
    """The cases whose page is not as it should be."""
    for case in cases["cases"]:
        page = list(ask(case["query"], case["limit"], case.get("artifact_type")))
        broken = tuple(name for name, wanted in case["expect"].items() if not _kept(name, wanted, page))
        if broken or len(page) > case["limit"]:
            shown = tuple(one.id for one in page)
            yield Failure(case["id"], case["tier"], case["query"], broken or ("limit",), shown)


def missing_edges(cases: Mapping[str, Any], edges: Sequence[Edge]) -> list[Mapping[str, Any]]:
    """Expected links that are not there."""
    there = {(one.source_id, one.target_id, one.kind) for one in edges}
    return [
        one
        for one in cases["expected_edges"]
        if not any((one["from"], target, one["kind"]) in there for target in one.get("to_any", [one.get("to")]))
    ]


def _kept(name: str, wanted: Any, page: Sequence[Artifact]) -> bool:
    """Whether a page keeps one promise. `KeyError` for a promise that is not known."""
    shown = [one.id for one in page]
    promises: Mapping[str, Callable[[], bool]] = {
        "top1": lambda: bool(shown) and shown[0] in wanted,
        "in_top3": lambda: any(key in shown[:3] for key in wanted),
        "in_page": lambda: all(key in shown for key in wanted),
        "absent": lambda: not any(key in shown for key in wanted),
        "empty": lambda: not shown,
        "only_type": lambda: all(one.type == wanted for one in page),
        "exact_set": lambda: set(shown) == set(wanted),
        "max_support_docs_per_skill": lambda: _most_of_one_skill(page) <= wanted,
    }
    return promises[name]()


def _most_of_one_skill(page: Sequence[Artifact]) -> int:
    owners = [one.related[0] for one in page if one.type == "skill_support_doc" and one.related]
    return max((owners.count(owner) for owner in owners), default=0)
