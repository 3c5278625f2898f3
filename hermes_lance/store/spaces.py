"""The vector spaces of a dataset: the one that answers, the one that is being filled, and earlier ones that are kept.

A space is an embedder with its options; its vectors have a table of their own. A generation serves one space. What is
kept of the others is only their tables, so that going back to one embeds nothing again, until `drop_others`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes_lance.core.signature import digest
from hermes_lance.store.catch_up import same_rows
from hermes_lance.store.manifest import LANCE, Manifest
from hermes_lance.store.pointer import publish_manifest, write_intent
from hermes_lance.store.publish import now
from hermes_lance.store.tables import VECTOR_PREFIX, Tables, vector_table

Space = dict[str, Any]
"""`{embedder, signature, dimensions, table, options}`; an earlier one also has `until`, the moment up to which it
answered, or null where it never did."""


def space_of(embedder: str, signature: str, dimensions: int, options: Mapping[str, Any] | None = None) -> Space:
    """How a manifest names a vector space. With its options it can be asked again when another one is configured."""
    return {
        "embedder": embedder,
        "signature": signature,
        "dimensions": dimensions,
        "table": vector_table(digest(signature)),
        "options": dict(options or {}),
    }


def first(own: Space) -> Space:
    """The spaces of a dataset that has no vectors yet."""
    return {"active": own, "building": None, "earlier": []}


def filling(spaces: Mapping[str, Any], new: Space) -> Space:
    """`new` is being filled; the active one answers."""
    others = [*_earlier(spaces), *_unused(spaces.get("building"))]
    return {"active": spaces["active"], "building": new, "earlier": _without(others, new, spaces["active"])}


def settled(spaces: Mapping[str, Any]) -> Space:
    """Nothing is being filled any more; what was filled is kept."""
    others = [*_earlier(spaces), *_unused(spaces.get("building"))]
    return {"active": spaces["active"], "building": None, "earlier": _without(others, spaces["active"])}


def turned_over(spaces: Mapping[str, Any], new: Space) -> Space:
    """`new` answers from now on; the one that did is the first of the earlier ones."""
    before = {**spaces["active"], "until": now()}
    others = [before, *_earlier(spaces), *_unused(spaces.get("building"))]
    return {"active": new, "building": None, "earlier": _without(others, new)}


def previous(spaces: Mapping[str, Any]) -> Space | None:
    """The space that answered last before the active one; none when it was the first, or its vectors were dropped."""
    used = [one for one in _earlier(spaces) if one.get("until")]
    return max(used, key=lambda one: str(one["until"])) if used else None


def _earlier(spaces: Mapping[str, Any]) -> list[Space]:
    return [dict(one) for one in spaces.get("earlier") or []]


def _unused(building: Mapping[str, Any] | None) -> list[Space]:
    return [{**building, "until": None}] if building else []


def _without(others: list[Space], *present: Mapping[str, Any]) -> list[Space]:
    """Each table once, the first entry of it that says when it answered, and none that is in use."""
    taken = {one["table"] for one in present}
    kept: dict[str, Space] = {}
    for one in others:
        if one["table"] not in taken and not (kept.get(one["table"]) or {}).get("until"):
            kept[one["table"]] = one
    return list(kept.values())


def drop_others(dataset: Path, tables: Tables, base: Manifest) -> tuple[Manifest, list[str]]:
    """Deletes the vectors of every space but the active one and the one being filled; their tables' names. Only under
    the writer lock.

    The manifest goes first, so that a stop in between leaves a table that nothing names, which the next call deletes.
    """
    spaces = base.space
    used = {one["table"] for one in (spaces.get("active"), spaces.get("building")) if one}
    others = [name for name in tables.names() if name.startswith(VECTOR_PREFIX) and name not in used]
    if not others and not spaces.get("earlier"):
        return base, []
    manifest = same_rows(base, "earlier vectors were dropped")
    manifest.space = {**spaces, "earlier": []}
    manifest.tables = {name: entry for name, entry in manifest.tables.items() if name not in others}
    write_intent(dataset, manifest, base, {}, {})
    publish_manifest(dataset, manifest)
    for name in others:
        tables.remove(name)
    return manifest, others


def table_folder(dataset: Path, space: Mapping[str, Any]) -> Path:
    """Where the vectors of a space are."""
    return dataset / LANCE / f"{space['table']}.lance"
