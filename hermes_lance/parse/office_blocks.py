"""The blocks that anydoc makes of an office document, written as text.

Headings are plain lines (their level is in the trail), lists and tables Markdown; a note stands below the block that
refers to it. Runs only in the worker process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hermes_lance.parse.writer import Writer, row_line, rule_line

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_LINE_ENDS = re.compile(r"[ \t\u00a0]*(?:\r\n|[\r\n\v\u2028\u2029])[ \t]?")
_INVISIBLE = re.compile("[\u00ad\u2060\ufeff\ufffe\u0000-\u0008\u000e-\u001f]")
_SYMBOL_FONT = re.compile("[\uf020-\uf0ff]")
_BULLETS = "\uf0b7\uf0a7\uf0d8\uf0fc\uf076\uf0a8\uf02d"
_NAMELESS = re.compile(
    r"(?:picture|image|grafik|bild|photo|imagen|immagine|afbeelding|object|objet)\s*\d*", re.IGNORECASE
)
_MAX_DEPTH = 60
"""Lists and tables within each other; what lies deeper is left out."""


def clean(text: str) -> str:
    """Without characters that nobody sees; marks of symbol fonts as bullets or blanks, all line ends as one."""
    if _SYMBOL_FONT.search(text):
        text = _SYMBOL_FONT.sub(lambda found: "•" if found[0] in _BULLETS else " ", text)
    return _LINE_ENDS.sub("\n", _INVISIBLE.sub("", text))


class BlockText:
    """Writes blocks of one document; `quote` is how a block quote is shown."""

    def __init__(self, writer: Writer, notes: Iterable[Any], *, quote: Callable[[str], str] | None = None) -> None:
        self._writer = writer
        self._notes = {note.id: note for note in notes}
        self._numbers: dict[str, int] = {}
        self._owed: list[str] = []
        """Notes that were referred to since the last block was written."""
        self._quote = quote or (lambda text: "\n".join(f"> {line}".rstrip() for line in text.split("\n")))
        self._after_list = False

    def write(self, blocks: Iterable[Any]) -> None:
        """All blocks in order, each followed by the notes it refers to."""
        for block in blocks:
            self.block(block)

    def block(self, block: Any, depth: int = 0) -> None:
        """One block at the top of the document."""
        after_list, self._after_list = self._after_list, block.kind == "list"
        if block.kind == "heading":
            self._writer.heading(block.level or 1, self.inline(block.content).replace("\n", " "))
        elif block.kind == "table":
            self._table(block.table, depth)
        else:
            self._writer.block(self._text(block, depth), close=after_list and block.kind == "list")
        self._write_notes()

    def _write_notes(self) -> None:
        while self._owed:
            note = self._notes[(name := self._owed.pop(0))]
            body = " ".join(self._flow(note.blocks, 1).split())
            self._writer.block(f"[^{self._numbers[name]}]: {body}" if body else "")

    def inline(self, content: Sequence[Any] | None) -> str:
        """Running text: links as their words, pictures as their description, formulas as LaTeX."""
        return clean("".join(map(self._run, content or ())))

    def _run(self, part: Any) -> str:
        kind = part.kind
        if kind == "text":
            return str(part.text)
        if kind == "line_break":
            return "\n"
        if kind == "link":
            words = "".join(map(self._run, part.content or ()))
            return words or (part.target.value if part.target.kind == "external" else "")
        if kind == "note_ref" and part.note_id in self._notes:
            if part.note_id not in self._numbers:
                self._numbers[part.note_id] = len(self._numbers) + 1
                self._owed.append(part.note_id)
            return f"[^{self._numbers[part.note_id]}]"
        if kind == "image":
            words = " ".join((part.alt or "").split())
            return f"[Image: {words}]" if words and not _NAMELESS.fullmatch(words) else ""
        if kind == "math":
            return f"${part.text}$"
        if kind == "checkbox":
            return "[x] " if part.checked else "[ ] "
        return ""

    def _text(self, block: Any, depth: int) -> str:
        """A block as text; tables within others are folded into lines."""
        if depth > _MAX_DEPTH:
            return ""
        kind = block.kind
        if kind in ("paragraph", "heading"):
            text = self.inline(block.content).rstrip().lstrip("\n")
            # Two blanks and more in front are the indentation of code; one is a slip.
            return text if text.startswith(("  ", "\t")) else text.lstrip()
        if kind == "list":
            return "\n".join(self._items(block.list, depth))
        if kind == "block_quote":
            body = self._flow(block.blocks, depth + 1)
            return self._quote(body) if body else ""
        if kind == "code_block":
            return f"```{block.lang or ''}\n{(block.text or '').rstrip()}\n```" if (block.text or "").strip() else ""
        if kind == "math":
            return f"$$\n{block.text}\n$$" if block.text else ""
        if kind == "table":
            rows = self._grid(block.table, depth)
            return "\n".join("\t".join(filter(None, row)) for row in rows if any(row))
        return ""

    def _flow(self, blocks: Iterable[Any], depth: int) -> str:
        return "\n".join(filter(None, (self._text(block, depth) for block in blocks)))

    def _items(self, group: Any, depth: int) -> list[str]:
        lines: list[str] = []
        for number, item in enumerate(group.items, group.start):
            texts: list[tuple[bool, str]] = []
            for block in item.blocks:
                text = self._text(block, depth + 1)
                if text:
                    texts.append((block.kind == "list", text))
            mark = item.marker_label or _marker(group.marker, number)
            # An item of nothing but a deeper list has no line of its own.
            for place, (nested, text) in enumerate(texts):
                first, *rest = text.split("\n")
                head = f"{mark} " if place == 0 and not nested else "  "
                lines.append(head + first)
                lines.extend(f"  {line}" for line in rest)
        return lines

    def _grid(self, table: Any, depth: int) -> list[list[str]]:
        """The cells of a table as text; places that a wider or higher cell covers are empty."""
        rows = [
            [self._flow(slot.cell.blocks, depth + 1) if slot.cell is not None else "" for slot in row]
            for row in table.grid
        ]
        width = max(map(len, rows), default=0)
        return [row + [""] * (width - len(row)) for row in rows]

    def _table(self, table: Any, depth: int) -> None:
        rows = self._grid(table, depth)
        used = [column for column in range(len(rows[0]) if rows else 0) if any(row[column] for row in rows)]
        rich = table.kind == "layout" or len(used) < 2 or _is_rich(table)
        header_rows = table.header_rows
        kept = [[row[column] for column in used] for row in rows]
        if not rich:
            header = [" ".join(filter(None, parts)) for parts in zip(*kept[:header_rows], strict=True)]
            lines = [row_line(row) for row in kept if any(row)]
            if 0 < header_rows < len(kept):
                lines.insert(sum(any(row) for row in kept[:header_rows]), rule_line(len(used)))
            self._writer.table(lines, header)
            return
        for number, row in enumerate(kept):
            # Cells that hold lists and tables do not fit in one line: each is written below the one before.
            self._writer.block(("\t" if number < header_rows else "\n").join(filter(None, row)))


def _is_rich(table: Any) -> bool:
    return any(
        block.kind in ("list", "table", "code_block", "math")
        for row in table.grid
        for slot in row
        if slot.cell is not None
        for block in slot.cell.blocks
    )


def _marker(family: str, number: int) -> str:
    if family == "bullet":
        return "-"
    if family.endswith("alpha") and 0 < number <= 26:
        letter = chr(96 + number)
        return f"{letter.upper() if family.startswith('upper') else letter}."
    if family.endswith("roman") and 0 < number < 4000:
        letters = ""
        for value, numeral in _ROMAN:
            count, number = divmod(number, value)
            letters += numeral * count
        return f"{letters.upper() if family.startswith('upper') else letters}."
    return f"{number}."
