"""A reader's fixed view of one generation: the only handle to data, so that `as of` costs nothing.

Opening takes no lock and writes nothing. Maps stay valid when a later run removes the files.
"""

from __future__ import annotations

from pathlib import Path

from hermes_lance.core.errors import DatasetDamaged, GenerationMissing, Purged
from hermes_lance.core.memory import resident
from hermes_lance.store import forgotten
from hermes_lance.store import manifest as manifests
from hermes_lance.store.artifact_lexical import ArtifactIndex
from hermes_lance.store.artifact_rows import ArtifactRows
from hermes_lance.store.files import FilesState
from hermes_lance.store.lexical import LexicalReader
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.rows import DeadRows, TextRows
from hermes_lance.store.vectors import LARGE_BYTES, VectorRows

_TRIES = 5
MAPPED_BYTES = 64 << 20
"""Pages of mapped files are given back if they have grown by so much since they were last given back."""
ENOUGH_BYTES = 8 << 20
"""Below the limit by so much, nothing more need be given back."""


class Snapshot:
    """One generation, open."""

    def __init__(self, dataset: Path, manifest: Manifest) -> None:
        side = dataset / manifests.SIDE
        self.dataset = dataset
        self.manifest = manifest
        self.dead = DeadRows.read(side, manifest.dead)
        self.text = TextRows(side, manifest.text_segments, self.dead)
        self.vectors = VectorRows(side, manifest.vector_segments, self.dead)
        self.files = FilesState(side, manifest.files)
        self._lexical: LexicalReader | None = None
        self._artifacts: ArtifactRows | None = None
        self._artifact_index: ArtifactIndex | None = None
        self._artifact_vectors: VectorRows | None = None
        self._mapped_before = resident().files

    @property
    def id(self) -> str:
        """The generation."""
        return self.manifest.id

    @property
    def lexical(self) -> LexicalReader:
        """The Tantivy index of the passages."""
        if self._lexical is None:
            folder = self.dataset / manifests.LEXICAL / self.manifest.lexical["folder"]
            for name, entry in self.manifest.lexical["files"].items():
                check_size(folder / name, entry["size"])
            self._lexical = LexicalReader(folder / "chunks")
        return self._lexical

    @property
    def artifacts(self) -> ArtifactRows:
        """The artifacts and their links."""
        if self._artifacts is None:
            self._artifacts = ArtifactRows(self.dataset / manifests.SIDE, self.manifest.artifacts)
        return self._artifacts

    @property
    def artifact_index(self) -> ArtifactIndex | None:
        """The Tantivy index of the artifacts; none where none were ever collected."""
        if self._artifact_index is None and self.manifest.artifacts is not None:
            folder = self.dataset / manifests.LEXICAL / self.manifest.lexical["folder"]
            for name, entry in self.manifest.lexical["files"].items():
                check_size(folder / name, entry["size"])
            self._artifact_index = ArtifactIndex(folder / "artifacts")
        return self._artifact_index

    @property
    def artifact_vectors(self) -> VectorRows | None:
        """The vectors of the artifacts, by position; none where there are none of the active space."""
        entry, active = self.manifest.artifacts or {}, self.manifest.space.get("active") or {}
        if "vectors" not in entry or entry["space"] != active.get("table"):
            return None
        if self._artifact_vectors is None:
            self._artifact_vectors = VectorRows(self.dataset / manifests.SIDE, [entry["vectors"]], DeadRows())
        return self._artifact_vectors

    def let_go(self) -> None:
        """To be called after a search: gives pages back where so many are mapped that they would be felt.

        They stay in the system's cache, so that the next search finds them again within a millisecond or two.
        """
        now = resident()
        if now.all > LARGE_BYTES and now.files - self._mapped_before > MAPPED_BYTES:
            # A question reads a dozen passages, but more than a thousand vectors, which cost time to map again.
            for text in self.text.segments:
                text.file.forget("text")
            if resident().all < LARGE_BYTES - ENOUGH_BYTES:
                return
            for vectors in self.vectors.segments:
                vectors.file.forget("vectors")
            # What others have mapped meanwhile is not ours to give back.
            self._mapped_before = resident().files

    @property
    def vectors_complete(self) -> bool:
        """Every passage has its vectors."""
        return self.manifest.totals.get("vectors_pending", 0) == 0


def check_size(path: Path, expected: int) -> None:
    """Notices truncation: Tantivy does not, until it reads there."""
    try:
        actual = path.stat().st_size
    except OSError as error:
        raise DatasetDamaged(f"{path}: missing ({error.strerror})") from error
    if actual != expected:
        raise DatasetDamaged(f"{path}: {actual} bytes where {expected} were written")


def open_snapshot(dataset: Path, generation: str | None = None) -> Snapshot:
    """The current generation, or a named one.

    A run that publishes meanwhile may remove the files of a generation three steps back; then the pointer has moved
    and the next try finds the new one.
    """
    if generation is not None:
        pinned = dataset / manifests.PINNED / generation
        place = pinned if pinned.is_dir() else dataset
        if place is dataset and generation > manifests.current_id(dataset):
            # An interrupted run may have written it; nobody has published it.
            raise GenerationMissing(f"{dataset}: there is no generation {generation}")
        try:
            return Snapshot(place, manifests.read_manifest(place, generation))
        except GenerationMissing:
            gone = forgotten.read(dataset).purged.get(generation)
            if gone is None:
                raise
            raise Purged(f"generation {generation} of {gone.published_at}: a purge has removed it") from None
    problem: DatasetDamaged | None = None
    for _ in range(_TRIES):
        found = manifests.current_id(dataset)
        try:
            snapshot = Snapshot(dataset, manifests.current(dataset))
            _ = snapshot.lexical
            return snapshot
        except DatasetDamaged as error:
            problem = error
            if manifests.current_id(dataset) == found:
                raise
    assert problem is not None
    raise problem
