"""A person who saves, moves and deletes files: random changes to a folder, and what each must lead to.

Only files that an index reads are touched. A save brings a word that no other file has, so that it can be asked for.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_lib.corpus import EDITED_BYTES, EDITED_SUFFIXES, Edit, append, rare_word
from bench_lib.floors import walk

KINDS = {
    "append": 30, "atomic": 25, "new": 15, "delete": 10, "rename": 10, "move": 5, "touch": 3, "copy": 1, "folder": 1,
}  # fmt: skip
"""Kinds of changes with their weights."""
MOST_IN_A_FOLDER = 200
"""Larger folders are not renamed."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change that was made. With an `edit` its sentence must be found at its path."""

    kind: str
    edit: Edit | None = None


class Person:
    """Changes the files of a folder, one act at a time."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self._folder = folder
        least, most = EDITED_BYTES
        self._files = sorted(
            path
            for path, status in walk(str(folder))
            if least <= status.st_size <= most and Path(path).suffix in EDITED_SUFFIXES
        )
        self._words: dict[str, Edit] = {}
        self._number = 0
        self._acts: dict[str, Callable[[], Edit | None]] = {
            "append": self._append, "atomic": self._atomic, "new": self._new, "delete": self._delete,
            "rename": self._rename, "move": self._move, "touch": self._touch, "copy": self._copy,
            "folder": self._rename_folder,
        }  # fmt: skip

    def changes(self, count: int) -> Iterator[Change]:
        """Makes so many changes, each when it is asked for."""
        kinds, weights = list(KINDS), list(KINDS.values())
        for _ in range(count):
            kind = self.random.choices(kinds, weights)[0]
            yield Change(kind, self._acts[kind]())

    def _some(self) -> str:
        return self._files[self.random.randrange(len(self._files))]

    def _word(self, path: str) -> Edit:
        self._number += 1
        edit = self._words[path] = Edit(Path(path), rare_word(self._number))
        return edit

    def _free(self, folder: str, suffix: str) -> str:
        self._number += 1
        return os.path.join(folder, f"file {self._number}{suffix}")

    def _append(self) -> Edit:
        edit = self._word(self._some())
        append(edit)
        return edit

    def _atomic(self) -> Edit:
        """As most editors save: another file is written beside and takes the place of the old one."""
        path = self._some()
        edit = self._word(path)
        folder, name = os.path.split(path)
        beside = os.path.join(folder, f".{name}.{self._number}")
        shutil.copyfile(path, beside)
        append(Edit(Path(beside), edit.word))
        os.replace(beside, path)
        return edit

    def _new(self) -> Edit:
        like = self._some()
        path = self._free(os.path.dirname(like), Path(like).suffix)
        edit = self._word(path)
        text = "".join(f"Line {self.random.random()} of a new file.\n" for _ in range(self.random.randrange(1, 40)))
        Path(path).write_text(f"{text}\n{edit.sentence}\n", encoding="utf-8")
        self._files.append(path)
        return edit

    def _copy(self) -> None:
        like = self._some()
        path = self._free(os.path.dirname(like), Path(like).suffix)
        shutil.copyfile(like, path)
        self._files.append(path)

    def _delete(self) -> None:
        at = self.random.randrange(len(self._files))
        path = self._files.pop(at)
        os.unlink(path)
        self._words.pop(path, None)

    def _rename(self) -> Edit | None:
        return self._moved(os.path.dirname)

    def _move(self) -> Edit | None:
        other = os.path.dirname(self._some())
        return self._moved(lambda _: other)

    def _moved(self, where: Callable[[str], str]) -> Edit | None:
        """A file of which a word is known, if there is one, under another name."""
        known = [path for path in self._words if os.path.exists(path)]
        old = self.random.choice(known) if known else self._some()
        new = self._free(where(old), Path(old).suffix)
        os.rename(old, new)
        self._files[self._files.index(old)] = new
        return self._told(old, new)

    def _told(self, old: str, new: str) -> Edit | None:
        edit = self._words.pop(old, None)
        if edit is None:
            return None
        self._words[new] = moved = Edit(Path(new), edit.word)
        return moved

    def _touch(self) -> None:
        os.utime(self._some())

    def _rename_folder(self) -> None:
        """A folder with all that is in it gets another name."""
        for _ in range(20):
            old = os.path.dirname(self._some())
            inside = [path for path in self._files if path.startswith(old + os.sep)]
            if old != os.fspath(self._folder) and len(inside) <= MOST_IN_A_FOLDER:
                break
        else:
            return
        new = self._free(os.path.dirname(old), "")
        os.rename(old, new)
        for at, path in enumerate(self._files):
            if path.startswith(old + os.sep):
                self._files[at] = new + path[len(old) :]
                self._told(path, self._files[at])
