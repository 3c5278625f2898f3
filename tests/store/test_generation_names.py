"""Which generation a number, a tag or a time means."""

from __future__ import annotations

import pytest

from hermes_lance.core.errors import GenerationMissing
from hermes_lance.store import manifest as manifests
from hermes_lance.store.manifest import Manifest


def test_a_generation_is_named_by_number_tag_or_time_and_never_one_that_was_not_published(tmp_path):
    times = {1: "2026-01-01T00:00:00Z", 2: "2026-01-03T12:00:00Z", 3: "2026-01-05T00:00:00Z"}
    for number, time in times.items():
        one = Manifest(f"{number:08d}", None, time, "test", tags=["first"] if number == 1 else [])
        manifests.write_manifest(tmp_path, one)
    manifests.move_pointer(tmp_path, "00000002")
    asked = ["7", "first", "2026-01-03", "2026-01-03T12:00:00", "2026-01-03T13:30:00+02:00", "2027-01-01T00:00Z"]
    found = [manifests.named(tmp_path, one)[-1] for one in asked]
    assert found == ["7", "1", "1", "2", "1", "2"]
    for unknown in ("2025-12-31", "second", "../00000001", ""):
        with pytest.raises(GenerationMissing):
            manifests.named(tmp_path, unknown)
