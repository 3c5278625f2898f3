"""A console that knows ASCII only shows names of every script as escapes, within 80 columns, and ends no command."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hermes_lance.artifacts.naming import slug
from hermes_lance.hosts.cli.main import cli, run
from hermes_lance.hosts.output import columns_of

NAMES = [
    "港口/資料.md", "дом/заметка.md", "מדריך.md", "दस्तावेज़.md", "ไฟล์.md", "ملف عربي.md", "한국어 문서.md",
    "🏳\ufe0f\u200d🌈 👩\u200d👧.md", "re\u0301sume\u0301.md", "new\nline.md", "\u202etxt.md", "\x1b[31mred.md",
    os.fsdecode(b"latin \xe9\xff.md"), "長" * 80 + ".md",
]  # fmt: skip
EMPTY, BINARY = "пусто.md", "картина.png"
FIRST = NAMES[0]
SKILL = f"skill:{slug('港口')}"

COMMANDS: dict[str, list[str]] = {
    "build": [], "search": ["港口"], "context": ["港口"], "workspace context": ["港口", "--mode", "always"],
    "status": ["--files"], "why": [FIRST, "заметка"], "doctor": [],
    "delete": [NAMES[1]], "forget": [NAMES[2]], "generations list": [], "generations gc": [],
    "export": ["files", "--format", "csv", "-o", "{home}/пример.csv"], "evaluate known-items": ["{home}/workspace"],
    "bench index": ["{home}/workspace"], "bench query": ["{home}/workspace"], "workspace status": ["--files"],
    "workspace init": [], "workspace index": [], "workspace delete": [NAMES[3]], "workspace add": ["{home}/новый.md"],
    "workspace search": ["."], "workspace retrieve": ["ไฟล์"], "workspace mode": ["gated"], "workspace watch": ["off"],
    "workspace sources": [], "workspace setup": ["--yes"], "workspace embedder show": [],
    "workspace embedder use": ["builtin_hash", "--set", "dims=64"], "workspace embedder rollback": [],
    "workspace list": ["--limit", "100"], "workspace roots list": [], "workspace roots add": ["{home}/полка"],
    "workspace roots move": ["полка", "{home}/книги"], "workspace roots remove": ["книги"],
    "knowledge build": [], "knowledge search": ["港口"], "knowledge get": [SKILL, "--neighbors"],
    "knowledge neighbors": [SKILL],
    "verify": ["[Workspace source: 港口/資料.md, lines 1-2]"],
}  # fmt: skip
"""Arguments of every command, in an order in which they can be run one after the other; `{home}` is filled in."""
AS_GIVEN = frozenset({"context", "workspace context"})
"""These print what an agent is given, character by character, so that lines are as long as there."""
NOT_RUN = {
    "evaluate beir": "needs a judged set",
    "watch": "runs until it is stopped",
    "mcp": "speaks a protocol, no text",
}


def leaves(group: click.Group, before: str = "") -> Iterator[str]:
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from leaves(command, f"{before}{name} ")
            else:
                yield f"{before}{name}"


def test_every_command_is_tried_here():
    """A new command gets a line in `COMMANDS`, or a reason in `NOT_RUN`."""
    assert set(leaves(cli)) - COMMANDS.keys() - NOT_RUN.keys() == set()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    top = tmp_path / "дом 家"
    for name in NAMES:
        file = top / "workspace" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = f"# {name.encode('utf-8', 'replace').decode()}\n\nword 港口 заметка ไฟล์ 🏳\n"
        file.write_text(text, encoding="utf-8")
    (top / "workspace" / EMPTY).touch()
    (top / "workspace" / BINARY).write_bytes(b"\x89PNG")
    for folder in ("полка", "книги"):
        (top / folder / "ниже").mkdir(parents=True)
        (top / folder / "ниже" / "глава.md").write_text("глава\n", encoding="utf-8")
    (top / "новый.md").write_text("новый\n", encoding="utf-8")
    (top / "skills" / "港口").mkdir(parents=True)
    (top / "skills" / "港口" / "SKILL.md").write_text(
        "---\nname: 港口\ndescription: заметка ไฟล์ 🏳\n---\n", encoding="utf-8"
    )
    (top / "config.yaml").write_text("knowledgebase: {embedders: {active: builtin_hash}}\n")
    return top


def run_on(monkeypatch: pytest.MonkeyPatch, encoding: str, *words: str) -> tuple[int, bytes, str]:
    """Status, output and errors of a run whose streams refuse what the encoding does not have."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict") for _ in range(2))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        status = run(list(words))
        out.flush()
        err.flush()
    told: bytes = out.buffer.getvalue()
    said: bytes = err.buffer.getvalue()
    return status, told, said.decode(encoding)


@pytest.mark.parametrize(
    ("encoding", "form"), [("ascii", "text"), ("ascii", "json"), ("cp1251", "text"), ("utf-8", "text")]
)
def test_no_command_dies_of_a_name_that_the_console_cannot_print(home, monkeypatch, encoding, form):
    there = set(leaves(cli))
    wide = []
    for name in [name for name in COMMANDS if name in there]:
        words = [*name.split(), *(word.replace("{home}", str(home)) for word in COMMANDS[name])]
        words = ["--home", str(home), *words, *(["--json"] if form == "json" else [])]
        status, out, err = run_on(monkeypatch, encoding, *words)
        said = f"{name}: {out!r} {err}"
        assert status == 0, said
        assert "Traceback" not in err and "Error" not in err, said
        if form == "json":
            assert json.loads(out.decode("utf-8"))["success"] is True, said
            continue
        printed = out.decode(encoding).split("\n")
        lines = [*printed, *err.split("\n")]
        assert not any(ord(character) < 32 for line in lines for character in line), said
        wrapped = err.split("\n") if name in AS_GIVEN else lines
        wide += [f"{name}: {line}" for line in wrapped if columns_of(line) > 80]
    assert wide == []
