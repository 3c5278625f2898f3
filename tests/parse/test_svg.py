"""Drawings are read for their words."""

from __future__ import annotations

import pytest

from hermes_lance.parse.media import Unreadable, media_type
from hermes_lance.parse.svg import SvgParser

DRAWING = b"""<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><title>Request path</title>
<path d="M0 0L9 9"/><text x="1" y="2">load <tspan>balancer</tspan></text><style>.a{fill:red}</style></svg>
"""


def parsed(data: bytes) -> str:
    return SvgParser().parse(data, path="a.svg", media_type="image/svg+xml").text


def test_title_and_labels_are_lines_and_paths_are_left_out():
    assert parsed(DRAWING) == "Request path\nload balancer\n"


def test_a_drawing_without_words_is_an_image():
    with pytest.raises(Unreadable, match="image"):
        parsed(b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>')


def test_entities_of_the_document_are_not_expanded():
    bomb = b'<!DOCTYPE svg [<!ENTITY a "boom boom">]><svg xmlns="http://www.w3.org/2000/svg"><text>&a; ok</text></svg>'
    assert "boom" not in parsed(bomb)


def test_the_suffix_names_the_type():
    assert media_type("docs/map.svg", DRAWING) == "image/svg+xml"
