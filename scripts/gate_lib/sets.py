"""The labelled messages: which of them need the files, and the collections that they are asked against.

Each message falls into one half by a hash of its id, so that a new one changes no other's half.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from hermes_lance.learn import beir

CHAT = Path(__file__).resolve().parent.parent.parent / "tests" / "data" / "chat_messages.jsonl"
LANGUAGES = ("en", "de", "es", "ru", "zh")
"""Of `xquad-multilingual`, those that the everyday messages are in too."""
QUESTIONS_OF_A_LANGUAGE = 150
TOGETHER = "all-together"


@dataclass(frozen=True, slots=True)
class Labelled:
    """One message."""

    id: str
    text: str
    needed: bool
    """Whether the collection holds something that it needs."""
    history: tuple[str, ...] = ()
    kind: str = ""

    @property
    def half(self) -> str:
        """`tune` or `held`."""
        return "held" if hashlib.sha256(self.id.encode()).digest()[0] % 2 else "tune"


@dataclass(frozen=True, slots=True)
class Group:
    """Messages of one label that are asked against one collection."""

    name: str
    collection: str
    needed: bool
    messages: tuple[Labelled, ...]
    target: float | None = None
    """Share that must be kept (where needed) or withheld (where not)."""
    fits: bool = True
    """Whether its first half serves to choose the figures."""

    @property
    def foreign(self) -> bool:
        """Whether messages and documents are in one language that the bundled model was not made for."""
        return self.collection.startswith("xquad-") and not self.collection.endswith("-en")


@dataclass(slots=True)
class Sets:
    """All groups, and the documents of their collections."""

    groups: list[Group] = field(default_factory=list)
    collections: dict[str, beir.JudgedSet] = field(default_factory=dict)

    def with_targets(self) -> Sets:
        """The groups that figures are chosen on, without the large collection."""
        groups = [group for group in self.groups if group.fits]
        names = {group.collection for group in groups} - {TOGETHER}
        return Sets([group for group in groups if group.collection in names], {n: self.collections[n] for n in names})


def held_out(group: Group, most: int) -> Group:
    """The messages of a group that nothing was chosen on, at most so many of them, spread over all."""
    held = [one for one in group.messages if one.half == "held"]
    return dataclasses.replace(group, messages=tuple(held[:: -(-len(held) // most)]))


def everyday() -> list[tuple[str, Labelled]]:
    """The everyday messages with their languages."""
    rows = [json.loads(line) for line in CHAT.read_text(encoding="utf-8").splitlines()]
    return [(row["language"], Labelled(row["id"], row["text"], False, kind=row["kind"])) for row in rows]


def all_sets(data: Path) -> Sets:
    """Every group of the report, from the judged sets in `data`."""
    made = Sets()
    for name, kept, unneeded, withheld in (
        ("intent-gate", 0.95, "out of scope", 0.60),
        ("mtrag-followup", 0.95, "unanswerable", 0.25),
        ("product-docs", None, "", None),
    ):
        judged = made.collections[name] = beir.read(data / name)
        answerable = {query.id for query in judged.answerable}
        both: dict[bool, list[Labelled]] = {True: [], False: []}
        for query in judged.queries:
            needed = query.id in answerable
            both[needed].append(Labelled(query.id, query.text, needed, tuple(query.metadata.get("history", ()))))
        made.groups.append(Group(f"{name}, answerable", name, True, tuple(both[True]), kept))
        if unneeded:
            made.groups.append(Group(f"{name}, {unneeded}", name, False, tuple(both[False]), withheld))
    _multilingual(made, data)
    _everyday(made)
    _together(made)
    return made


def _multilingual(made: Sets, data: Path) -> None:
    judged = beir.read(data / "xquad-multilingual")
    for language in LANGUAGES:
        part = beir.restricted(judged, language, f"xquad-{language}")
        made.collections[part.name] = part
        questions = tuple(Labelled(one.id, one.text, True) for one in part.answerable[:QUESTIONS_OF_A_LANGUAGE])
        made.groups.append(Group(f"{part.name}, answerable", part.name, True, questions))


def _of(made: Sets, name: str) -> Group:
    return next(group for group in made.groups if group.name == name)


def _everyday(made: Sets) -> None:
    spoken = everyday()
    every = tuple(message for _, message in spoken)
    for name in ("mtrag-followup", "product-docs"):
        made.groups.append(Group(f"everyday, {name}", name, False, every, 0.95))
    # Greetings, jokes and thanks are what this set's documents are about: shown, and not fitted.
    made.groups.append(Group("everyday, intent-gate", "intent-gate", False, every, fits=False))
    # In a conversation about something that the collection knows: nothing of it concerns them.
    conversations = [one.history for one in _of(made, "mtrag-followup, answerable").messages if one.history]
    talked = tuple(
        Labelled(one.id, one.text, False, conversations[number % len(conversations)], one.kind)
        for number, one in enumerate(every)
    )
    made.groups.append(Group("everyday in a conversation, mtrag-followup", "mtrag-followup", False, talked))
    for language in LANGUAGES:
        own = tuple(message for its, message in spoken if its == language)
        made.groups.append(Group(f"everyday, xquad-{language}", f"xquad-{language}", False, own))


def _together(made: Sets) -> None:
    """All documents of all sets in one workspace: the least score must do for a mixed and larger collection too."""
    documents = tuple(
        dataclasses.replace(one, id=f"{name}/{one.id}")
        for name, part in made.collections.items()
        for one in part.documents
    )
    made.collections[TOGETHER] = beir.JudgedSet(TOGETHER, documents, (), {})
    questions = [group for group in made.groups if group.needed]
    made.groups += [Group(f"{group.name}, all together", TOGETHER, True, group.messages) for group in questions]
    every = tuple(message for _, message in everyday())
    made.groups.append(Group("everyday, all together", TOGETHER, False, every))
