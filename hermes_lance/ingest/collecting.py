"""Flow of the router's build: what an agent can open becomes the artifacts of a published generation.

Everything is read anew each time, which for thousands of small files is a matter of a second, and published only where
something differs. Passages and their vectors are carried over untouched.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.artifacts.collect import Collection, collected
from hermes_lance.core import ids
from hermes_lance.core.artifact import Artifact, ArtifactReport
from hermes_lance.core.config import Config
from hermes_lance.core.errors import DiskFull
from hermes_lance.ingest import forget
from hermes_lance.ingest.artifact_vectors import STRINGS_AT_ONCE, Vectors
from hermes_lance.store import compact, forgotten, recover
from hermes_lance.store import manifest as manifests
from hermes_lance.store.artifact_rows import ArtifactRows
from hermes_lance.store.catch_up import catch_up
from hermes_lance.store.lexical_fields import lexical_digest
from hermes_lance.store.lock import writing
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.publish import Facts, Publication
from hermes_lance.store.tables import Tables

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder

NOTE = "artifacts"
FEW_STRINGS = 64
"""So many are embedded in about half a second: words wait for them, and both are published at once."""


@dataclass(frozen=True, slots=True)
class Supplies:
    """What a build is given beside the files."""

    facts: Callable[[], Facts]
    """Of the very first generation of a dataset."""
    embedder: Callable[[Mapping[str, Any]], Embedder | None]
    """That of a vector space; none where artifacts are compared by words alone."""
    cancelled: Callable[[], bool] = lambda: False
    wait_seconds: float = 30.0
    elsewhere: Callable[[], forget.Elsewhere] | None = None
    """As of a build of documents."""


def build_artifacts(config: Config, dataset: Path, supplies: Supplies, *, full: bool = False) -> ArtifactReport:
    """Brings the artifacts in step with their sources; nothing is locked or written where nothing has changed.

    With `full` all of it is written anew. Raises `DatasetBusy`, `DatasetReadOnly`, `DiskFull`, `Cancelled`.
    """
    started = time.monotonic()
    report = ArtifactReport()
    base = manifests.current_or_none(dataset)
    found = collection(config, dataset)
    report.warnings += found.problems
    if full or base is None or (dataset / manifests.INTENT).exists() or _unfinished(dataset, base, found, supplies):
        with writing(dataset, supplies.wait_seconds):
            base = _write(config, dataset, supplies, found, report, full=full)
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


def _unfinished(dataset: Path, base: Manifest, found: Collection, supplies: Supplies) -> bool:
    return _differs(dataset, base, found) or (
        _wants_vectors(base) and supplies.embedder(base.space["active"]) is not None
    )


def _wants_vectors(base: Manifest) -> bool:
    """Artifacts are there, and vectors of the space that answers are not."""
    entry, active = base.artifacts, base.space.get("active")
    return bool(entry and entry["rows"] and active and entry.get("space") != active["table"])


def _write(
    config: Config, dataset: Path, supplies: Supplies, found: Collection, report: ArtifactReport, *, full: bool
) -> Manifest:
    tables = Tables(dataset)
    if (dataset / manifests.INTENT).exists():
        compact.retain(dataset)
    base, done = recover.recover(dataset, tables)
    if done in {"rolled back", "rolled forward"}:
        report.warnings.append(f"an interrupted run was {done}")
    base = forget.finish(dataset, tables, base, beside=[config.knowledgebase_root], elsewhere=supplies.elsewhere)
    before = ArtifactRows(dataset / manifests.SIDE, base.artifacts if base else None).all()
    _count(report, before, found)
    line = _Line(dataset, tables, base, ids.unique_name(), report)
    if base is None or full or _differs(dataset, base, found):
        line.publish(supplies, found)
    assert line.base is not None
    if _wants_vectors(line.base) and (model := supplies.embedder(line.base.space["active"])) is not None:
        line.add_vectors(model, found, supplies.cancelled)
    try:
        line.base = compact.tidy(dataset, tables, line.base)
    except DiskFull as error:
        report.warnings.append(f"upkeep was put off: {error}")
    compact.retain(dataset)
    return line.base


@dataclass(slots=True)
class _Line:
    """The publications of one run, each on top of the one before. Readers see rows before the tables have them, and
    words before vectors."""

    dataset: Path
    tables: Tables
    base: Manifest | None
    run: str
    report: ArtifactReport

    def _begin(self, facts: Facts) -> Publication:
        return Publication(self.dataset, self.tables, self.base, self.run, facts)

    def publish(self, supplies: Supplies, found: Collection) -> None:
        """The artifacts, with their vectors where all but a few are known; then both tables."""
        known = recover.facts_of(self.base) if self.base is not None else supplies.facts()
        space = known.space["active"]
        vectors = self._vectors(found, space)
        made: tuple[list[str], Any] | None = None
        few = 0 < len(vectors.missing) <= FEW_STRINGS
        if few and (model := supplies.embedder(space)) is not None:
            made = vectors.embed(model, supplies.cancelled, FEW_STRINGS)
        with self._begin(known) as work:
            work.put_artifacts(found.artifacts, found.edges)
            if made is not None:
                work.store_vectors(*made)
            if found.artifacts and not vectors.missing:
                work.put_artifact_vectors(found.artifacts, vectors.matrix())
            after = work.commit(NOTE)
        self.base = catch_up(self.dataset, self.tables, after, work.changes)
        self.report.published += 1

    def _vectors(self, found: Collection, space: Mapping[str, Any]) -> Vectors:
        return Vectors(found.artifacts, self.tables, str(space["table"]), int(space["dimensions"]))

    def add_vectors(self, model: Embedder, found: Collection, cancelled: Callable[[], bool]) -> None:
        """Embeds what nobody has embedded yet, in batches that are kept; the last one is published with all vectors."""
        assert self.base is not None
        facts = recover.facts_of(self.base)
        vectors = self._vectors(found, facts.space["active"])
        while True:
            keys, made = vectors.embed(model, cancelled, STRINGS_AT_ONCE) if vectors.missing else ([], None)
            with self._begin(facts) as work:
                if keys:
                    work.store_vectors(keys, made)
                if not vectors.missing:
                    work.put_artifact_vectors(found.artifacts, vectors.matrix())
                self.base = work.commit(NOTE)
            self.report.published += 1
            if not vectors.missing:
                return


def _count(report: ArtifactReport, before: Sequence[Artifact], found: Collection) -> None:
    known = {one.id: one for one in before}
    report.total, report.edges = len(found.artifacts), len(found.edges)
    report.reused = sum(known.get(one.id) == one for one in found.artifacts)
    report.written = report.total - report.reused
    report.removed = len(known.keys() - {one.id for one in found.artifacts})
    report.by_type = dict(sorted(Counter(one.type for one in found.artifacts).items()))
