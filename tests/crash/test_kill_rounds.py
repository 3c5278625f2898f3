"""Builders are killed at random moments under the eyes of readers; `scripts/kill_rounds` does it at length."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.reference
def test_twenty_kills_at_random_moments_leave_no_bad_state(checkout, folder):
    command = [sys.executable, checkout / "scripts" / "kill_rounds", "--rounds", "20", "--folder", folder / "rounds"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.count(" 0\n") >= 4
    print(done.stdout)
