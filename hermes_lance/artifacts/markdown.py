"""Markdown files of the source tree: memory notes, runbooks and other documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from hermes_lance.artifacts import front_matter
from hermes_lance.artifacts.naming import display_path, entities_in, significant_words, slug
from hermes_lance.artifacts.safe import clean, searchable
from hermes_lance.artifacts.sources import SOURCE_TREE, Found, Sources, file_identity, updated_at
from hermes_lance.artifacts.walking import Read
from hermes_lance.core.artifact import Artifact

BODY_CHARS = 20_000
TRIGGER_CHARS = 4_000
SUMMARY_CHARS = 500
_RULES = ("---", "***", "___", "```", "~~~")


def is_markdown(name: str) -> bool:
    """By its suffix."""
    return name.lower().endswith(".md")


def first_line(body: str) -> str:
    """The first line that says something: no fence and no rule, without the marks of a heading."""
    for line in body.split("\n"):
        text = line.strip()
        if text and not text.startswith(_RULES):
            return text.lstrip("#").strip()
    return ""


def collect(sources: Sources) -> Iterator[Found]:
    """Every other Markdown file below the root, where Markdown is wanted."""
    if not sources.settings.include_markdown_docs:
        return
    root = sources.root
    elsewhere = (*sources.skill_folders, sources.home / "skills", sources.state)
    walk = sources.walk(root, skipped=elsewhere)
    for path in walk.files(root, wanted=is_markdown):
        if path.name != "SKILL.md":
            yield _document(sources, path, walk.read(path))


def _document(sources: Sources, path: Path, read: Read) -> Found:
    relative = path.relative_to(sources.root)
    title = relative.with_suffix("").as_posix()
    kind = _kind(sources, PurePosixPath(relative.as_posix()))
    made = of_markdown(sources, path, read, f"{kind}:{slug(title)}", kind, title, "repo_markdown")
    return Found(made, SOURCE_TREE, file_identity(path))


def of_markdown(
    sources: Sources,
    path: Path,
    read: Read,
    key: str,
    kind: str,
    title: str,
    source: str,
    related: tuple[str, ...] = (),
) -> Artifact:
    """The artifact of a Markdown file: its words are searched, never shown."""
    document = front_matter.read(read.text)
    body = searchable(document.body[:BODY_CHARS])
    shown = display_path(path, sources.root)
    summary = clean(document.text("description") or first_line(document.body), SUMMARY_CHARS)
    heading = clean(document.text("title") or first_line(document.body), SUMMARY_CHARS)
    return Artifact(
        id=key,
        type=kind,
        title=title,
        path=shown,
        summary=summary,
        triggers=significant_words(title, heading, summary, body[:TRIGGER_CHARS]),
        entities=entities_in(sources.settings.known_entities, title, shown, summary, body),
        related=related or tuple(f"skill:{slug(name)}" for name in document.words("related_skills")),
        source=source,
        updated_at=updated_at(path),
        search_text=body,
        content_sha=read.sha,
    )


def _kind(sources: Sources, relative: PurePosixPath) -> str:
    def below(folders: tuple[str, ...]) -> bool:
        wanted = [PurePosixPath(name).parts for name in folders]
        return any(relative.parts[: len(parts)] == parts and len(relative.parts) > len(parts) for parts in wanted)

    if below(sources.settings.memory_dirs):
        return "memory_doc"
    if below(sources.settings.runbook_dirs) or relative.name.lower().startswith("app_"):
        return "runbook"
    return "doc"
