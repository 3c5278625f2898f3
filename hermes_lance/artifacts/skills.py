"""Skills: one `SKILL.md` in a folder of its own. What it says about itself is searched, its instructions are not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_lance.artifacts import front_matter
from hermes_lance.artifacts.markdown import SUMMARY_CHARS, first_line
from hermes_lance.artifacts.naming import display_path, entities_in, significant_words, slug
from hermes_lance.artifacts.safe import clean
from hermes_lance.artifacts.sources import RUNTIME, SOURCE_TREE, Found, Sources, file_identity, updated_at
from hermes_lance.core.artifact import Artifact
from hermes_lance.core.errors import ConfigError
from hermes_lance.core.yaml_file import read_yaml

SUPPORT_FOLDERS = ("references", "templates", "scripts", "assets")
MOST_SUPPORT_NAMES = 50


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill folder: where it is, how it is called, and whether an agent has it installed."""

    folder: Path
    name: str
    runtime: bool
    document: front_matter.Document
    sha: str


def found_skills(sources: Sources) -> list[Skill]:
    """The skills of the source tree, then those of the home; disabled ones left out."""
    host = host_section(sources, "skills")
    disabled = {str(name) for name in host.get("disabled") or () if isinstance(name, str)}
    external = [Path(str(one)).expanduser() for one in host.get("external_dirs") or () if isinstance(one, str)]
    roots = [(folder, False) for folder in sources.skill_folders]
    roots += [(folder, True) for folder in (sources.home / "skills", *external)]
    skills = []
    for folder, runtime in roots:
        # A skill of the source tree is often linked from the home.
        walk = sources.walk(folder, *sources.skill_folders, sources.root)
        for path in walk.files(folder, wanted=lambda name: name == "SKILL.md"):
            inner = path.relative_to(folder).parts[:-1]
            if any(part in SUPPORT_FOLDERS for part in inner[1:]):
                continue  # an example that a skill carries along
            read = walk.read(path)
            document = front_matter.read(read.text)
            name = clean(document.text("name"), 120) or path.parent.name
            if name not in disabled:
                skills.append(Skill(path.parent, name, runtime, document, read.sha))
    return skills


def host_section(sources: Sources, name: str) -> Mapping[str, Any]:
    """A section of the host's `config.yaml`; empty where it is not there or cannot be read."""
    try:
        section = read_yaml(sources.home / "config.yaml").get(name)
    except ConfigError as error:
        sources.problems.append(str(error))
        return {}
    return section if isinstance(section, Mapping) else {}


def collect(sources: Sources, skills: list[Skill]) -> Iterator[Found]:
    """One artifact for each skill."""
    for skill in skills:
        priority = RUNTIME if skill.runtime else SOURCE_TREE
        yield Found(_artifact(sources, skill), priority, file_identity(skill.folder / "SKILL.md"))


def _artifact(sources: Sources, skill: Skill) -> Artifact:
    document = skill.document
    summary = clean(document.text("description") or first_line(document.body), SUMMARY_CHARS)
    tags = [clean(tag, 60) for tag in document.words("tags")]
    supports = _support_names(sources, skill)
    path = display_path(skill.folder / "SKILL.md", sources.root)
    category = _category(sources, skill)
    words = " ".join(re.sub(r"[-_./]", " ", one) for one in (*category, *supports))
    return Artifact(
        id=f"skill:{slug(skill.name)}",
        type="skill",
        title=skill.name,
        path=path,
        summary=summary,
        triggers=tuple(dict.fromkeys([*tags, *significant_words(skill.name, summary, words)])),
        entities=entities_in(sources.settings.known_entities, skill.name, path, summary, " ".join(tags)),
        related=tuple(f"skill:{slug(name)}" for name in document.words("related_skills")),
        source="runtime_skill" if skill.runtime else "custom_skill_source",
        updated_at=updated_at(skill.folder / "SKILL.md"),
        search_text=clean(" ".join([*tags, *category, *supports])),
        content_sha=skill.sha,
    )


def _category(sources: Sources, skill: Skill) -> tuple[str, ...]:
    """The folders between the folder of all skills and that of this one."""
    for root in (*sources.skill_folders, sources.home / "skills"):
        if skill.folder.is_relative_to(root):
            return skill.folder.relative_to(root).parts[:-1]
    return ()


def _support_names(sources: Sources, skill: Skill) -> list[str]:
    walk = sources.walk(skill.folder)
    names = [
        path.relative_to(skill.folder).as_posix()
        for name in SUPPORT_FOLDERS
        for path in walk.files(skill.folder / name, links=False)
    ]
    return [clean(name, 120) for name in names[:MOST_SUPPORT_NAMES]]
