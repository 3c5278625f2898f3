"""The benchmark scripts on a tiny folder: processes measured whole, the split of the disk adds up, tables appear."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

sizes: Any = pytest.importorskip("bench_lib.sizes", reason="the scripts are not beside the tests")
floors: Any = pytest.importorskip("bench_lib.floors")
corpus: Any = pytest.importorskip("bench_lib.corpus")

SENTENCE = "The harbour master of the old town hands out berths at the north quay."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "tiny"
    (top / "code").mkdir(parents=True)
    for number in range(6):
        (top / f"page {number}.md").write_text(f"# Page {number}\n\n" + f"{SENTENCE[:-1]} number {number}.\n" * 30)
    (top / "code" / "berths.py").write_text(
        "def free(harbour):\n    return [one for one in harbour if one.free]\n" * 20
    )
    return top


def python(code: str) -> Any:
    """What a script prints that has the measuring module at hand; in a process of its own, since that one adopts."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json\nfrom bench_lib import processes\n{code}"],
        env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


BUSY = "import time; end = time.process_time() + .2\nwhile time.process_time() < end: pass"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
def test_cpu_of_a_process_that_was_left_running_is_counted():
    left = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BUSY!r}])"
    found = python(f"run = processes.run(processes.python('-c', {left!r}))\nprint(json.dumps(run.cpu))")
    assert found >= 0.2


@pytest.mark.skipif(sys.platform != "linux", reason="sampled from /proc")
def test_memory_is_that_of_the_tree_and_of_its_largest_process():
    child = "x = bytearray(60_000_000); import time; time.sleep(.4)"
    both = f"import subprocess, sys; x = bytearray(30_000_000); subprocess.run([sys.executable, '-c', {child!r}])"
    found = python(
        f"run = processes.run(processes.python('-c', {both!r}), memory=True)\n"
        "print(json.dumps({'largest': run.largest, 'tree': run.tree}))"
    )
    assert 60_000_000 < found["largest"] < 90_000_000 < found["tree"]


def test_a_command_that_fails_gives_no_figure():
    found = python(
        "try:\n    processes.run(processes.python('-c', 'raise SystemExit(3)'))\n"
        "except processes.BenchError as error:\n    print(json.dumps(str(error)))"
    )
    assert "status 3" in found


def test_floors_look_at_every_file_that_is_not_hidden(folder, tmp_path):
    (folder / ".hidden").write_text("nothing")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and file.name[0] != ".")
    assert floors.main("walk", str(folder)) == floors.main("read", str(folder)) == {"files": 7, "bytes": size}
    assert floors.main("parse", str(folder))["files"] == 1
    (folder / "long.txt").write_text("x" * 4_000)
    assert floors.main("tantivy", str(folder))["windows"] >= 7 + 3


def test_the_split_of_the_disk_adds_up_to_all_files(folder, tmp_path):
    import hermes_lance
    from hermes_lance.store.compact import pin

    home = corpus.make_home(tmp_path / "home", folder, "builtin_hash")
    library = hermes_lance.open(home)
    library.index()
    corpus.append(next(corpus.edits(folder)))
    library.index()
    found = sizes.measure(corpus.dataset_of(home))
    files = [file for file in corpus.dataset_of(home).rglob("*") if file.is_file()]
    assert sum(found.parts.values()) == found.total
    assert found.total == sum({file.stat().st_ino: file.stat().st_size for file in files}.values())
    assert all(found.parts[part] > 0 for part in ("lance text", "lance vectors", "mapped text", "tantivy"))
    assert found.ratio == found.total / found.needed.total
    pin(corpus.dataset_of(home), library.manifest().id)
    assert sizes.measure(corpus.dataset_of(home)).total == found.total


def script(name: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / name), *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_builds_of_a_tiny_folder_are_measured(folder, tmp_path):
    file = tmp_path / "figures.json"
    steps = [part for step in ("floors", "text", "running", "edits") for part in ("--step", step)]
    out = script("bench_build", folder, "--runs", 1, "--edits", 1, "--json", file, *steps)
    assert "text searchable, CPU s" in out and "disk after edits, MB" in out
    (figures,) = json.loads(file.read_text())
    assert (figures["name"], figures["files"]) == ("tiny", 7)
    assert figures["values"]["tables cpu"][0] > 0 and len(figures["values"]["running named"]) == 5


@pytest.mark.slow
def test_questions_to_a_tiny_folder_are_measured(folder, tmp_path):
    file = tmp_path / "figures.json"
    arguments = ("--embedder", "tiny=builtin_hash", "--runs", 1, "--queries", 6, "--cold", 2, "--rows", 1_500)
    out = script("bench_search", folder, *arguments, "--step", "cold", "--step", "warm", "--json", file)
    assert "warm hybrid, p50 ms" in out
    (figures,) = json.loads(file.read_text())
    parts = [figures["values"][f"raw {what} p50"][0] for what in ("model", "tantivy", "scan")]
    assert all(part > 0 for part in parts)


@pytest.mark.slow
def test_vectors_of_a_tiny_folder_are_measured(folder):
    assert "texts a CPU second" in subprocess.run(
        [sys.executable, str(SCRIPTS / "bench_vectors"), str(folder)], capture_output=True, text=True, timeout=300
    ).stdout  # fmt: skip
