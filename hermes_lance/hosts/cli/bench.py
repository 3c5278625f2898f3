"""`hermes-lance bench …`: how fast a folder is indexed and asked, on this machine, with the settings of the home."""

from __future__ import annotations

import hashlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hermes_lance.core.errors import UsageError
from hermes_lance.hosts.cli.groups import LazyGroup
from hermes_lance.hosts.cli.interrupt import interruptible
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.cli.progress import Bar
from hermes_lance.hosts.cli.throwaway import existing_folder, throwaway
from hermes_lance.hosts.output import amount, shown, size_words

if TYPE_CHECKING:
    from hermes_lance.library import Library

RUNS = 3
"""Of everything but the build from nothing; medians are shown."""


@click.group("bench", cls=LazyGroup)
def bench() -> None:
    """Measure speed and size. The index of the home is not touched."""


@bench.command("index")
@click.argument("folder", metavar="DIR")
@pass_invocation
def index(invocation: Invocation, folder: str) -> None:
    """Index DIR from nothing, again unchanged, and once more with one new file beside it.

    Below stands the least that any index must do: list the files, and read them. CPU time counts the processes that
    were started too; what is done more than once is shown by its median.
    """
    place = existing_folder(folder)
    with (
        interruptible(invocation),
        Bar(invocation.console, wanted=not invocation.json) as bar,
        throwaway(invocation) as temporary,
    ):
        beside = temporary.folder / "beside"
        beside.mkdir()
        library = temporary.library(place, beside)
        floors = {"walk_stat": repeated(lambda: _walked(place)), "read_hash": repeated(lambda: _hashed(place))}
        report, built = measured(lambda: library.index(progress=bar.progress))
        unchanged = repeated(library.index)
        one_file = median([_with_one_more(library, beside / f"new {number}.md") for number in range(RUNS)])
        state = library.status(files=True)
    indexed = [row for row in state["files_detail"] if row["state"] == "indexed"]
    result = {
        "folder": os.fspath(place),
        "files": len(indexed) - RUNS,
        "bytes": sum(row["bytes"] for row in indexed),
        "chunks": report.chunks.total,
        "embedder": report.embedder,
        "build": built,
        "unchanged": unchanged,
        "one_file": one_file,
        "runs": RUNS,
        "floors": floors,
        "size_bytes": state["size_bytes"],
        "max_rss_bytes": _most_memory(),
    }
    if invocation.json:
        invocation.document(**result)
        return
    console = invocation.console
    what = f"{amount(result['files'], 'file')}, {size_words(result['bytes'])}"
    console.paragraph(f"{shown(os.fspath(place))}: {what}, {amount(report.chunks.total, 'passage')}")
    console.line()
    steps = (
        ("build", built),
        ("unchanged", unchanged),
        ("one new file", one_file),
        ("floor: walk + stat", floors["walk_stat"]),
        ("floor: read + hash", floors["read_hash"]),
    )
    rows = [[name, f"{step['seconds']:.3f}", f"{step['cpu_seconds']:.3f}"] for name, step in steps]
    console.table(["step", "seconds", "CPU seconds"], rows, right=(1, 2))
    console.line()
    memory = result["max_rss_bytes"]
    held = "" if memory is None else f", memory at most {size_words(memory)}"
    console.line(f"Index {size_words(result['size_bytes'])}{held}.")


@bench.command("query")
@click.argument("folder", metavar="DIR")
@click.option("--count", type=click.IntRange(1), default=100, show_default=True, help="Names, and sentences, to ask.")
@pass_invocation
def query(invocation: Invocation, folder: str, count: int) -> None:
    """Index DIR, then ask for names and sentences in it: warm in one process, and cold in a process for each."""
    from hermes_lance.learn.known_items import draw

    place = existing_folder(folder)
    questions = [item.query for item in draw(place, count=count)]
    if not questions:
        raise UsageError(f"{shown(os.fspath(place))}: holds no text to ask for", hint="Name a folder with documents.")
    with (
        interruptible(invocation),
        Bar(invocation.console, wanted=not invocation.json) as bar,
        throwaway(invocation) as temporary,
    ):
        library = temporary.library(place)
        report = library.index(progress=bar.progress)
        modes = {}
        for mode in ("lexical", "hybrid"):
            warm = _warm(library, questions, mode)
            modes[mode] = {**warm, **_cold(invocation, library.dataset, questions[0], mode)}
    if invocation.json:
        invocation.document(
            folder=os.fspath(place),
            chunks=report.chunks.total,
            queries=len(questions),
            embedder=report.embedder,
            modes=modes,
        )
        return
    console = invocation.console
    console.line(f"{amount(len(questions), 'question')} to {amount(report.chunks.total, 'passage')}")
    console.line()
    names = ("p50_ms", "p95_ms", "cold_seconds", "cold_cpu_seconds")
    rows = [[mode, *(f"{found[name]:.2f}" for name in names)] for mode, found in modes.items()]
    console.table(["mode", "p50 ms", "p95 ms", "cold s", "cold CPU s"], rows, right=(1, 2, 3, 4))


def measured(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What `work` returns, its wall time and its CPU time with that of its children."""
    wall, cpu = time.monotonic(), _cpu_seconds()
    result = work()
    return result, {
        "seconds": round(time.monotonic() - wall, 3),
        "cpu_seconds": round(_cpu_seconds() - cpu, 3),
    }


def repeated(work: Callable[[], Any]) -> dict[str, float]:
    """Median wall and CPU time of a few runs of `work`."""
    return median([measured(work)[1] for _ in range(RUNS)])


def median(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """Of each figure over the runs, which all have the same."""
    return {name: round(statistics.median(run[name] for run in runs), 3) for name in runs[0]}


def _with_one_more(library: Library, file: Path) -> dict[str, float]:
    file.write_text(f"# A new file\n\nIt holds the word quintessence and its name, {file.stem}.\n", encoding="utf-8")
    return measured(library.index)[1]


def _files(top: Path) -> Iterator[str]:
    """Files that are not hidden: what any index must look at."""
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in names if not name.startswith("."))


def _walked(top: Path) -> int:
    """Bytes by what the file system says."""
    return sum(os.lstat(file).st_size for file in _files(top))


def _hashed(top: Path) -> int:
    """Bytes that were read and hashed; a file that cannot be read is passed over, as a build does."""
    total = 0
    for file in _files(top):
        if os.path.islink(file) or not os.path.isfile(file):
            continue
        try:
            with open(file, "rb") as opened:
                hashlib.file_digest(opened, "sha256")
                total += opened.tell()
        except OSError:
            continue
    return total


def _cpu_seconds() -> float:
    """Of this process and of its children that have ended; of this process alone where the system cannot tell."""
    try:
        import resource
    except ImportError:
        return time.process_time()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _most_memory() -> int | None:
    """The most bytes of memory this process has held; none where the system cannot tell."""
    try:
        import resource
    except ImportError:
        return None
    # The kernel counts in kilobytes on Linux, in bytes on macOS.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _warm(library: Library, questions: Sequence[str], mode: str) -> dict[str, float]:
    library.search(questions[0], mode=mode)
    times = []
    for question in questions:
        began = time.perf_counter()
        library.search(question, mode=mode)
        times.append(1000 * (time.perf_counter() - began))
    times.sort()
    return {"p50_ms": round(times[len(times) // 2], 3), "p95_ms": round(times[int(len(times) * 0.95)], 3)}


def _cold(invocation: Invocation, dataset: Path, question: str, mode: str) -> dict[str, float]:
    """The median of a few runs of the command line itself, from process start to exit."""
    command = [
        sys.executable,
        "-m",
        "hermes_lance",
        "search",
        "--dataset",
        os.fspath(dataset),
        "--mode",
        mode,
        "--json",
    ]
    for option, value in (("--home", invocation.home), ("--config", invocation.config)):
        command += [option, value] if value else []
    runs = []
    for _ in range(RUNS):
        done, used = measured(lambda: subprocess.run([*command, "--", question], capture_output=True, check=False))
        if done.returncode != 0:
            raise UsageError(f"a search in a new process ended with status {done.returncode}", hint="See `doctor`.")
        runs.append(used)
    return {f"cold_{name}": value for name, value in median(runs).items()}
