"""Judged sets in the layout of BEIR: reading them, and writing their documents as files with neutral names.

A document goes through the whole system as a file would; so its name must not give the answer away, which ids and
paths often do. Layout: corpus.jsonl(.gz), queries.jsonl, qrels/<split>.tsv (Thakur et al., 2021).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from hermes_lance.core.errors import FileMissing, UsageError

CODE_SUFFIXES: Mapping[str, str] = {
    "python": ".py", "go": ".go", "ruby": ".rb", "javascript": ".js", "typescript": ".ts", "java": ".java",
    "php": ".php", "rust": ".rs", "c": ".c", "c++": ".cpp", "cpp": ".cpp", "c#": ".cs", "csharp": ".cs",
    "kotlin": ".kt", "swift": ".swift", "scala": ".scala", "lua": ".lua", "bash": ".sh", "shell": ".sh",
}  # fmt: skip
"""Language, as metadata name it, to the suffix of its files."""
_CODE = frozenset(CODE_SUFFIXES.values()) | {
    ".h",
    ".hpp",
    ".cc",
    ".tsx",
    ".jsx",
    ".mjs",
    ".pyi",
    ".pyx",
    ".pxd",
    ".mod",
}
_PROSE = frozenset({".md", ".txt", ".rst", ".html", ".mdx"})


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    """One document of a corpus."""

    id: str
    title: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """One query, with whatever its set says about it (language, earlier turns, category)."""

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Documents, queries and judgements: `qrels[query][document]` is the relevance, 0 = judged and not relevant."""

    name: str
    documents: tuple[JudgedDocument, ...]
    queries: tuple[JudgedQuery, ...]
    qrels: Mapping[str, Mapping[str, int]]

    @property
    def answerable(self) -> tuple[JudgedQuery, ...]:
        """The queries that have at least one relevant document; only these are scored."""
        return tuple(
            query for query in self.queries if any(grade > 0 for grade in self.qrels.get(query.id, {}).values())
        )


def read(folder: Path, split: str = "test") -> JudgedSet:
    """The set in a folder. `FileMissing` names the missing file, `UsageError` the line that does not fit."""
    corpus = next((path for path in (folder / "corpus.jsonl.gz", folder / "corpus.jsonl") if path.is_file()), None)
    if corpus is None:
        raise FileMissing(f"{folder}: no corpus.jsonl or corpus.jsonl.gz", hint="Name a folder in the layout of BEIR.")
    documents = tuple(
        JudgedDocument(str(row["_id"]), str(row.get("title") or ""), str(row["text"]), row.get("metadata") or {})
        for row in _rows(corpus)
    )
    queries = tuple(
        JudgedQuery(str(row["_id"]), str(row["text"]), row.get("metadata") or {})
        for row in _rows(folder / "queries.jsonl")
    )
    return JudgedSet(folder.resolve().name, documents, queries, _qrels(folder / "qrels" / f"{split}.tsv"))


def by_language(judged: JudgedSet) -> list[JudgedSet]:
    """One set for each `metadata.lang` of the queries, corpus in the same language; the set itself without any.

    Names become `set/language`, languages in the order of their first document.
    """
    languages = list(dict.fromkeys(document.metadata.get("lang") for document in judged.documents))
    spoken = {query.metadata.get("lang") for query in judged.queries}
    if languages == [None] or not spoken.intersection(languages) - {None}:
        return [judged]
    return [
        restricted(judged, language, f"{judged.name}/{language}")
        for language in languages
        if language is not None and language in spoken
    ]


def restricted(judged: JudgedSet, language: str, name: str) -> JudgedSet:
    """Documents and queries of one language, and the judgements among them."""
    documents = tuple(document for document in judged.documents if document.metadata.get("lang") == language)
    queries = tuple(query for query in judged.queries if query.metadata.get("lang") == language)
    kept = {document.id for document in documents}
    qrels = {
        query.id: {document: grade for document, grade in judged.qrels.get(query.id, {}).items() if document in kept}
        for query in queries
    }
    return replace(judged, name=name, documents=documents, queries=queries, qrels=qrels)


def materialise(judged: JudgedSet, folder: Path) -> dict[str, str]:
    """Write every document as a file in a new or empty folder; file name to document id, in corpus order."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise UsageError(f"{folder}: not empty", hint="Name a new folder.")
    names: dict[str, str] = {}
    for ordinal, document in enumerate(judged.documents):
        name = f"d{ordinal}{suffix_of(document)}"
        (folder / name).write_bytes(contents_of(document).encode("utf-8", "replace"))
        names[name] = document.id
    return names


def suffix_of(document: JudgedDocument) -> str:
    """By `metadata.language`, else by the suffix of the id where that is code, else `.md`."""
    language = str(document.metadata.get("language") or "").lower()
    if language in CODE_SUFFIXES:
        return CODE_SUFFIXES[language]
    suffix = PurePosixPath(document.id).suffix.lower()
    return suffix if suffix in _CODE else ".md"


def contents_of(document: JudgedDocument) -> str:
    """The text of the file: the title as a heading, unless it is a path, the document is code, or the text has it.

    Where the first line of the text is the title, that line becomes the heading.
    """
    title = " ".join(document.title.split())
    if not title or _is_path(document) or suffix_of(document) in _CODE:
        return document.text
    text = document.text.lstrip()
    first, _, rest = text.partition("\n")
    if " ".join(first.split()) == title:
        return f"# {title}\n{rest}"
    if " ".join(first.lstrip("#").split()).startswith(title):
        return document.text
    return f"# {title}\n\n{document.text}"


def _is_path(document: JudgedDocument) -> bool:
    """Whether the title names a file, as sets of whole files have it: then it would be the name we must not show."""
    title = document.title.strip()
    named = "/" in title or PurePosixPath(title).suffix.lower() in _CODE | _PROSE
    return named and (document.id == title or document.id.endswith(f"/{title}"))


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    if not file.is_file():
        raise FileMissing(f"{file}: no such file", hint="Name a folder in the layout of BEIR.")
    opener = gzip.open if file.suffix == ".gz" else open
    with opener(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                row["_id"], row["text"]
            except (ValueError, KeyError, TypeError) as error:
                raise UsageError(f"{file}:{number}: not a JSON object with _id and text") from error
            yield row


def _qrels(file: Path) -> dict[str, dict[str, int]]:
    if not file.is_file():
        raise FileMissing(f"{file}: no such file", hint="Name a folder in the layout of BEIR.")
    qrels: dict[str, dict[str, int]] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1):
        parts = line.rstrip("\r").split("\t")
        if not line.strip() or (number == 1 and parts[-1] == "score"):
            continue
        try:
            query, document, grade = parts
            qrels.setdefault(query, {})[document] = int(float(grade))
        except ValueError as error:
            raise UsageError(f"{file}:{number}: not query, document and score with tabs between") from error
    return qrels
