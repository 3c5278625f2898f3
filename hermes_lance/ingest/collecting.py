"""Flow of the router's build: what an agent can open becomes the artifacts of a published generation.

Everything is read anew each time, which for thousands of small files is a matter of a second, and published only where
something differs. Passages and their vectors are carried over untouched.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from hermes_lance.artifacts.collect import Collection, collected
from hermes_lance.core import ids
from hermes_lance.core.artifact import Artifact, ArtifactReport, Edge
from hermes_lance.core.config import Config
from hermes_lance.core.errors import DiskFull
from hermes_lance.ingest import forget
from hermes_lance.store import compact, forgotten, recover
from hermes_lance.store import manifest as manifests
from hermes_lance.store.artifact_rows import ArtifactRows
from hermes_lance.store.catch_up import catch_up
from hermes_lance.store.lexical_fields import lexical_digest
from hermes_lance.store.lock import writing
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.publish import Facts, Publication
from hermes_lance.store.tables import Tables

NOTE = "artifacts"


def build_artifacts(
    config: Config, dataset: Path, facts: Callable[[], Facts], *, full: bool = False, wait_seconds: float = 30.0
) -> ArtifactReport:
    """Brings the artifacts in step with their sources; nothing is locked or written where nothing has changed.

    `facts` of the very first generation of a dataset. With `full` all of it is written anew. Raises `DatasetBusy`,
    `DatasetReadOnly`, `DiskFull`.
    """
    started = time.monotonic()
    report = ArtifactReport()
    base = manifests.current_or_none(dataset)
    found = collection(config, dataset)
    report.warnings += found.problems
    if full or base is None or (dataset / manifests.INTENT).exists() or _differs(dataset, base, found):
        with writing(dataset, wait_seconds):
            base = _write(config, dataset, facts, found, report, full=full)
    elif not report.total:
        _count(report, ArtifactRows(dataset / manifests.SIDE, base.artifacts).all(), found)
    report.generation = base.id
    report.seconds = round(time.monotonic() - started, 3)
    return report


def collection(config: Config, dataset: Path) -> Collection:
    """What a build would publish. The workspace and the index are no sources, even where they are below the root; a
    root that was named inside of them is one."""
    root = config.local_knowledge.root(config.home)
    beside = [one for one in (config.workspace_root, config.knowledgebase_root) if not root.is_relative_to(one)]
    listed = forgotten.read(dataset)
    shas = frozenset(sha for entry in listed.entries.values() for sha in entry.shas)
    return collected(config.home, config.local_knowledge, beside, shas)


def _differs(dataset: Path, base: Manifest, found: Collection) -> bool:
    if base.artifacts is None:
        return bool(found.artifacts)
    rows = ArtifactRows(dataset / manifests.SIDE, base.artifacts)
    return (
        base.artifacts.get("lexical") != lexical_digest("artifacts")
        or rows.all() != list(found.artifacts)
        or list(rows.edges()) != list(found.edges)
    )


def _write(
    config: Config, dataset: Path, facts: Callable[[], Facts], found: Collection, report: ArtifactReport, *, full: bool
) -> Manifest:
    tables = Tables(dataset)
    if (dataset / manifests.INTENT).exists():
        compact.retain(dataset)
    base, done = recover.recover(dataset, tables)
    if done in {"rolled back", "rolled forward"}:
        report.warnings.append(f"an interrupted run was {done}")
    base = forget.finish(dataset, tables, base, beside=[config.knowledgebase_root])
    before = ArtifactRows(dataset / manifests.SIDE, base.artifacts if base else None).all()
    _count(report, before, found)
    if base is not None and not full and not _differs(dataset, base, found):
        return base
    base = published(dataset, tables, base, facts, found.artifacts, found.edges)
    report.published += 1
    try:
        base = compact.tidy(dataset, tables, base)
    except DiskFull as error:
        report.warnings.append(f"upkeep was put off: {error}")
    compact.retain(dataset)
    return base


def published(
    dataset: Path,
    tables: Tables,
    base: Manifest | None,
    facts: Callable[[], Facts],
    artifacts: Sequence[Artifact],
    edges: Sequence[Edge],
) -> Manifest:
    """The generation after `base` with these artifacts; readers see them before the tables have them."""
    run = ids.unique_name()
    known = recover.facts_of(base) if base is not None else facts()
    with Publication(dataset, tables, base, run, known) as work:
        work.put_artifacts(artifacts, edges)
        after = work.commit(NOTE)
    return catch_up(dataset, tables, after, work.changes)


def _count(report: ArtifactReport, before: Sequence[Artifact], found: Collection) -> None:
    known = {one.id: one for one in before}
    report.total, report.edges = len(found.artifacts), len(found.edges)
    report.reused = sum(known.get(one.id) == one for one in found.artifacts)
    report.written = report.total - report.reused
    report.removed = len(known.keys() - {one.id for one in found.artifacts})
    report.by_type = dict(sorted(Counter(one.type for one in found.artifacts).items()))
