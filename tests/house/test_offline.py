"""The base install opens no connection: building and searching run with every one of them refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, pathlib, sys

def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request"}:
        raise AssertionError(f"{event}{arguments!r}")

sys.addaudithook(refuse)
import hermes_lance

home = pathlib.Path(sys.argv[1])
(home / "workspace").mkdir(parents=True)
(home / "workspace" / "pets.md").write_text("# Pets\\n\\nThe dog sleeps in the kitchen.\\n")
library = hermes_lance.open(home)
report = library.index()
answer = library.search("where does the puppy rest at night")
print(json.dumps({"vectors": report.vectors_written, "paths": [hit.path for hit in answer.hits]}))
"""


KEYS = {"OPENAI_API_KEY": "sk-lies-around", "GOOGLE_API_KEY": "lies-around", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}


@pytest.mark.parametrize("keys", [{}, KEYS], ids=["plain", "keys that lie around"])
def test_a_build_and_a_search_by_meaning_open_no_connection(tmp_path, keys):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "home")],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **keys},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {"vectors": 1, "paths": ["pets.md"]}
