"""Real files of many formats: what must be found in them is found, what cannot be read says why."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from hermes_lance.core import registry
from hermes_lance.core.choices import DEFAULT_CHUNKERS, DEFAULT_PARSERS
from hermes_lance.parse import media

pytestmark = pytest.mark.reference

# The table wants "with an", whose n belongs to the deleted words: what stands is "a text with a deletion".
FROM_DELETED_WORDS = {"pandoc/track_changes_deletion.docx": "This is a text with an"}
SIZE_LIMIT = 10 << 20


def normal(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text))


class Reader:
    """Parser and chunker for a file, as an index run chooses them."""

    def __init__(self) -> None:
        self.made: dict[tuple[str, str], Any] = {}

    def plugin(self, category: str, name: str):
        key = (category, name)
        if key not in self.made:
            self.made[key] = registry.plugin_class(category, name)()
        return self.made[key]

    def outcome(self, path: str, data: bytes, covered) -> tuple[str, str]:
        """(outcome in the words of the tables, text of all passages or the reason)."""
        try:
            refused = media.refused_by_name(path)
            if refused is not None:
                raise refused
            kind = media.media_type(path, data)
            parser = registry.best_match(DEFAULT_PARSERS, kind)
            if parser is None:
                raise media.unsupported(path, kind)
            document = self.plugin("parsers", parser).parse(data, path=path, media_type=kind)
            chunker = registry.best_match(DEFAULT_CHUNKERS, kind)
            assert chunker is not None
            pieces = self.plugin("chunkers", chunker).pieces(document)
        except media.Unreadable as reason:
            return ("error-reported" if reason.failed else "skipped"), str(reason)
        covered(document, pieces)
        return "indexed", "".join(document.text[piece.start : piece.end] for piece in pieces)


@pytest.fixture(scope="module")
def reader():
    made = Reader()
    yield made
    for plugin in made.made.values():
        if hasattr(plugin, "close"):
            plugin.close()


def rows(table: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]


def complaints(row: dict[str, Any], outcome: str, text: str) -> list[str]:
    found = []
    if outcome != row["outcome"] and outcome not in row["also_ok"]:
        found.append(f"{outcome} ({text[:100]}), not {row['outcome']}")
    if outcome == "indexed":
        shown = normal(text)
        wanted = [part for part in row["must_contain"] if part != FROM_DELETED_WORDS.get(row["path"])]
        missing = [part for part in wanted if normal(part) not in shown]
        found += [f"missing {part!r}" for part in missing]
        found += [f"contains {part!r}" for part in row["must_not_contain"] if normal(part) in shown]
    return found


def test_real_files(reader, reference_data, covered):
    folder = reference_data / "files"
    wrong = []
    for row in rows(folder / "EXPECT.jsonl"):
        outcome, text = reader.outcome(row["path"], (folder / row["path"]).read_bytes(), covered)
        wrong += [f"{row['path']}: {complaint}" for complaint in complaints(row, outcome, text)]
    assert not wrong


def test_nasty_files(reader, reference_data, covered, tmp_path):
    folder = tmp_path / "nasty"
    script = reference_data / "files" / "make_nasty.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, timeout=120, stdout=subprocess.DEVNULL)
    wrong = []
    judged = 0
    for row in rows(folder / "EXPECT.jsonl"):
        file = folder / row["path"]
        # Links, pipes, ignore rules, sizes and permissions are the walker's business.
        if row["kind"] in {"ignore", "symlink", "special", "permission"} or "\\x" in row["path"]:
            continue
        if file.name.startswith(".") or os.lstat(file).st_size > SIZE_LIMIT:
            continue
        outcome, text = reader.outcome(row["path"], file.read_bytes(), covered)
        judged += 1
        wrong += [f"{row['path']}: {complaint}" for complaint in complaints(row, outcome, text)]
    assert judged > 50
    assert not wrong
