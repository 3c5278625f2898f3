"""A home that is being watched in a thread while a test changes its files."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import hermes_lance
from hermes_lance.core.records import FileChange
from hermes_lance.ingest.watch import Followed
from hermes_lance.testing import Contents, contents_of

CONFIG = "knowledgebase:\n  embedders: {active: builtin_hash, builtin_hash: {dims: 64}}\n"
PATIENCE_SECONDS = 30.0
"""A watch that has not done its work by then never will; passing tests do not wait for it."""


def until(holds: Callable[[], Any], what: str = "") -> Any:
    """What `holds` returns once it is true."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (value := holds()):
        assert time.monotonic() < end, what or "never came true"
        time.sleep(0.02)
    return value


@dataclass
class Watched:
    """A home, and the thread that follows it."""

    home: Path
    poll: bool = False
    changes: list[FileChange] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    done: Followed | None = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    @property
    def workspace(self) -> Path:
        return self.home / "workspace"

    @property
    def dataset(self) -> Path:
        return self.home / "knowledgebase" / "indexes"

    def write(self, name: str, text: str) -> Path:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self) -> Watched:
        """Follows from now on; returns when the first look is done."""
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()
        until(lambda: self.errors or hermes_lance.open(self.home).manifest_or_none(), "the first build")
        self.write("started.txt", "The watch has begun.\n")
        self.until_told("indexed", "started.txt")
        self.settle()
        return self

    def _follow(self) -> None:
        try:
            library = hermes_lance.open(self.home)
            self.done = library.watch(
                cancelled=self._stop.is_set,
                changed=lambda change, _: self.changes.append(change),
                say=self.said.append,
                poll=self.poll,
            )
        except BaseException as error:
            self.errors.append(error)

    def until_told(self, kind: str, path: str) -> FileChange:
        """Waits for a change of that kind to be published."""
        until(lambda: self.last(kind, path), f"{kind} {path}; told: {self.changes}; said: {self.said}")
        found = self.last(kind, path)
        assert found is not None
        return found

    def last(self, kind: str, path: str) -> FileChange | None:
        return next((one for one in reversed(self.changes) if (one.kind, one.path) == (kind, path)), None)

    def found(self, words: str) -> list[str]:
        """Paths of files whose passages hold all these words."""
        hits = hermes_lance.open(self.home).search(words, mode="lexical").hits
        return sorted({hit.path for hit in hits if words in hit.text})

    def until_found(self, words: str, *paths: str) -> None:
        until(lambda: self.found(words) == sorted(paths), f"{words!r} in {paths}; it is in {self.found(words)}")

    def settle(self) -> None:
        """Waits until nothing is left to do for the newest state."""

        def settled() -> bool:
            newest = hermes_lance.open(self.home).manifest()
            return not newest.tables_behind and newest.totals["vectors_pending"] == 0

        until(settled, "vectors of everything")

    def stop(self) -> Followed:
        """What the watch did, once the newest state is whole."""
        self.settle()
        self._stop.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_SECONDS)
        assert self.errors == []
        assert self.done is not None
        return self.done

    def contents(self) -> Contents:
        return contents_of(self.dataset)


@pytest.fixture
def make_watched(tmp_path: Path) -> Iterator[Callable[..., Watched]]:
    """Makes homes whose watch has not begun."""
    made: list[Watched] = []

    def make(name: str = "home", more: str = "", **how: Any) -> Watched:
        home = tmp_path / name
        (home / "workspace").mkdir(parents=True)
        (home / "config.yaml").write_text(CONFIG + more, encoding="utf-8")
        made.append(Watched(home, **how))
        return made[-1]

    yield make
    for one in made:
        one._stop.set()
        if one._thread is not None:
            one._thread.join(PATIENCE_SECONDS)


@pytest.fixture
def watched(make_watched: Callable[..., Watched]) -> Watched:
    """A home that is watched, with two files."""
    one = make_watched()
    one.write("docs/plan.md", "# Plan\n\nThe heron waits.\n")
    one.write("docs/notes.txt", "A kestrel hovers.\n")
    return one.start()


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[Watched], Contents]:
    """What one build of the same files gives in a home without a past."""
    number = 0

    def build(like: Watched) -> Contents:
        nonlocal number
        number += 1
        home = tmp_path / f"fresh-{number}"
        home.mkdir()
        text = (like.home / "config.yaml").read_text(encoding="utf-8")
        (home / "config.yaml").write_text(f"workspace: {{path: {like.workspace}}}\n{text}", encoding="utf-8")
        library = hermes_lance.open(home)
        library.index()
        return contents_of(library.dataset)

    return build
