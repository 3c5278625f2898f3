"""What is here, what is wrong, what may go: the answers of `status`, `doctor`, `generations gc` and `export`.

On the library's own floor: each function gathers from the rooms what one command wants.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hermes_lance import outbound, plugged
from hermes_lance.core.errors import (
    DatasetBusy,
    DatasetDamaged,
    DatasetMissing,
    HermesLanceError,
    UsageError,
)
from hermes_lance.core.signature import digest
from hermes_lance.ingest.roots import overlaps, roots_differ
from hermes_lance.ingest.signatures import PieceSignatures
from hermes_lance.search.freshness import is_away
from hermes_lance.store import manifest as manifests
from hermes_lance.store.files import FilesState
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.segment import reading

if TYPE_CHECKING:
    from hermes_lance.core.config import Config
    from hermes_lance.core.records import KnownFile, Root
    from hermes_lance.plugged import Had
    from hermes_lance.store.check import Check
    from hermes_lance.store.compact import Removed

TRIES = 3
"""How often something is read that upkeep may remove meanwhile."""

EXPORTS = ("chunks", "files", "artifacts", "edges")


class Opened(Protocol):
    """What is asked of an opened dataset here."""

    config: Config
    dataset: Path
    caller_owned: bool
    warnings: list[str]
    plugged: dict[str, Had]

    def roots(self) -> list[Root]:
        """The folders that are indexed."""
        ...

    def manifest(self) -> Manifest:
        """The current generation."""
        ...

    def manifest_or_none(self) -> Manifest | None:
        """The same, or none before the first build."""
        ...

    def embedder_trouble(self) -> HermesLanceError | None:
        """Why the configured embedder cannot be used."""
        ...

    def close(self) -> None:
        """Lets go of the open generation."""
        ...


def status(library: Opened, *, files: bool = False) -> dict[str, Any]:
    """The document of `status --json`. Before the first build its counts are zero and its generation null."""
    config, manifest = library.config, library.manifest_or_none()
    totals = manifest.totals if manifest else {}
    active = (manifest.space.get("active") if manifest else None) or {}
    plugins = plugged.served(library)
    body: dict[str, Any] = {
        "success": True,
        "home": str(config.home),
        "dataset": str(library.dataset),
        "generation": manifest.id if manifest else None,
        "published_at": manifest.published_at if manifest else None,
        "roots": [
            {
                "key": root.key,
                "label": root.label,
                "path": str(root.path),
                "recursive": root.recursive,
                "exists": root.path.is_dir(),
            }
            for root in library.roots()
        ],
        "files": {state: totals.get(state, 0) for state in ("indexed", "skipped", "failed", "pending")},
        "chunks": totals.get("chunks", 0),
        "artifacts": totals.get("artifacts", 0),
        "edges": totals.get("edges", 0),
        "embedder": {
            "name": active.get("embedder", config.embedder),
            "dims": active.get("dimensions"),
            "signature": active.get("signature"),
        },
        "vectors": {
            "ready": totals.get("chunks", 0) - totals.get("vectors_pending", 0),
            "pending": totals.get("vectors_pending", 0),
        },
        "size_bytes": folder_size(library.dataset),
        "retrieval_mode": config.retrieval_mode,
        "leaves": outbound.sentence(outbound.services(config)),
        "stale": _outdated(library, manifest),
        "plugins": {one.category: one.as_json() for one in plugins},
        "fingerprint": manifest.fingerprints.get("bundle") if manifest else None,
        "warnings": [
            *library.warnings,
            *(f"{error}. {error.hint}" for one in plugins for error in one.troubles),
            *_about_roots(library, manifest),
        ],
    }
    if files:
        body["files_detail"] = list(_file_rows(library, manifest))
    return body


def _outdated(library: Opened, manifest: Manifest | None) -> bool:
    """Known without looking at the files: an interrupted run, missing vectors, or settings that would redo rows."""
    if manifest is None:
        return False
    if (library.dataset / manifests.INTENT).exists() or manifest.totals.get("vectors_pending", 0):
        return True
    if library.caller_owned:
        return False  # made with the settings of another home
    if roots_differ(manifest.roots, library.roots()):
        return True
    if manifest.space.get("building") or _other_vectors(library, manifest.space.get("active") or {}):
        return True
    signatures = PieceSignatures.of_config(library.config)
    pieces = digest(signatures.all())
    if signatures.troubles:
        return False  # a build does not redo them either; the warnings say why
    return bool(manifest.fingerprints) and manifest.fingerprints.get("pieces") != pieces


def _other_vectors(library: Opened, active: Mapping[str, Any]) -> bool:
    """The next build would make vectors anew. The embedder is made only where its options are not those of then."""
    config = library.config
    if active.get("embedder") != config.embedder:
        return library.embedder_trouble() is None
    if active.get("options", config.embedder_options) == config.embedder_options:
        return False
    from hermes_lance.models.load import embedder

    try:
        made = embedder(config.embedder, config.embedder_options, config.home)
        return bool(made.signature() != active.get("signature"))
    except HermesLanceError:
        return False  # nor does a build; what is wrong is among the warnings


def _about_roots(library: Opened, manifest: Manifest | None) -> Iterator[str]:
    """What is known of files that no build can look at now, or that the next one drops with their root."""
    if manifest is None or library.caller_owned:
        return
    active = library.roots()
    away, present = _away(library, manifest, active), {root.key for root in active}
    counts = {root: len(rows) for root, rows in _state(library, manifest).roots.items()}
    for entry in manifest.roots:
        number = counts.get(entry["key"], 0)
        files = f"{number:,} file{'' if number == 1 else 's'}"
        if entry["key"] not in present:
            yield f"{entry['label']} ({entry['path']}) is no longer a root; the next build drops its {files}"
        elif entry["key"] in away:
            yield f"{entry['label']} ({entry['path']}) is not there; what is known of its {files} is kept"


def _state(library: Opened, manifest: Manifest | None) -> FilesState:
    return FilesState(library.dataset / manifests.SIDE, manifest.files if manifest else None)


def _away(library: Opened, manifest: Manifest | None, roots: Sequence[Root]) -> set[str]:
    """Keys of roots that are missing, or empty where a disk was mounted."""
    state = _state(library, manifest)
    with reading(state.path):
        devs = {root: state.column("devs")[rows.start] for root, rows in state.roots.items()}
    return {root.key for root in roots if is_away(os.fspath(root.path), devs.get(root.key, 0))}


def _file_rows(library: Opened, manifest: Manifest | None) -> Iterator[dict[str, Any]]:
    labels = {root["key"]: root["label"] for root in manifest.roots} if manifest else {}
    state = _state(library, manifest)

    def shown(known: KnownFile) -> str:
        label = labels.get(known.root, known.root)
        return known.path if label == "workspace" else f"{label}/{known.path}"

    for known in sorted(state.all().values(), key=lambda one: (labels.get(one.root, one.root), one.path)):
        yield {
            "path": shown(known),
            "root": labels.get(known.root, known.root),
            "state": known.state,
            "reason": f"{known.reason} ({known.rule})" if known.rule else known.reason,
            "chunks": known.chunks,
            "parser": known.parser,
            "bytes": known.size,
            "indexed_at": known.indexed_at,
        }


def folder_size(folder: Path) -> int:
    """Bytes on disk below a folder, files with several names counted once, kept generations left out."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for place, folders, names in os.walk(folder):
        if place == str(folder) and manifests.PINNED in folders:
            folders.remove(manifests.PINNED)
        for name in names:
            try:
                found = os.lstat(os.path.join(place, name))
            except FileNotFoundError:
                # A run that publishes at this moment removes old files; they no longer count.
                continue
            if (found.st_dev, found.st_ino) not in seen:
                seen.add((found.st_dev, found.st_ino))
                total += found.st_size
    return total


def doctor(library: Opened, *, fix: bool = False, wait_seconds: float = 30.0) -> list[Check]:
    """All checks; with `fix`, after rebuilding what can be rebuilt."""
    from hermes_lance.store import check
    from hermes_lance.store.lock import writing
    from hermes_lance.store.tables import Tables

    found = [*_configuration(library), *check.checks(library.dataset)]
    if not fix or all(one.ok or not one.fatal for one in found) or not library.dataset.is_dir():
        return found
    if library.caller_owned:
        raise UsageError(f"{library.dataset}: a dataset named by --dataset is never changed", hint="Use --home.")
    with writing(library.dataset, wait_seconds):
        _repair(library, Tables(library.dataset))
    library.close()
    return [*_configuration(library), *check.checks(library.dataset)]


def _repair(library: Opened, tables: Any) -> None:
    from hermes_lance.store import aside, check, compact, recover

    dataset = library.dataset
    lost = aside.lost_tables(tables)
    if lost:
        place = aside.put_aside(dataset)
        library.warnings.append(f"table {lost[0]} is lost: what is left was put aside in {place}")
        return

    def rebuild(newest: Manifest | None) -> Manifest:
        recover.settle_tables(dataset, tables, newest)
        facts = recover.facts_of(newest)
        return recover.rebuild(dataset, tables, facts=facts, newer_than=newest, note="rebuilt by doctor")

    check.repair(dataset, rebuild)
    compact.retain(dataset, keep=1)


def _configuration(library: Opened) -> list[Check]:
    from hermes_lance.store.check import Check

    found = [Check("configuration", True, f"{library.config.config_file or 'defaults'}")]
    if library.config.warnings:
        detail = "; ".join(library.config.warnings)
        found = [Check("configuration", False, detail, fatal=False, remedy="Correct these keys in config.yaml.")]
    try:
        away = _away(library, library.manifest_or_none(), library.roots())
    except HermesLanceError:
        away = _away(library, None, library.roots())  # another check says what is wrong with the dataset
    missing = [root for root in library.roots() if root.key in away]
    detail = ", ".join(f"{root.label} ({root.path})" for root in missing)
    if missing:
        remedy = "Mount it again, or run `hermes-lance workspace roots remove LABEL`."
        if all(root.canonical for root in missing):
            remedy = "Run `hermes-lance build`, which makes it, or correct workspace.path."
        found.append(Check("roots", False, f"not there: {detail}", fatal=False, remedy=remedy))
    else:
        number = len(library.roots())
        found.append(Check("roots", True, f"{number} folder{'' if number == 1 else 's'}, all there"))
    if shared := overlaps(library.roots()):
        remedy = (
            "Nothing is indexed twice; remove a root with `hermes-lance workspace roots remove` if it is not meant."
        )
        found.append(Check("overlap", False, "; ".join(shared), fatal=False, remedy=remedy))
    ill = [one for one in plugged.health(library) if not one.healthy]
    for one in ill:
        # Of a name that there is not, the message says the category itself.
        said = one.message if one.message.startswith(f"{one.category}: ") else f"{one.category}: {one.message}"
        found.append(Check("plugins", False, said, fatal=False, remedy=one.remedy))
    return found if ill else [*found, Check("plugins", True, "all that are named can be had")]


def collect_garbage(library: Opened, *, keep: int = 3, wait_seconds: float = 30.0) -> Removed:
    """Merges small pieces and removes what the newest `keep` generations do not need, and vectors of embedders that
    answered before; bytes freed on disk."""
    from hermes_lance.store import compact, recover, spaces
    from hermes_lance.store.lock import writing
    from hermes_lance.store.tables import Tables

    if library.caller_owned:
        raise UsageError(f"{library.dataset}: a dataset named by --dataset is never changed", hint="Use --home.")
    if library.manifest_or_none() is None:
        raise DatasetMissing(f"{library.dataset}: nothing is indexed here yet")
    if keep < 1:
        raise UsageError(f"keep {keep}: at least the current generation stays")
    with writing(library.dataset, wait_seconds):
        before = folder_size(library.dataset)
        tables = Tables(library.dataset)
        base, _ = recover.recover(library.dataset, tables)
        assert base is not None
        base, dropped = spaces.drop_others(library.dataset, tables, base)
        compact.tidy(library.dataset, tables, base, force=True)
        removed = compact.retain(library.dataset, keep)
        removed.spaces = len(dropped)
        removed.bytes = max(0, before - folder_size(library.dataset))
    return removed


def export(library: Opened, table: str) -> Any:
    """`pyarrow.Table` of the current generation. `chunks` has a `vectors` column (list of float16 lists)."""
    if table not in EXPORTS:
        raise UsageError(f"export {table}: unknown", hint=f"Choose one of: {', '.join(EXPORTS)}.")
    for _ in range(TRIES - 1):
        manifest = library.manifest()
        try:
            return _exported(library, manifest, table)
        except (DatasetDamaged, RuntimeError, ValueError, OSError):
            # Upkeep may have removed the version that was being read; then another one is published.
            if library.manifest().id == manifest.id:
                raise
    return _exported(library, library.manifest(), table)


def _exported(library: Opened, manifest: Manifest, table: str) -> Any:
    import pyarrow as pa

    from hermes_lance.core import schema
    from hermes_lance.store.tables import Tables

    if manifest.tables_behind:
        raise DatasetBusy(
            f"{library.dataset}: a build has published text that its tables do not hold yet",
            hint="Try again when it has ended; if it was interrupted, run `hermes-lance build`.",
        )
    name = "sources" if table == "files" else table
    tables = Tables(library.dataset)
    columns = schema.load(name).names
    if name == "artifacts":
        columns = [column for column in columns if column != "search_text"]
    batches = list(tables.read(name, columns, version=manifest.tables[name]["version"]))
    if not batches:
        wanted = schema.arrow_schema(name)
        return pa.Table.from_batches([], schema=pa.schema([wanted.field(column) for column in columns]))
    whole = pa.Table.from_batches(batches)
    return whole.append_column("vectors", _vectors(whole, tables, manifest)) if table == "chunks" else whole


def _vectors(chunks: Any, tables: Any, manifest: Manifest) -> Any:
    import pyarrow as pa

    active = manifest.space.get("active") or {}
    stored: dict[str, Any] = {}
    keys_of = chunks.column("embed_keys").to_pylist()
    if active.get("table") in tables.names():
        stored = tables.vectors_for(active["table"], sorted({key for keys in keys_of for key in keys}))
    rows = [[stored[key] for key in keys if key in stored] for keys in keys_of]
    return pa.array(rows, type=pa.list_(pa.list_(pa.float16())))


def fingerprints(library: Opened, vectors: str) -> dict[str, str]:
    """What the next publication is made with, by part, and one hash over all; `vectors` is that of the embedder."""
    from hermes_lance.core import schema
    from hermes_lance.core.signature import Fingerprints
    from hermes_lance.parse import suspicion
    from hermes_lance.store.lexical_fields import lexical_digest

    made = Fingerprints(
        pieces=digest(PieceSignatures.of_config(library.config).all()),
        vectors=vectors,
        lexical=lexical_digest("chunks"),
        suspicion=suspicion.signature(),
        schemas=digest(schema.digests()),
    )
    return dict(made.as_json())
