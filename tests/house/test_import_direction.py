"""Arrows point down, rooms on one floor do not know each other, and nothing goes round in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import hermes_lance

PACKAGE = Path(hermes_lance.__file__).parent
FLOORS = [("core",), ("store", "parse", "models", "artifacts"), ("ingest", "search", "learn"), ("library",), ("hosts",)]
STAIRCASE = {
    "documents",
    "following",
    "keeping",
    "overview",
    "places",
    "asking",
    "recording",
    "turns",
    "mirroring",
    "plugged",
    "presence",
    "routing",
    "embedding",
    "switching",
    "outbound",
}
"""Files of the library's floor that stand beside `library.py`."""
FLOOR_OF = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}
OUTSIDE = {"__init__", "__main__", "testing", "indexer"}
"""Stand beside the floors: they may import anything, and no room imports them."""

FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(module: str) -> str:
    """The room that a module belongs to; the package front is `__init__`."""
    room = [*module.split("."), "__init__"][1]
    return "library" if room in STAIRCASE else room


def name_of(file: Path, package: Path = PACKAGE) -> str:
    """The dotted name of a module; a package is named by its folder."""
    parts = [package.name, *file.relative_to(package).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, module: str, *, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and absolute name of everything of ours that `source` imports, wherever the import stands.

    `from x import y` gives `x.y`, which is a module or a name in one. Literal `import_module("…")` counts too.
    """
    top = module.split(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                climb = node.level - 1 if is_package else node.level
                parts = module.split(".")
                base = ".".join([*parts[: len(parts) - climb], *([base] if base else [])])
            found = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            named = called in {"import_module", "__import__"} and isinstance(node.args[0].value, str)
            found = [str(node.args[0].value)] if named else []
        else:
            continue
        yield from ((node.lineno, name) for name in found if name == top or name.startswith(f"{top}."))


def offences(source: str, module: str, *, is_package: bool = False) -> list[str]:
    """What is wrong with the imports of one module, as sentences."""
    room = room_of(module)
    if room in OUTSIDE:
        return []
    found = []
    for line, name in imports(source, module, is_package=is_package):
        other = room_of(name)
        if room == "hosts" and name == "hermes_lance.__version__":
            continue
        if other not in FLOOR_OF:
            found.append(f"{module}:{line} imports the package front or what stands beside it ({name})")
        elif other != room and FLOOR_OF[other] >= FLOOR_OF[room]:
            found.append(f"{module}:{line}: {room} must not import {other} ({name})")
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_file_only_imports_lower_floors(file):
    source = file.read_text(encoding="utf-8")
    assert offences(source, name_of(file), is_package=file.name == "__init__.py") == []


def test_every_room_has_a_floor():
    rooms = {room_of(name_of(file)) for file in FILES}
    assert rooms - set(FLOOR_OF) - OUTSIDE == set()


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("hermes_lance.core.words", "from hermes_lance.store import files"),
        ("hermes_lance.core.words", "import hermes_lance.store.files"),
        ("hermes_lance.store.files", "from hermes_lance.parse.media import x"),
        ("hermes_lance.store.files", "from ..search import fuse"),
        ("hermes_lance.store.files", "from .. import search"),
        ("hermes_lance.store.files", "def f():\n    from ..models import minilm"),
        ("hermes_lance.search.fuse", "def f():\n    import hermes_lance.learn.prior as p"),
        ("hermes_lance.search.fuse", "import importlib\nimportlib.import_module('hermes_lance.ingest.walk')"),
        ("hermes_lance.ingest.walk", "from hermes_lance.library import Library"),
        ("hermes_lance.library", "from hermes_lance.hosts.cli import main"),
        ("hermes_lance.hosts.cli.main", "import hermes_lance"),
        ("hermes_lance.hosts.cli.main", "from hermes_lance import open"),
        ("hermes_lance.parse.plain", "from hermes_lance.testing import ParserContract"),
    ],
)
def test_a_planted_violation_is_found(module, line):
    assert len(offences(line, module)) == 1


def test_a_relative_import_in_a_room_front_is_resolved_from_the_room():
    assert offences("from .files import x", "hermes_lance.store", is_package=True) == []
    assert offences("from ..parse import x", "hermes_lance.store", is_package=True) != []


def test_what_is_allowed_is_not_complained_about():
    source = (
        "import os\nfrom hermes_lance.core.errors import ConfigError\nfrom .lock import hold\nfrom ..core import ids"
    )
    assert offences(source, "hermes_lance.store.files") == []
    assert offences("from hermes_lance.library import Library", "hermes_lance") == []


def without_type_checking(source: str) -> str:
    """The source without what stands under `if TYPE_CHECKING:`, which no running program imports."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            node.body = [ast.Pass()]
    return ast.unparse(tree)


def test_no_module_imports_itself_through_others():
    modules = {name_of(file): file for file in FILES}
    graph: dict[str, set[str]] = {}
    for module, file in modules.items():
        source = without_type_checking(file.read_text(encoding="utf-8"))
        names = {name for _, name in imports(source, module, is_package=file.name == "__init__.py")}
        targets = {name if name in modules else name.rpartition(".")[0] for name in names}
        # Every module imports the front, and the front imports the staircase inside a function.
        graph[module] = (targets & set(modules)) - {module, "hermes_lance"}
    graph["hermes_lance"] = set()
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' → '.join(error.args[1])}")
