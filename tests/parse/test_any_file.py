"""Whatever the bytes and whatever the name says, a file becomes passages that cover its text, or has a reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_lance.core import registry
from hermes_lance.core.choices import DEFAULT_CHUNKERS, DEFAULT_PARSERS
from hermes_lance.parse.media import Unreadable, media_type

NAMES = [
    "a.html",
    "a.xhtml",
    "a.eml",
    "a.mbox",
    "a.ipynb",
    "a.csv",
    "a.json",
    "a.jsonl",
    "a.yaml",
    "a.toml",
    "a.xml",
    "a.ini",
    "a.svg",
    "a.txt",
    "a.md",
]
WORDS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b":",
    b",",
    b"\n",
    b"\r\n",
    b"<a>",
    b"</a>",
    b"<!--",
    b"&x;",
    b"- ",
    b"key: ",
    b"= 1\n",
    b"Subject: x\n\n",
    b"From a 10:00\n",
    b'{"cells": [',
    b'{"source": "x"}',
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x00",
    b"\xe9",
    b"\xf0\x9f\x98\x80",
    b"words and words ",
    b"<html>",
    b"\\ud83d",
    b"---\n",
    b"|",
    b"\x1b$B",
    b"<?xml encoding='utf-7'?>",
    b"charset=punycode ",
    b"\xc2\xa0",
    b"\x85",
    b"\xe2\x80\xa8",
]
MADE: dict[tuple[str, str], Any] = {}


def plugin(category: str, choices: dict[str, str], kind: str) -> Any:
    name = registry.best_match(choices, kind)
    assert name is not None, f"{category} for {kind}"
    key = category, name
    if key not in MADE:
        MADE[key] = registry.plugin_class(category, name)()
    return MADE[key]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(data=st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(WORDS), max_size=60).map(b"".join)))
def test_any_bytes_are_covered_or_refused(covered, name, data):
    kind = media_type(name, data)
    if registry.best_match(DEFAULT_PARSERS, kind) is None:
        return
    try:
        document = plugin("parsers", dict(DEFAULT_PARSERS), kind).parse(data, path=name, media_type=kind)
    except Unreadable as reason:
        assert reason.code and reason.detail
        return
    document.text.encode("utf-8")
    assert document.text.strip()
    covered(document, plugin("chunkers", dict(DEFAULT_CHUNKERS), document.media_type).pieces(document))
    if document.sections:
        assert "".join(document.text[part.start : part.end] for part in document.sections) == document.text
