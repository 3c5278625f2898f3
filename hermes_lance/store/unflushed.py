"""After a power cut: what no publication has flushed is not there as it was written, whatever the folders say.

Lance flushes nothing itself, so a commit that a killed process has made is whole in the system's memory, and may be
empty files after the machine went down. Only what was published counts then.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from hermes_lance.store.durable import disk_errors
from hermes_lance.store.manifest import GENERATIONS, LANCE, Manifest
from hermes_lance.store.tables import versions_on_disk

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str | None:
    """What tells one run of the machine from the next; none where the system does not say."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return None


def machine_went_down(intent: dict[str, Any]) -> bool:
    """Whether the machine (or it was another one) has been restarted since an interrupted run noted its intent."""
    return bool(intent["boot"] != boot_id())


def forget(dataset: Path, base: Manifest | None) -> None:
    """Removes the table versions that are newer than the published ones, tables that were never published, and before
    the first publication its manifest. Only while no table is open.
    """
    published = {name: int(entry["version"]) for name, entry in base.tables.items()} if base is not None else {}
    with disk_errors(str(dataset)):
        for path in (dataset / GENERATIONS).glob("*.json") if base is None else ():
            path.unlink()
        for folder in (dataset / LANCE).glob("*.lance"):
            version = published.get(folder.name.removesuffix(".lance"))
            if version is None:
                shutil.rmtree(folder)
                continue
            there = versions_on_disk(folder)
            for number, path in there.items():
                if number > version and version in there:
                    path.unlink()
