"""What an agent should open first: collecting artifacts, asking for them, and what they are linked to.

A part of `Library`, on its own floor: each method wires a flow. Loading this file loads none of the rooms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import UNAVAILABLE, ArtifactMissing, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_lance.core.artifact import Artifact, ArtifactReport, Edge
    from hermes_lance.core.config import Config
    from hermes_lance.core.contracts import Embedder
    from hermes_lance.ingest.forget import Elsewhere
    from hermes_lance.search.route import RoutePage
    from hermes_lance.store.publish import Facts
    from hermes_lance.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An artifact that another one is linked to, and by what."""

    artifact: Artifact
    edge: Edge
    direction: str
    """`out` where the link starts at the artifact that was asked about, `in` where it leads there, else `mutual`."""


class Routing(ABC):
    """Acts on artifacts."""

    config: Config
    dataset: Path
    caller_owned: bool
    warnings: list[str]

    def index_artifacts(
        self,
        *,
        full: bool = False,
        embed: bool = True,
        cancelled: Callable[[], bool] | None = None,
        wait_seconds: float = 30.0,
    ) -> ArtifactReport:
        """Brings the artifacts in step with skills, scripts, notes, jobs and servers; nothing is written where nothing
        has changed. Vectors are made by an embedder that runs here; none is sent anywhere.

        Raises `DatasetBusy`, `DatasetReadOnly`, `DiskFull`, `Cancelled`, `UsageError`.
        """
        from hermes_lance.ingest.collecting import Supplies, build_artifacts

        if self.caller_owned:
            raise UsageError(f"{self.dataset}: a dataset named by --dataset is never rebuilt", hint="Use --home.")
        supplies = Supplies(
            self._first_facts,
            self._artifact_embedder if embed else lambda space: None,
            cancelled or (lambda: False),
            wait_seconds,
            self._recorded,
        )
        report = build_artifacts(self.config, self.dataset, supplies, full=full)
        report.warnings = [*dict.fromkeys([*self.warnings, *report.warnings])]
        return report

    def _artifact_embedder(self, space: Mapping[str, Any]) -> Embedder | None:
        """The embedder of a vector space; none where it cannot be had or would send text away."""
        try:
            model = self._of_space(space)
        except UNAVAILABLE as error:
            self._say(f"artifacts are compared by words alone: {error}. {error.hint}")
            return None
        return None if model is None or getattr(model, "sends_to", None) else model

    def _first_facts(self) -> Facts:
        """What the manifest of a dataset says that holds artifacts before it holds anything else."""
        from hermes_lance.core.config import settings_rows
        from hermes_lance.store.publish import Facts
        from hermes_lance.store.spaces import first, space_of

        model = self.embedder()
        options = self.config.embedder_options if model.name == self.config.embedder else {}
        space = space_of(model.name, model.signature(), model.dimensions, options)
        return Facts(self.fingerprints(), first(space), settings_rows(self.config), [])

    def route(
        self,
        query: str,
        *,
        limit: int = 8,
        offset: int = 0,
        kind: str | None = None,
        generation: str | None = None,
        mode: str = "hybrid",
    ) -> RoutePage:
        """The artifacts to open for a question, best first; of one kind only where that is named. `mode` is `hybrid`,
        or `lexical` for words alone.

        Raises `DatasetMissing` before the first build, `GenerationMissing`, `UsageError`.
        """
        from hermes_lance.search.route import route

        if limit < 1 or offset < 0:
            raise UsageError(f"limit {limit}, offset {offset}: the limit is at least 1, the offset at least 0")
        snapshot = self.snapshot(generation)
        model = None
        if mode == "hybrid" and snapshot.artifact_vectors is not None:
            model = self._artifact_embedder(snapshot.manifest.space["active"])
        return route(query, snapshot, limit=limit, offset=offset, kind=kind, embedder=model)

    def artifact(self, key: str) -> Artifact:
        """The artifact of an id. Raises `ArtifactMissing`."""
        found = self.snapshot().artifacts.get(key)
        if found is None:
            raise ArtifactMissing(f"Artifact not found: {key}")
        return found

    def neighbours(self, key: str, limit: int = 20) -> list[Neighbour]:
        """What an artifact is linked to: references first, then by confidence. Raises `ArtifactMissing`."""
        rows = self.snapshot().artifacts
        position = rows.position(key)
        if position is None:
            raise ArtifactMissing(f"Artifact not found: {key}")
        found = []
        for link in rows.links(position)[: max(0, limit)]:
            direction = "out" if link.edge.source_id == key else "in"
            found.append(
                Neighbour(rows.row(link.other), link.edge, "mutual" if link.edge.direction == "mutual" else direction)
            )
        return found

    @abstractmethod
    def snapshot(self, generation: str | None = None) -> Snapshot:
        """The current generation, or a named one."""

    @abstractmethod
    def _of_space(self, space: Mapping[str, Any]) -> Embedder | None:
        """The embedder of a vector space."""

    @abstractmethod
    def _recorded(self) -> Elsewhere:
        """What is recorded of turns, for a purge."""

    @abstractmethod
    def _say(self, warning: str) -> None:
        """Notes a warning."""

    @abstractmethod
    def embedder(self) -> Embedder:
        """The configured embedder."""

    @abstractmethod
    def fingerprints(self) -> Mapping[str, Any]:
        """What the next publication is made with."""
