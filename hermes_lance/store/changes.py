"""The list of what the tables lack: kept in memory from the publication of text until it stands in the tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from hermes_lance.core.records import KnownFile


@dataclass(slots=True)
class Changes:
    """What publications have changed that the tables do not have yet."""

    states: dict[str, KnownFile] = field(default_factory=dict)
    """New records of files."""
    replaced: dict[str, None] = field(default_factory=dict)
    """Files whose passages in the tables are to go, or to give way to new ones."""
    dropped: dict[str, None] = field(default_factory=dict)
    """Files that are gone."""
    written: dict[str, None] = field(default_factory=dict)
    """Files with new passages."""
    artifacts: bool = False
    """Artifacts or links between them have changed; which ones is found by comparing."""

    def __bool__(self) -> bool:
        return self.of_files or self.artifacts

    @property
    def of_files(self) -> bool:
        """A record of a file, or passages, have changed."""
        return bool(self.states or self.replaced or self.dropped)

    def put(self, state: KnownFile) -> None:
        """A new record of a file."""
        self.states[state.id] = state
        self.dropped.pop(state.id, None)

    def drop(self, source_id: str) -> None:
        """A file is gone."""
        self.states.pop(source_id, None)
        self.written.pop(source_id, None)
        self.dropped[source_id] = None

    def add(self, later: Changes) -> None:
        """Takes in what changed after this."""
        for source_id in later.dropped:
            self.drop(source_id)
        for state in later.states.values():
            self.put(state)
        self.replaced.update(later.replaced)
        self.written.update(later.written)
        self.artifacts = self.artifacts or later.artifacts
