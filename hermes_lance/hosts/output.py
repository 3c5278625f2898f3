"""Results as text for people and as one JSON document for programs. Whatever a file holds, a terminal only shows it.

Names, texts and errors pass `shown` before they reach a stream: control characters, lone surrogates and marks that
turn the writing direction come out as escapes, so file content can neither drive a terminal nor end the output.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, TextIO

COLUMNS = 80
"""Text fits this many columns, or fewer where the terminal is narrower."""
_NARROWEST = 40
_LAST_COLUMN = 24
_FEWEST_COLUMNS = 8

# C0, DEL, C1, line and paragraph separators, direction overrides, lone surrogates.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e"}
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36", "match": "1;33"}


def shown(text: str) -> str:
    """`text` on one line and harmless: what a terminal would act on is written as an escape."""
    return _UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a name that is not UTF-8
        return f"\\x{number - 0xDC00:02x}"
    return _SHORT.get(character) or (f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}")


def shown_lines(text: str) -> list[str]:
    """The lines of `text`, each harmless; tabs become four blanks."""
    return [shown(line.replace("\t", "    ")) for line in re.split("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]", text)]


def columns_of(text: str) -> int:
    """Columns that a terminal gives to `text`: two for wide characters, none for those that combine."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int, *, keep_end: bool = False) -> str:
    """`text` in at most `width` columns; what is missing is marked by three dots."""
    if columns_of(text) <= width:
        return text
    room = width - 3
    if room < 1:
        return "..."[: max(width, 0)]
    kept: list[str] = []
    for character in reversed(text) if keep_end else text:
        room -= _columns(character)
        if room < 0:
            break
        kept.append(character)
    return "..." + "".join(reversed(kept)) if keep_end else "".join(kept) + "..."


def cut_path(path: str, width: int) -> str:
    """A path whose middle gives way first, so that its root and its file name stay."""
    if columns_of(path) <= width:
        return path
    end = cut(path, max(width - width // 3, 4), keep_end=True)
    return cut(path, width - columns_of(end) + 3)[:-3].rstrip("/") + end


def wrapped(text: str, width: int, *, indent: str = "", hanging: str | None = None) -> list[str]:
    """`text` in lines of at most `width` columns, broken at blanks, or inside a word where a word is longer."""
    if text.strip() and columns_of(indent + text) <= width:
        return [indent + text.strip()]
    lines: list[str] = []
    line, start = "", indent
    for word in text.split():
        while True:
            room = width - columns_of(start)
            candidate = f"{line} {word}" if line else word
            if columns_of(candidate) <= room:
                line = candidate
                break
            left = room - columns_of(line) - 1
            if line and (left < 4 or columns_of(word) == len(word)):
                lines.append(start + line)
                line, start = "", indent if hanging is None else hanging
                continue
            # Longer than a line, or of a script without blanks, which may be broken anywhere.
            head = _head(word, left if line else room)
            word = word[len(head) :]
            lines.append(start + (f"{line} {head}" if line else head))
            line, start = "", indent if hanging is None else hanging
    if line:
        lines.append(start + line)
    return lines


def _head(word: str, room: int) -> str:
    for at, character in enumerate(word):
        room -= _columns(character)
        if room < 0:
            return word[: max(at, 1)]
    return word


def amount(number: int, one: str, many: str | None = None) -> str:
    """`1 file`, `2 files`, `12,000 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size_words(size: float) -> str:
    """Bytes in the unit that suits: `512 B`, `1.5 MB` (powers of 1000)."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def time_words(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min`, `2 h 10 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def as_json(document: Mapping[str, Any]) -> bytes:
    """The one JSON document of a run: UTF-8, not ASCII-escaped, one line end. Numbers that JSON lacks become null."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(document), ensure_ascii=False)
    # A lone surrogate has no UTF-8, and its JSON escape is refused by most readers: it becomes text.
    return (_SURROGATE.sub(lambda match: "\\" + _escape(match), text) + "\n").encode("utf-8")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value


class Console:
    """Two streams and what they can show. Results go to `out`, everything else to `err`."""

    def __init__(self, *, quiet: bool = False, colour: bool = True, out: TextIO | None = None) -> None:
        """`quiet` keeps notes and warnings back; colour is used only on a terminal that wants it."""
        self.quiet = quiet
        self.out = sys.stdout if out is None else out
        self.err = sys.stderr
        wanted = colour and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.colour = wanted and is_terminal(self.out)
        self.width = max(_NARROWEST, min(COLUMNS, _terminal_columns(self.out)))

    def line(self, text: str = "") -> None:
        """A line of the result. The caller has made its parts harmless with `shown`."""
        able = known_to(self.out, text)
        if able != text and len(able) > self.width:
            # Escapes have made it longer than it was laid out.
            margin = " " * (len(able) - len(able.lstrip()))
            able = "\n".join(wrapped(able, self.width, indent=margin, hanging=margin + "  "))
        _write(self.out, able + "\n")

    def verbatim(self, text: str) -> None:
        """A result that is neither wrapped nor escaped; it has been made harmless where it comes from."""
        _write(self.out, text + "\n")

    def lines(self, texts: Iterable[str]) -> None:
        """Several of them."""
        for text in texts:
            self.line(text)

    def paragraph(self, text: str, *, indent: str = "", hanging: str | None = None) -> None:
        """A sentence of the result, wrapped."""
        self.lines(wrapped(known_to(self.out, shown(text)), self.width, indent=indent, hanging=hanging))

    def note(self, text: str) -> None:
        """Something beside the result, on the error stream; nothing when quiet."""
        if not self.quiet:
            _write(self.err, "\n".join(wrapped(known_to(self.err, shown(text)), self.width, hanging="  ")) + "\n")

    def warn(self, text: str) -> None:
        """A warning, likewise."""
        self.note(f"Warning: {text}")

    def error(self, message: str, hint: str = "") -> None:
        """The one line of an error: what happened to what, and what to do."""
        _write(self.err, error_line(message, hint) + "\n")

    def styled(self, text: str, style: str) -> str:
        """`text` in a style of `_STYLES`, plain where there is no colour."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour and text else text

    def document(self, document: Mapping[str, Any]) -> None:
        """The JSON document of the run, whatever encoding the console has."""
        data = as_json(document)
        stream = self.out
        buffer = getattr(stream, "buffer", None)
        if stream is None:
            return
        stream.flush()
        if buffer is None:
            stream.write(data.decode("utf-8"))
        else:
            buffer.write(data)
            buffer.flush()

    def table(
        self, head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Iterable[int] = (), wrap: bool = False
    ) -> None:
        """Rows in columns that fit the width; `right` names the columns of numbers, which never give way.

        Where it is too wide, the last column of words gives way first, then the widest. With `wrap` the last column
        goes on in the next line instead of being cut.
        """
        numbers = set(right)
        cells = [list(head), *([known_to(self.out, shown(cell)) for cell in row] for row in rows)]
        widths = _fitted_widths(cells, numbers, self.width)
        for number, row in enumerate(cells):
            first, *rest = [row[-1]]
            if wrap:
                first, *rest = wrapped(row[-1], widths[-1]) or [""]
            parts = []
            for at, cell in enumerate([*row[:-1], first]):
                cell = cut_path(cell, widths[at]) if "/" in cell and " " not in cell else cut(cell, widths[at])
                blanks = " " * (widths[at] - columns_of(cell))
                parts.append(blanks + cell if at in numbers else cell + blanks)
            text = "  ".join(parts).rstrip()
            self.line(self.styled(text, "bold") if number == 0 else text)
            margin = " " * (sum(widths[:-1]) + 2 * (len(widths) - 1))
            self.lines(margin + line for line in rest)


def _fitted_widths(cells: Sequence[Sequence[str]], numbers: Set[int], width: int) -> list[int]:
    widths = [max(columns_of(row[at]) for row in cells) for at in range(len(cells[0]))]
    over = sum(widths) + 2 * (len(widths) - 1) - width
    words = [at for at in range(len(widths)) if at not in numbers]
    for least, candidates in ((_LAST_COLUMN, words[-1:]), (_FEWEST_COLUMNS, words)):
        while over > 0 and candidates:
            at = max(candidates, key=widths.__getitem__)
            if widths[at] <= least:
                break
            widths[at] -= 1
            over -= 1
    return widths


def error_line(message: str, hint: str = "") -> str:
    """`Error: what happened to what. What to do.` on one line."""
    sentence = " ".join(message.split()) or "something went wrong"
    sentence = sentence if sentence[-1] in ".!?" else sentence + "."
    return shown(f"Error: {sentence} {' '.join(hint.split())}".rstrip())


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person looks at the stream."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _terminal_columns(stream: TextIO | None) -> int:
    """Columns of the terminal behind a stream; as many as we use where there is none."""
    if not is_terminal(stream):
        return COLUMNS
    assert stream is not None
    try:
        return os.get_terminal_size(stream.fileno()).columns or COLUMNS
    except (OSError, ValueError):
        return COLUMNS


def known_to(stream: TextIO | None, text: str) -> str:
    """`text` with escapes in the place of characters that the encoding of the stream does not have."""
    if text.isascii():
        return text
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _write(stream: TextIO | None, text: str) -> None:
    """Writes to a stream that may be absent or may know few characters."""
    if stream is not None:
        stream.write(known_to(stream, text))
