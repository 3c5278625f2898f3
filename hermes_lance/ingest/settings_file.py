"""Changing `knowledgebase.roots` in the shared `config.yaml`, and nothing else in it.

Comments, order and quoting of everybody's sections stay; the new text is parsed and compared before it takes the
place of the old file in one rename.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Set
from pathlib import Path
from typing import Any

from hermes_lance.core.config import RootSetting, read_yaml
from hermes_lance.core.errors import ConfigError, DatasetReadOnly, DiskFull, UsageError

NEW_FILE_MODE = 0o600
"""The host keeps keys in this file, so a new one is for its owner alone."""


def append_root(file: Path, setting: RootSetting) -> None:
    """Add an entry at the end of the list; file, section and list are made where missing."""

    def change(roots: list[Any]) -> None:
        roots.append({"path": setting.path, "recursive": setting.recursive})

    _edit(file, change)


def remove_roots(file: Path, written: Set[str]) -> None:
    """Remove every entry whose path is written so; `UsageError` when the file holds none of them."""

    def change(roots: list[Any]) -> None:
        keep = [at for at, entry in enumerate(roots) if _path_of(entry) not in written]
        if len(keep) == len(roots):
            raise UsageError(f"{file}: has no such root; it was set elsewhere")
        for at in reversed(range(len(roots))):
            if at not in keep:
                del roots[at]

    _edit(file, change)


def _path_of(entry: Any) -> Any:
    return entry.get("path") if isinstance(entry, dict) else entry


def _edit(file: Path, change: Callable[[list[Any]], None]) -> None:
    """Apply `change` to the list of roots, in the file and in what PyYAML reads, and see that both agree."""
    expected = _plain(read_yaml(file))
    target = Path(os.path.realpath(file))
    old = target.read_bytes().decode("utf-8") if target.exists() else ""
    new = _rewritten(file, old, change)
    change(_roots_of(expected, file))
    _check(file, new, expected)
    _replace(target, new.encode("utf-8"))


def _rewritten(file: Path, old: str, change: Callable[[list[Any]], None]) -> str:
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.util import load_yaml_guess_indent

    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 1 << 20  # long lines are not folded
    text = old.removeprefix("\ufeff")
    try:
        _, indent, offset = load_yaml_guess_indent(text)
        editor.indent(mapping=2, sequence=(indent or 2), offset=(offset or 0))
        tree = editor.load(text)
    except YAMLError as error:
        raise ConfigError(f"{file}: cannot be edited ({str(error).splitlines()[0]})") from error
    tree = CommentedMap() if tree is None else tree
    change(_roots_of(tree, file))
    out = io.StringIO()
    editor.dump(tree, out)
    new = out.getvalue()
    # A file of comments alone has no node to hold them.
    new = new if any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()) else text + new
    return new.replace("\n", "\r\n") if "\r\n" in old else new


def _roots_of(tree: Any, file: Path) -> list[Any]:
    """The list at `knowledgebase.roots`, made where missing."""
    section = tree.get("knowledgebase")
    if section is None:
        section = tree["knowledgebase"] = type(tree)()
    if not isinstance(section, dict):
        raise ConfigError(f"{file}: knowledgebase must be a mapping")
    roots = section.get("roots")
    if roots is None:
        roots = section["roots"] = []
    if not isinstance(roots, list):
        raise ConfigError(f"{file}: knowledgebase.roots must be a list")
    return roots


def _check(file: Path, text: str, expected: Any) -> None:
    import yaml

    try:
        read = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{file}: the edited text would not be valid YAML; nothing was changed") from error
    if read != expected:
        raise ConfigError(f"{file}: cannot be edited without changing other settings; nothing was changed")


def _plain(value: Any) -> Any:
    """A copy that may be changed."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _replace(target: Path, data: bytes) -> None:
    """Put the bytes in the place of the file at once, with its mode; a reader sees the old or the new file."""
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o7777 if target.exists() else NEW_FILE_MODE
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, PermissionError) or error.errno == 30:
            raise DatasetReadOnly(f"{target}: cannot be written ({error.strerror})", hint="Check its mode.") from error
        if error.errno == 28:
            raise DiskFull(f"{target}: no space left") from error
        raise ConfigError(f"{target}: cannot be written ({error.strerror})") from error
