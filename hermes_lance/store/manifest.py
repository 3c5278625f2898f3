"""The immutable description of one generation, and the pointer to the current one.

`generations/<id>.json` names every file and table version that a reader of that generation uses; `CURRENT` holds the
id. Both are replaced or made atomically; a manifest carries a checksum over itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import DatasetDamaged, DatasetMissing, DatasetNewer, GenerationMissing
from hermes_lance.store.durable import make_private, write_atomic

if TYPE_CHECKING:
    from datetime import datetime

    from hermes_lance.store.forgotten import PurgedGeneration

FORMAT = 1
"""What this release writes."""
READS_UP_TO = 1
"""The newest `minimum_reader` that this release understands."""

POINTER = "CURRENT"
GENERATIONS = "generations"
LEXICAL = "lexical"
SIDE = "side"
LANCE = "lance"
PINNED = "pinned"
INTENT = "intent.json"


@dataclass(slots=True)
class Manifest:
    """One generation. Field by field in docs/FORMAT.md."""

    id: str
    parent: str | None
    published_at: str
    run: str
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Table name to `{version, rows}`."""
    tables_behind: bool = False
    """The tables lack what was changed last: text is published first. Whoever writes next completes them."""
    lexical: dict[str, Any] = field(default_factory=dict)
    """`{folder, files: {relative: size}}`."""
    text_segments: list[dict[str, Any]] = field(default_factory=list)
    vector_segments: list[dict[str, Any]] = field(default_factory=list)
    dead: dict[str, Any] | None = None
    files: dict[str, Any] | None = None
    artifacts: dict[str, Any] | None = None
    """The side file of the artifacts, with their number, that of their links, and how Tantivy has them."""
    next_serial: int = 0
    fingerprints: dict[str, str] = field(default_factory=dict)
    space: dict[str, Any] = field(default_factory=dict)
    """Vector space: `{active: {embedder, signature, dimensions, table}, building: … or null}`."""
    config: list[list[str]] = field(default_factory=list)
    roots: list[dict[str, Any]] = field(default_factory=list)
    totals: dict[str, int] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    note: str = ""
    format: int = FORMAT
    minimum_reader: int = FORMAT

    def to_bytes(self) -> bytes:
        """Canonical JSON with its checksum."""
        body = asdict(self)
        body["sum"] = _checksum(body)
        return json.dumps(body, indent=1, ensure_ascii=False).encode("utf-8")


def _checksum(body: dict[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def manifest_path(dataset: Path, generation: str) -> Path:
    """Where the manifest of a generation is."""
    return dataset / GENERATIONS / f"{generation}.json"


def read_manifest(dataset: Path, generation: str) -> Manifest:
    """The manifest, its checksum verified. `DatasetNewer` when a later release wrote it."""
    path = manifest_path(dataset, generation)
    try:
        body = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise GenerationMissing(f"{dataset}: there is no generation {generation}") from None
    except OSError as error:
        raise DatasetDamaged(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise DatasetDamaged(f"{path}: not valid JSON ({error})") from error
    if not isinstance(body, dict) or not isinstance(needed := body.get("minimum_reader"), int):
        raise DatasetDamaged(f"{path}: not a manifest")
    if needed > READS_UP_TO:
        written = body.get("format", needed)
        raise DatasetNewer(f"{dataset}: written in format {written}; this release reads up to {READS_UP_TO}")
    expected = body.pop("sum", None)
    if expected != _checksum(body):
        raise DatasetDamaged(f"{path}: its checksum does not match")
    try:
        return Manifest(**body)
    except TypeError as error:
        raise DatasetDamaged(f"{path}: {error}") from error


def current_id(dataset: Path) -> str:
    """The id in the pointer. `DatasetMissing` when nothing was ever published."""
    path = dataset / POINTER
    try:
        text = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        there = any((dataset / GENERATIONS).glob("*.json")) and not _first_one_under_way(dataset)
        if there and path.exists():
            return current_id(dataset)  # the very first publication came to its end between these looks
        if there:
            raise DatasetDamaged(f"{path}: missing, though generations are there") from None
        raise DatasetMissing(f"{dataset}: nothing is indexed here yet") from None
    except PermissionError as error:
        raise DatasetDamaged(f"{path}: may not be read by this user", hint="Give this user the right.") from error
    except OSError as error:
        raise DatasetDamaged(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise DatasetDamaged(f"{path}: cannot be read ({error})") from error
    if not text.isdigit():
        raise DatasetDamaged(f"{path}: holds {text[:40]!r} instead of a generation")
    return text


def read_intent(dataset: Path) -> dict[str, Any] | None:
    """What a run that is under way, or was interrupted, is about to publish; none when there is no such run."""
    path = dataset / INTENT
    try:
        intent = json.loads(path.read_bytes())
        if not {"generation", "base", "boot", "heads", "target", "facts"} <= intent.keys():
            raise ValueError("keys are missing")
    except FileNotFoundError:
        return None
    except (ValueError, AttributeError) as error:
        raise DatasetDamaged(f"{path}: not readable ({error})") from error
    return dict(intent)


def _first_one_under_way(dataset: Path) -> bool:
    """A kill between the very first manifest and the pointer leaves a generation that was never published."""
    intent = read_intent(dataset)
    return intent is not None and intent["base"] is None


def current(dataset: Path) -> Manifest:
    """The manifest of the current generation."""
    generation = current_id(dataset)
    while True:
        try:
            return read_manifest(dataset, generation)
        except GenerationMissing:
            before, generation = generation, current_id(dataset)
            if generation == before:
                raise DatasetDamaged(
                    f"{dataset / POINTER}: points to generation {generation}, which is not there"
                ) from None


def current_or_none(dataset: Path) -> Manifest | None:
    """The same, or none where nothing was ever published."""
    try:
        return current(dataset)
    except DatasetMissing:
        return None


def write_manifest(dataset: Path, manifest: Manifest) -> None:
    """Stores the manifest; it is not visible before the pointer moves, and whoever moves it flushes first."""
    make_private(dataset / GENERATIONS)
    write_atomic(manifest_path(dataset, manifest.id), manifest.to_bytes(), flush=False)


def move_pointer(dataset: Path, generation: str) -> None:
    """Makes a generation the current one: the last act of a publication."""
    write_atomic(dataset / POINTER, f"{generation}\n".encode("ascii"))


def next_id(parent: Manifest | None) -> str:
    """The id after a generation."""
    return f"{(int(parent.id) if parent else 0) + 1:08d}"


def named(dataset: Path, text: str) -> str:
    """The id of the generation that a number (`7` is `00000007`), a tag or a time in ISO 8601 means.

    A time means the newest generation published by then; one without a zone is UTC. Raises `GenerationMissing`.
    """
    if text.isascii() and text.isdigit():
        return text.zfill(8)
    published = known_manifests(dataset)[::-1]
    purged = sorted(_purged(dataset), key=lambda one: one.id, reverse=True)
    every: list[Manifest | PurgedGeneration] = [*published, *purged]
    tagged = [one.id for one in every if text in one.tags]
    if tagged:
        return tagged[0]
    try:
        moment = _utc(text)
    except ValueError:
        raise GenerationMissing(f"{text}: neither the number nor a tag of a generation, nor a time") from None
    found = next((one.id for one in every if _utc(one.published_at) <= moment), None)
    if found is None:
        oldest = f"the oldest is of {published[-1].published_at}" if published else "there is none"
        raise GenerationMissing(f"{text}: no generation of that time is on disk; {oldest}")
    return found


def _purged(dataset: Path) -> list[PurgedGeneration]:
    from hermes_lance.store import forgotten

    return list(forgotten.read(dataset).purged.values())


def _utc(text: str) -> datetime:
    from datetime import UTC, datetime

    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def known_generations(dataset: Path) -> list[str]:
    """Ids of the published generations on disk, oldest first; of all of them where the pointer cannot be read."""
    found = generations_on_disk(dataset)
    try:
        published = current_id(dataset)
    except DatasetMissing:
        return []
    except DatasetDamaged:
        return found
    return [one for one in found if one <= published]


def known_manifests(dataset: Path) -> list[Manifest]:
    """The published generations on disk, oldest first, without those that a run removes meanwhile."""
    found = []
    for generation in known_generations(dataset):
        with contextlib.suppress(GenerationMissing):
            found.append(read_manifest(dataset, generation))
    return found


def generations_on_disk(dataset: Path) -> list[str]:
    """Ids of all manifests, oldest first, with those that an interrupted run wrote and never published."""
    return sorted(path.stem for path in (dataset / GENERATIONS).glob("*.json") if path.stem.isdigit())
