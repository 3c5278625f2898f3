"""The two acts that frame a publication: noting what is about to change, and making a generation the current one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hermes_lance.store import failpoints
from hermes_lance.store import manifest as manifests
from hermes_lance.store.durable import sync_filesystem, write_atomic
from hermes_lance.store.manifest import Manifest
from hermes_lance.store.tables import VECTOR_PREFIX
from hermes_lance.store.unflushed import boot_id


def table_step(table: str) -> str:
    """The failpoint after a commit to a table; vectors tables share one."""
    return "vectors" if table.startswith(VECTOR_PREFIX) else table


def publish_manifest(dataset: Path, manifest: Manifest) -> None:
    """Flushes everything, the manifest too, then makes the generation the current one."""
    manifests.write_manifest(dataset, manifest)
    failpoints.reach("manifest")
    sync_filesystem(dataset)
    failpoints.reach("sync")
    manifests.move_pointer(dataset, manifest.id)
    failpoints.reach("pointer")
    (dataset / manifests.INTENT).unlink(missing_ok=True)
    failpoints.reach("intent-removed")


def write_intent(
    dataset: Path, manifest: Manifest, base: Manifest | None, target: Mapping[str, int], heads: Mapping[str, int]
) -> None:
    """Notes what is about to be committed, so that an interruption can be finished or undone.

    Flushed where tables are about to change (`heads`): after a power cut their newest files cannot be trusted.
    """
    body = {
        "generation": manifest.id,
        "run": manifest.run,
        "boot": boot_id(),
        "base": base.id if base else None,
        "heads": dict(heads),
        "target": dict(target),
        "facts": {name: getattr(manifest, name) for name in ("fingerprints", "space", "config", "roots")},
    }
    write_atomic(dataset / manifests.INTENT, json.dumps(body).encode(), flush=bool(heads))
