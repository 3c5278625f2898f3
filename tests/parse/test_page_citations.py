"""Passages of real PDFs cite the page on which another reader of PDFs finds their words."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.reference


def test_the_page_of_each_known_string_is_the_one_that_another_reader_finds(reference_data, checkout):
    command = [sys.executable, str(checkout / "scripts" / "check_pages"), str(reference_data / "files")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    told = re.search(r"(\d+) strings: (\d+) cited rightly", ended.stdout)
    assert told is not None and int(told[1]) > 70
    # Without poppler the other reader is pdfminer, which glues the words of some pages.
    assert int(told[2]) >= 0.8 * int(told[1])
