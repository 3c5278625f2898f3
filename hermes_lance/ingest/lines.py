"""Lines of the files on the disk that a regular expression fits: no index is asked, only ignore rules apply."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from hermes_lance.core.config import Config
from hermes_lance.core.errors import FileMissing, UsageError
from hermes_lance.core.records import Root, Skipped
from hermes_lance.core.text import decode
from hermes_lance.ingest import contents
from hermes_lance.ingest.roots import located
from hermes_lance.ingest.walk import Walk, settings_from
from hermes_lance.parse import media

LONGEST_LINE_CHARS = 400
"""Of a line that is shown; a longer one is cut around the match."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line that fits."""

    path: str
    """Display path."""
    location: str
    """Absolute path."""
    line: int
    """From 1."""
    text: str


@dataclass(slots=True)
class Lines:
    """A page of lines, and how many there are in all."""

    page: list[Line] = field(default_factory=list)
    total: int = 0
    files: int = 0
    """Files that were read."""


def matching(
    config: Config,
    roots: Sequence[Root],
    pattern: str,
    *,
    path: str | None = None,
    file_glob: str | None = None,
    limit: int = 20,
    offset: int = 0,
) -> Lines:
    """Lines that hold a match, by path and number. `file_glob` is compared with the name, with a `/` in it with the
    whole display path. `UsageError` for a bad expression, `FileMissing` for a `path` that is not there."""
    try:
        wanted = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"{pattern!r}: not a regular expression ({error})") from error
    found = Lines()
    for shown, location, text in _texts(config, roots, path, file_glob):
        found.files += 1
        for number, line in enumerate(text.split("\n"), start=1):
            match = wanted.search(line)
            if match is None:
                continue
            if offset <= found.total < offset + limit:
                found.page.append(Line(shown, location, number, _around(line.rstrip("\r"), match)))
            found.total += 1
    return found


def _texts(
    config: Config, roots: Sequence[Root], path: str | None, file_glob: str | None
) -> Iterator[tuple[str, str, str]]:
    """Display path, absolute path and text of the files that hold text."""
    only = None
    if path:
        place = located(path, roots)
        if not (place.root.path / place.path).exists():
            raise FileMissing(f"{place.display_path}: path not found")
        only = {place.root.key: [place.path]}
    settings = settings_from(config)
    for each in Walk(roots, settings, only):
        if isinstance(each, tuple) or not _fits(each.display_path, file_glob):
            continue
        data = contents.read(each, settings.max_bytes)
        if isinstance(data, Skipped) or not _is_text(each.path, data.data):
            continue
        decoded = decode(data.data)
        if decoded is not None:
            yield each.display_path, each.location, decoded.text


def _fits(path: str, file_glob: str | None) -> bool:
    if not file_glob:
        return True
    return fnmatch.fnmatchcase(path if "/" in file_glob else PurePosixPath(path).name, file_glob)


def _is_text(path: str, data: bytes) -> bool:
    kind = media.media_type(path, data)
    return kind.startswith("text/") or kind in {"image/svg+xml", "message/rfc822"} or kind.endswith(("json", "xml"))


def _around(line: str, match: re.Match[str]) -> str:
    if len(line) <= LONGEST_LINE_CHARS:
        return line
    start = max(0, match.start() - LONGEST_LINE_CHARS // 4)
    end = start + LONGEST_LINE_CHARS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
