"""Parser: Jupyter notebooks of nbformat 3 and 4. Cells in order, each with its number; of outputs the text, shortened.

Formats: nbformat.readthedocs.io, "The Notebook file format". Pictures, HTML and widgets among outputs are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_lance.core.records import Document, Section
from hermes_lance.parse.blocks import scan
from hermes_lance.parse.markdown import readable_title
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.plain import decoded

OUTPUT_CHARS = 1_000
"""Of one output; the rest of it is left out."""
_CODE_LANGUAGE = re.compile(r"[A-Za-z][\w+#-]{0,30}")
_DATA_URI = re.compile(r"data:[\w.+/-]{0,80};base64,[A-Za-z0-9+/=%]{40,}")
_TERMINAL = re.compile(r"\x1b\[[0-9;?]{0,40}[A-Za-z]")
_SURROGATES = re.compile("[\ud800-\udfff\x00]")


@dataclass(frozen=True, slots=True)
class _Cell:
    number: int
    kind: str
    text: str


class NotebookParser:
    """One section for each cell, and for each heading in a Markdown cell; headings give the trail."""

    name = "notebook"
    media_types: Sequence[str] = ("application/x-ipynb+json",)

    def signature(self) -> str:
        """Name and version."""
        return "notebook/1"

    def parse(self, data: bytes, *, path: str, media_type: str) -> Document:
        """The cells with sections of kind `markdown`, `code` or `text` and the locator `cell <number from 1>`.

        Raises `Unreadable`: `parse_failed` with the place for broken JSON, `empty` where no cell holds a word.
        """
        notebook, encoding, replaced = _loaded(data)
        language = _language(notebook)
        text, sections = _joined(list(_cells(notebook)))
        if not text.strip():
            raise Unreadable("empty", "no cell of the notebook holds text")
        facts = {"language": language} if language else {}
        title = _string(_mapping(notebook.get("metadata")).get("title")).strip()
        title = title or next((part.trail[0] for part in sections if part.trail), "")
        return Document(
            text=text,
            media_type=media_type,
            parser=self.signature(),
            sections=sections,
            lang=language,
            encoding=encoding,
            replaced_chars=replaced,
            verbatim=False,
            facts={**facts, "title": title[:200]} if title else facts,
        )


def _loaded(data: bytes) -> tuple[dict[str, Any], str, int]:
    found = decoded(data)
    try:
        loaded = json.loads(found.text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Unreadable("parse_failed", f"not a whole notebook: {error.msg} at {place}", failed=True) from error
    except (ValueError, RecursionError) as error:
        raise Unreadable("parse_failed", f"not a notebook: {error}", failed=True) from error
    if not isinstance(loaded, dict) or not ("cells" in loaded or "worksheets" in loaded):
        raise Unreadable("parse_failed", "not a notebook: JSON without cells", failed=True)
    return loaded, found.encoding, found.replaced_chars


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: Any) -> str:
    """Sources and outputs are a string or a list of lines; anything else holds no text."""
    text = value if isinstance(value, str) else "".join(part for part in _list(value) if isinstance(part, str))
    # JSON may spell half a character, which no store takes.
    return _SURROGATES.sub("�", text).replace("\r\n", "\n").replace("\r", "\n")


def _language(notebook: dict[str, Any]) -> str | None:
    about = _mapping(notebook.get("metadata"))
    for holder, key in (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name")):
        named = _CODE_LANGUAGE.match(_string(_mapping(about.get(holder)).get(key)))
        if named:
            return named[0].lower().rstrip("0123456789-")
    return None


def _cells(notebook: dict[str, Any]) -> Iterator[_Cell]:
    raw = _list(notebook.get("cells"))
    for sheet in _list(notebook.get("worksheets")):
        raw = raw + _list(_mapping(sheet).get("cells"))
    for number, entry in enumerate(raw, 1):
        cell = _mapping(entry)
        source = _string(cell.get("source", cell.get("input")))
        kind = cell.get("cell_type")
        if kind == "code":
            parts = [source, *(f"Output:\n{text}" for text in map(_output, _list(cell.get("outputs"))) if text)]
            text = "\n\n".join(part.strip("\n") for part in parts if part.strip())
        elif kind == "heading":  # nbformat 3
            level = cell.get("level")
            text = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + " ".join(source.split())
        else:
            text = _DATA_URI.sub("data:", source).strip("\n")
        if text.strip():
            yield _Cell(number, {"code": "code", "raw": "text"}.get(str(kind), "markdown"), text)


def _output(entry: Any) -> str:
    """The text of an output, at most `OUTPUT_CHARS` of it, cut at a line where there is one."""
    output = _mapping(entry)
    data = _mapping(output.get("data"))
    candidates = (output.get("text"), data.get("text/plain"), data.get("text/markdown"))
    text = next((found for found in map(_string, candidates) if found.strip()), "")
    if not text and "ename" in output:
        text = f"{_string(output.get('ename'))}: {_string(output.get('evalue'))}"
    text = _DATA_URI.sub("data:", _TERMINAL.sub("", text[: OUTPUT_CHARS * 8])).strip("\n")
    if len(text) <= OUTPUT_CHARS:
        return text
    kept = text[:OUTPUT_CHARS]
    line = kept.rfind("\n")
    return kept[:line] if line > OUTPUT_CHARS // 2 else kept


def _joined(cells: list[_Cell]) -> tuple[str, tuple[Section, ...]]:
    parts: list[str] = []
    sections: list[Section] = []
    trail: list[tuple[int, str]] = []
    start = 0
    for cell in cells:
        body = f"{cell.text}\n\n"
        borders: list[tuple[int, tuple[str, ...]]] = [(0, tuple(name for _, name in trail if name))]
        for heading in scan(cell.text, 0).headings if cell.kind == "markdown" else ():
            while trail and trail[-1][0] >= heading.level:
                trail.pop()
            trail.append((heading.level, readable_title(heading.title)))
            if not cell.text[: heading.start].strip():
                borders.clear()
            borders.append((heading.start if borders else 0, tuple(name for _, name in trail if name)))
        ends = [place for place, _ in borders[1:]] + [len(body)]
        for (place, names), end in zip(borders, ends, strict=True):
            sections.append(Section(start + place, start + end, names, cell.kind, f"cell {cell.number}"))
        parts.append(body)
        start += len(body)
    return "".join(parts), tuple(sections)
