"""Which names are left out: `.gitignore` and `.hermesignore` with git's meaning, then a built-in list.

pathspec turns each line into a regular expression; this module decides which line has the last word. The nearest
folder decides first, in one folder `.hermesignore` before `.gitignore`, in one file the last fitting line.
Source of the rules: gitignore(5), and what `git check-ignore` answers.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

GITIGNORE = ".gitignore"
HERMESIGNORE = ".hermesignore"
IGNORE_FILES = (HERMESIGNORE, GITIGNORE)
"""Names of rule files, the one with the last word first."""

BUILT_IN_PLACE = "built-in"

BUILT_IN: Mapping[str, str] = {
    "version control": ".git/ .git .hg/ .svn/ .bzr/ _darcs/ .jj/ .pijul/ CVS/",
    "Python": "__pycache__/ .venv/ .tox/ .nox/ .mypy_cache/ .ruff_cache/ .pytest_cache/ .hypothesis/ "
    ".ipynb_checkpoints/ .eggs/ *.egg-info/ *.pyc *.pyo *.pyd",
    "JavaScript": "node_modules/ bower_components/ jspm_packages/ .next/ .nuxt/ .parcel-cache/ .turbo/ npm-debug.log",
    "other caches": ".cache/ .gradle/ .terraform/ .bundle/ .direnv/ .ccls-cache/ .sass-cache/",
    "operating systems": ".DS_Store .AppleDouble/ .Spotlight-V100/ .Trashes/ .fseventsd/ Thumbs.db ehthumbs.db "
    "desktop.ini $RECYCLE.BIN/ .Trash-*/ lost+found/ .directory",
    "editors": r".idea/ .vscode/ .vs/ *.swp *.swo *~ \#*# .#* ~$* .~lock.*# *.bak *.orig *.rej *.tmp "
    "*.part *.crdownload",
    "written by tools": "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock "
    "Cargo.lock poetry.lock uv.lock pdm.lock Pipfile.lock Gemfile.lock composer.lock Podfile.lock pubspec.lock "
    "mix.lock flake.lock go.sum packages.lock.json gradle.lockfile *.min.js *.min.mjs *.min.css *.js.map *.mjs.map "
    "*.cjs.map *.css.map",
}
"""Left out unless a rule file says otherwise; in the words of gitignore, separated by blanks."""

BUILD_OUTPUT: Mapping[str, frozenset[str]] = {
    "target": frozenset({"Cargo.toml", "pom.xml", "build.sbt", "project.clj"}),
    "build": frozenset(
        {"pyproject.toml", "setup.py", "package.json", "build.gradle", "build.gradle.kts", "pubspec.yaml"}
    ),
    "dist": frozenset({"pyproject.toml", "setup.py", "package.json"}),
    "out": frozenset({"package.json", "build.gradle", "build.gradle.kts", "foundry.toml"}),
    "_build": frozenset({"mix.exs", "dune-project", "rebar.config", "conf.py"}),
    "deps": frozenset({"mix.exs"}),
    "coverage": frozenset({"package.json"}),
}
"""Folder names that mean build output only beside one of these files: alone, `target` or `out` may be anything."""

CACHE_MARKERS: Mapping[str, bytes] = {
    "CACHEDIR.TAG": b"Signature: 8a477f597d28d172789f06886806bc55",
    "pyvenv.cfg": b"",
}
"""A folder that holds such a file (beginning with these bytes) is a cache or a virtual environment."""

_POSIX_CLASSES = {
    b"alpha": b"a-zA-Z", b"digit": b"0-9", b"alnum": b"a-zA-Z0-9", b"upper": b"A-Z", b"lower": b"a-z",
    b"space": b" \t\n\r\x0b\x0c", b"blank": b" \t", b"punct": b"!-.:-@[-`{-~", b"xdigit": b"0-9A-Fa-f",
}  # fmt: skip
_POSIX_CLASS = re.compile(rb"(\[[^\]/]*?)\[:([a-z]+):\]")
_STAR_IN_PART = re.compile(rb"\[\^/\]\*([^/(]*?)(?=\[\^/\]\*)")
_FIXED = re.compile(r"(?:\\.|[^*?\[\\])*")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a rule file. `place` is `file:line`; `keeps` is true for a line that begins with `!`."""

    place: str
    keeps: bool
    folders_only: bool
    expression: re.Pattern[bytes]
    broad: bool = False
    """Any name at all fits its last part, so that it asks for nothing in particular."""

    def fits(self, path: bytes, is_folder: bool) -> bool:
        """Whether the line names this very entry; a line that names a folder above it does not count here."""
        if self.folders_only and not is_folder:
            return False
        match = self.expression.search(path)
        # pathspec's group `ps_d` is set when only the front of the path, a folder above, was matched.
        return match is not None and match.groupdict().get("ps_d") is None


class RuleFile:
    """The rules of one file in order, with an index by name so that most entries cost three look-ups."""

    __slots__ = ("_hard", "_later", "_rules", "endings", "names", "starts", "warnings")

    def __init__(self, lines: Iterable[tuple[str, bytes]], later: Iterable[tuple[str, bytes]] = ()) -> None:
        """`lines` are pairs of place (`file:line`) and line; a line that git could not use either is a warning.

        Those in `later` follow them; each is valid and names a fixed beginning or end, and is compiled only when a name
        comes that one of them may fit."""
        self._later = tuple(later)
        rules: list[Rule] = []
        hard: list[Rule] = []
        names: set[str] = set()
        starts: set[str] = set()
        endings: set[str] = set()
        self.warnings: list[str] = []
        for place, line in lines:
            try:
                rule = parsed(place, line)
            except (ValueError, re.error) as error:
                self.warnings.append(f"{place}: the rule is not valid and is left out ({error})")
                continue
            if rule is None:
                continue
            rules.append(rule)
            if not _indexed(line, names, starts, endings):
                hard.append(rule)
        for _, line in self._later:
            _indexed(line, names, starts, endings)
        self._rules = tuple(reversed(rules))
        self._hard = tuple(reversed(hard))
        self.names = frozenset(names)
        self.starts = tuple(starts)
        self.endings = tuple(endings)

    def __bool__(self) -> bool:
        return bool(self._rules or self._later)

    @property
    def hard(self) -> bool:
        """Whether some rule can fit any name at all."""
        return bool(self._hard)

    def verdict(self, name: str, path: str, is_folder: bool) -> Rule | None:
        """The last rule that names the entry; `path` is relative to the folder of the file, without end slash."""
        if name in self.names or name.startswith(self.starts) or name.endswith(self.endings):
            rules = self._compiled()
        elif self._hard:
            rules = self._hard
        else:
            return None
        # In a regular expression a new line is special; a NUL cannot occur in a name and is not.
        raw = os.fsencode(path).replace(b"\n", b"\0")
        for rule in rules:
            if rule.fits(raw, is_folder):
                return rule
        return None

    def _compiled(self) -> tuple[Rule, ...]:
        """All rules, the last line first."""
        if self._later:
            made = (parsed(place, line) for place, line in self._later)
            self._rules = (*reversed([rule for rule in made if rule is not None]), *self._rules)
            self._later = ()
        return self._rules


class Scope:
    """The rules in force inside one folder, nearest first; each with the length of its folder's path.

    No rule names an entry whose name is not in `names`, does not begin with a character of `first` or end with one
    of `last`, and whose suffix in lower case is not in `suffixes`; unless `hard` is true. Most names need no more.
    """

    __slots__ = ("_layers", "first", "hard", "last", "names", "suffixes")

    def __init__(self, layers: tuple[tuple[int, RuleFile], ...] = ()) -> None:
        self._layers = layers
        files = [*(file for _, file in layers), built_in_rules()]
        endings = {ending for file in files for ending in file.endings}
        self.hard = any(file.hard for file in files)
        self.names = frozenset().union(*(file.names for file in files))
        self.first = frozenset(start[0] for file in files for start in file.starts)
        # A name that ends like `.min.js` has the suffix `.js`; its last letter alone would concern many more names.
        self.suffixes = frozenset(ending[ending.rfind(".") :].lower() for ending in endings if "." in ending)
        self.last = frozenset(ending[-1] for ending in endings if "." not in ending)

    def inside(self, folder: str, files: Iterable[RuleFile]) -> Scope:
        """The scope within `folder` (relative path with an end slash, or empty), which holds these rule files."""
        added = tuple((len(folder), file) for file in files if file)
        return Scope((*added, *self._layers)) if added else self

    def verdict(self, name: str, path: str, is_folder: bool) -> Rule | None:
        """The rule that decides about an entry (`path` relative to the root), or none when no rule names it.

        `!*/` in a list of what git is to take does not ask for `.git` and `node_modules`: the built-in list stays."""
        for cut, file in self._layers:
            rule = file.verdict(name, path[cut:], is_folder)
            if rule is not None and rule.keeps and rule.broad:
                break
            if rule is not None:
                return rule
        return built_in_rules().verdict(name, path, is_folder)


@cache
def built_in_rules() -> RuleFile:
    """The built-in list, compiled once."""
    lines = [line for group in BUILT_IN.values() for line in group.split()]
    return RuleFile((), later=((f"{BUILT_IN_PLACE}:{line}", os.fsencode(line)) for line in lines))


def build_output_place(name: str, siblings: Iterable[str]) -> str | None:
    """The built-in rule by which a folder is build output, given the names beside it; none when it is not."""
    markers = BUILD_OUTPUT.get(name)
    found = sorted(markers.intersection(siblings)) if markers else []
    return f"{BUILT_IN_PLACE}:{name}/ beside {found[0]}" if found else None


def parsed(place: str, line: bytes) -> Rule | None:
    """The rule in one line, none for a blank line or a comment; `ValueError` or `re.error` when it is not valid."""
    text = _without_trailing_blanks(line)
    if not text or text.startswith(b"#"):
        return None
    keeps = text.startswith(b"!")
    text = text[1:] if keeps else text
    folders_only = text.endswith(b"/")
    text = text[:-1] if folders_only else text
    if not text or text == b"/":
        return None
    if text[:1] in b"!#":
        text = b"\\" + text
    while (found := _POSIX_CLASS.search(text)) is not None:
        members = _POSIX_CLASSES.get(found[2])
        if members is None:
            raise ValueError(f"unknown class {os.fsdecode(found[2])}")
        text = text[: found.start()] + found[1] + members + text[found.end() :]
    if text[-1:].isspace() or text[-1:] in b"\x85\xa0":
        # pathspec would cut this byte off as white space; it may be the second half of a letter such as à.
        text = text[:-2] + b"[" + text[-1:] + b"]" if text[-2:-1] == b"\\" else text[:-1] + b"[" + text[-1:] + b"]"
    # Late: most runs come upon no name that a rule may fit, and have no rule file.
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    expression, _ = GitIgnoreSpecPattern.pattern_to_regex(text)
    if expression is None:
        raise ValueError("a bracket is not closed")
    return Rule(place, keeps, folders_only, _compiled(expression), not text.rpartition(b"/")[2].strip(b"*"))


def _fixed_ends(line: bytes) -> tuple[str, str]:
    """What a name must begin with, and end with, to fit the line; both the whole name when there is no wildcard."""
    text = os.fsdecode(_without_trailing_blanks(line)).removeprefix("!").removesuffix("/")
    last = text.rpartition("/")[2]
    fixed = _FIXED.match(last)
    start = _ESCAPED.sub(r"\1", fixed[0]) if fixed else ""
    if fixed and fixed[0] == last:
        return start, start
    end = last.lstrip("*")
    return start, end if _FIXED.fullmatch(end) and "\\" not in end else ""


def _indexed(line: bytes, names: set[str], starts: set[str], endings: set[str]) -> bool:
    """Puts what a name must begin or end with to fit the line into one of the sets; false when that is nothing."""
    start, end = _fixed_ends(line)
    if start and start == end:
        names.add(start)  # both ends are the whole name: no wildcard
    elif start:
        starts.add(start)
    elif end:
        endings.add(end)
    return bool(start or end)


def _compiled(expression: bytes) -> re.Pattern[bytes]:
    # `[!a]` must not match the slash between two names.
    expression = re.sub(rb"\[\^(?!/)", rb"[^/", expression)
    # Stars within one name are matched as early as possible and never again: `*a*a*a*a*b` would take for ever.
    expression = _STAR_IN_PART.sub(rb"(?>[^/]*?\1)", expression)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # `[[]` is a plain bracket, whatever it may mean one day
        return re.compile(expression)


def _without_trailing_blanks(line: bytes) -> bytes:
    """The line without its line end and without blanks that no backslash protects."""
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    end = len(line)
    while end and line[end - 1 : end] == b" ":
        backslashes = end - 1 - len(line[: end - 1].rstrip(b"\\"))
        if backslashes % 2:
            break
        end -= 1
    return line[:end]


def lines_of(data: bytes, shown: str) -> tuple[list[tuple[str, bytes]], str | None]:
    """The lines of a rule file with their places (`shown:line`), and a warning when it is not text at all."""
    if b"\0" in data:
        return [], f"{shown}: not a text file in UTF-8; its rules are not applied"
    data = data.removeprefix(b"\xef\xbb\xbf")
    return [(f"{shown}:{number}", line) for number, line in enumerate(data.split(b"\n"), start=1)], None
