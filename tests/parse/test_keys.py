"""Structured files are cut along their structure, and each passage says where in it it stands."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_lance.core.records import Document
from hermes_lance.parse.keys import KeysChunker
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.outline import MOST_LEVELS, Outline
from hermes_lance.parse.outline_json import json_outline
from hermes_lance.parse.outline_lines import table_outline, yaml_outline
from hermes_lance.parse.outline_xml import xml_outline
from hermes_lance.parse.plain import PlainParser


def paths(outline: Outline) -> list[str]:
    return [" > ".join(outline.path(number)) for number in range(len(outline))]


def cut(text: str, language: str, target: int = 64, overlap: int = 0):
    document = PlainParser().parse(text.encode(), path="a", media_type=f"text/{language}")
    chunker = KeysChunker(target, overlap)
    return document, chunker.pieces(document), chunker.chunker_label(document)


def trail_of(words: str, text: str, language: str, target: int = 64) -> tuple[str, ...]:
    document, pieces, _ = cut(text, language, target)
    return next(piece.trail for piece in pieces if words in document.text[piece.start : piece.end])


PADDING = "some words that fill the line " * 4
COMPOSE = f"""\
# What runs
services:
  web:
    image: nginx
    ports:
      - "80:80"
      - "443:443"
    note: {PADDING}
  # keeps everything
  db:
    image: postgres
    environment:
      HINT: {PADDING}
      TEXT: |
        web:
          ports: no key
      AFTER: yes
volumes: {{}}
"""


def test_keys_of_yaml_are_found_by_indentation():
    found = paths(yaml_outline(COMPOSE))
    assert found[:6] == [
        "services", "services > web", "services > web > image", "services > web > ports",
        "services > web > ports > [0]", "services > web > ports > [1]",
    ]  # fmt: skip
    assert found[-4:] == [
        "services > db > environment > HINT", "services > db > environment > TEXT",
        "services > db > environment > AFTER", "volumes",
    ]  # fmt: skip


def test_the_trail_is_the_path_that_all_of_a_passage_lies_in():
    document, pieces, label = cut(COMPOSE, "yaml", 90)
    assert label == "keys/1:yaml"
    assert "".join(document.text[piece.start : piece.end] for piece in pieces) == COMPOSE
    assert trail_of("443:443", COMPOSE, "yaml", 90) == ("services", "web")
    assert trail_of("postgres", COMPOSE, "yaml", 90)[:2] == ("services", "db")
    assert trail_of("ports: no key", COMPOSE, "yaml", 90)[:2] == ("services", "db")


def test_a_block_of_text_ends_at_the_next_key_of_its_column():
    text = "description: |\n  note: of a block\n\n  more\n\nproperties:\n  reg: 1\n"
    text += "list:\n  - |\n    item: text\n  - x: 1\n"
    assert paths(yaml_outline(text)) == [
        "description", "properties", "properties > reg", "list", "list > [0]", "list > [1]", "list > [1] > x",
    ]  # fmt: skip


def test_a_comment_stands_with_the_key_below_it():
    document, pieces, _ = cut(COMPOSE, "yaml", 90)
    assert any(document.text[piece.start : piece.end].startswith("  # keeps everything\n  db:") for piece in pieces)


def test_items_of_yaml_are_known_by_their_names():
    text = "jobs:\n- name: build it\n  steps:\n  - run: make\n  - run: make test\n- id: 'second'\n  x: 1\n- plain\n"
    assert paths(yaml_outline(text)) == [
        "jobs", "jobs > build it", "jobs > build it > name", "jobs > build it > steps", "jobs > build it > steps > [0]",
        "jobs > build it > steps > [0] > run", "jobs > build it > steps > [1]", "jobs > build it > steps > [1] > run",
        "jobs > second", "jobs > second > id", "jobs > second > x", "jobs > [2]",
    ]  # fmt: skip


def test_documents_of_one_yaml_file_are_told_apart():
    assert paths(yaml_outline("---\na: 1\n---\nb:\n  c: 2\n")) == [
        "document 1", "document 1 > a", "document 2", "document 2 > b", "document 2 > b > c",
    ]  # fmt: skip
    assert paths(yaml_outline("---\na: 1\n")) == ["a"]


def test_anchors_and_aliases_are_only_characters():
    bomb = "".join(f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 60))
    document, pieces, label = cut(bomb, "yaml")
    assert label == "keys/1:yaml"
    assert sum(piece.end - piece.start for piece in pieces) == len(document.text) == len(bomb)


DATA = {"users": [{"name": f"user {n}", "roles": ["a", "b"], "about": PADDING} for n in range(6)], "last": {"x": 1}}


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_members_of_json_have_their_path(indent):
    text = json.dumps(DATA, indent=indent)
    trails = [piece.trail for piece in cut(text, "json", 80)[1]]
    assert ("users",) in trails or any(trail[:1] == ("users",) for trail in trails)
    assert any(trail[1:2] in {("user 3",), ("[3]",)} for trail in trails)


def test_elements_of_arrays_in_any_layout():
    compact = '[\n  {\n    "id": "x",\n    "v": 1\n  }, {\n    "id": "y",\n    "v": 2\n  }\n]\n'
    assert paths(json_outline(compact)) == ["x", "x > id", "x > v", "y", "y > id", "y > v"]


def test_one_line_of_json_is_cut_between_its_members(covered):
    text = json.dumps({"rows": [{"n": n, "word": f"tok{n}"} for n in range(20_000)]})
    document, pieces, label = cut(text, "json", 512, 80)
    covered(document, pieces)
    assert label == "keys/1:json"
    assert {piece.trail for piece in pieces[1:]} == {("rows",)}
    assert all(text[piece.start : piece.start + 20].lstrip().startswith('{"n": ') for piece in pieces[1:])


def test_lines_of_json_lines_are_never_split_while_they_fit():
    lines = [json.dumps({"id": n, "text": PADDING}) + "\n" for n in range(50)]
    lines[30] = json.dumps({"id": 30, "parts": {f"part {n}": PADDING for n in range(9)}}) + "\n"
    document, pieces, _ = cut("".join(lines), "json", 200)
    text = document.text
    inside = [piece for piece in pieces if piece.trail and piece.trail[0] == "line 31"]
    assert inside and any("parts" in piece.trail for piece in inside)
    begins = [text[piece.start : piece.end].lstrip()[:5] for piece in pieces if piece not in inside]
    assert set(begins) == {'{"id"'}


def test_a_long_text_in_json_keeps_its_key():
    text = json.dumps({"a": 1, "body": {"summary": "short", "text": "many words of a story " * 200}, "z": 2})
    _, pieces, _ = cut(text, "json", 100)
    assert sum(piece.trail == ("body", "text") for piece in pieces) > 4


def test_tables_of_toml_are_split_at_their_dots():
    text = (
        'title = "x"\n\n[tool.ruff]\nline = 120\n# rules\n[tool.ruff."lint rules"]\nselect = ["[no.table]"]\n'
        'doc = """\n[not.a.table]\nkey = 1\n"""\n[[products]]\nname = "a"\n'
    )
    assert paths(table_outline(text)) == [
        "title", "tool > ruff", "tool > ruff > line", "tool > ruff > lint rules", "tool > ruff > lint rules > select",
        "tool > ruff > lint rules > doc", "products", "products > name",
    ]  # fmt: skip


def test_sections_of_ini_are_whole_names():
    text = "; head\n[remote.origin of x]\nurl = git\n[branch]\nmerge: refs\n"
    assert paths(table_outline(text)) == [
        "remote.origin of x", "remote.origin of x > url", "branch", "branch > merge",
    ]  # fmt: skip


def test_elements_of_xml_are_known_by_title_or_name():
    words = "<p>" + PADDING * 3 + "</p>"
    text = (
        f"<?xml version='1.0'?><!-- <a> --><book><chapter><title>First &amp; best</title>{words}{words}</chapter>"
        f"<bean name='pool' class=\"a>b\">{words}<x/><![CDATA[<no>]]></bean></book>"
    )
    outline = xml_outline(text)
    assert outline.problem is None
    found = paths(outline)
    assert "book > First &amp; best > p" in found and "book > bean pool" in found


def test_a_paragraph_with_markup_inside_is_left_whole():
    inner = "".join(f"word {n} <em>and more words than before {n}</em> " for n in range(40))
    outline = xml_outline(f"<doc><p>{inner}</p><p>{inner}</p></doc>")
    assert paths(outline) == ["doc", "doc > p"]


def test_entities_are_never_expanded():
    text = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]>\n<a>' + "<x>&c;</x>" * 400 + "</a>"
    document, pieces, label = cut(text, "xml")
    assert label == "keys/1:xml"
    assert document.text == text and "".join(text[piece.start : piece.end] for piece in pieces) == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("json", '{"a": {"b": "' + PADDING * 9),
        ("json", '{"a": [' + f'{{"b": "{PADDING}"}},' * 9),
        ("xml", "<a><b>" + f"<c>{PADDING}</c>" * 9 + "</b>"),
        ("xml", "<a><b>" + f"<c>{PADDING}</d>" * 9 + "</b></a>"),
        ("toml", f'[a]\nb = "{PADDING * 4}"\n' * 4 + '"""\n'),
    ],
)
def test_a_broken_file_is_cut_as_far_as_its_structure_goes_and_says_so(covered, language, text):
    document, pieces, label = cut(text, language)
    covered(document, pieces)
    assert label in {f"keys/1:{language}:broken", "keys/1:lines"}


def test_a_file_without_structure_is_cut_by_lines():
    assert cut("only words\n" * 300, "json")[2] == "keys/1:lines"
    assert cut("a: 1\n", "yaml")[2] == "keys/1:whole"


HOSTILE = {
    "json arrays": ("json", "[" * 200_000),
    "json objects": ("json", '{"a":' * 100_000 + "1" + "}" * 100_000),
    "json quotes": ("json", '"\\' * 200_000),
    "json one string": ("json", '["' + "\\u0041" * 150_000),
    "json keys": ("json", '{"' + "k" * 500_000 + '": 1}'),
    "json comments": ("json", "{\n  // x\n" * 50_000),
    "yaml deep": ("yaml", "".join(" " * (n % 3_000) + "a:\n" for n in range(3_000))),
    "yaml dashes": ("yaml", "- " * 200_000 + "a"),
    "yaml flow": ("yaml", "a: [" * 100_000),
    "yaml line": ("yaml", "k" * 500_000 + ": 1"),
    "yaml colons": ("yaml", "a:" * 300_000),
    "yaml blanks": ("yaml", " " * 500_000 + "a: 1\n"),
    "toml quotes": ("toml", '"""' * 100_001),
    "toml brackets": ("toml", "[" * 300_000),
    "toml key": ("toml", "k" * 500_000),
    "ini lines": ("ini", "key = value\n" * 40_000),
    "xml deep": ("xml", "<a>" * 200_000),
    "xml deep and back": ("xml", "<a>" * 80_000 + "</a>" * 80_000),
    "xml strangers": ("xml", "<a>" * 1_000 + "</b>" * 100_000),
    "xml comments": ("xml", "<!--" * 100_000),
    "xml quotes": ("xml", '<a b="' * 100_000),
    "xml angles": ("xml", "<" * 500_000),
    "xml doctype": ("xml", "<!DOCTYPE a [" * 50_000),
    "xml attributes": ("xml", "<a " + "b='c' " * 100_000 + ">" + "x" * 3_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_structures_are_cut_in_linear_work(covered, name):
    language, text = HOSTILE[name]
    document = Document(text, f"text/{language}", "test")
    pieces = KeysChunker().pieces(document)
    covered(document, pieces)
    assert all(len(piece.trail) <= MOST_LEVELS and sum(map(len, piece.trail)) < 4_000 for piece in pieces)
    assert all(piece.end - piece.start < 60_000 for piece in pieces if "  " not in text[piece.start : piece.end])


FRAGMENTS = [
    '{"a": ', "[", "]", "}", ",", '"text"', '"', "\\", "1", "\n", "  ", "\t", "key: value\n", "- ", "---\n", "|\n",
    "[table.x]\n", "k = 1\n", '"""', "<a>", "</a>", "<b x='1'>", "<!--", "-->", "<![CDATA[", "]]>", "<?", "# x\n",
    "<!DOCTYPE a [",
    "words words words ", "\r\n", "\r", "é", "日本", "\x00", "\u2028", "'", "name: x\n", '"name": "y"', ">",
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=60),
    st.sampled_from(["json", "yaml", "toml", "ini", "xml", "other"]),
    st.sampled_from([4, 16, 64]),
    st.sampled_from([0, 10]),
)
def test_any_text_is_covered(covered, fragments, language, target, overlap):
    document = Document("".join(fragments) + "x", f"text/{language}", "test")
    covered(document, KeysChunker(target, overlap).pieces(document))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=60))
def test_marks_rise_and_lie_inside_each_other(fragments):
    text = "".join(fragments)
    for outline in (json_outline(text), yaml_outline(text), table_outline(text), xml_outline(text)):
        assert all(before <= after for before, after in zip(outline.starts, outline.starts[1:], strict=False))
        for number, parent in enumerate(outline.parents):
            assert parent < number < outline.after[number] <= len(outline)
            assert parent < 0 or outline.after[number] <= outline.after[parent]


def test_a_reader_of_bytes_refuses_what_is_no_text():
    with pytest.raises(Unreadable):
        PlainParser().parse(b"\x00\x01\x02" * 50, path="a.json", media_type="text/json")
