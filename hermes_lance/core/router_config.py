"""The section `local_knowledge` of `config.yaml`: where the artifacts of an agent are, and what is left out.

It is read leniently, as its users have written it for years: lists as YAML lists, as `[a, b]` in a string or as
`a, b`; older names of keys beside ours; a value of the environment before one of the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_lance.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class LocalKnowledgeConfig:
    """Where skills, scripts, runbooks and notes are looked for. These keys stand in the section `local_knowledge`."""

    source_root: str = ""
    """Folder of an agent's skills, scripts and documents; empty = the home. Also `root`, `$LOCAL_KNOWLEDGE_ROOT`."""
    state_dir: str = ""
    """Folder of tool notes and recorded turns; empty = `local_knowledge` in the home. Also `index_dir`,
    `$LOCAL_KNOWLEDGE_STATE_DIR`."""
    custom_skill_dirs: tuple[str, ...] = ("custom_skills",)
    """Folders of the root that hold skills."""
    script_dirs: tuple[str, ...] = ("scripts", "hermes_home/scripts")
    """Folders of the root that hold scripts."""
    memory_dirs: tuple[str, ...] = ("memory",)
    """Folders of the root whose Markdown files are memory notes."""
    runbook_dirs: tuple[str, ...] = ("docs",)
    """Folders of the root whose Markdown files are runbooks."""
    known_entities: tuple[str, ...] = ("Hermes", "GitHub", "MCP", "Cron")
    """Names that mark an artifact which mentions them. Also `entities`."""
    include_markdown_docs: bool = False
    """Take Markdown files of the root; true where a `source_root` is named."""
    exclude_dir_names: tuple[str, ...] = ()
    """Names of folders that are left out wherever they are below a root, beside the built-in ones."""

    def root(self, home: Path) -> Path:
        """The folder of the agent's own artifacts."""
        return _expanded(self.source_root, home) if self.source_root else home

    def state(self, home: Path) -> Path:
        """The folder of the router's own files."""
        return _expanded(self.state_dir, home) if self.state_dir else home / "local_knowledge"


_ALIASES = {
    "source_root": ("source_root", "root"),
    "state_dir": ("state_dir", "index_dir"),
    "known_entities": ("known_entities", "entities"),
}
_VARIABLES = {"source_root": "LOCAL_KNOWLEDGE_ROOT", "state_dir": "LOCAL_KNOWLEDGE_STATE_DIR"}
_LISTS = (
    "custom_skill_dirs", "script_dirs", "memory_dirs", "runbook_dirs", "known_entities", "exclude_dir_names",
)  # fmt: skip


def local_knowledge(
    section: Any, where: str, origins: dict[str, str], environment: Mapping[str, str] | None = None
) -> LocalKnowledgeConfig:
    """The settings of the router from its section of a file (which may be missing) and from the environment.

    Notes in `origins` where each came from. Raises `ConfigError` for a section that is no mapping.
    """
    environment = os.environ if environment is None else environment
    if section is None:
        section = {}
    if not isinstance(section, Mapping):
        raise ConfigError(f"{where}: local_knowledge must be a mapping, not {type(section).__name__}")
    default = LocalKnowledgeConfig()
    values: dict[str, Any] = {}

    def note(key: str, value: Any, origin: str) -> None:
        values[key] = value
        origins[f"local_knowledge.{key}"] = origin

    for key in ("source_root", "state_dir"):
        if named := environment.get(_VARIABLES[key], "").strip():
            note(key, named, f"${_VARIABLES[key]}")
        elif (written := _first(section, key)) is not None:
            note(key, str(written).strip(), where)
    for key in _LISTS:
        if found := _list(_first(section, key)):
            note(key, found, where)
    included = _boolean(_first(section, "include_markdown_docs"))
    if included is not None:
        note("include_markdown_docs", included, where)
    elif values.get("source_root"):
        values["include_markdown_docs"] = True
    return LocalKnowledgeConfig(**{**{name: getattr(default, name) for name in default.__slots__}, **values})


def _first(section: Mapping[str, Any], key: str) -> Any:
    """The first of its names that has a value; an empty text is none."""
    for name in _ALIASES.get(key, (key,)):
        value = section.get(name)
        if value is not None and value != "":
            return value
    return None


def _list(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("[") and text.endswith("]"):
            text = text[1:-1]
        parts: Sequence[Any] = text.split(",")
    elif isinstance(value, list):
        parts = value
    else:
        return ()
    return tuple(text for part in parts if (text := str(part).strip().strip("\"'").strip()))


def _boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }.get(str(value).strip().lower())


def _expanded(text: str, home: Path) -> Path:
    path = Path(os.path.expandvars(text)).expanduser()
    return path if path.is_absolute() else home / path
