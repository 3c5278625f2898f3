"""The product as a person runs it on one folder: a build, the list of files, the export, and the build once more."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_lib.processes import BenchError, product, run

from check_lib.expect import ABSENT, OUTCOMES, Found, joined

CONFIG = "knowledgebase:\n  embedders: {active: builtin_hash}\n"
"""Vectors of the cheapest kind: this is about reading."""
NOBODY = 65534
AS_USER = Path(__file__).with_name("as_user.py")


@dataclass(frozen=True, slots=True)
class Account:
    """Who runs the product: `user` is none for whoever runs the script."""

    name: str
    user: int | None = None

    @property
    def reads_everything(self) -> bool:
        """Whether the system refuses this user no file."""
        return self.user is None and hasattr(os, "geteuid") and os.geteuid() == 0

    def command(self, words: Sequence[str]) -> list[str]:
        """The command as this account runs it."""
        return list(words) if self.user is None else [sys.executable, "-P", str(AS_USER), str(self.user), *words]

    def unable(self) -> str | None:
        """Why the product cannot be run as this user here; none when it can."""
        try:
            run(self.command([sys.executable, "-P", "-c", "import hermes_lance, pyarrow, lancedb"]), limit=60)
        except BenchError as error:
            return str(error).splitlines()[-1]
        return None


@dataclass(slots=True)
class Ran:
    """What the runs on one folder gave."""

    folder: Path
    files: list[dict[str, Any]]
    """Rows of `status --files`, with the path inside the folder."""
    texts: Mapping[str, str]
    faults: list[str]
    """What does not add up, whatever the expectations are."""
    seconds: float
    cpu: float
    largest: int
    tree: int

    def found(self, path: str) -> Found:
        """What is said of a file: by its own row, or that of a folder above it which was left out as a whole."""
        rows = {row["path"]: row for row in self.files}
        row = rows.get(path)
        parts = path.split("/")
        for cut in range(len(parts) - 1, 0, -1):
            row = row or rows.get("/".join(parts[:cut]) + "/")
        if row is None:
            return Found(path, ABSENT, "nothing is said of it", "")
        return Found(row["path"], OUTCOMES[row["state"]], row["reason"] or "", self.texts.get(row["path"], ""))


def places_for(account: Account, work: Path) -> Path:
    """A new folder in which the account may write."""
    folder = work / account.name.replace(" ", "-")
    folder.mkdir(parents=True)
    if account.user is not None:
        os.chown(folder, account.user, account.user)
    return folder


def copied(source: Path, target: Path) -> Path:
    """A copy that everybody may read."""
    shutil.copytree(source, target)
    for place, _, names in os.walk(target):
        os.chmod(place, 0o755)
        for name in names:
            os.chmod(os.path.join(place, name), 0o644)
    return target


def made_nasty(script: Path, account: Account, target: Path, limit: float) -> Path:
    """The tree that the script makes, made by the account, since the files that it may not read are its own."""
    run(account.command([sys.executable, "-P", str(script), str(target)]), limit=limit)
    return target


def removed(folder: Path) -> None:
    """Takes a folder away, those that their owner may not open included."""
    for place, folders, _ in os.walk(folder):
        for name in folders:
            inner = os.path.join(place, name)
            if not os.path.islink(inner):
                os.chmod(inner, 0o755)
    shutil.rmtree(folder)


def ran(folder: Path, account: Account, place: Path, limit: float) -> Ran:
    """Builds the folder as a lasting root of a new home in `place`, and asks for everything that is known of it."""
    home = place / f"home-of-{folder.name}"
    out = place / f"{folder.name}.jsonl"
    home.mkdir()
    (home / "config.yaml").write_text(CONFIG, encoding="utf-8")
    for made in (home, home / "config.yaml"):
        if account.user is not None:
            os.chown(made, account.user, account.user)
    owner = {"HOME": str(home)}

    def asked(*arguments: object, memory: bool = False) -> tuple[Any, Any]:
        command = account.command(product("--home", home, *arguments, "--json"))
        done = run(command, memory=memory, limit=limit, env=owner)
        return json.loads(done.out), done

    first, done = asked("build", folder, "--recursive", memory=True)
    status, _ = asked("status", "--files")
    asked("export", "chunks", "--format", "jsonl", "-o", out)
    again, _ = asked("build")
    label = next(root["label"] for root in status["roots"] if root["path"] == str(folder))
    files = [{**row, "path": row["path"].removeprefix(f"{label}/")} for row in status["files_detail"]]
    chunks = defaultdict(list)
    with out.open(encoding="utf-8") as lines:
        for line in lines:
            chunk = json.loads(line)
            chunks[chunk["path"]].append(chunk)
    texts = {path: joined(rows) for path, rows in chunks.items()}
    faults = [
        *_sums(first, status, files),
        *_untouched(first, again),
        *_unnamed(folder, {row["path"] for row in files}),
        *(f"{path}: passages of a file that is not listed" for path in chunks.keys() - {row["path"] for row in files}),
        *_counts(files, chunks),
    ]
    return Ran(folder, files, texts, faults, done.wall, done.cpu, done.largest or 0, done.tree or 0)


def _sums(build: Any, status: Any, files: list[dict[str, Any]]) -> Iterator[str]:
    """Every discovered file has one state, and the report of the run, the totals and the list agree."""
    if build["files"]["seen"] != len(files):
        yield f"the build has seen {build['files']['seen']} files, the list names {len(files)}"
    if len({row["path"] for row in files}) != len(files):
        yield "a path is listed twice"
    for state, count in status["files"].items():
        listed = sum(row["state"] == state for row in files)
        if listed != count:
            yield f"{count} files are {state} in the totals, {listed} in the list"
    told = {f"{one['path']}": one for one in build["problems"]}
    label = {row["root"] for row in files}
    left_out = {f"{root}/{row['path']}" for root in label for row in files if row["state"] != "indexed"}
    if told.keys() != left_out:
        yield f"problems and list differ: {sorted(told.keys() ^ left_out)[:3]}"
    for row in files:
        partly = row["state"] == "indexed" and str(row["reason"]).startswith("partial: ")
        if (row["state"] == "indexed") == bool(row["reason"]) and not partly:
            yield f"{row['path']}: {row['state']}, and the reason is {row['reason']!r}"


def _untouched(first: Any, again: Any) -> Iterator[str]:
    """A second build finds nothing to do."""
    files = again["files"]
    if again["generation"] != first["generation"]:
        yield "a second build has published a generation"
    done = {key: files[key] for key in ("added", "changed", "moved", "removed") if files[key]}
    if done or again["chunks"]["written"]:
        yield f"a second build has done something: {done or again['chunks']}"
    if files["seen"] != first["files"]["seen"]:
        yield f"a second build has seen {files['seen']} files, the first {first['files']['seen']}"


def _unnamed(folder: Path, listed: set[str]) -> Iterator[str]:
    """Names on disk of which the list says nothing; what is in a folder that was left out counts as named."""
    for place, folders, names in os.walk(folder):
        inside = os.path.relpath(place, folder)
        prefix = "" if inside == os.curdir else f"{_shown(inside)}/"
        for name in list(folders):
            path = prefix + _shown(name)
            is_folder = stat.S_ISDIR(os.lstat(os.path.join(place, name)).st_mode)
            if is_folder and f"{path}/" in listed:
                folders.remove(name)
            elif not is_folder:
                names.append(name)
        for name in names:
            if prefix + _shown(name) not in listed:
                yield f"{prefix + _shown(name)}: is on disk, and nothing is said of it"


def _counts(files: list[dict[str, Any]], chunks: Mapping[str, list[Any]]) -> Iterator[str]:
    """The number of passages in the list is that of the table."""
    for row in files:
        there = len(chunks.get(row["path"], ()))
        if row["chunks"] != there:
            yield f"{row['path']}: {row['chunks']} passages in the list, {there} in the table"


def _shown(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")
