"""What a link in a root is worth: the file behind it, or the reason why it is left out.

A link to a folder is never followed. A link to a file counts only when its target lies inside the same root and
would not be found there under its own name: then nothing leaks in from outside and nothing is indexed twice.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable

from hermes_lance.core.names import printable
from hermes_lance.core.records import Root, Skipped


def link_verdict(
    root: Root, location: str, is_indexed: Callable[[Root, str], bool]
) -> tuple[str, os.stat_result] | Skipped:
    """Location and stat of the file behind a link, or why the link is left out.

    `is_indexed(root, path)` says whether a file (relative path as on disk) is taken under its own name.
    """
    try:
        target = os.path.realpath(location, strict=True)
        found = os.stat(target, follow_symlinks=False)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return Skipped("link-loop", "a link that leads back to itself")
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return Skipped("link-dangling", "a link whose target does not exist")
        return Skipped("unreadable", f"a link that cannot be followed: {error.strerror}", failed=True)
    if stat.S_ISDIR(found.st_mode):
        return Skipped(
            "link-to-folder",
            "a link to a folder; only real folders are walked",
            remedy="`hermes-lance workspace roots add`",
        )
    top = os.fspath(root.path).rstrip(os.sep) + os.sep
    if not target.startswith(top):
        return Skipped("link-outside", "a link to a file outside its root", remedy="`hermes-lance workspace roots add`")
    if not stat.S_ISREG(found.st_mode):
        return Skipped("special", "a link to something that is not a file")
    inner = target[len(top) :].replace(os.sep, "/")
    if is_indexed(root, inner):
        return Skipped("link-duplicate", f"a link to {printable(inner)[0]}, which is indexed under its own name")
    return target, found
