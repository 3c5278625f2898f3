"""Nothing that is committed names a machine, a registry host or the trackers of a workplace."""

from __future__ import annotations

import re
import subprocess

import pytest

# Written in parts, so that this file does not name them either.
FORBIDDEN = re.compile(
    "|".join(
        [
            "/wo" r"rk/", "/fa" r"rm/", r"/\.lib" r"rary\b", "/o" r"pt/pypi",
            r"py" r"pi\.org", r"files\.python" r"hosted", r"registry\.npm" r"js", r"deb\.deb" r"ian\.org",
            r"\bis" r"sue #?\d+\b",
        ]
    )
)  # fmt: skip


def test_no_forbidden_words_are_committed(checkout):
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=checkout, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("this copy of the project has no git history")
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        file = checkout / name
        if not file.is_file() or file.suffix in {".onnx", ".pdf", ".docx", ".png"} or file.name == "tokenizer.json":
            continue
        for number, line in enumerate(file.read_bytes().decode("utf-8", "replace").splitlines(), 1):
            if FORBIDDEN.search(line):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    assert found == []


def test_the_check_finds_what_it_looks_for():
    for planted in ["see /wo" + "rk/main", "from py" + "pi.org", "fixes is" + "sue #12"]:
        assert FORBIDDEN.search(planted)
    assert not FORBIDDEN.search("the home is ~/.hermes; networking works; an issue of taste")
