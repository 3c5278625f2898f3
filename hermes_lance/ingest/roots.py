"""The folders whose files are indexed: which they are, how paths name files in them, adding and removing them.

Rows are keyed by root and relative path; a label only makes that readable, and never equals a name that stands at
the top of the workspace, so a display path means one file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from hermes_lance.core.config import Config, RootSetting, expanded
from hermes_lance.core.errors import FileMissing, OutsideRoots, UsageError
from hermes_lance.core.names import printable, unescaped
from hermes_lance.core.records import WORKSPACE, Root

ENTRY = ("key", "label", "path", "raw_path", "recursive")
"""What a manifest says of a root."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder in a root. `path` is relative, printable, with `/`; empty for the root itself."""

    root: Root
    path: str

    @property
    def display_path(self) -> str:
        """What people and citations see."""
        if self.root.canonical:
            return self.path
        return f"{self.root.label}/{self.path}" if self.path else self.root.label


def active_roots(config: Config, extra: Sequence[tuple[Path, bool]] = ()) -> list[Root]:
    """The workspace, then the extra roots in the order of the configuration, each folder once, missing ones too.

    `extra`: further folders, and whether recursive, that the configuration does not have."""
    workspace = _resolved(config.workspace_root)
    roots = [Root(WORKSPACE, WORKSPACE, workspace, recursive=True, canonical=True)]
    taken = {WORKSPACE, *_top_names(workspace)}
    for setting in (*config.roots, *(RootSetting(os.fspath(path), recursive) for path, recursive in extra)):
        path = _setting_path(config, setting.path)
        if any(root.path == path for root in roots):
            continue
        label = _free_label(path, taken)
        taken.add(label)
        roots.append(Root(printable(os.fspath(path))[0], label, path, setting.recursive))
    return roots


SUB_FOLDERS = ("docs", "notes", "data", "code", "uploads", "media")
UPLOADS = "uploads"
KNOWLEDGE_FOLDERS = ("indexes", "manifests", "cache")


def make_folders(config: Config) -> list[Path]:
    """The workspace and the folder of the index with their usual sub-folders; those that were not there."""
    from hermes_lance.store.durable import make_private

    wanted = [config.workspace_root, *(config.workspace_root / name for name in SUB_FOLDERS)]
    wanted += [config.knowledgebase_root, *(config.knowledgebase_root / name for name in KNOWLEDGE_FOLDERS)]
    missing = [folder for folder in wanted if not folder.is_dir()]
    make_workspace(config)
    for folder in missing:
        make_private(folder)
    return missing


def as_entries(roots: Sequence[Root]) -> list[dict[str, object]]:
    """Roots as the manifest has them; `raw_path` as for files."""
    return [
        dict(zip(ENTRY, (root.key, root.label, *printable(os.fspath(root.path)), root.recursive), strict=True))
        for root in roots
    ]


def roots_differ(entries: Sequence[Mapping[str, object]], roots: Sequence[Root]) -> bool:
    """A root has come or gone since, or has another label or another depth."""

    def told(entries: Sequence[Mapping[str, object]]) -> list[list[object]]:
        return sorted(([entry.get(name) for name in ENTRY] for entry in entries), key=str)

    return told(entries) != told(as_entries(roots))


def make_workspace(config: Config) -> None:
    """Makes the folder of the user's files. Raises `FileMissing` when that cannot be."""
    from hermes_lance.store.durable import disk_errors

    folder = config.workspace_root
    try:
        with disk_errors(str(folder)):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        what = "a file, not a folder" if folder.exists() else f"cannot be made ({error.strerror})"
        raise FileMissing(f"workspace {printable(str(folder))[0]}: {what}", hint="Check workspace.path.") from error


def overlaps(roots: Sequence[Root]) -> list[str]:
    """One sentence for each root that lies inside another one; its files are indexed once, as its own."""
    found = []
    for inner in roots:
        outer = nearest(roots, os.path.dirname(inner.path))
        if outer is not None and outer is not inner and (outer.recursive or outer.path == inner.path.parent):
            found.append(f"root {inner.label} lies inside root {outer.label}: files in both belong to {inner.label}")
    return found


def nearest(roots: Sequence[Root], location: str | os.PathLike[str]) -> Root | None:
    """The root that owns an absolute path: the innermost one that reaches it; none when it lies in no root."""
    path = os.fspath(location)
    best: Root | None = None
    for root in roots:
        top = os.fspath(root.path)
        inside = path == top or path.startswith(top.rstrip(os.sep) + os.sep)
        if not inside or (not root.recursive and path != top and os.path.dirname(path) != top):
            continue
        if best is None or len(top) > len(os.fspath(best.path)):
            best = root
    return best


def located(text: str | os.PathLike[str], roots: Sequence[Root]) -> Place:
    """The place that a display path or an absolute path names; it need not exist. `OutsideRoots` when in no root."""
    given = os.fspath(text)
    expanded = os.path.expanduser(given) if given.startswith("~") else given
    if os.path.isabs(expanded):
        return _as_shown(_located_absolute(expanded, given, roots))
    parts = [part for part in PurePosixPath(given.replace(os.sep, "/")).parts if part != "."]
    if ".." in parts:
        raise OutsideRoots(f"{printable(given)[0]}: leads out of its root with `..`")
    extra = {root.label: root for root in roots if not root.canonical}
    workspace = next(root for root in roots if root.canonical)
    if parts and parts[0] in extra:
        return _as_shown(Place(extra[parts[0]], printable("/".join(parts[1:]))[0]))
    if parts == [workspace.label] and not os.path.lexists(workspace.path / workspace.label):
        return Place(workspace, "")
    return _as_shown(Place(workspace, printable("/".join(parts))[0]))


def _as_shown(place: Place) -> Place:
    """The file whose name a console writes with escapes, where there is none that is really called so."""
    if "\\" in place.path and not os.path.lexists(place.root.path / place.path):
        other = unescaped(place.path)
        if os.path.lexists(place.root.path / other):
            return Place(place.root, other)
    return place


def located_all(paths: Sequence[str | os.PathLike[str]], roots: Sequence[Root]) -> dict[str, list[str]]:
    """Root key to the relative paths of the places that several paths name."""
    found: dict[str, list[str]] = {}
    for path in paths:
        place = located(path, roots)
        found.setdefault(place.root.key, []).append(place.path)
    return found


def _located_absolute(path: str, given: str, roots: Sequence[Root]) -> Place:
    # The parent is resolved, not the last part: a link inside a root is a file of that root.
    folder, name = os.path.split(os.path.abspath(path))
    for candidate in (os.path.join(os.path.realpath(folder), name), os.path.realpath(path)):
        root = nearest(roots, candidate)
        if root is not None:
            relative = os.path.relpath(candidate, root.path)
            shown = "" if relative == os.curdir else relative.replace(os.sep, "/")
            return Place(root, printable(shown)[0])
    raise OutsideRoots(f"{printable(given)[0]}: lies in none of the indexed folders")


def add_root(config: Config, path: str | os.PathLike[str], *, recursive: bool = False) -> Root:
    """Add a folder to `knowledgebase.roots` of the configuration file and return it as it is from now on.

    Raises `FileMissing` when there is no such folder, `UsageError` when it is no folder or already a root.
    """
    folder = _new_folder(config, path)
    from hermes_lance.ingest import settings_file

    setting = RootSetting(os.fspath(folder), recursive)
    settings_file.append_root(_file_of(config), setting)
    return active_roots(replace(config, roots=(*config.roots, setting)))[-1]


def remove_root(config: Config, identifier: str | os.PathLike[str]) -> Root:
    """Take a root (label, path, or path as written) out of the configuration file and return it.

    Raises `UsageError` for the workspace and for what is no root. The index is changed by the next build.
    """
    found = _extra_root(config, identifier, "cannot be removed")
    from hermes_lance.ingest import settings_file

    settings_file.remove_roots(_file_of(config), _as_written(config, found))
    return found


def move_root(config: Config, identifier: str | os.PathLike[str], path: str | os.PathLike[str]) -> tuple[Root, Root]:
    """A root whose folder now stands elsewhere: writes its new path at the place of the old one; both as roots.

    The next build knows the files again by their bytes, so nothing is embedded anew. Raises like `add_root` and
    `remove_root`.
    """
    old = _extra_root(config, identifier, "is moved by workspace.path in config.yaml")
    folder = _new_folder(config, path)
    from hermes_lance.ingest import settings_file

    written = _as_written(config, old)
    settings_file.move_roots(_file_of(config), written, os.fspath(folder))
    settings = (replace(one, path=os.fspath(folder)) if one.path in written else one for one in config.roots)
    moved = active_roots(replace(config, roots=tuple(settings)))
    return old, next(root for root in moved if root.path == folder)


def _new_folder(config: Config, path: str | os.PathLike[str]) -> Path:
    """A folder that is to become a root, resolved. Raises when it cannot."""
    folder = _resolved(Path(expanded(os.fspath(path))))
    shown = printable(os.fspath(folder))[0]
    if not folder.exists():
        raise FileMissing(f"{shown}: no such folder")
    if not folder.is_dir():
        raise UsageError(f"{shown}: a file, not a folder", hint="Name the folder that holds it.")
    if printable(os.fspath(folder))[1] is not None:
        raise UsageError(f"{shown}: the name is not valid UTF-8 and cannot stand in config.yaml", hint="Rename it.")
    for root in active_roots(config):
        if root.path == folder:
            what = "the workspace, always active" if root.canonical else f"already a root, as {root.label}"
            raise UsageError(f"{shown}: {what}", hint="See `hermes-lance workspace roots list`.")
    return folder


def _extra_root(config: Config, identifier: str | os.PathLike[str], refusal: str) -> Root:
    """The root that a label, a path, or a path as written means; `UsageError` where it is the workspace or none."""
    given = os.fspath(identifier)
    roots = active_roots(config)
    folder = _setting_path(config, given)
    found = next((root for root in roots if root.label == given.rstrip("/")), None)
    found = found or next((root for root in roots if root.path == folder), None)
    if found is None:
        raise UsageError(f"{printable(given)[0]}: not a root", hint="See `hermes-lance workspace roots list`.")
    if found.canonical:
        raise UsageError(f"{printable(given)[0]}: the workspace is always a root and {refusal}")
    return found


def _as_written(config: Config, root: Root) -> set[str]:
    return {setting.path for setting in config.roots if _setting_path(config, setting.path) == root.path}


def _file_of(config: Config) -> Path:
    return config.config_file or config.home / "config.yaml"


def _setting_path(config: Config, text: str) -> Path:
    """A root as written to the folder it means; a relative one starts at the home, wherever the command runs."""
    return _resolved(config.home / expanded(text))


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _top_names(folder: Path) -> set[str]:
    try:
        return {printable(name)[0] for name in os.listdir(folder)}
    except OSError:
        return set()  # a missing workspace has no names to clash with; the walk reports it


def _free_label(path: Path, taken: set[str]) -> str:
    base = printable(path.name)[0] or "root"
    label, number = base, 1
    while label in taken:
        number += 1
        label = f"{base}-{number}"
    return label
