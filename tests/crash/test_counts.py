"""The counts of a run: what was there, plus written, minus removed is what is there, whatever became of the files."""

from __future__ import annotations

import os
import random

NAMES = [f"{number}.md" for number in range(8)]


def change(home, dice):
    """One edit of one file."""
    path = home.workspace / dice.choice(NAMES)
    kind = dice.choice(["write", "write", "empty", "delete", "rename", "touch", "binary", "ignore"])
    if kind == "write":
        home.write(path.name, *(f"# Part {part}\n\nwhale {dice.random()}" for part in range(dice.randint(1, 40))))
    elif kind == "empty":
        path.write_text("", encoding="utf-8")
    elif kind == "binary":
        path.write_bytes(bytes(range(256)))
    elif kind == "ignore":
        (home.workspace / ".hermesignore").write_text(path.name + "\n", encoding="utf-8")
    elif not path.exists():
        return
    elif kind == "delete":
        path.unlink()
    elif kind == "rename":
        path.rename(home.workspace / dice.choice(NAMES))
    else:
        os.utime(path)


def test_over_any_history_files_add_up_to_seen_and_passages_to_the_total(home):
    dice = random.Random(3)
    before = 0
    for turn in range(14):
        for _ in range(4):
            change(home, dice)
        report = home.build(full=turn == 9)
        files, chunks = report.files, report.chunks
        kinds = (files.added, files.changed, files.moved, files.unchanged, files.skipped, files.failed)
        states = home.library().status()["files"]
        assert sum(kinds) == files.seen == sum(states.values())
        assert len(report.problems) == files.skipped + files.failed
        assert before + chunks.written - chunks.removed == chunks.total == chunks.reused + chunks.written
        before = chunks.total
