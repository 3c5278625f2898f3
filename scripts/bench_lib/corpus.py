"""A folder to be measured, a copy of it that may be changed, and homes that index one or the other."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_lib import floors

SEED = 7
EDITED_BYTES = (1 << 10, 40 << 10)
EDITED_SUFFIXES = frozenset({
    ".c", ".css", ".cpp", ".go", ".h", ".html", ".java", ".js", ".json", ".md", ".pl", ".pm", ".pod", ".py", ".rs",
    ".rst", ".sh", ".toml", ".txt", ".yaml", ".yml",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Edit:
    """A file that was changed, and a word that stands in no other file."""

    path: Path
    word: str

    @property
    def sentence(self) -> str:
        """What was added, and what is asked for: word for word, as someone would who remembers it."""
        return f"The word {self.word} was added on a quiet evening."


def make_home(home: Path, workspace: Path, embedder: str) -> Path:
    """A home whose workspace is a folder elsewhere; nothing is indexed yet."""
    home.mkdir(parents=True)
    lines = f"workspace:\n  path: {workspace}\nknowledgebase:\n  embedders:\n    active: {embedder}\n"
    (home / "config.yaml").write_text(lines, encoding="utf-8")
    return home


def dataset_of(home: Path) -> Path:
    """Where a home that `make_home` made has its dataset."""
    return home / "knowledgebase" / "indexes"


def copied(folder: Path, into: Path) -> Path:
    """A copy that may be changed, times of the files kept."""
    shutil.copytree(folder, into)
    return into


def rare_word(number: int) -> str:
    """A word of letters only that no text holds, another one for every number."""
    letters = ""
    for _ in range(4):
        number, at = divmod(number, 20)
        letters += "bcdfghjklmnpqrstvwxz"[at]
    return f"qvu{letters}ozk"


def edits(copy: Path, first: int = 0) -> Iterator[Edit]:
    """Appends a sentence with a rare word to one file after the other, drawn with a fixed seed; endless."""
    least, most = EDITED_BYTES
    fit = sorted(
        path
        for path, status in floors.walk(str(copy))
        if least <= status.st_size <= most and Path(path).suffix in EDITED_SUFFIXES
    )
    if not fit:
        fit = sorted(path for path, _ in floors.walk(str(copy)))
    drawn = random.Random(SEED).sample(fit, len(fit))
    number = first
    while True:
        edit = Edit(Path(drawn[number % len(drawn)]), rare_word(number))
        append(edit)
        yield edit
        number += 1


def append(edit: Edit) -> None:
    """The sentence at the end of the file."""
    with edit.path.open("a", encoding="utf-8") as file:
        file.write(f"\n{edit.sentence}\n")


def kept_home(keep: Path, folder: Path, embedder: str, build: Callable[[Path], object], kind: str = "") -> Path:
    """The home of a folder and an embedder below `keep`, indexed by `build` where it is not there yet; one of its own
    for each `kind` of index."""
    home = keep / "-".join(filter(None, (folder.name, embedder, kind)))
    if not (dataset_of(home) / "CURRENT").exists():
        shutil.rmtree(home, ignore_errors=True)
        build(make_home(home, folder, embedder))
    return home
