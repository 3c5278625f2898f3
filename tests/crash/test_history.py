"""Any history of edits ends in what one clean build gives, and what did not change is neither embedded nor written."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from hermes_lance.core.errors import Cancelled
from hermes_lance.ingest import vectors
from hermes_lance.models.hashing import HashEmbedder
from hermes_lance.store import manifest as manifests

NAMES = [
    "plain.md", "with space.txt", "don't.md", 'double".md', "new\nline.md", "tab\t.txt", "größe.md", "данные.md",
    "数据.md", "データ.txt", "बिल्ली.md", "ملف.md", "😀 emoji.md", "e\u0301.md", "\u00e9.md", "-dash.txt", "code.py",
    "UPPER.MD", os.fsdecode(b"latin-\xe9.md"), os.fsdecode(b"\xff\xfe.txt"), "a;b'c%.md", "back\\slash.md",
    ".hidden.md",
]  # fmt: skip
FOLDERS = ["", "a", "a/b", "it's", "数据", os.fsdecode(b"bytes-\xff")]


class Editor:
    """Changes a workspace at random. Passages repeat, so that files share texts and vectors."""

    def __init__(self, workspace: Path, seed: int) -> None:
        self.workspace = workspace
        self.random = random.Random(seed)

    def files(self) -> list[Path]:
        return sorted(path for path in self.workspace.rglob("*") if path.is_file())

    def everything(self) -> list[Path]:
        return sorted(self.workspace.rglob("*"))

    def place(self) -> Path:
        path = self.workspace / self.random.choice(FOLDERS) / self.random.choice(NAMES)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def text(self) -> str:
        paragraphs = [f"Passage {self.random.randrange(12)} of many." for _ in range(self.random.randrange(5))]
        return "\n" * self.random.randrange(3) + "\n\n".join(["# Head", *paragraphs]) + "\n"

    def add(self) -> None:
        self.place().write_text(self.text(), encoding="utf-8")

    def change(self) -> None:
        for path in self.some():
            path.write_text(self.text(), encoding="utf-8")

    def shift(self) -> None:
        for path in self.some():
            path.write_bytes(b"\n" + path.read_bytes())

    def delete(self) -> None:
        for path in self.some():
            path.unlink()

    def move(self) -> None:
        for path in self.some():
            path.rename(self.place())

    def swap(self) -> None:
        files = self.files()
        if len(files) > 1:
            one, other = self.random.sample(files, 2)
            between = self.workspace / "between"
            one.rename(between)
            other.rename(one)
            between.rename(other)

    def copy(self) -> None:
        for path in self.some():
            self.place().write_bytes(path.read_bytes())

    def touch(self) -> None:
        for path in self.some():
            os.utime(path, ns=(time.time_ns(), time.time_ns() - self.random.randrange(10**12)))

    def move_folder(self) -> None:
        folders = sorted(path for path in self.workspace.iterdir() if path.is_dir())
        if folders:
            self.random.choice(folders).rename(self.workspace / f"folder {self.random.randrange(10**6)}")

    def blank(self) -> None:
        for path in self.some():
            path.write_text(self.random.choice(["", " \n", "\n\n\n"]))

    def binary(self) -> None:
        for path in self.some():
            path.write_bytes(b"\x00\x01" * 100)

    def ignore(self) -> None:
        rules = self.random.choice(["", "*.txt\n", "a/\n", "*.md\n!plain.md\n"])
        (self.workspace / ".hermesignore").write_text(rules)

    def some(self) -> list[Path]:
        files = [path for path in self.files() if path.name != ".hermesignore"]
        return self.random.sample(files, min(len(files), self.random.choice([1, 1, 2])))

    def edit(self) -> str:
        acts = [self.add] * 4 + [self.change, self.shift, self.delete, self.move, self.swap, self.copy, self.touch]
        act = self.random.choice([*acts, self.move, self.move_folder, self.blank, self.binary, self.ignore])
        act()
        return act.__name__


@pytest.fixture
def embedded(monkeypatch):
    """The texts whose vectors the embedder has made; what it was stopped at is not among them."""
    texts: list[str] = []
    real = HashEmbedder.embed_documents

    def embed(self, given, **options):
        vectors = real(self, given, **options)
        texts.extend(given)
        return vectors

    monkeypatch.setattr(HashEmbedder, "embed_documents", embed)
    return texts


@pytest.mark.parametrize("seed", [int(one) for one in os.environ.get("HISTORY_SEEDS", "1 2").split()])
def test_any_history_ends_like_a_clean_build(seed, home, clean_build):
    editor = Editor(home.workspace, seed)
    done = []
    for number in range(16):
        done.append(editor.edit())
        if editor.random.random() < 0.6:
            home.build(embed=editor.random.random() < 0.7)
        elif editor.random.random() < 0.5:
            home.build(only_paths=[editor.random.choice([home.workspace, *editor.everything()])])
        if number % 5 == 4:
            home.build()
            assert home.contents() == clean_build(home), done
    home.build()
    assert home.contents() == clean_build(home), done
    assert home.healthy()
    assert home.build().published == 0


def versions(home) -> dict[str, int]:
    return {name: entry["version"] for name, entry in manifests.current(home.dataset).tables.items()}


def written_tables(home, before) -> set[str]:
    return {name.split("_")[0] for name, version in versions(home).items() if version != before.get(name)}


@pytest.fixture
def filled(home):
    """A built home with files in two folders."""
    home.write("a/one.md", "# One", "The blue whale sings.", "It eats krill.")
    home.write("a/two.txt", "A grey wolf runs.")
    home.write("b/three.txt", "A red fox sleeps.")
    home.build()
    return home


def test_a_second_build_publishes_nothing(filled, embedded):
    before = manifests.current(filled.dataset)
    report = filled.build()
    assert (report.published, report.vectors_written, embedded) == (0, 0, [])
    assert report.files.unchanged == report.files.seen == 3
    assert manifests.current(filled.dataset) == before


@pytest.mark.parametrize(
    "move",
    [
        lambda top: (top / "a" / "one.md").rename(top / "a" / "renamed.md"),
        lambda top: (top / "a" / "one.md").rename(top / "b" / "one.md"),
        lambda top: (top / "a").rename(top / "c"),
        lambda top: (top / "b").rename(top / os.fsdecode(b"it's \xff\n")),
    ],
    ids=["renamed", "moved to another folder", "folder renamed", "folder renamed to an odd name"],
)
def test_what_only_moved_is_not_embedded_again(filled, clean_build, embedded, move):
    move(filled.workspace)
    report = filled.build()
    assert report.files.moved in (1, 2) and report.files.added == report.files.removed == 0
    assert (report.vectors_written, report.vectors_pending, embedded) == (0, 0, [])
    assert filled.contents() == clean_build(filled)


def test_a_copy_and_a_file_that_returns_are_not_embedded_again(filled, clean_build, embedded):
    (filled.workspace / "copy.md").write_bytes((filled.workspace / "a" / "one.md").read_bytes())
    assert filled.build().vectors_written == 0
    fox = (filled.workspace / "b" / "three.txt").read_bytes()
    (filled.workspace / "b" / "three.txt").unlink()
    filled.build()
    (filled.workspace / "b" / "three.txt").write_bytes(fox)
    assert filled.build().vectors_written == 0
    assert embedded == []
    assert filled.contents() == clean_build(filled)


def test_touching_writes_no_passage_and_embeds_nothing(filled, clean_build, embedded):
    before = versions(filled)
    for path in filled.workspace.rglob("*.*"):
        os.utime(path, ns=(1, 1))
    report = filled.build()
    assert (report.chunks.written, report.vectors_written, embedded) == (0, 0, [])
    assert written_tables(filled, before) == {"sources"}
    assert report.files.unchanged == 3
    assert filled.contents() == clean_build(filled)


def test_of_a_long_file_that_changes_at_its_end_only_the_end_is_embedded_again(home, embedded):
    long = [f"{number} " * 400 for number in range(6)]
    home.write("a.txt", *long)
    home.build()
    at_first = len(embedded)
    embedded.clear()
    home.write("a.txt", *long, "An end.")
    report = home.build()
    assert 0 < report.vectors_written == len(embedded) < at_first / 2


def test_equal_texts_are_embedded_once(home, embedded):
    for number in range(5):
        home.write(f"{number}.txt", "The same words everywhere.")
    assert home.build().vectors_written == 1
    assert len(embedded) == 1
    home.write("later.txt", "The same words everywhere.")
    assert home.build().vectors_written == 0


def test_a_root_with_a_name_of_bytes_is_indexed_and_found(home, folder):
    root = folder / os.fsdecode(b"root \xff'\n")
    root.mkdir()
    (root / os.fsdecode(b"f\xfe.txt")).write_text("The narwhal dives.\n")
    home.library().index(extra_roots=[(root, True)], wait_seconds=0.0)
    (hit,) = home.library().search("narwhal")
    assert hit.text == "The narwhal dives.\n"
    assert home.healthy()


def test_a_run_cancelled_at_any_moment_keeps_what_it_has_done_and_embeds_nothing_twice(
    home, clean_build, embedded, monkeypatch
):
    monkeypatch.setattr(vectors, "ROWS_IN_A_BATCH", 1)
    monkeypatch.setattr(vectors, "SECONDS_BETWEEN_PUBLICATIONS", -1.0)
    for number in range(4):
        home.write(f"{number}.txt", f"The whale of file {number}.")
    asked = 0

    def cancelled_at(last):
        def cancelled():
            nonlocal asked
            asked += 1
            return asked > last

        return cancelled

    for last in range(1, 60):
        asked = 0
        try:
            home.build(cancelled=cancelled_at(last))
            break
        except Cancelled as stop:
            assert "kept" in str(stop)
        if home.library().manifest_or_none() is not None:
            assert len(home.contents().rows) in (1, 2, 3, 4)
    assert last > 4, "never cancelled"
    assert sorted(embedded) == sorted(set(embedded)) and len(embedded) == 4
    assert home.contents() == clean_build(home)
    assert home.healthy()
