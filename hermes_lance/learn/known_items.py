"""Known items: names and sentences that are certainly somewhere in a folder, with every file that holds them.

Whoever remembers a file's name or a sentence word for word expects it first; these draw such questions from any
folder, the same ones for the same seed.
"""

from __future__ import annotations

import os
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SEED = 7
COUNT = 500
NAME_FILES = 2
"""A name that more files than these bear says too little about which one is meant."""
SENTENCE_WORDS = (8, 20)
SENTENCE_FILE_BYTES = 1024
_ANCHOR_WORDS = 4
_SENTENCE = re.compile(r"(?<![^\s])[A-Z][^.!?\n]*(?:\n[^.!?\n]+)*[.!?](?=\s|\Z)")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*[,;:.!?)\"]*\Z")


@dataclass(frozen=True, slots=True)
class KnownItem:
    """One question. `files` are relative paths with `/`; any of them is a right answer."""

    kind: Literal["name", "sentence"]
    query: str
    files: tuple[str, ...]


def draw(folder: Path, *, count: int = COUNT, seed: int = SEED) -> list[KnownItem]:
    """`count` names, then `count` sentences (fewer where the folder holds fewer)."""
    paths = sorted(_files(folder))
    return [*names(paths, count, seed), *sentences(folder, paths, count, seed)]


def names(paths: Sequence[str], count: int = COUNT, seed: int = SEED) -> list[KnownItem]:
    """File names without suffix that at most `NAME_FILES` files bear."""
    bearers: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        stem = os.path.splitext(path.rpartition("/")[2])[0]
        if any(character.isalnum() for character in stem):
            bearers[stem].append(path)
    rare = sorted(stem for stem, files in bearers.items() if len(files) <= NAME_FILES)
    drawn = random.Random(seed).sample(rare, min(count, len(rare)))
    return [KnownItem("name", stem, tuple(bearers[stem])) for stem in drawn]


def sentences(folder: Path, paths: Sequence[str], count: int = COUNT, seed: int = SEED) -> list[KnownItem]:
    """Sentences of 8 to 20 words, at most one drawn from a file, with all files where they stand word for word."""
    shuffled = list(paths)
    random.Random(seed).shuffle(shuffled)
    drawn: dict[str, None] = {}
    for path in shuffled:
        if len(drawn) == count:
            break
        text = _text(folder, path)
        if len(text.encode("utf-8")) < SENTENCE_FILE_BYTES:
            continue
        # A generator of its own for each file: a new file elsewhere does not change what is drawn from this one.
        found = list(dict.fromkeys(sentences_in(text)))
        if found:
            drawn[random.Random(f"{seed}/{path}").choice(found)] = None
    holders = holding(folder, paths, list(drawn))
    return [KnownItem("sentence", sentence, tuple(holders[sentence])) for sentence in drawn]


def sentences_in(text: str) -> Iterator[str]:
    """Sentences of plain words, blanks and line ends as one blank; from capital letter to full stop."""
    least, most = SENTENCE_WORDS
    for match in _SENTENCE.finditer(text):
        words = match[0].split()
        if least <= len(words) <= most and all(_WORD.match(word) for word in words):
            yield " ".join(words)


def holding(folder: Path, paths: Sequence[str], wanted: Sequence[str]) -> dict[str, list[str]]:
    """For each sentence the files that hold it word for word, whatever blanks and line ends stand between words."""
    # The first word may follow a bracket and the last may be followed by one, so the anchor begins at the second.
    anchors: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for sentence in wanted:
        anchors[tuple(sentence.split()[1 : 1 + _ANCHOR_WORDS])].append(sentence)
    holders: dict[str, list[str]] = {sentence: [] for sentence in wanted}
    for path in paths:
        words = _text(folder, path).split()
        shifted = [words[at:] for at in range(_ANCHOR_WORDS)]
        hit = anchors.keys() & set(zip(*shifted, strict=False))
        if not hit:
            continue
        text = " ".join(words)
        for anchor in hit:
            for sentence in anchors[anchor]:
                if sentence in text:
                    holders[sentence].append(path)
    return holders


def _files(folder: Path) -> Iterator[str]:
    """Relative paths of regular files, but for hidden ones, which an index leaves out."""
    for top, folders, found in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in found:
            path = os.path.join(top, name)
            if not name.startswith(".") and os.path.isfile(path) and not os.path.islink(path):
                yield os.path.relpath(path, folder).replace(os.sep, "/")


def _text(folder: Path, path: str) -> str:
    return (folder / path).read_bytes().decode("utf-8", "replace")
