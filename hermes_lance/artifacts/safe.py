"""What of an artifact may be stored at all: every text passes here before it is indexed, embedded or shown.

Secret-looking values are masked, then the masks are taken out of what is only searched. Of commands and addresses
little is kept in the first place: names, never values.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from hermes_lance.artifacts.naming import digest, slug
from hermes_lance.core.artifact import Artifact
from hermes_lance.core.redact import MASK, looks_random, mask_shapes, redact

_SPACE = re.compile(r"\s+")
_PERSONAL = re.compile(r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+|(?<![\w.])[+@]?-?\d[\d \-]{5,}\d(?!\w)")
"""Mail addresses, and numbers long enough to be those of chats and telephones."""
_WORDS_ONLY = re.compile(r"@?[A-Za-z][A-Za-z0-9_./\-]{1,60}")
_LONG_OPTION = re.compile(r"--([A-Za-z][A-Za-z\-]{1,30})(?:=.*)?\Z", re.DOTALL)
_LOCAL_PATH = re.compile(r"(?<![\w:/.])(?:~/|/|[A-Za-z]:\\|\\\\)[^\s\"'`<>|;,)\]}]+")
_ROUTABLE = (".py", ".sh", ".bash", ".js", ".cjs", ".mjs", ".md")
_LAUNCHERS = frozenset("npx bunx uvx uv pipx python node bun deno bash sh zsh ruby go docker podman pnpm yarn".split())  # noqa: SIM905
_BEFORE_THE_NAME = frozenset({"-m", "-y", "--yes", "run", "exec", "tool", "dlx", "x"})
_RUN = re.compile(r"[A-Za-z0-9]{12,}")
_FEWEST_OF_A_KIND = 3


def clean(text: str, most: int | None = None) -> str:
    """One line of text without secret-looking values, at most so many characters."""
    line = _SPACE.sub(" ", masked(text)).strip()
    return line if most is None or len(line) <= most else f"{line[: most - 1].rstrip()}…"


def searchable(text: str) -> str:
    """The same for text that is only searched: lines kept apart, nothing left of the masks."""
    return masked(text).replace(MASK, " ")


def masked(text: str) -> str:
    """With a mask for what `redact` finds, and for every run of letters and digits that a machine has made: nothing is
    ever routed by a hash, and a bare one may be a key."""
    return _RUN.sub(lambda run: MASK if _mixed(run[0]) else run[0], redact(text))


def impersonal(text: str) -> str:
    """Without mail addresses and numbers of chats and telephones."""
    return _PERSONAL.sub(" ", text)


def stored(one: Artifact) -> Artifact:
    """The artifact as it may be stored: each of its texts redacted once more, whatever its collector has done."""
    title = clean(_masked_names(one.title), 300) or one.id
    kind, _, name = one.id.partition(":")
    if title != one.title:
        # The id was made from it; a hash keeps it apart from others whose names are masked.
        name = f"{slug(title.replace(MASK, ''))}-{digest(one.title)[:8]}"
    return replace(
        one,
        id=f"{kind}:{name}",
        title=title,
        path=masked(_masked_names(one.path)),
        summary=clean(one.summary, 700),
        triggers=_kept(one.triggers),
        entities=_kept(one.entities),
        related=_kept(one.related),
        search_text=searchable(one.search_text),
    )


def _masked_names(path: str) -> str:
    """A path or title with a mask for each of its parts that looks like a secret."""
    return re.sub(r"[^/\\#\s]+", lambda part: MASK if _is_secret_name(part[0]) else part[0], path)


def _is_secret_name(name: str) -> bool:
    return looks_random(name) or looks_random(name.rpartition(".")[0]) or mask_shapes(name) != name


def _kept(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(value for value in values if not _is_secret(value))


def _is_secret(value: str) -> bool:
    return MASK in masked(value) or looks_random(value)


def routable_paths(*texts: str) -> tuple[str, ...]:
    """Local paths of scripts and documents in texts; not those inside addresses, and none that looks like a secret."""
    found: dict[str, None] = {}
    for text in texts:
        for match in _LOCAL_PATH.finditer(text):
            path = match[0].rstrip(".,:!?").split("?")[0]
            if path.endswith(_ROUTABLE) and not any(_is_secret(part) for part in re.split(r"[/\\]", path)):
                found[path] = None
    return tuple(found)


def split_command(text: str) -> list[str]:
    """The words of a command line, also of a broken one, without variables that are set in front of it."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    while words and re.match(r"[A-Za-z_]\w*=", words[0]):
        words = words[1:]
    return words


def program(text: str) -> str:
    """The name of the program that a command starts; empty where it looks like a secret."""
    words = split_command(text)
    name = re.split(r"[/\\]", words[0])[-1] if words else ""
    return name if _WORDS_ONLY.fullmatch(name) and not _is_secret(name) else ""


def command_words(words: Sequence[object]) -> Iterator[str]:
    """Of a command and its arguments: what a launcher such as `npx` starts, and the names of long options; no value.

    The first word after a launcher is a package, a module or a script; any other word may be a secret.
    """
    texts = [word for word in words if isinstance(word, str)]
    if texts and program(texts[0]).rstrip("0123456789.") in _LAUNCHERS:
        rest = [word for word in texts[1:] if word not in _BEFORE_THE_NAME]
        name = re.split(r"[/\\]", rest[0])[-1] if rest else ""
        if _WORDS_ONLY.fullmatch(name) and not _is_secret(name) and not _mixed(name):
            yield name
    for word in texts[1:]:
        if option := _LONG_OPTION.match(word):
            yield f"--{option[1]}"


def host(url: str) -> str:
    """Scheme and host of an address, without anything that stands before or after it."""
    try:
        parts = urlsplit(url.strip())
        name = parts.hostname or ""
    except ValueError:
        return ""
    labels = [label for label in name.split(".") if not _mixed(label)]
    return f"{parts.scheme}://{'.'.join(labels)}" if parts.scheme in {"http", "https", "ws", "wss"} and labels else ""


def _mixed(word: str) -> bool:
    """Letters and digits in turn over some length: made by a machine."""
    digits = sum(character.isdigit() for character in word)
    letters = sum(character.isalpha() for character in word)
    return bool(_RUN.search(word)) and min(digits, letters) >= _FEWEST_OF_A_KIND
