"""Notes on the agent's own tools (`okfs` in the state folder): what a tool is for, never when not to use it."""

from __future__ import annotations

from collections.abc import Iterator

from hermes_lance.artifacts import front_matter
from hermes_lance.artifacts.markdown import first_line, is_markdown
from hermes_lance.artifacts.naming import digest, display_path, entities_in, identifier_terms, slug
from hermes_lance.artifacts.safe import clean
from hermes_lance.artifacts.sources import RUNTIME, Found, Sources, file_identity, updated_at
from hermes_lance.core.artifact import Artifact

FOLDER = "okfs"
_VOLATILE = ("generated_at", "generator_version")


def collect(sources: Sources) -> Iterator[Found]:
    """One artifact for each note that names its tool and the schema it was written for."""
    folder = sources.state / FOLDER
    walk = sources.walk(folder)
    for path in walk.files(folder, links=False, wanted=is_markdown):
        document = front_matter.read(walk.read(path).text)
        kind = document.text("artifact_type") or "tool_okf"
        tool = clean(document.text("tool"), 120)
        if kind != "tool_okf" or not tool or not document.text("schema_hash"):
            continue
        title = clean(document.text("title"), 200) or tool
        toolset = clean(document.text("toolset"), 120)
        phrases = [clean(one, 200) for key in ("aliases", "triggers") for one in document.words(key)]
        terms = identifier_terms([tool, toolset])
        stable = [f"{key}={value}" for key, value in sorted(document.head.items()) if key not in _VOLATILE]
        artifact = Artifact(
            id=f"tool_okf:{slug(tool)}",
            type="tool_okf",
            title=title,
            path=display_path(path, sources.root),
            summary=clean(_purpose(document.body), 500) or title,
            triggers=tuple(dict.fromkeys([tool, *phrases, *terms])),
            entities=entities_in(sources.settings.known_entities, title, " ".join(phrases)),
            related=tuple(f"tool_okf:{slug(one)}" for one in document.words("related_tools")),
            source="generated_tool_okf",
            updated_at=updated_at(path),
            search_text="\n".join([tool, toolset, title, *phrases, *terms]),
            content_sha=digest(*stable, document.body),
        )
        yield Found(artifact, RUNTIME, file_identity(path))


def _purpose(body: str) -> str:
    return first_line(body)
