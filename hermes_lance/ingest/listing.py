"""`manifests/workspace.json`: every discovered file with what became of it, for people and programs without our reader.

Written after a run that has published something, in one rename. Readers of the dataset do not need it.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

from hermes_lance.core.config import Config
from hermes_lance.core.errors import DatasetDamaged, GenerationMissing
from hermes_lance.core.records import WORKSPACE, KnownFile
from hermes_lance.store import manifest as manifests
from hermes_lance.store.durable import make_private, write_atomic
from hermes_lance.store.files import FilesState
from hermes_lance.store.manifest import Manifest

FILE = "workspace.json"
_HEAD_BYTES = 400
_BEGIN, _END = b'\n "files": [\n', b"\n ]\n}\n"
_GENERATION = re.compile(rb'"generation": "([0-9A-Za-z-]+)"')


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
    """Writes the file for a generation; its path. Only under the writer lock. Raises `DiskFull`, `DatasetReadOnly`.

    Lines of files whose record is as it was are taken over from the file on disk, so that one change among many files
    costs little.
    """
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
    known = _known_lines(target, dataset, labels)
    rows = b",\n".join(known.get(record) or _line(record, labels) for record in _records(state))
    lines = [f'{{\n "success": true,\n {_mark(manifest.id)},']
    lines += [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    text = "\n".join(lines).encode("utf-8", "replace")
    make_private(target.parent)
    write_atomic(
        target, b"".join([text, _BEGIN, rows, _END] if rows else [text, _BEGIN.rstrip(), b"]\n}\n"]), flush=False
    )
    return target


def _records(state: FilesState) -> list[bytes]:
    """The stored records, those of the workspace first: the order of the lines."""
    first = state.roots.get(WORKSPACE, range(0))
    stretches = [first, range(first.start), range(first.stop, len(state))]
    return [record for one in stretches if one for record in state.stored(one.start, one.stop)]


def _known_lines(target: Path, dataset: Path, labels: dict[str, str]) -> dict[bytes, bytes]:
    """The lines of the file on disk by the stored record that each was made from; empty where that cannot be told."""
    try:
        head, begin, rest = target.read_bytes().partition(_BEGIN)
        found = _GENERATION.search(head)
        if not begin or found is None:
            return {}
        before = manifests.read_manifest(dataset, found[1].decode("ascii"))
        if {root["key"]: root["label"] for root in before.roots} != labels:
            return {}
        records = _records(FilesState(dataset / manifests.SIDE, before.files))
    except (OSError, GenerationMissing, DatasetDamaged):
        return {}  # the first one, or what it speaks of has gone
    lines = rest.removesuffix(_END).split(b",\n")
    return dict(zip(records, lines, strict=True)) if len(lines) == len(records) else {}


def _line(record: bytes, labels: dict[str, str]) -> bytes:
    # A line for each file instead of one for each value: the indenting encoder is in Python and ten times slower.
    row = _row(KnownFile(*json.loads(record)), labels)
    return b"  " + json.dumps(row, ensure_ascii=False).encode("utf-8", "replace")


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
