"""Plugins that are folders of one home: `plugins/workspace/<category>/<name>/` with `__init__.py` and `plugin.yaml`.

Only the folder of a home is looked at, never a project, a root or the current folder. A folder is code that runs as the
user, so one that others may write to, or that leads out of the home by a link, is refused before it is read.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from hermes_lance.core.errors import PluginFailed
from hermes_lance.core.yaml_file import read_yaml

PLACE = ("plugins", "workspace")
"""Where the folders of a home stand."""
_loading = threading.RLock()


@dataclass(frozen=True, slots=True)
class Folder:
    """One plugin on disk; nothing of it has been read yet."""

    category: str
    name: str
    """As the configuration names it: lower case, `_` for `-`."""
    path: Path

    @property
    def init(self) -> Path:
        """The file that is run."""
        return self.path / "__init__.py"

    @property
    def about(self) -> dict[str, str]:
        """What `plugin.yaml` says: description, version and the like; empty without that file."""
        file = self.path / "plugin.yaml"
        return {str(key): str(value) for key, value in read_yaml(file).items()} if file.is_file() else {}


def folders(home: Path, category: str) -> list[Folder]:
    """The plugins of a category in a home, by name. Folders that begin with `_` or `.` are none."""
    place = home.joinpath(*PLACE, category)
    try:
        names = os.listdir(place)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise PluginFailed(f"{place}: {error.strerror}", hint="Make the folder readable.") from error
    found = [
        Folder(category, _normal(name), place / name)
        for name in names
        if not name.startswith(("_", ".")) and (place / name).is_dir()
    ]
    return sorted(found, key=lambda one: (one.name, one.path.name))


def folder(home: Path, category: str, name: str) -> Folder | None:
    """The plugin of that name; `PluginFailed` where two folders would answer to it."""
    fitting = [one for one in folders(home, category) if one.name == name]
    if len(fitting) > 1:
        both = " and ".join(one.path.name for one in fitting)
        raise PluginFailed(f"plugin {name} ({category}): the folders {both} have the same name", hint="Rename one.")
    return fitting[0] if fitting else None


def _normal(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def load(found: Folder, home: Path) -> ModuleType:
    """The module of a plugin, run once for each state of its files. Raises `PluginFailed` where it is not trusted;
    whatever the code itself raises passes through."""
    stamp = tuple(_trusted(found, home))
    with _loading:
        name = _module_name(found.path.resolve(), stamp)
        known = sys.modules.get(name)
        return known if known is not None else _run(name, found)


def _run(name: str, found: Folder) -> ModuleType:
    loader = _Source(name, str(found.init))
    spec = spec_from_file_location(name, found.init, loader=loader, submodule_search_locations=[str(found.path)])
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        for part in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
            del sys.modules[part]
        raise
    return module


class _Source(SourceFileLoader):
    """Always compiles the source: a stored compilation goes by whole seconds, and an edit may be quicker."""

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.get_data(self.path), self.path, "exec", dont_inherit=True)


def _module_name(path: Path, stamp: tuple[tuple[str, int, int], ...]) -> str:
    """Bound to the place, so that homes of one process never share a plugin, and to the files as they are now."""
    import hashlib

    key = hashlib.sha256(repr((os.fspath(path), stamp)).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"hermes_lance_plugin_{key}"


def _trusted(found: Folder, home: Path) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of every file of a plugin, once each is known to be nobody else's."""
    top = home.resolve()
    meant = top.joinpath(*PLACE, found.category, found.path.name)
    if found.path.resolve() != meant:
        raise _refused(found, f"{found.path} is a link that leads out of {top}", "Put the folder itself there.")
    if not found.init.is_file():
        raise _refused(found, f"{found.path} has no __init__.py", "Add it, or remove the folder.")
    for folder in (meant, *meant.parents):
        if folder == top:
            break
        _check_mode(found, folder, os.lstat(folder))
    for place, names, files in os.walk(meant):
        for name in sorted([*names, *files]):
            path = Path(place, name)
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                if not path.resolve().is_relative_to(meant):
                    raise _refused(found, f"{path} is a link that leads out of the plugin", "Copy the file there.")
                continue
            _check_mode(found, path, status)
            if name in files and "__pycache__" not in path.parts:
                yield str(path.relative_to(meant)), status.st_size, status.st_mtime_ns


def _check_mode(found: Folder, path: Path, status: os.stat_result) -> None:
    if os.name == "posix" and status.st_mode & stat.S_IWOTH:
        raise _refused(found, f"{path} can be written by everybody", f"Run `chmod o-w '{path}'` once you trust it.")


def _refused(found: Folder, why: str, hint: str) -> PluginFailed:
    return PluginFailed(f"plugin {found.name} ({found.category}) is not loaded: {why}", hint=hint)
