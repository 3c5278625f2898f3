"""Known items are drawn the same way every time, and every file that holds one counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_lance.learn import known_items
from hermes_lance.learn.known_items import KnownItem

ROOT = Path(__file__).parents[2]
SHARED = "The second lock of the old canal was filed under marigold in spring."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    padding = "word " * 300
    for number in range(12):
        file = tmp_path / f"part{number % 3}" / f"unique{number}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            f"Sentence {number} is short.\n\n"
            f"Only here stands what the file of this folder says, well {'x' * number}a.\n{padding}"
        )
    (tmp_path / "part0" / "twin.md").write_text(f"{SHARED}\n{padding}")
    (tmp_path / "part1" / "twin.txt").write_text("(" + SHARED.replace(" of ", "\n   of ") + ")\n")
    for number in range(3):
        (tmp_path / f"part{number}" / "index.md").write_text("tiny\n")
    (tmp_path / ".hidden.md").write_text(padding)
    return tmp_path


def test_the_same_seed_draws_the_same_items_and_another_one_others(folder: Path) -> None:
    first = known_items.draw(folder, count=5)
    assert first == known_items.draw(folder, count=5)
    assert first != known_items.draw(folder, count=5, seed=8)
    assert [item.kind for item in first] == ["name"] * 5 + ["sentence"] * 5


def test_names_that_many_files_bear_are_not_drawn(folder: Path) -> None:
    items = {item.query: item.files for item in known_items.draw(folder) if item.kind == "name"}
    assert len(items) == 13 and "index" not in items and ".hidden" not in items
    assert items["twin"] == ("part0/twin.md", "part1/twin.txt")
    assert items["unique4"] == ("part1/unique4.md",)


def test_sentences_are_plain_whole_and_held_across_line_ends(folder: Path) -> None:
    items = [item for item in known_items.draw(folder) if item.kind == "sentence"]
    assert len(items) == 13
    assert KnownItem("sentence", SHARED, ("part0/twin.md", "part1/twin.txt")) in items
    assert all(8 <= len(item.query.split()) <= 20 for item in items)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One two three four five six seven eight.", ["One two three four five six seven eight."]),
        ("Too short a sentence.", []),
        ("It has code_in_it and so on for more than eight words.", []),
        ("See x. The lines of this one\nbreak in two, too.\n", ["The lines of this one break in two, too."]),
        ("A heading\n\nwith no stop at its end though it has many words", []),
        ("Paragraphs do not run on\n\nover a blank line with all of their many words.", []),
    ],
)  # fmt: skip
def test_what_counts_as_a_sentence(text: str, found: list[str]) -> None:
    assert list(known_items.sentences_in(text)) == found


def test_the_script_prints_one_item_a_line(folder: Path) -> None:
    run = subprocess.run(
        [sys.executable, ROOT / "scripts/known_items", folder, "--count", "3"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(rows) == 6 and set(rows[0]) == {"kind", "query", "files"}


def test_a_corpus_takes_files_in_turn_from_each_source_without_doubles(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for path, data in {
        one / "a.txt": b"a", one / "b.txt": b"b", one / "sub" / "c.txt": b"c", one / "empty": b"", one / "bin": b"\xff",
        one / "big": b"x" * 60_000, two / "a.txt": b"a", two / "d.txt": b"d",
    }.items():  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (two / "link").symlink_to(one / "b.txt")
    command: list[str | Path] = [
        sys.executable,
        ROOT / "scripts/make_corpus",
        "M",
        tmp_path / "out",
        "--source",
        f"one={one}",
        "--source",
        f"two={two}",
    ]

    run = subprocess.run([*command, "--files", "3"], capture_output=True, text=True, check=True)
    assert "3 files" in run.stdout
    made = sorted(
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()
    )
    assert made == ["one/a.txt", "one/b.txt", "two/d.txt"]
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 2 and "not empty" in again.stderr
