"""Scripts: what the head says, and the names in the code. No literal, no value and no other line of it is kept."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from hermes_lance.artifacts.naming import display_path, entities_in, identifier_terms, significant_words, slug
from hermes_lance.artifacts.safe import clean
from hermes_lance.artifacts.sources import SOURCE_TREE, Found, Sources, file_identity, updated_at
from hermes_lance.artifacts.walking import SCRIPT_CHARS, Read
from hermes_lance.core.artifact import Artifact

SUFFIXES = (".py", ".sh", ".bash", ".js", ".cjs", ".mjs")
HEAD_LINES = 30
SUMMARY_CHARS = 500
MOST_NAMES = 120

_PYTHON_HEAD = re.compile(r"\A(?:\s*#[^\n]*\n|\s)*[rRuU]?(\"\"\"|''')(.*?)\1", re.DOTALL)
_ENVIRONMENT = re.compile(
    r"os\.(?:environ(?:\.get)?\s*[\[(]|getenv\s*\()\s*[\"']([A-Za-z_]\w{1,80})[\"']"
    r"|process\.env\.([A-Za-z_]\w{1,80})|process\.env\[[\"']([A-Za-z_]\w{1,80})[\"']\]"
)
_SHELL_NAMES = re.compile(
    r"^[ \t]*(?:export[ \t]+|readonly[ \t]+|local[ \t]+)?([A-Z_][A-Z0-9_]{2,80})=|\$\{?([A-Z_][A-Z0-9_]{2,80})",
    re.MULTILINE,
)
_PYTHON_NAMES = re.compile(
    r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w{1,80})|^[ \t]*(?:import|from)[ \t]+([\w.]{1,120})", re.MULTILINE
)
_JS_NAMES = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:async[ \t]+)?(?:function\*?|class)[ \t]+(\w{1,80})", re.MULTILINE
)
_SHELL_FUNCTIONS = re.compile(r"^[ \t]*(?:function[ \t]+)?([A-Za-z_][\w\-]{1,80})[ \t]*\(\)[ \t]*\{", re.MULTILINE)
_OPTIONS = re.compile(r"(?<![\w\-])--([A-Za-z][A-Za-z0-9]{1,30}(?:-[A-Za-z0-9]{1,30}){0,5})(?![\w\-])")
_STRING_VALUES = re.compile(r"(=[ \t]*)(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'$;]+)")


def collect(sources: Sources) -> Iterator[Found]:
    """The scripts below each of the script folders."""
    for name in sources.settings.script_dirs:
        walk = sources.walk(sources.root)
        for path in walk.files(sources.root / name, wanted=lambda file: file.lower().endswith(SUFFIXES)):
            artifact = _artifact(sources, path, walk.read(path, SCRIPT_CHARS))
            yield Found(artifact, SOURCE_TREE, file_identity(path, name))


def _artifact(sources: Sources, path: Path, read: Read) -> Artifact:
    text = read.text
    title = display_path(path, sources.root)
    summary = clean(_said(path.suffix.lower(), text), SUMMARY_CHARS) or f"{path.suffix[1:]} script {path.stem}"
    names = _names(path.suffix.lower(), text)
    return Artifact(
        id=f"script:{slug(title)}",
        type="script",
        title=title,
        path=title,
        summary=summary,
        triggers=significant_words(path.stem.replace("_", " "), summary, " ".join(identifier_terms([path.stem]))),
        entities=entities_in(sources.settings.known_entities, title, summary),
        source="repo_script",
        updated_at=updated_at(path),
        search_text="\n".join([" ".join(names), " ".join(identifier_terms([path.stem, *names]))]),
        content_sha=read.sha,
    )


def _said(suffix: str, text: str) -> str:
    """What a script says about itself at its head."""
    if suffix == ".py" and (docstring := _docstring(text)):
        return docstring
    lines = text.split("\n")[:HEAD_LINES]
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    return _comment(lines, slashes=suffix in {".js", ".cjs", ".mjs"})


def _docstring(text: str) -> str:
    """The first paragraph of the docstring of a module: a true one, not the first string in it."""
    try:
        said = ast.get_docstring(ast.parse(text)) or ""
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = _PYTHON_HEAD.match(text)  # an older Python, or a file that was cut
        said = found[2] if found else ""
    return said.strip().split("\n\n")[0]


def _comment(lines: list[str], *, slashes: bool) -> str:
    """The first block of comments, before any code."""
    marks = ("//", "/*", "*") if slashes else ("#",)
    said: list[str] = []
    for line in lines:
        text = line.strip()
        if text.startswith(marks) and text not in {"*/"}:
            said.append(text.lstrip("#/*! ").removesuffix("*/").strip())
        elif said or (text and text not in {"*/", '"use strict";', "'use strict';"} and not text.startswith("set -")):
            break
    return " ".join(part for part in said if part and not part.startswith(("shellcheck", "-*-", "eslint")))


def _names(suffix: str, text: str) -> list[str]:
    """Names of variables of the environment, of definitions, imports and long options, in order of their kind."""
    found: dict[str, None] = {}
    patterns = [_ENVIRONMENT]
    if suffix == ".py":
        patterns.append(_PYTHON_NAMES)
    elif suffix in {".sh", ".bash"}:
        patterns += [_SHELL_NAMES, _SHELL_FUNCTIONS]
    else:
        patterns.append(_JS_NAMES)
    for pattern in patterns:
        for groups in pattern.findall(text):
            found.update(dict.fromkeys(name for name in ([groups] if isinstance(groups, str) else groups) if name))
    # What stands behind an equals sign is a value, even if it looks like an option.
    for option in _OPTIONS.findall(_STRING_VALUES.sub(r"\1", text)):
        found[f"--{option}"] = None
    return [name for name in found if clean(name) == name][:MOST_NAMES]
