"""An embedder that is configured and cannot be had: words are indexed and found, vectors wait, and all say so."""

from __future__ import annotations

import pytest

from hermes_lance.core.errors import PluginMissing
from hermes_lance.models import sentence

NEEDED = "local_sentence_transformers"


@pytest.fixture(autouse=True)
def not_installed(monkeypatch):
    """The same where the package is there."""

    def init(self, **_):
        raise PluginMissing("embedder of the test: not installed", hint="Install it with `pip install it`.")

    monkeypatch.setattr(sentence.SentenceTransformersEmbedder, "__init__", init)


def configure(home, embedder):
    config = home.folder / "config.yaml"
    lines = config.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if "embedders" not in line and "active" not in line]
    at = kept.index("knowledgebase:") + 1
    config.write_text("\n".join([*kept[:at], f"  embedders: {{active: {embedder}}}", *kept[at:]]), encoding="utf-8")


def paths(home, words, mode="hybrid"):
    return [hit.path for hit in home.library().search(words, mode=mode)]


def test_on_vectors_of_another_kind_new_text_is_indexed_and_its_vectors_wait(home):
    configure(home, "builtin_hash")
    home.write("old.md", "The narwhal sings.")
    home.build()
    configure(home, NEEDED)
    home.write("new.md", "The walrus listens.")
    report = home.build()
    assert report.vectors_pending == 1
    assert "vectors wait: embedder of the test: not installed" in report.warnings[0]
    assert "pip install it" in report.warnings[0]
    assert paths(home, "walrus")[0] == "new.md" and paths(home, "narwhal", "dense") == ["old.md"]
    assert home.library().manifest().space["active"]["embedder"] == "builtin_hash"
    published = home.library().manifest().id
    home.build()
    assert home.library().manifest().id == published, "what waits is not published again and again"


def test_what_began_with_the_default_embedder_goes_on_with_it(home):
    configure(home, NEEDED)
    home.write("old.md", "The narwhal sings.")
    assert "minilm is used instead. Install it" in home.build().warnings[0]
    home.write("new.md", "The walrus listens.")
    report = home.build()
    assert "minilm is used instead" in report.warnings[0] and report.vectors_pending == 0
    assert paths(home, "walrus")[0] == "new.md"


def test_status_and_doctor_name_it_and_what_to_install(home):
    configure(home, NEEDED)
    home.write("old.md", "The narwhal sings.")
    home.build()
    status = home.library().status()
    assert status["warnings"] == ["embedder of the test: not installed. Install it with `pip install it`."]
    found = {one.name: one for one in home.library().doctor()}
    assert not found["plugins"].ok and not found["plugins"].fatal
    assert found["plugins"].remedy == "Install it with `pip install it`."


def test_status_says_that_a_build_would_change_the_embedder(home):
    configure(home, "builtin_hash")
    home.write("old.md", "The narwhal sings.")
    home.build()
    assert not home.library().status()["stale"]
    configure(home, "minilm")
    assert home.library().status()["stale"]


def test_status_is_shown_where_a_parser_is_configured_that_there_is_not(home):
    home.write("old.md", "The narwhal sings.")
    home.build()
    config = home.folder / "config.yaml"
    config.write_text(config.read_text(encoding="utf-8") + "\n  parsers: {active: nosuch}\n", encoding="utf-8")
    assert "there is no 'nosuch'" in home.library().status()["warnings"][0]
