"""The records of the router: a whole thing that an agent can open, and a link between two of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields

TYPES = (
    "skill", "skill_support_doc", "script", "memory_doc", "runbook", "doc", "cron_job", "mcp_server", "tool_okf",
)  # fmt: skip
"""Kinds of artifact."""
PREFIXES = {"cron": "cron_job", "mcp": "mcp_server"}
"""Beginnings of ids that are not the name of the kind."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """One row of the table `artifacts`, but for the run that wrote it; see `schemas/artifacts.json`."""

    id: str
    type: str
    title: str
    path: str
    summary: str = ""
    triggers: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    source: str = ""
    updated_at: str | None = None
    search_text: str = ""
    content_sha: str = ""
    embed_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """One row of the table `edges`, but for its id and run; see `schemas/edges.json`."""

    source_id: str
    target_id: str
    kind: str
    direction: str
    confidence: float
    evidence: str


def joined_names(one: Artifact) -> set[str]:
    """The names of an artifact without separators and in lower case, as people write them in a hurry."""
    last = re.split(r"[/\\#]", one.title)[-1]
    names = (one.title, last, last.rpartition(".")[0], one.id.partition(":")[2])
    return {joined for name in names if (joined := _SEPARATORS.sub("", name).lower())}


_SEPARATORS = re.compile(r"[\W_]+")
ARTIFACT_COLUMNS = tuple(item.name for item in fields(Artifact))
EDGE_COLUMNS = tuple(item.name for item in fields(Edge))
LISTS = ("triggers", "entities", "related", "embed_keys")
"""Columns of artifacts that hold several values."""


@dataclass(slots=True)
class ArtifactReport:
    """What a run has done with the artifacts."""

    generation: str = ""
    published: int = 0
    """Generations that were published; 0 where nothing has changed."""
    written: int = 0
    """New and changed artifacts."""
    reused: int = 0
    removed: int = 0
    total: int = 0
    edges: int = 0
    by_type: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)
