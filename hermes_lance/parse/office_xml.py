"""XML of office documents: namespaces ignored, damage said as such. Worker process only."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import ParseError, iterparse

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from hermes_lance.parse.media import Unreadable


def local(element: Any) -> str:
    """Name of an element without its namespace; empty for comments and instructions."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def tree(content: bytes) -> Any:
    """The root of a small part; raises `Unreadable` (`parse_failed`)."""
    try:
        return defusedxml.ElementTree.fromstring(content, forbid_dtd=False)
    except (ParseError, DefusedXmlException, LookupError, ValueError) as error:
        raise _broken(error) from error


def events(source: io.BytesIO) -> Iterator[tuple[str, Any]]:
    """`start` and `end` of each element; whoever reads them clears what is no longer needed.

    `source` is a part without a document type, which `Package.read` has seen to; so the parser in C may be used, which
    is four times as fast.
    """
    try:
        yield from iterparse(source, events=("start", "end"))
    except (ParseError, LookupError) as error:
        raise _broken(error) from error


def elements(source: io.BytesIO, name: str, holder: str) -> Iterator[Any]:
    """Each whole element of a name, in order, forgotten after use. They are the children of `holder`."""
    parent: Any = None
    for event, element in events(source):
        tag = element.tag
        if event == "start":
            if parent is None and tag.endswith(holder) and local(element) == holder:
                parent = element
        elif tag.endswith(name) and local(element) == name:
            yield element
            if parent is not None:
                parent.clear()


def _broken(error: Exception) -> Unreadable:
    return Unreadable("parse_failed", f"the file is damaged: one of its parts is no XML ({error})", failed=True)
