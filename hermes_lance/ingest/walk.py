"""Roots to files, in stable order, each with a reason where it is not to be indexed.

No link to a folder is followed, so loops cannot happen; a folder that is left out as a whole is one row, its path
ending in `/`. What could not be looked into is remembered, so that nothing there is taken for deleted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from hermes_lance.core import registry
from hermes_lance.core.config import Config
from hermes_lance.core.names import printable
from hermes_lance.core.records import Root, Skipped, SourceFile
from hermes_lance.ingest import ignore
from hermes_lance.ingest.asked import asked_for, asked_names
from hermes_lance.ingest.contents import reason, too_large
from hermes_lance.ingest.links import link_verdict
from hermes_lance.ingest.quick import Entry, Names, Stat, unsettled
from hermes_lance.ingest.rule_files import begins, rules_in
from hermes_lance.ingest.served import parsers_of
from hermes_lance.parse import suffixes

Found = SourceFile | tuple[SourceFile, Skipped]

LEFT_OUT_CAP = 10_000
"""Where counting the files below a shallow root stops."""


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Which files are wanted. Suffixes are lower case with their dot; `excluded` are absolute real folders."""

    max_bytes: int = 10 << 20
    binary_suffixes: frozenset[str] = frozenset()
    image_suffixes: frozenset[str] = frozenset()
    exclude_suffixes: frozenset[str] = frozenset()
    include_hidden: bool = False
    rule_files: tuple[str, ...] = ignore.IGNORE_FILES
    excluded: frozenset[str] = frozenset()
    by_suffix: Mapping[str, str] = field(default_factory=dict)  # media types that the configuration gives to suffixes


def settings_from(config: Config) -> WalkSettings:
    """What the configuration asks for; our own index is never walked."""
    indexing, served = config.indexing, parsers_of(config)
    honoured = {ignore.HERMESIGNORE: indexing.respect_hermesignore, ignore.GITIGNORE: indexing.respect_gitignore}
    images = registry.best_match(served.parsers, "image/png") is not None
    return WalkSettings(
        int(indexing.max_file_mb * 2**20),
        *suffixes.unopened(reads_images=images, but=served.by_suffix),
        exclude_suffixes=frozenset("." + one.lower().lstrip("*").lstrip(".") for one in indexing.exclude_suffixes),
        include_hidden=indexing.include_hidden,
        rule_files=tuple(name for name in ignore.IGNORE_FILES if honoured[name]),
        excluded=frozenset({os.path.realpath(config.knowledgebase_root)}),
        by_suffix=served.by_suffix,
    )


@dataclass(slots=True)
class RootReport:
    """How the walk of one root went. `unread` are folders that exist and could not be listed (`` = the root)."""

    root: Root
    missing: bool = False
    dev: int = 0
    files: int = 0
    settled: int = 0
    """Files among these that were not yielded, since they are as they were."""
    bare: bool = False
    """Nothing at all is in it."""
    left_out: int = 0
    """Files in sub-folders of a shallow root, counted up to `LEFT_OUT_CAP`."""
    unread: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """True when every folder was listed, so that what was not seen is gone."""
        return not self.unread

    def listed(self, path: str) -> bool:
        """Whether the folder that holds this path was listed."""
        return not any(path.startswith(folder) for folder in self.unread)


@dataclass(slots=True)
class _Frame:
    """One folder that is being walked."""

    location: str
    listed: list[Entry]
    names: frozenset[str]
    prefix: str
    looks: Names
    wanted: bool
    """False in a folder whose own files belong to another, shallow root."""
    entries: Iterator[Entry] = field(default_factory=lambda: iter(()))
    """Those still to be walked, sorted by path."""
    partly: bool = False
    """True when not everything in the folder was asked for."""

    @property
    def scope(self) -> ignore.Scope:
        """The rules in force."""
        return self.looks.scope


class Walk:
    """Iterate it to get the files; afterwards `reports` (by root key) tells how complete that was."""

    def __init__(
        self, roots: Sequence[Root], settings: WalkSettings, only: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """`only` limits the walk: for each root key the relative paths (printable form) of files or folders."""
        self.roots = roots
        self.settings = settings
        self.only = only
        self.reports = {root.key: RootReport(root) for root in roots}
        self.settled: dict[str, dict[str, Stat]] = {}
        """Root key and path to the stat of files that are not yielded as long as it is the same; those go from here."""
        self.folders: list[str] = []
        """Locations of the folders that were walked, as they were entered."""
        self._refused = settings.binary_suffixes | settings.image_suffixes | settings.exclude_suffixes
        self._max_bytes = settings.max_bytes
        self._targets: dict[tuple[str, str], _Frame | None] = {}
        self._owners = {os.fspath(root.path): root for root in roots}

    def __iter__(self) -> Iterator[Found]:
        for root in self.roots:
            if self.only is None or root.key in self.only:
                self.reports[root.key] = report = RootReport(root)
                yield from self._files(root, report)

    @property
    def warnings(self) -> list[str]:
        """Of all roots, in order."""
        return [warning for report in self.reports.values() for warning in report.warnings]

    def _files(self, root: Root, report: RootReport) -> Iterator[Found]:
        top = os.fspath(root.path)
        try:
            report.dev = os.stat(top).st_dev
            first = self._frame(root, report, top, "", Names(ignore.Scope(), self._refused), False)
        except OSError as error:
            report.missing = isinstance(error, FileNotFoundError | NotADirectoryError)
            report.unread.append("")
            what = "does not exist" if report.missing else reason(error)
            report.warnings.append(f"root {printable(top)[0]}: {what}; its files are kept as they are")
            return
        assert not isinstance(first, Skipped)
        report.bare = not first.listed
        targets = None if self.only is None else [path.strip("/") for path in self.only[root.key]]
        stack = [self._entered(root, report, first, targets)]
        while stack:
            frame = stack[-1]
            for key, entry in frame.entries:
                path = frame.prefix + entry.name
                if frame.partly and not asked_for(path, key[-1] == "/", targets or ()):
                    continue
                if key[-1] != "/":
                    if frame.wanted:
                        found = self._plain_file(root, frame, path, entry) or self._file(root, frame, path, entry)
                        if found is not None:
                            report.files += 1
                            yield found
                elif not root.recursive:
                    report.left_out += self._count(root, frame, path, entry, LEFT_OUT_CAP - report.left_out)
                else:
                    inner = self._folder(root, report, frame, path, entry.path)
                    if isinstance(inner, _Frame):
                        stack.append(self._entered(root, report, inner, targets))
                        break
                    if inner is not None:
                        if inner.failed:
                            report.unread.append(printable(path)[0] + "/")
                        yield _folder_row(root, path, entry), inner
            else:
                stack.pop()

    def _entered(self, root: Root, report: RootReport, frame: _Frame, targets: Sequence[str] | None) -> _Frame:
        """The folder, ready to be walked: without what nobody asked for, and without its settled files."""
        entries = frame.listed
        self.folders.append(frame.location)
        if targets is not None:
            names = asked_names(frame.prefix, targets)
            frame.partly = names is not None
            if names is not None:
                entries = [one for one in entries if printable(one[1].name)[0] in names]
        settled = self.settled.get(root.key)
        if settled and frame.wanted:
            before = len(settled)
            entries = unsettled(entries, frame.prefix, frame.looks, settled, self._max_bytes)
            report.settled += before - len(settled)
            report.files += before - len(settled)
        frame.entries = iter(sorted(entries, key=itemgetter(0)))
        return frame

    def _plain_file(self, root: Root, frame: _Frame, path: str, entry: os.DirEntry[str]) -> SourceFile | None:
        """The row of an entry about which nothing is special; none when `_file` must have a closer look.

        Nearly all files pass here, so this is written for speed: it decides nothing that `_file` would not.
        """
        if (
            frame.scope.hard
            or not frame.looks.plain(entry.name)
            or not path.isascii()
            or not entry.is_file(follow_symlinks=False)
        ):
            return None
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            return None  # `_file` meets the same error and says what it means
        size = found.st_size
        if not 0 < size <= self._max_bytes:
            return None
        return SourceFile(root, path, entry.path, size, found.st_mtime_ns, found.st_ino, found.st_dev)

    def _frame(
        self, root: Root, report: RootReport, location: str, prefix: str, looks: Names, kept: bool
    ) -> _Frame | Skipped:
        """The folder, listed, with the rules of its own rule files; `kept` = asked for by a rule."""
        with os.scandir(location) as listing:
            entries = [
                (f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name, entry) for entry in listing
            ]
        names = frozenset([entry.name for _, entry in entries])
        if prefix and not kept:
            for marker, start in ignore.CACHE_MARKERS.items():
                if marker in names and begins(os.path.join(location, marker), start):
                    return _ignored(f"{ignore.BUILT_IN_PLACE}:{marker}", "a cache or virtual environment")
        files = []
        for name in self.settings.rule_files:
            if name in names:
                rules, warnings = rules_in(os.path.join(location, name), _shown(root, prefix + name))
                files.append(rules)
                report.warnings.extend(warnings)
        scope = looks.scope.inside(prefix, files)
        if scope is not looks.scope:
            looks = Names(scope, self._refused)
        owner = self._owners.get(location)
        return _Frame(location, entries, names, prefix, looks, owner is None or owner is root)

    def _folder(
        self, root: Root, report: RootReport, frame: _Frame, path: str, location: str
    ) -> _Frame | Skipped | None:
        """The sub-folder to walk, why it is left out, or none when another root owns it or it is gone."""
        owner = self._owners.get(location)
        if owner is not None and owner.recursive:
            return None
        if location in self.settings.excluded:
            return Skipped("own-index", "the knowledge base itself")
        name = path.rpartition("/")[2]
        rule = frame.scope.verdict(name, path, True)
        named = self._by_name(name, rule, True)
        if named is not None:
            return named
        kept = rule is not None
        if not kept and (place := ignore.build_output_place(name, frame.names)) is not None:
            return _ignored(place, "build output")
        try:
            return self._frame(root, report, location, path + "/", frame.looks, kept)
        except FileNotFoundError:
            return None
        except OSError as error:
            return Skipped("unreadable", f"the folder cannot be listed: {reason(error)}", failed=True)

    def _file(self, root: Root, frame: _Frame, path: str, entry: os.DirEntry[str]) -> Found | None:
        """One entry that is no folder; none when it has gone in the meantime."""
        name = entry.name
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            shown, raw = printable(path)
            row = SourceFile(root, shown, entry.path, 0, 0, 0, 0, raw)
            return row, Skipped("unreadable", f"cannot be examined: {reason(error)}", failed=True)
        location = entry.path
        skipped = self._by_name(name, frame.scope.verdict(name, path, False), False)
        if skipped is None and not stat.S_ISREG(found.st_mode):
            if stat.S_ISLNK(found.st_mode):
                outcome = link_verdict(root, entry.path, self._is_indexed)
                if isinstance(outcome, Skipped):
                    skipped = outcome
                else:
                    location, found = outcome
            else:
                skipped = Skipped("special", f"a {_kind(found.st_mode)}, not a file")
        row = _row(root, path, found, location)
        skipped = skipped or self._by_stat(name, found.st_size)
        return row if skipped is None else (row, skipped)

    def _by_name(self, name: str, rule: ignore.Rule | None, is_folder: bool) -> Skipped | None:
        """Why an entry is left out for its name alone."""
        if name[0] == "." and not is_folder and name in ignore.IGNORE_FILES:
            return Skipped("ignore-file", "a file of rules, never indexed itself")
        if name[0] == "." and not self.settings.include_hidden:
            return Skipped("hidden", "the name begins with a dot", remedy="knowledgebase.indexing.include_hidden")
        return None if rule is None or rule.keeps else _ignored(rule.place, "named by a rule")

    def _by_stat(self, name: str, size: int) -> Skipped | None:
        """Why a regular file is left out for its suffix or size."""
        _, dot, end = name.rpartition(".")
        if dot:
            suffix = f".{end.lower()}"
            if suffix in self.settings.exclude_suffixes:
                key = "knowledgebase.indexing.exclude_suffixes"
                return Skipped("excluded-suffix", f"files that end in {suffix} are left out", remedy=key)
            if suffix in self.settings.image_suffixes:
                return Skipped("image", suffixes.IMAGE_DETAIL, remedy=suffixes.OCR_REMEDY)
            if suffix in self.settings.binary_suffixes:
                return Skipped("binary-suffix", f"files that end in {printable(suffix)[0]} hold no text")
        if size > self.settings.max_bytes:
            return too_large(size, self.settings.max_bytes)
        return None if size else Skipped("empty", "the file has no bytes")

    def _is_indexed(self, root: Root, path: str) -> bool:
        """Whether the walk of the root takes this regular file (relative path, not printable form)."""
        folder, slash, name = path.rpartition("/")
        frame = self._target_frame(root, folder + slash)
        if frame is None or self._by_name(name, frame.scope.verdict(name, path, False), False) is not None:
            return False
        try:
            size = os.lstat(os.path.join(root.path, path)).st_size
        except OSError:
            return False  # gone or closed to us: the link then speaks for itself
        return self._by_stat(name, size) is None

    def _target_frame(self, root: Root, prefix: str) -> _Frame | None:
        """The folder in which a link points, none when it is left out; each is listed once, however many links."""
        if (root.key, prefix) not in self._targets:
            silent = RootReport(root)
            found: _Frame | Skipped | None
            if prefix:
                path = prefix[:-1]
                above = self._target_frame(root, prefix[: path.rfind("/") + 1])
                location = os.path.join(root.path, path)
                found = None if above is None else self._folder(root, silent, above, path, location)
            else:
                looks = Names(ignore.Scope(), self._refused)
                found = self._frame(root, silent, os.fspath(root.path), "", looks, False)
            self._targets[root.key, prefix] = found if isinstance(found, _Frame) else None
        return self._targets[root.key, prefix]

    def _count(self, root: Root, frame: _Frame, path: str, entry: os.DirEntry[str], cap: int) -> int:
        """Files below a folder that a recursive root would take, at most `cap`."""
        silent = RootReport(root)
        first = self._folder(root, silent, frame, path, entry.path) if cap > 0 else None
        stack = [first] if isinstance(first, _Frame) else []
        total = 0
        while stack and total < cap:
            frame = stack.pop()
            for key, inner in sorted(frame.listed, key=itemgetter(0)):
                path = frame.prefix + inner.name
                if key[-1] != "/":
                    total += frame.wanted and isinstance(self._file(root, frame, path, inner), SourceFile)
                elif isinstance(below := self._folder(root, silent, frame, path, inner.path), _Frame):
                    stack.append(below)
        return min(total, cap)


def _row(root: Root, path: str, found: os.stat_result, location: str) -> SourceFile:
    shown, raw = (path, None) if path.isascii() else printable(path)
    return SourceFile(root, shown, location, found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev, raw)


def _folder_row(root: Root, path: str, entry: os.DirEntry[str]) -> SourceFile:
    """A folder that is left out, with size and time zero: what goes on in it concerns nobody. Zero in every number when
    it cannot be examined either."""
    shown, raw = printable(path + "/")
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return SourceFile(root, shown, entry.path, 0, 0, 0, 0, raw)
    return SourceFile(root, shown, entry.path, 0, 0, found.st_ino, found.st_dev, raw)


def _shown(root: Root, path: str) -> str:
    shown = printable(path)[0]
    return shown if root.canonical else f"{root.label}/{shown}"


def _ignored(place: str, why: str) -> Skipped:
    remedy = None
    if place.startswith(f"{ignore.BUILT_IN_PLACE}:"):
        remedy = f"a line `!name` in {ignore.HERMESIGNORE}"
    elif ignore.GITIGNORE in place.rpartition("/")[2]:
        remedy = "knowledgebase.indexing.respect_gitignore"
    return Skipped("ignored", why, rule=place, remedy=remedy)


def _kind(mode: int) -> str:
    tests = ((stat.S_ISFIFO, "named pipe"), (stat.S_ISSOCK, "socket"), (stat.S_ISCHR, "character device"))
    return next((word for test, word in tests if test(mode)), "device")
