"""All artifacts of a home and its source tree, and the links between them: equal input gives equal rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from hermes_lance.artifacts import cron, markdown, mcp, scripts, skills, support_docs, tool_notes
from hermes_lance.artifacts.edges import edges_between
from hermes_lance.artifacts.meaning import with_key
from hermes_lance.artifacts.safe import stored
from hermes_lance.artifacts.sources import Sources, without_doubles
from hermes_lance.core.artifact import Artifact, Edge
from hermes_lance.core.router_config import LocalKnowledgeConfig


@dataclass(frozen=True, slots=True)
class Collection:
    """What was found, by id, and what could not be read."""

    artifacts: tuple[Artifact, ...]
    edges: tuple[Edge, ...]
    problems: tuple[str, ...]


def collected(
    home: Path, settings: LocalKnowledgeConfig, beside: Sequence[Path] = (), forgotten: frozenset[str] = frozenset()
) -> Collection:
    """Reads every source. `beside`: folders that are none, even where they are below the root. `forgotten`: SHA-256 of
    files that are to be passed over."""
    sources = Sources(home, settings, beside, forgotten)
    every = skills.found_skills(sources)
    found = chain(
        skills.collect(sources, every),
        support_docs.collect(sources, every),
        scripts.collect(sources),
        markdown.collect(sources),
        cron.collect(sources),
        mcp.collect(sources),
        tool_notes.collect(sources),
    )
    artifacts = tuple(with_key(stored(one)) for one in without_doubles(found))
    return Collection(artifacts, edges_between(artifacts), tuple(dict.fromkeys(sources.problems)))
