"""Runs commands and says what they took: wall time, CPU time of every process they started, memory at its peak.

CPU time is user + system as `wait4` gives it. Processes that a command leaves running are adopted (Linux: child
subreaper), waited for and counted, so that nothing can be put off into the background unseen; wall time ends with the
command itself. Memory is sampled from `/proc`, since `ru_maxrss` begins with the size of whoever started the process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
CHECKOUTS = [TOP]
"""The last one is measured: another one can be given, so that before and after are compared by the same script."""
SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER` of prctl(2)."""
HEAVY = ("lancedb", "pyarrow", "onnxruntime", "polars", "pandas")
"""Packages that a command without need of them may not import; `lancedb` alone costs a second."""
LEFT_RUNNING_SECONDS = 300.0
SAMPLE_SECONDS = 0.05


class BenchError(Exception):
    """A measured command failed, so that its figures mean nothing."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command. Seconds and bytes; memory is none when it was not sampled."""

    cpu: float
    wall: float
    out: str
    err: str
    largest: int | None = None
    """Peak resident set of the largest process (`VmHWM`: mapped files that it touched count)."""
    tree: int | None = None
    """Highest sum over all processes at one moment, shared pages shared out (PSS)."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Median of several values, with the least and the greatest."""

    median: float
    least: float
    most: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of at least one value."""
        return cls(statistics.median(values), min(values), max(values), len(values))


def environment() -> dict[str, str]:
    """The caller's environment without settings of the product; this checkout and this folder can be imported."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES_", "PYTHON"))}
    places = [os.fspath(CHECKOUTS[-1]), os.fspath(TOP / "scripts")]
    return {**kept, "PYTHONPATH": os.pathsep.join(places), "HERMES_HOME": os.fspath(TOP / "no-home")}


def python(*arguments: object, options: Sequence[str] = ()) -> list[str]:
    """A command of this interpreter; as for installed commands, the current folder is no place for modules."""
    return [sys.executable, "-P", *options, *map(str, arguments)]


def product(*arguments: object, options: Sequence[str] = ()) -> list[str]:
    """The command line of the product, as `python -m`."""
    return python("-m", "hermes_lance", *arguments, options=options)


def run(
    command: Sequence[str],
    *,
    memory: bool = False,
    env: Mapping[str, str] | None = None,
    limit: float | None = None,
) -> Run:
    """Runs a command to its end. Raises `BenchError` when it fails; reaps every child of this process meanwhile.

    After `limit` seconds it and what it has started are killed, which is a failure too.
    """
    _adopt()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**environment(), **(env or {})},
            cwd=tempfile.gettempdir(),
            start_new_session=limit is not None,
        )
        with _Sampler(process.pid) if memory else contextlib.nullcontext() as sampler, _ended_after(process.pid, limit):
            _, status, used = os.wait4(process.pid, 0)
            wall = time.monotonic() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            cpu = used.ru_utime + used.ru_stime + _left_running()
        out.seek(0)
        err.seek(0)
        told, complained = out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")
    if process.returncode != 0:
        raise BenchError(f"{' '.join(command)}\nended with status {process.returncode}\n{complained[-2000:]}")
    peaks = (sampler.largest, sampler.tree) if sampler is not None else (None, None)
    return Run(cpu, wall, told, complained, *peaks)


@contextlib.contextmanager
def _ended_after(group: int, seconds: float | None) -> Iterator[None]:
    """Kills a group of processes when the time is over; none: never."""
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, _kill_group, [group])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it ended at this very moment
        os.killpg(group, signal.SIGKILL)


def repeated(count: int, one: Callable[[bool], Run]) -> list[Run]:
    """`count` runs of `one`, which is told whether to sample memory: in the first run only, so that it costs no CPU in
    most of them."""
    return [one(number == 0) for number in range(count)]


def tree_cpu() -> float:
    """CPU seconds up to now of this process, of its children that ended, and of those that still run."""
    total = sum(os.times()[:4])
    for pid in _descendants(os.getpid()):
        with contextlib.suppress(OSError, ValueError):
            numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, numbers[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def _adopt() -> None:
    """Makes orphans of our children our own, where the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def _left_running() -> float:
    """CPU seconds of what a command left running, after its end."""
    cpu, deadline = 0.0, time.monotonic() + LEFT_RUNNING_SECONDS
    while True:
        try:
            pid, _, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return cpu
        if pid:
            cpu += used.ru_utime + used.ru_stime
        elif time.monotonic() > deadline:
            raise BenchError(f"a process is still running {LEFT_RUNNING_SECONDS:.0f} s after the command that began it")
        else:
            time.sleep(0.01)


def _descendants(pid: int) -> Iterator[int]:
    """Living processes below `pid`."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        try:
            children = Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            yield child
            yield from _descendants(child)


class _Sampler:
    """Watches a process and those below it from a thread."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.largest = self.tree = 0

    def __enter__(self) -> _Sampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            tree = 0
            for pid in [self._pid, *_descendants(self._pid)]:
                self.largest = max(self.largest, _kilobytes(f"/proc/{pid}/status", "VmHWM:"))
                tree += _kilobytes(f"/proc/{pid}/smaps_rollup", "Pss:")
            self.tree = max(self.tree, tree)


def _kilobytes(file: str, name: str) -> int:
    """Bytes of a field of a file in /proc; 0 when the process has gone."""
    try:
        with open(file, encoding="ascii", errors="replace") as lines:
            for line in lines:
                if line.startswith(name):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass  # The process ended between two samples: it holds no memory any more.
    return 0
