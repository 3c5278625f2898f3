"""The head of a Markdown file, also where it is no YAML."""

from __future__ import annotations

from hermes_lance.artifacts.front_matter import read


def test_yaml_heads_are_read_as_yaml():
    found = read('---\nname: "a: b"\ntags: [x, y]\nmetadata:\n  hermes:\n    related_skills:\n    - z\n---\nBody\n')
    assert found.text("name") == "a: b" and found.words("tags") == ("x", "y")
    assert found.words("related_skills") == ("z",), "wherever it stands"
    assert found.body == "Body\n"


def test_a_head_that_is_no_yaml_loses_nothing_it_says():
    found = read("---\n# about\nname: cut\ndescription: Cut a release: bump, tag.\ntags: [a, 'b']\nmore:\n- c\n---\nx")
    assert found.text("description") == "Cut a release: bump, tag."
    assert found.words("tags") == ("a", "b") and found.words("more") == ("c",)


def test_a_text_without_a_head_is_all_body():
    for text in ("# Title\n\n---\n\nmore\n", "---\nnever closed\n", "", "--- a\n"):
        found = read(text)
        assert (found.head, found.body) == ({}, text)


def test_odd_values_are_no_text():
    found = read("---\nname: [a]\ntags: {b: c}\ndate: 2026-01-01\nnumber: 7\nempty:\n---\n")
    assert found.text("name") == "" and found.words("tags") == () and found.text("empty") == ""
    assert found.text("number") == "7"
