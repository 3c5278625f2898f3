"""RTF before it is read: groups of words that a reviewer has deleted are taken out, since anydoc keeps them.

Format: RTF specification 1.9.1, "Track changes" (`\\deleted` holds to the end of its group).
"""

from __future__ import annotations

import re

_TOKEN = re.compile(rb"\\[\\{}]|\\bin(\d{1,9}) ?|(\\deleted)(?![a-z0-9-])|([{}])")
_MARK = b"\\deleted"


def without_deleted(data: bytes) -> bytes:
    """The same file without those groups. A mark outside of any inner group is left alone: all would be gone."""
    if _MARK not in data:
        return data
    spans: list[tuple[int, int]] = []
    open_groups: list[tuple[int, bool]] = []
    position = 0
    while (found := _TOKEN.search(data, position)) is not None:
        position = found.end()
        if found[1]:
            position += int(found[1])  # raw bytes, braces among them
        elif found[2] and len(open_groups) > 1:
            open_groups[-1] = (open_groups[-1][0], True)
        elif found[3] == b"{":
            open_groups.append((found.start(), False))
        elif found[3] == b"}" and open_groups:
            start, deleted = open_groups.pop()
            if deleted:
                spans.append((start, found.end()))
    kept: list[bytes] = []
    done = 0
    for start, end in sorted(spans):
        if start >= done:
            kept.append(data[done:start])
            done = end
    return b"".join(kept) + data[done:]
