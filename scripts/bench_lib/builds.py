"""Every step of a folder's life that `bench_build` measures, in fresh processes; figures by the name of the step."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_lib import corpus
from bench_lib.processes import HEAVY, BenchError, Run, product, python, repeated, run

STEPS = ("floors", "text", "vectors", "unchanged", "changed", "running", "edits")
MB = 1e6


@dataclass(slots=True)
class Measured:
    """What one folder gave. `values` has seconds, bytes or ratios of every run, by step and kind (`text cpu`)."""

    name: str
    files: int = 0
    bytes: int = 0
    chunks: int = 0
    edits: int = 0
    values: dict[str, list[float]] = field(default_factory=dict)
    imported: dict[str, list[str]] = field(default_factory=dict)
    sizes: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, step: str, runs: list[Run]) -> None:
        """CPU, wall and memory of runs of one step."""
        for one in runs:
            self.note(f"{step} cpu", one.cpu)
            self.note(f"{step} wall", one.wall)
            if one.largest is not None and one.tree is not None:
                self.note(f"{step} largest", one.largest / MB)
                self.note(f"{step} tree", one.tree / MB)

    def note(self, kind: str, value: float) -> None:
        """One value more."""
        self.values.setdefault(kind, []).append(value)


class Bench:
    """Measures one folder; everything made lies in a temporary folder, the folder itself is only read."""

    def __init__(self, folder: Path, work: Path, *, runs: int, embedder: str, edits: int, say: Callable[[str], None]):
        self.found = Measured(folder.name)
        self._work, self._runs, self._embedder, self._edit_count, self._say = work, runs, embedder, edits, say
        self._copy = corpus.copied(folder, work / "files")
        self._home: Path | None = None
        self._edited = 0

    def measure(self, steps: Collection[str]) -> Measured:
        """The wanted steps, in their order; what a step needs and nobody asked for is made without being measured."""
        counted = json.loads(run(python("-m", "bench_lib.floors", "read", self._copy)).out)
        self.found.files, self.found.bytes = counted["files"], counted["bytes"]
        for step in STEPS:
            if step in steps:
                self._say(f"{self.found.name}: {step}")
                getattr(self, f"_{step}")()
        return self.found

    def _floors(self) -> None:
        for name in ("walk", "read", "tantivy", "parse"):
            command = python("-m", "bench_lib.floors", name, self._copy)
            self.found.add(name, [run(command) for _ in range(self._runs)])

    def _text(self) -> None:
        def one(memory: bool) -> Run:
            home = self._new_home()
            done = run(python("-m", "bench_lib.ours", "text", home), memory=memory)
            told = json.loads(done.out)
            self.found.chunks = told["chunks"]
            # A build that does not tell the moment counts whole.
            self.found.note("text cpu", told["cpu"] or done.cpu)
            self.found.note("text wall", told["wall"] or done.wall)
            self.found.note("text told", float(told["cpu"] is not None))
            self.found.imported["text is searchable"] = told["imported"]
            return done

        self.found.add("tables", repeated(self._runs, one))

    def _vectors(self) -> None:
        runs = 1 if self._embedder == "minilm" else self._runs
        self.found.add("vectors", repeated(runs, self._built))
        self.found.sizes["fresh"] = self._size()

    def _built(self, memory: bool) -> Run:
        self._home = self._new_home()
        return run(product("--home", self._home, "build", "--json"), memory=memory)

    def _unchanged(self) -> None:
        command = product("--home", self._ready(), "build", "--json")
        run(command)
        self.found.add("unchanged", repeated(self._runs, lambda memory: run(command, memory=memory)))
        self.found.imported["nothing changed"] = imports(
            product("--home", self._ready(), "build", options=["-X", "importtime"])
        )

    def _changed(self) -> None:
        home = self._ready()
        for number in range(self._runs):
            edit = next(corpus.edits(self._copy, self._edited))
            self._edited += 1
            self._found_after("changed", home, edit, number == 0)
            new = corpus.Edit(self._copy / f"a new file {number}.md", corpus.rare_word(10_000 + number))
            corpus.append(new)
            self._found_after("new", home, new, False)
            new.path.unlink()
            self._found_after("deleted", home, new, False)

    def _found_after(self, step: str, home: Path, edit: corpus.Edit, memory: bool) -> None:
        """A build and a search, both in new processes, after one file was changed; a deleted one must be gone."""
        began = time.monotonic()
        built = run(product("--home", home, "build", "--quiet"), memory=memory)
        asked = run(product("--home", home, "search", "--json", edit.sentence))
        wall = time.monotonic() - began
        hits = json.loads(asked.out)["hits"]
        first = hits[0]["path"] if hits and edit.word in hits[0]["text"] else None
        if first != (None if step == "deleted" else edit.path.relative_to(self._copy).as_posix()):
            raise BenchError(f"{step}: {edit.word} was looked for in {edit.path} and stands in {first}")
        self.found.add(step, [Run(built.cpu + asked.cpu, wall, "", "", built.largest, built.tree)])
        self.found.note(f"{step} build cpu", built.cpu)

    def _running(self) -> None:
        told = self._ours("running", max(5, self._runs), 2 + 2 * max(5, self._runs))
        self.found.values["running walked"] = told["walked"]
        self.found.values["running named"] = told["named"]

    def _edits(self) -> None:
        if not self._edit_count:
            return
        home = self._ready()
        self.found.sizes.setdefault("fresh", self._size())
        self.found.edits = self._edit_count
        told = self._ours("edits", self._edit_count, self._edit_count)
        self.found.values["edit wall"] = [told["wall"] / told["edits"]]
        # What a user does last is a command too; it may leave upkeep to its end.
        run(product("--home", home, "build", "--quiet"))
        self.found.sizes["edited"] = self._size()

    def _ours(self, step: str, count: int, used: int) -> Any:
        done = run(python("-m", "bench_lib.ours", step, self._ready(), self._copy, count, self._edited))
        self._edited += used
        return json.loads(done.out)

    def _size(self) -> dict[str, Any]:
        dataset = corpus.dataset_of(self._ready())
        return dict(json.loads(run(python("-m", "bench_lib.sizes", dataset)).out))

    def _new_home(self) -> Path:
        place = Path(tempfile.mkdtemp(prefix="home-", dir=self._work))
        return corpus.make_home(place / "home", self._copy, self._embedder)

    def _ready(self) -> Path:
        """The home that is indexed, with vectors."""
        if self._home is None:
            self._built(False)
        assert self._home is not None
        return self._home


def imports(command: list[str]) -> list[str]:
    """Heavy packages that a command of this interpreter (begun with `-X importtime`) imports."""
    lines = run(command).err.splitlines()
    modules = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    return [name for name in HEAVY if name in modules]
