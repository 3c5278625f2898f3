"""`manifests/workspace.json`: every discovered file with what became of it, for people and programs without our reader.

Written after a run that has published something, in one rename. Readers of the dataset do not need it.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from hermes_lance.core.config import Config
from hermes_lance.core.records import WORKSPACE, KnownFile
from hermes_lance.store import manifest as manifests
from hermes_lance.store.durable import make_private, write_atomic
from hermes_lance.store.files import FilesState
from hermes_lance.store.manifest import Manifest

FILE = "workspace.json"
_HEAD_BYTES = 400


def path_of(config: Config) -> Path:
    """Where it is."""
    return config.knowledgebase_root / "manifests" / FILE


def is_of(config: Config, generation: str) -> bool:
    """Whether the file on disk speaks of a generation; reads its beginning only."""
    try:
        with path_of(config).open("rb") as file:
            return _mark(generation).encode() in file.read(_HEAD_BYTES)
    except OSError:
        return False


def write(config: Config, dataset: Path, manifest: Manifest) -> Path:
    """Writes the file for a generation; its path. Only under the writer lock. Raises `DiskFull`, `DatasetReadOnly`."""
    target = path_of(config)
    labels = {root["key"]: root["label"] for root in manifest.roots}
    state = FilesState(dataset / manifests.SIDE, manifest.files)
    head = {
        "generated_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "workspace_root": str(config.workspace_root),
        "knowledgebase_root": str(config.knowledgebase_root),
        "manifest_path": str(target),
        "file_count": len(state),
    }
    # A line for each file instead of one for each value: the indenting encoder is in Python and ten times slower.
    rows = ",\n  ".join(
        json.dumps(_row(known, labels), ensure_ascii=False)
        for known in sorted(state.all().values(), key=lambda one: (one.root != WORKSPACE, one.root, one.path))
    )
    lines = [f'{{\n "success": true,\n {_mark(manifest.id)},']
    lines += [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    lines.append(f' "files": [\n  {rows}\n ]\n}}\n' if rows else ' "files": []\n}\n')
    make_private(target.parent)
    write_atomic(target, "\n".join(lines).encode("utf-8", "replace"), flush=False)
    return target


def _mark(generation: str) -> str:
    return f'"generation": "{generation}"'


def _row(known: KnownFile, labels: dict[str, str]) -> dict[str, Any]:
    label = labels.get(known.root, known.root)
    reason = f"{known.reason} ({known.rule})" if known.rule else known.reason
    return {
        "relative_path": known.path if known.root == WORKSPACE else f"{label}/{known.path}",
        "root": label,
        "size_bytes": known.size,
        "modified_at": _moment(known.mtime_ns),
        "mime_type": known.media_type,
        "status": known.state,
        "reason": reason,
        "chunks": known.chunks,
        "parser": known.parser,
        "content_hash": known.sha256,
    }


def _moment(nanoseconds: int) -> str | None:
    """ISO 8601, UTC; none for a time that no calendar has."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(nanoseconds // 10**9))
    except (OverflowError, ValueError, OSError):
        return None
