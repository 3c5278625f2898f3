"""Changing values of `knowledgebase` and `workspace` in the shared `config.yaml`, and nothing else.

Comments, order and quoting of everybody's sections stay; the new text is parsed and compared before it takes the
place of the old file in one rename.
"""

from __future__ import annotations

import errno
import io
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Set
from pathlib import Path
from typing import Any

from hermes_lance.core.config import RootSetting
from hermes_lance.core.errors import ConfigError, DatasetReadOnly, DiskFull, UsageError
from hermes_lance.core.yaml_file import read_yaml

NEW_FILE_MODE = 0o600
"""The host keeps keys in this file, so a new one is for its owner alone."""


def append_root(file: Path, setting: RootSetting) -> None:
    """Add an entry at the end of the list; file, section and list are made where missing."""

    def change(section: Any) -> None:
        _roots_of(section, file).append({"path": setting.path, "recursive": setting.recursive})

    _edit(file, {"knowledgebase": change})


def remove_roots(file: Path, written: Set[str]) -> None:
    """Remove every entry whose path is written so; `UsageError` when the file holds none of them."""

    def change(section: Any) -> None:
        roots = _roots_of(section, file)
        keep = [at for at, entry in enumerate(roots) if _path_of(entry) not in written]
        if len(keep) == len(roots):
            raise UsageError(f"{file}: has no such root; it was set elsewhere")
        for at in reversed(range(len(roots))):
            if at not in keep:
                del roots[at]

    _edit(file, {"knowledgebase": change})


def set_value(file: Path, key: str, value: str | bool) -> None:
    """Set `knowledgebase.<key>`; file and section are made where missing."""
    set_values(file, {f"knowledgebase.{key}": value})


def set_values(file: Path, values: Mapping[str, Any]) -> None:
    """Set keys such as `workspace.enabled` or `knowledgebase.embedders.active`, all of them at once; none removes one.

    File, sections and blocks are made where missing. `ConfigError` where something else than a block is in the way.
    """

    def changing(section: str) -> Callable[[Any], None]:
        mine = {key: value for key, value in values.items() if key.partition(".")[0] == section}

        def change(top: Any) -> None:
            for key, value in mine.items():
                _put(file, top, key, key.split(".")[1:], value)

        return change

    wanted = dict.fromkeys(key.partition(".")[0] for key in values)
    _edit(file, {section: changing(section) for section in wanted})


def _put(file: Path, block: Any, key: str, path: list[str], value: Any) -> None:
    *outer, last = path
    for name in outer:
        if block.get(name) is None:
            if value is None:
                return
            block[name] = type(block)()
        block = block[name]
        if not isinstance(block, dict):
            raise ConfigError(f"{file}: {key} cannot be set, since {name} is not a mapping")
    if value is None:
        block.pop(last, None)
    else:
        block[last] = _written(value)


def _written(value: Any) -> Any:
    """As it goes into the file: a word in quotes, since a bare `off` would be read as false."""
    from ruamel.yaml.scalarstring import SingleQuotedScalarString

    if isinstance(value, str):
        return SingleQuotedScalarString(value)
    if isinstance(value, Mapping):
        return {str(key): _written(one) for key, one in value.items()}
    return [_written(one) for one in value] if isinstance(value, list | tuple) else value


def move_roots(file: Path, written: Set[str], path: str) -> None:
    """Give every entry whose path is written so another path, at its place; `UsageError` when there is none."""

    def change(section: Any) -> None:
        roots = _roots_of(section, file)
        found = [at for at, entry in enumerate(roots) if _path_of(entry) in written]
        if not found:
            raise UsageError(f"{file}: has no such root; it was set elsewhere")
        for at in found:
            if isinstance(roots[at], dict):
                roots[at]["path"] = path
            else:
                roots[at] = path

    _edit(file, {"knowledgebase": change})


def _path_of(entry: Any) -> Any:
    return entry.get("path") if isinstance(entry, dict) else entry


def _edit(file: Path, changes: Mapping[str, Callable[[Any], None]]) -> None:
    """Apply a change to each of our sections, in the file and in what PyYAML reads, and see that both agree."""
    expected = _plain(read_yaml(file))
    target = Path(os.path.realpath(file))
    old = target.read_bytes().decode("utf-8") if target.exists() else ""
    text = old.removeprefix("\ufeff").replace("\r\n", "\n")
    for name, change in changes.items():
        text = _edited(file, text, name, change, expected)
    replace_file(target, (text.replace("\n", "\r\n") if "\r\n" in old else text).encode("utf-8"))


def _edited(file: Path, text: str, name: str, change: Callable[[Any], None], expected: Any) -> str:
    """The text with one section changed; `expected` is changed likewise."""
    change(_section_of(expected, file, name))
    before, section, after = _cut_out(text, name)
    # First only the lines of our own section, so that all others stay byte for byte. The whole file where that does
    # not do: the section leans on an anchor elsewhere, or the file is one flow mapping.
    for kept_before, part, kept_after in ((before, section, after), ("", text, "")):
        new = kept_before + (_round_trip(file, part, name, change) or "") + kept_after
        if _reads_as(new, expected):
            return new
    raise ConfigError(f"{file}: cannot be edited without changing other settings; nothing was changed")


def _cut_out(text: str, name: str) -> tuple[str, str, str]:
    """The text before, in and after a top-level block; an empty block at the end where there is none."""
    lines = text.splitlines(keepends=True)
    start = next((at for at, line in enumerate(lines) if re.match(rf"(['\"]?){name}\1\s*:", line)), None)
    if start is None:
        glue = "" if not text or text.endswith("\n") else "\n"
        return text + glue, "", ""
    end = start + 1
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line.startswith((" ", "- ", "-\n")):
            break
        end = at + 1
    return "".join(lines[:start]), "".join(lines[start:end]), "".join(lines[end:])


def _round_trip(file: Path, text: str, name: str, change: Callable[[Any], None]) -> str | None:
    """The text after the change, comments and quotes kept; none when it is no YAML document of its own."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.error import YAMLError

    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 1 << 20  # long lines are not folded
    mapping, sequence, offset = _indents(text)
    editor.indent(mapping=mapping, sequence=sequence, offset=offset)
    try:
        tree = editor.load(text)
    except YAMLError:
        return None
    if tree is not None and not isinstance(tree, dict):
        raise ConfigError(f"{file}: the top level is not a mapping")
    tree = CommentedMap() if tree is None else tree
    change(_section_of(tree, file, name))
    out = io.StringIO()
    editor.dump(tree, out)
    return out.getvalue()


def _indents(text: str) -> tuple[int, int, int]:
    """Columns of a nested key, of the text of a list item, and of its dash, as the first of each stands."""
    nested = re.search(r"^[^\s#-][^\n]*:[^\S\n]*(?:#[^\n]*)?\n(?:\s*(?:#[^\n]*)?\n)*( +)[^\s#-]", text, re.MULTILINE)
    item = re.search(r"^( *)[^\s#-][^\n]*:[^\S\n]*(?:#[^\n]*)?\n(?:\s*(?:#[^\n]*)?\n)*( *)-( +)\S", text, re.MULTILINE)
    mapping = len(nested[1]) if nested else 2
    offset = max(0, len(item[2]) - len(item[1])) if item else 0
    return mapping, offset + 1 + (len(item[3]) if item else 1), offset


def _section_of(tree: Any, file: Path, name: str) -> Any:
    """The mapping of a section, made where missing."""
    section = tree.get(name)
    if section is None:
        section = tree[name] = type(tree)()
    if not isinstance(section, dict):
        raise ConfigError(f"{file}: {name} must be a mapping")
    return section


def _roots_of(section: Any, file: Path) -> list[Any]:
    """The list of roots in it, made where missing."""
    roots = section.get("roots")
    if roots is None:
        roots = section["roots"] = []
    if not isinstance(roots, list):
        raise ConfigError(f"{file}: knowledgebase.roots must be a list")
    return roots


def _reads_as(text: str, expected: Any) -> bool:
    import yaml

    try:
        return bool(yaml.safe_load(text) == expected)
    except yaml.YAMLError:
        return False


def _plain(value: Any) -> Any:
    """A copy that may be changed."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def replace_file(target: Path, data: bytes) -> None:
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
        if isinstance(error, PermissionError) or error.errno == errno.EROFS:
            raise DatasetReadOnly(f"{target}: cannot be written ({error.strerror})", hint="Check its mode.") from error
        if error.errno == errno.ENOSPC:
            raise DiskFull(f"{target}: no space left") from error
        raise ConfigError(f"{target}: cannot be written ({error.strerror})") from error
