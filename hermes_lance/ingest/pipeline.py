"""Flow one: files become a published generation. Discover, plan, read, publish the text; then vectors, in batches.

Memory is bounded by one publication: a batch of whole files is gathered, published across all tables, and forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_lance.core import ids
from hermes_lance.core.config import Config
from hermes_lance.core.errors import Cancelled, DatasetReadOnly, DiskFull
from hermes_lance.core.records import WORKSPACE, FileChange, IndexReport, KnownFile, Root
from hermes_lance.ingest import forget, listing, vectors
from hermes_lance.ingest.apply import Applier
from hermes_lance.ingest.plan import TO_READ, Plan
from hermes_lance.ingest.reading import Reader
from hermes_lance.ingest.roots import as_entries, roots_differ
from hermes_lance.ingest.survey import Survey, space_differs, survey, unfinished
from hermes_lance.ingest.tally import Tally
from hermes_lance.store import compact, forgotten, recover, spaces
from hermes_lance.store import manifest as manifests
from hermes_lance.store.catch_up import catch_up, write_tables
from hermes_lance.store.changes import Changes
from hermes_lance.store.lock import writing
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.publish import Facts, Publication
from hermes_lance.store.rows import DeadRows, TextRows
from hermes_lance.store.snapshot import Snapshot
from hermes_lance.store.tables import Tables
from hermes_lance.store.vectors import VectorRows

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Embedder

TEXT_IN_A_PUBLICATION = 24 << 20
"""Characters of text after which a batch is published: bounds memory."""
FILES_IN_A_PUBLICATION = 20_000
SECONDS_IN_A_PUBLICATION = 30.0

Progress = Callable[[str, int, int, str], None]
"""Stage (`read`, `tables` or `embed`), number done, number in all, the path at hand."""


def _no_progress(stage: str, done: int, total: int, path: str) -> None:
    """For runs that nobody watches."""


@dataclass(slots=True)
class Build:
    """One run of the flow."""

    config: Config
    dataset: Path
    roots: Sequence[Root]
    embedder: Callable[[], Embedder]
    fingerprints: Callable[[], Mapping[str, str]] = dict
    settings: Sequence[Sequence[str]] = ()
    full: bool = False
    only: Mapping[str, Sequence[str]] | None = None
    wait_seconds: float = 30.0
    progress: Progress = _no_progress
    cancelled: Callable[[], bool] = lambda: False
    time_budget: float | None = None
    embed: bool = True
    workers: int | None = None
    """Threads that embed; none: as many as suit embedder and machine."""
    first: Survey | None = None
    """The look that has led here, to be acted on unless another generation has been published since."""
    in_passing: bool = False
    """More runs follow at once: what serves no reader of this one is left to a later run."""
    changed: Callable[[FileChange], None] | None = None
    """Called for each file whose new state has just been published."""
    still_chosen: Callable[[], bool] = lambda: True
    """Whether this embedder is still the configured one: a run may have waited for the one that changed it."""
    approve: Callable[[Snapshot], bool] = lambda filled: True
    """Shown the new vector space, complete and seen by nobody else; false: the old one goes on answering."""
    elsewhere: Callable[[], forget.Elsewhere] | None = None
    """What a purge that was stopped, and that this run finishes, is to remove outside the dataset."""
    report: IndexReport = field(default_factory=IndexReport)
    tally: Tally = field(init=False)
    _reader: Reader | None = None
    _tables: Tables | None = None
    _fingerprints: Mapping[str, str] | None = None
    _changes: Changes = field(default_factory=Changes)
    _run: str = field(default_factory=ids.unique_name)
    _started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.tally = Tally(self.report, self._shown if self.changed is not None else None)

    def run(self) -> IndexReport:
        """Brings the dataset in step with the files; the report says what was done. Nothing is locked or written
        when nothing has changed.
        """
        first, self.first = self.first, None
        base = first.base if first is not None else manifests.current_or_none(self.dataset)
        if first is not None:
            self._started = first.started
        plan = self._plan(base, first)
        if base is None or not plan.empty or roots_differ(base.roots, self.roots) or self._unfinished(base):
            try:
                with writing(self.dataset, self.wait_seconds):
                    base = self._write(base, plan)
            finally:
                self._read().close()
        else:
            self.tally.plan(plan)
        self.tally.finish(base, self._started)
        return self.report

    # -- discover and plan -------------------------------------------------------------------------------------

    def _plan(self, base: Manifest | None, made: Survey | None = None) -> Plan:
        made = made or survey(
            self.config, self.dataset, self.roots, self._signature_of, base, only=self.only, full=self.full
        )
        for warning in made.warnings:
            self.tally.warn(warning)
        return made.plan

    def _signature_of(self, media_type: str | None) -> str | None:
        return self._read().wanted(media_type)

    def _read(self) -> Reader:
        if self._reader is None:
            self._reader = Reader.of(self.config)
        return self._reader

    def _unfinished(self, base: Manifest) -> bool:
        pending = forgotten.read(self.dataset).pending
        return pending or unfinished(self.dataset, base, self.embedder if self.embed else None)

    def _space_differs(self, base: Manifest) -> bool:
        return space_differs(base, self.embedder())

    # -- write -------------------------------------------------------------------------------------------------

    def _write(self, planned_on: Manifest | None, plan: Plan) -> Manifest | None:
        self._tables = Tables(self.dataset)
        if (self.dataset / manifests.INTENT).exists():
            # First, so that what an interrupted run left takes no room from this one.
            compact.retain(self.dataset)
        base, done = recover.recover(self.dataset, self._tables)
        if done in {"rolled back", "rolled forward"}:
            self.tally.warn(f"an interrupted run was {done}")
        beside = [self.config.knowledgebase_root]
        base = forget.finish(self.dataset, self._tables, base, beside=beside, elsewhere=self.elsewhere)
        if _id(base) != _id(planned_on):
            # Another process has published meanwhile, or the interrupted run was tidied.
            self.report.warnings = [one for one in self.report.warnings if "left out" not in one]
            plan = self._plan(base)
        self.tally.plan(plan)
        base = self._write_text(base, plan)
        if base is not None and base.tables_behind and not self._a_few():
            base = self._write_tables(base)
        if base is not None and self.embed:
            try:
                base = self._write_vectors(base)
            except DiskFull:
                raise
            except BaseException:
                self._write_tables_all_the_same()
                raise
        if base is not None and base.tables_behind:
            base = self._write_tables(base)
        return self._tidied(base) if base is not None else None

    def _tidied(self, base: Manifest) -> Manifest:
        """Upkeep after the work is done: it may wait for room, the files may not."""
        assert self._tables is not None
        patience = compact.PATIENCE if self.in_passing else 1
        try:
            base = compact.tidy(self.dataset, self._tables, base, patience=patience)
        except DiskFull as error:
            self.tally.warn(f"upkeep was put off: {error}")
        compact.retain(self.dataset)
        if self.in_passing:
            return base
        try:
            listing.write(self.config, self.dataset, base)
        except (DatasetReadOnly, DiskFull) as error:
            self.tally.warn(f"writing workspace.json was put off: {error}")
        return base

    def _facts(self, base: Manifest | None) -> Facts:
        space = dict(base.space) if base is not None and base.space.get("active") else self._own_space()
        if self._fingerprints is None:
            self._fingerprints = self.fingerprints()
        return Facts(self._fingerprints, space, self.settings, as_entries(self.roots))

    def _own_space(self) -> dict[str, object]:
        model = self.embedder()
        options = self.config.embedder_options if model.name == self.config.embedder else {}
        return spaces.first(spaces.space_of(model.name, model.signature(), model.dimensions, options))

    def _write_text(self, base: Manifest | None, plan: Plan) -> Manifest | None:
        limit = int(self.config.indexing.max_file_mb * 2**20)
        applier = Applier(self._read(), self.tally, self._run, limit, forgotten.read(self.dataset))
        work: Publication | None = None
        began = time.monotonic()
        changes = [item for item in plan.items if item.change != "unchanged"]
        reading = sum(item.change in TO_READ or item.change == "moved" for item in changes)
        done = 0
        try:
            for known in plan.removed:
                work = work or self._begin(base)
                work.drop_file(known.id)
            for item in changes:
                if self.cancelled():
                    if work is not None:
                        self._publish_text(work, base)
                    raise Cancelled(f"stopped after {done} of {reading} files; what was read is kept")
                work = work or self._begin(base)
                if item.change in TO_READ or item.change == "moved":
                    done += 1
                    self.progress("read", done, reading, item.file.display_path)
                applier.apply(item, work)
                if self._full_enough(work, began):
                    base, work, began = self._publish_text(work, base), None, time.monotonic()
            if work is None and (base is None or roots_differ(base.roots, self.roots)):
                work = self._begin(base)
            return self._publish_text(work, base) if work is not None else base
        except BaseException:
            if work is not None:
                work.abandon()
            raise

    def _a_few(self) -> bool:
        """The new passages are embedded in a moment, so that tables and vectors share a publication."""
        return self.embed and self.report.chunks.written <= vectors.ROWS_IN_A_BATCH

    def _write_tables_all_the_same(self) -> None:
        """Embedding has failed or was stopped; what was read goes into the tables, so that nobody must compare them."""
        base = manifests.current_or_none(self.dataset)
        under_way = (self.dataset / manifests.INTENT).exists()
        # A publication that failed half-way is for recovery, which knows what it had begun.
        if base is not None and base.tables_behind and not under_way:
            self._write_tables(base)

    def _write_tables(self, base: Manifest) -> Manifest:
        """The tables get what has just been published; the text can be searched meanwhile."""
        assert self._tables is not None
        self.progress("tables", 0, self.report.chunks.written, "")
        self.report.published += 1
        written = self.report.chunks.written
        return catch_up(
            self.dataset, self._tables, base, self._changes, lambda done, _: self.progress("tables", done, written, "")
        )

    def _begin(self, base: Manifest | None) -> Publication:
        assert self._tables is not None
        return Publication(self.dataset, self._tables, base, self._run, self._facts(base))

    def _full_enough(self, work: Publication, began: float) -> bool:
        return (
            work.text_bytes > TEXT_IN_A_PUBLICATION
            or len(work.written) > 8 * FILES_IN_A_PUBLICATION
            or time.monotonic() - began > SECONDS_IN_A_PUBLICATION
        )

    def _publish_text(self, work: Publication, base: Manifest | None) -> Manifest:
        if base is not None and work.written:
            side = self.dataset / manifests.SIDE
            vectors.attach_known(work, VectorRows(side, base.vector_segments, DeadRows()))
        manifest = work.commit()
        self._changes.add(work.changes)
        self.report.published += 1
        if self.changed is not None:
            told, self.tally.told = self.tally.told, []
            for one in told:
                self.changed(one)
        return manifest

    def _shown(self, known: KnownFile) -> str:
        label = next((root.label for root in self.roots if root.key == known.root), known.root)
        return known.path if known.root == WORKSPACE else f"{label}/{known.path}"

    # -- vectors -----------------------------------------------------------------------------------------------

    def _write_vectors(self, base: Manifest) -> Manifest:
        assert self._tables is not None
        side = self.dataset / manifests.SIDE
        text = TextRows(side, base.text_segments, DeadRows.read(side, base.dead))
        deadline = self._started + self.time_budget if self.time_budget is not None else None
        step = vectors.Step(
            self.config.chunking,
            self.cancelled,
            lambda done, total: self.progress("embed", done, total, ""),
            deadline,
            self.workers,
        )
        line = _Line(self, base)
        differs = self._space_differs(base)
        if differs and not self.still_chosen():
            self.tally.warn("another embedder was configured meanwhile; the next build goes on with it")
        elif differs and len(base.vector_segments):
            self._change_space(line, text, step)
        else:
            if differs:
                line.space = self._own_space()
            elif base.space.get("building"):
                # Back to the embedder whose vectors are served: the other space is no longer wanted.
                line.space = spaces.settled(base.space)
                if not base.totals.get("vectors_pending", 0):
                    with line.begin() as work:
                        line.finish(work)
            stored = VectorRows(side, base.vector_segments, text.dead)
            waiting = vectors.rows_without_vectors(text, stored)
            if waiting:
                table = line.facts().space["active"]["table"]
                self.report.vectors_written += vectors.fill(
                    waiting, text, self._tables, table, self.embedder(), step, line.begin, line.finish
                )
        return line.base

    def _change_space(self, line: _Line, text: TextRows, step: vectors.Step) -> None:
        """Fills the table of the new space while the old one answers; then one publication turns over."""
        assert self._tables is not None
        own = self._own_space()["active"]
        assert isinstance(own, dict)
        line.space = spaces.filling(line.base.space, own)
        waiting = [int(one) for one in text.alive()]
        model = self.embedder()
        self.report.vectors_written += vectors.fill(
            waiting, text, self._tables, own["table"], model, step, line.begin, line.finish, serve=False
        )
        if step.over():
            return
        line.space = spaces.turned_over(line.base.space, own)
        with line.begin() as work:
            work.start_vectors_anew()
            vectors.serve_stored(work, waiting, text, self._tables, own["table"], step)
            if self.approve(Snapshot(self.dataset, work.preview())):
                line.finish(work)
            else:
                work.abandon()


@dataclass(slots=True)
class _Line:
    """The row of publications of one vector step, each on top of the one before."""

    build: Build
    base: Manifest
    space: dict[str, object] | None = None

    def facts(self) -> Facts:
        facts = self.build._facts(self.base)
        return replace(facts, space=self.space) if self.space is not None else facts

    def begin(self) -> Publication:
        assert self.build._tables is not None
        build, tables = self.build, self.build._tables
        work = Publication(build.dataset, tables, self.base, build._run, self.facts())
        if self.base.tables_behind:
            base, changes = self.base, build._changes
            work.complete_tables(lambda: write_tables(build.dataset, tables, base, changes))
        return work

    def finish(self, work: Publication) -> Manifest:
        self.base = work.commit()
        self.build.report.published += 1
        return self.base


def _id(manifest: Manifest | None) -> str | None:
    return manifest.id if manifest is not None else None
