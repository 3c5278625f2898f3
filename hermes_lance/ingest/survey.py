"""The look before a run: what there is to do, found without anything that reads files or writes.

When there is nothing to do, this is the whole run, so that it loads neither parsers nor tables.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_lance.core.config import Config
from hermes_lance.core.records import IndexReport, Root
from hermes_lance.ingest.earlier import SignatureOf
from hermes_lance.ingest.plan import Plan, Planner
from hermes_lance.ingest.roots import roots_differ
from hermes_lance.ingest.tally import Tally
from hermes_lance.ingest.walk import LEFT_OUT_CAP, Walk, settings_from
from hermes_lance.store import forgotten
from hermes_lance.store import manifest as manifests
from hermes_lance.store.files import FilesState
from hermes_lance.store.manifest import Manifest

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder


@dataclass(frozen=True, slots=True)
class Survey:
    """The plan, and the generation that it was made on."""

    base: Manifest | None
    plan: Plan
    warnings: list[str] = field(default_factory=list)
    """About files in sub-folders of shallow roots."""
    started: float = 0.0
    """Moment of the monotonic clock."""
    forgetting: bool = False
    """A forgotten file is still to be dropped or purged."""
    roots: Sequence[Root] = ()


def survey(
    config: Config,
    dataset: Path,
    roots: Sequence[Root],
    signature_of: SignatureOf,
    base: Manifest | None,
    *,
    only: Mapping[str, Sequence[str]] | None = None,
    full: bool = False,
) -> Survey:
    """Walks the roots, or for each root key in `only` the relative paths, and compares with the state of `base`."""
    started = time.monotonic()
    settings = settings_from(config)
    state = FilesState(dataset / manifests.SIDE, base.files if base else None)
    walk = Walk(roots, settings, only)
    listed = forgotten.read(dataset)
    planner = Planner(
        state,
        signature_of,
        max_bytes=settings.max_bytes,
        by_suffix=settings.by_suffix,
        only=only,
        full=full,
        forgotten=listed,
    )
    plan = planner.plan(walk)
    warnings = [
        f"{report.root.label}: left out {files_words(report.left_out)} in sub-folders; "
        "add the folder with --recursive to index them"
        for report in walk.reports.values()
        if report.left_out
    ]
    return Survey(base, plan, warnings, started, listed.pending, roots)


def files_words(count: int) -> str:
    """`1 file`, `2 files`, `10,000 files or more`."""
    return f"{count:,} file{'' if count == 1 else 's'}{' or more' if count >= LEFT_OUT_CAP else ''}"


def unchanged(found: Survey, dataset: Path, embedder: Callable[[], Embedder] | None) -> IndexReport | None:
    """The report of a run that has nothing to do; none when there is something."""
    if found.base is None or not found.plan.empty or found.forgetting:
        return None
    if roots_differ(found.base.roots, found.roots) or unfinished(dataset, found.base, embedder):
        return None
    tally = Tally(IndexReport())
    for warning in found.warnings:
        tally.warn(warning)
    tally.plan(found.plan)
    tally.finish(found.base, found.started)
    return tally.report


def unfinished(dataset: Path, base: Manifest, embedder: Callable[[], Embedder] | None) -> bool:
    """An interrupted run is to be tidied, the tables lack something, or vectors are missing or of another space.

    Vectors do not count without an embedder."""
    if base.tables_behind or (dataset / manifests.INTENT).exists():
        return True
    if embedder is None:
        return False
    # A space that is no longer wanted is still marked as being filled, or one that is wanted is not complete.
    half_way = base.totals.get("vectors_pending", 0) > 0 or bool(base.space.get("building"))
    return half_way or space_differs(base, embedder())


def space_differs(base: Manifest, embedder: Embedder) -> bool:
    """The vectors that are served are of another embedder."""
    active = base.space.get("active")
    return active is not None and active["signature"] != embedder.signature()
