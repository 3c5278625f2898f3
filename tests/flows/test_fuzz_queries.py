"""The hostile questions of `scripts/fuzz_queries`, a few of them each time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "fuzz_queries"


@pytest.mark.skipif(not SCRIPT.exists(), reason="the scripts are not beside the tests")
def test_no_hostile_question_raises_or_matches_what_it_does_not_name():
    ended = subprocess.run(
        [sys.executable, str(SCRIPT), "--count", "1500", "--long-every", "500"], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1500 questions" in ended.stdout
