"""Which parser serves which files, once plugins have said what they can read.

A key of the configuration is a media type, or a suffix such as `.dwg`: then files of that name get a media type of
their own, `application/x-dwg`, and are opened even where such files usually are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from hermes_lance.core import plugins
from hermes_lance.core.config import Config
from hermes_lance.core.errors import UNAVAILABLE, HermesLanceError


@dataclass(frozen=True, slots=True)
class Served:
    """Parsers by pattern of the media type, and the media types of suffixes that have one of their own."""

    parsers: Mapping[str, str]
    by_suffix: Mapping[str, str]
    """Suffix in lower case, with its dot, to media type."""
    trouble: HermesLanceError | None = None
    """Why the parser that was named alone cannot be had; then the others serve all."""


def parsers_of(config: Config) -> Served:
    """As the configuration says. Loads a plugin only where one is named alone, to ask what it reads."""
    if not config.sole_parser:
        return _sorted_out(config.parsers)
    name = config.sole_parser
    try:
        made: Any = plugins.make("parsers", name, config.parser_options.get(name), home=config.home)
        own = [str(kind) for kind in made.media_types]
    except UNAVAILABLE as error:
        return Served(config.parsers, {}, error)
    rest = {kind: other for kind, other in config.parsers.items() if not any(fnmatchcase(kind, one) for one in own)}
    return _sorted_out({**rest, **dict.fromkeys(own, name)})


def _sorted_out(choices: Mapping[str, str]) -> Served:
    by_suffix = {key: f"application/x-{key[1:].lower()}" for key in choices if key.startswith(".")}
    patterns = {by_suffix.get(key, key): name for key, name in choices.items()}
    return Served(patterns, {key.lower(): kind for key, kind in by_suffix.items()})
