"""Markdown files that come with a skill: references, templates, notes beside its scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hermes_lance.artifacts.markdown import is_markdown, of_markdown
from hermes_lance.artifacts.naming import slug
from hermes_lance.artifacts.skills import SUPPORT_FOLDERS, Skill
from hermes_lance.artifacts.sources import RUNTIME, SOURCE_TREE, Found, Sources, file_identity
from hermes_lance.artifacts.walking import Walk

KIND = "skill_support_doc"


def collect(sources: Sources, skills: list[Skill]) -> Iterator[Found]:
    """Those of the source tree where Markdown is wanted, and those of the skills in the home."""
    if sources.settings.include_markdown_docs:
        yield from _of_the_tree(sources, [skill for skill in skills if not skill.runtime])
    for skill in skills:
        if skill.runtime:
            walk = sources.walk(skill.folder)
            for name in SUPPORT_FOLDERS:
                for path in walk.files(skill.folder / name, links=False, wanted=is_markdown):
                    relative = path.relative_to(skill.folder).with_suffix("").as_posix()
                    title = f"runtime_skills/{skill.name}/{relative}"
                    yield _found(sources, walk, path, title, skill, RUNTIME)


def _of_the_tree(sources: Sources, skills: list[Skill]) -> Iterator[Found]:
    owners = {skill.folder: skill for skill in skills}
    for folder in sources.skill_folders:
        walk = sources.walk(sources.root)
        for path in walk.files(folder, wanted=is_markdown):
            if path.name == "SKILL.md" and path.parent in owners:
                continue
            title = path.relative_to(sources.root).with_suffix("").as_posix()
            owner = next((owners[parent] for parent in path.parents if parent in owners), None)
            yield _found(sources, walk, path, title, owner, SOURCE_TREE)


def _found(sources: Sources, walk: Walk, path: Path, title: str, owner: Skill | None, priority: int) -> Found:
    source = "repo_markdown" if priority == SOURCE_TREE else "runtime_skill_support_doc"
    related = (f"skill:{slug(owner.name)}",) if owner is not None else ()
    made = of_markdown(sources, path, walk.read(path), f"{KIND}:{slug(title)}", KIND, title, source, related)
    return Found(made, priority, file_identity(path))
