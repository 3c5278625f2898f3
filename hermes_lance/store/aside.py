"""Putting a dataset aside whose tables are lost: nothing is deleted, and the next build begins anew in the same place.

Tables of vectors stay where they are, since they are keyed by the text itself: what was embedded once is found again.
"""

from __future__ import annotations

from pathlib import Path

from hermes_lance.core import ids
from hermes_lance.store import manifest as manifests
from hermes_lance.store.durable import disk_errors, make_private
from hermes_lance.store.publish import FIXED_TABLES
from hermes_lance.store.tables import Tables

FOLDER = "aside"


def lost_tables(tables: Tables) -> list[str]:
    """Tables that every dataset has and this one lacks."""
    there = set(tables.names())
    return [name for name in FIXED_TABLES if name not in there]


def put_aside(dataset: Path) -> Path:
    """Moves everything but vectors and locks into a new folder below `aside/`, the pointer first; that folder."""
    target = make_private(dataset / FOLDER / ids.unique_name())
    parts = [manifests.POINTER, manifests.INTENT, manifests.GENERATIONS, manifests.LEXICAL, manifests.SIDE]
    with disk_errors(str(dataset)):
        make_private(target / manifests.LANCE)
        for name in [*parts, *(f"{manifests.LANCE}/{table}.lance" for table in FIXED_TABLES)]:
            if (dataset / name).exists():
                (dataset / name).rename(target / name)
    return target
