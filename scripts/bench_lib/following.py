"""A folder that is followed by `hermes-lance watch` while it changes, and a process that asks for what was saved.

As a process of its own (`python -m bench_lib.following STEP …`): `ask HOME` reads one JSON object a line (sentence,
path, moment of the monotonic clock, which all processes share) and answers with the seconds until a search found it;
`large HOME FILE` measures what a large file costs; `same HOME HOME` compares two datasets.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_lib import corpus
from bench_lib.processes import BenchError, environment, product, python, run
from bench_lib.saves import Person

PATIENCE_SECONDS = 60.0
QUIET_SECONDS = 16.0
SEED = 11
LONGEST_BURST = 8
"""Changes that follow each other without a pause."""
LONGEST_PAUSE_SECONDS = 0.3
LARGE_PASSAGES = 5_000


@dataclass(slots=True)
class Told:
    """What one folder gave. Seconds; bytes."""

    name: str
    files: int = 0
    chunks: int = 0
    changes: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    found: list[float] = field(default_factory=list)
    """From the end of a save until a searching process found it."""
    first_look: float = 0.0
    stopped: float = 0.0
    watch_cpu: float = 0.0
    memory: int = 0
    """Peak resident set of the watch, bytes."""
    publications: int = 0
    before: int = 0
    most: int = 0
    after: int = 0
    """Bytes of the dataset: before, the most while it was watched, at the end."""
    same: str = ""
    """Empty when the dataset equals a fresh build; else where they differ."""
    large: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By embedder: in the dataset that was watched with the quick one, alone with the default one."""


class Bench:
    """Follows one folder; everything made lies in a temporary folder, the folder itself is only read."""

    def __init__(self, folder: Path, work: Path, *, changes: int, samples: int, say: Callable[[str], None]) -> None:
        self.told = Told(folder.name, changes=changes)
        self._work, self._changes, self._samples, self._say = work, changes, samples, say
        self._copy = corpus.copied(folder, work / "files")
        self._home = corpus.make_home(work / "home", self._copy, "builtin_hash")

    def measure(self, *, large: bool = True) -> Told:
        """The build, the changes under a watch, the comparison with a fresh build, and the large file."""
        self._say(f"{self.told.name}: building")
        built = json.loads(run(product("--home", self._home, "build", "--json")).out)
        self.told.files, self.told.chunks = built["files"]["added"], built["chunks"]["total"]
        self.told.before = self._size()
        self._say(f"{self.told.name}: {self.told.chunks:,} passages; changing files")
        self._followed()
        self._say(f"{self.told.name}: comparing with a fresh build")
        fresh = corpus.make_home(self._work / "fresh", self._copy, "builtin_hash")
        run(product("--home", fresh, "build", "--quiet"))
        self.told.same = json.loads(run(python("-m", "bench_lib.following", "same", self._home, fresh)).out)
        self.told.after = self._size()
        if large:
            self._large("builtin_hash", self._home, self._copy)
            alone = self._work / "alone"
            alone.mkdir()
            self._large("minilm", corpus.make_home(self._work / "large", alone, "minilm"), alone)
        return self.told

    def _large(self, embedder: str, home: Path, folder: Path) -> None:
        self._say(f"{self.told.name}: a file of {LARGE_PASSAGES:,} passages, vectors by {embedder}")
        command = python("-m", "bench_lib.following", "large", home, folder / "a large file.txt", LARGE_PASSAGES)
        self.told.large[embedder] = json.loads(run(command).out)

    def _size(self) -> int:
        return bytes_of(corpus.dataset_of(self._home))

    def _followed(self) -> None:
        began, before = time.monotonic(), self._generation()
        said = self._work / "watch.txt"
        with said.open("wb") as out:
            watch = subprocess.Popen(
                product("--home", self._home, "watch"),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment(),
            )
        try:
            self._until(lambda: "following" in said.read_text("utf-8"), "the first look")
            self.told.first_look = time.monotonic() - began
            with _Asking(self._home) as asking:
                self._change(asking)
            self._until(self._quiet, "the end of all work")
            self.told.memory = peak_of(watch.pid)
            asked = time.monotonic()
            watch.send_signal(signal.SIGINT)
            _, status, used = os.wait4(watch.pid, 0)
            self.told.stopped = time.monotonic() - asked
            watch.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if watch.returncode is None:
                watch.kill()
                watch.wait()
        self.told.watch_cpu = used.ru_utime + used.ru_stime
        self.told.publications = self._generation() - before
        if watch.returncode != 130:
            raise BenchError(f"watch ended with {watch.returncode}: {said.read_text('utf-8')[-2000:]}")

    def _generation(self) -> int:
        return int((corpus.dataset_of(self._home) / "CURRENT").read_text("ascii"))

    def _change(self, asking: _Asking) -> None:
        person = Person(self._copy, SEED)
        every = max(1, self._changes // max(1, self._samples))
        burst = 0
        for number, change in enumerate(person.changes(self._changes)):
            self.told.kinds[change.kind] = self.told.kinds.get(change.kind, 0) + 1
            moment = time.monotonic()
            if change.edit is not None and number % every == 0:
                path = change.edit.path.relative_to(self._copy).as_posix()
                self.told.found.append(asking.seconds(change.edit.sentence, path, moment))
            elif burst <= 0:
                burst = person.random.randrange(1, LONGEST_BURST + 1)
                time.sleep(person.random.random() * LONGEST_PAUSE_SECONDS)
            burst -= 1
            if number % 50 == 49:
                self.told.most = max(self.told.most, self._size())
                self._say(f"{self.told.name}: {number + 1} changes")

    def _until(self, holds: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE_SECONDS * 4
        while not holds():
            if time.monotonic() > end:
                raise BenchError(f"waited in vain for {what}")
            time.sleep(0.2)

    def _quiet(self) -> bool:
        """The pointer has not moved for longer than a watch waits for its look."""
        return time.time() - (corpus.dataset_of(self._home) / "CURRENT").stat().st_mtime > QUIET_SECONDS


def peak_of(pid: int) -> int:
    """Peak resident set of a process in bytes (`VmHWM`); zero where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:")), 0)


def bytes_of(folder: Path) -> int:
    """Of all files, each once whatever its names; those that go meanwhile do not count."""
    sizes: dict[int, int] = {}
    for top, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                status = os.stat(os.path.join(top, name))
                sizes[status.st_ino] = status.st_size
    return sum(sizes.values())


class _Asking:
    """A process that searches, which is told what was saved."""

    def __init__(self, home: Path) -> None:
        self._process = subprocess.Popen(
            python("-m", "bench_lib.following", "ask", home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            text=True,
        )

    def __enter__(self) -> _Asking:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE_SECONDS)

    def seconds(self, sentence: str, path: str, moment: float) -> float:
        """From the moment until the sentence was found in that file."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([sentence, path, moment]) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or "null")
        if not isinstance(answer, float):
            raise BenchError(f"{path}: saved and never found by {sentence!r}")
        return answer


def ask(home: str) -> None:
    """Answers each line with seconds, or null after a minute."""
    import hermes_lance

    library = hermes_lance.open(home)
    for line in sys.stdin:
        sentence, path, moment = json.loads(line)
        spent: float | None = None
        while time.monotonic() - moment < PATIENCE_SECONDS:
            hits = library.search(sentence).hits
            if any(hit.path == path and sentence in hit.text for hit in hits):
                spent = time.monotonic() - moment
                break
            time.sleep(0.02)
        print(json.dumps(spent), flush=True)


def large(home: str, file: str, passages: str) -> dict[str, Any]:
    """Seconds, CPU seconds and publications of a large file in a running process: indexed, one paragraph changed in a
    copy that takes its place, deleted."""
    import hermes_lance

    target, count = Path(file), int(passages)
    library = hermes_lance.open(home)
    paragraphs = [f"Paragraph {number}. " + f"The tide of day {number} is noted here. " * 55 for number in range(count)]
    small = target.with_name("a small file.txt")
    small.write_text("A small file.\n")
    library.index(only_paths=[small])  # what a process loads once belongs to its start
    told: dict[str, Any] = {}

    def step(name: str) -> None:
        wall, cpu = time.monotonic(), sum(os.times()[:2])
        report = library.index(only_paths=[target])
        told[name] = {
            "wall": time.monotonic() - wall,
            "cpu": sum(os.times()[:2]) - cpu,
            "published": report.published,
            "written": report.chunks.written,
            "embedded": report.vectors_written,
        }

    target.write_text("\n\n".join(paragraphs) + "\n")
    step("indexed")
    paragraphs[count // 2] = "Another paragraph stands here now. " * 50
    beside = target.with_name(".a large file.new")
    beside.write_text("\n\n".join(paragraphs) + "\n")
    os.replace(beside, target)
    step("one paragraph changed")
    target.unlink()
    step("deleted")
    small.unlink()
    library.index(only_paths=[small])
    return told


def same(one: str, other: str) -> str:
    """Empty where two datasets hold the same files, passages and vectors; else the first differences."""
    from hermes_lance.testing import contents_of

    left, right = (contents_of(corpus.dataset_of(Path(home))) for home in (one, other))
    wrong = []
    for name in ("files", "rows", "vectors"):
        ours, theirs = getattr(left, name), getattr(right, name)
        for key in sorted(ours.keys() | theirs.keys()):
            if ours.get(key) != theirs.get(key):
                wrong.append(f"{name} {key}: {ours.get(key)!r:.400} / {theirs.get(key)!r:.400}")
    return f"{len(wrong)} differences: " + "; ".join(wrong[:3]) if wrong else ""


if __name__ == "__main__":
    step, *given = sys.argv[1:]
    if step == "ask":
        ask(*given)
    else:
        print(json.dumps(large(*given) if step == "large" else same(*given)))
