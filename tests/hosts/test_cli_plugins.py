"""Plugins as `status` and `doctor` show them, as text of 80 columns and as JSON."""

from __future__ import annotations

import pytest

CATEGORIES = ["parsers", "chunkers", "embedders", "rerankers", "retrievers", "index_stores"]
CHUNKER = """
class Lines:
    name = "lines"
    media_types = ("*",)

    def signature(self):
        return "lines/1"

    def pieces(self, document):
        return []

    def healthcheck(self):
        return {"healthy": True, "message": "as fit as a fiddle", "details": {"lines": 3}}
"""


@pytest.fixture
def with_plugins(home):
    """A home with a chunker that works and a retriever that does not."""
    for category, name, source in (("chunkers", "lines", CHUNKER), ("retrievers", "mine", "1 / 0\n")):
        folder = home / "plugins" / "workspace" / category / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(source, encoding="utf-8")
    config = home / "config.yaml"
    text = config.read_text(encoding="utf-8") if config.is_file() else "knowledgebase:\n"
    assert text.rstrip().splitlines()[0] == "knowledgebase:"
    choices = "  chunkers: {active: {text/x-lines: lines}}\n  retrievers: {active: mine}\n"
    config.write_text(text.rstrip() + "\n" + choices, encoding="utf-8")
    return home


def test_a_home_without_plugins_says_that_all_are_built_in(cli, home):
    assert "Plugins     built in" in cli("--home", home, "status").out
    document = cli("--home", home, "status", "--json").json
    assert list(document["plugins"]) == CATEGORIES
    assert document["plugins"]["chunkers"]["configured"]["text/markdown"] == "headings"


def test_status_names_plugins_of_others_and_what_serves_in_the_place_of_one_that_fails(cli, with_plugins):
    text = cli("--home", with_plugins, "status").out
    assert "chunkers: lines (folder)" in text
    assert max(map(len, text.splitlines())) <= 80
    together = " ".join(text.split())
    assert "retrievers: mine cannot be had, builtin_hybrid instead" in together
    state = cli("--home", with_plugins, "status", "--json").json["plugins"]["retrievers"]
    assert (state["configured"], state["resolved"]) == ("mine", "builtin_hybrid")
    assert (state["available"], state["fallback"], state["signature"]) == (False, True, "builtin_hybrid")


def test_doctor_says_how_each_category_is(cli, with_plugins):
    found = cli("--home", with_plugins, "doctor", "--json").json["plugins"]
    assert list(found) == CATEGORIES
    assert found["chunkers"]["healthy"] and found["chunkers"]["message"] == "lines: as fit as a fiddle"
    assert found["chunkers"]["details"] == {"lines": 3}
    assert not found["retrievers"]["healthy"] and "ZeroDivisionError" in found["retrievers"]["message"]
    text = cli("--home", with_plugins, "doctor").out
    assert "retrievers: plugin mine" in text and max(map(len, text.splitlines())) <= 80


def test_doctor_says_the_category_of_a_name_that_there_is_not_once(cli, home):
    file = home / "config.yaml"
    text = file.read_text(encoding="utf-8") if file.is_file() else "knowledgebase:\n"
    file.write_text(text.rstrip() + "\n  retrievers: {active: hybrd}\n", encoding="utf-8")
    checks = {one["name"]: one for one in cli("--home", home, "doctor", "--json").json["checks"]}
    assert checks["plugins"]["detail"].startswith("retrievers: there is no 'hybrd'")
