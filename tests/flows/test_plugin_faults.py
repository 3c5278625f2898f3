"""Plugins that answer nonsense, end the process or send text away: what is said of them, and who answers instead."""

from __future__ import annotations

import pytest

import hermes_lance
from hermes_lance.core.errors import PluginFailed
from tests.flows.test_plugins import EMBEDDER, Home


@pytest.fixture
def home(tmp_path) -> Home:
    return Home(tmp_path / "home")


@pytest.mark.parametrize(
    "said", ["None", "[1.0] * 7", "[float('nan')] * 26", "['a'] * 26", "__import__('sys').exit(1)"]
)
def test_an_embedder_that_answers_nonsense_is_named_and_words_are_compared(home, said):
    home.plugin("embedders", "letters", EMBEDDER)
    home.choose(embedders="{active: letters}")
    home.write("a.md", "letters of a harbour\n")
    home.build()
    wrong = EMBEDDER.replace("        vector = np.zeros", f"        return {said}\n        vector = np.zeros")
    home.plugin("embedders", "letters", wrong)
    library = hermes_lance.open(home.folder)
    (warning,) = library.search("letters").warnings
    assert warning.startswith("only words were compared: plugin letters (embedders): ")


@pytest.mark.parametrize(
    "ending", ["np.ones((len(texts), 7))", "[None] * len(texts)", "np.full((len(texts), 26), np.nan)"]
)
def test_vectors_that_are_none_are_never_stored(home, ending):
    wrong = EMBEDDER.replace("np.stack([self.embed_query(text) for text in texts])", ending)
    home.plugin("embedders", "letters", wrong)
    home.choose(embedders="{active: letters}")
    home.write("a.md", "letters of a harbour\n")
    with pytest.raises(PluginFailed, match="embed_documents"):
        home.build()
    assert hermes_lance.open(home.folder).status()["vectors"]["ready"] == 0


def test_a_retriever_that_ends_the_process_ends_nothing(home):
    code = """
class Leaver:
    name = "leaver"

    def signature(self):
        return "leaver/1"

    def retrieve(self, query, view, rows):
        raise SystemExit(2)
"""
    home.plugin("retrievers", "leaver", code)
    home.choose(retrievers="{active: leaver}")
    home.write("a.md", "letters of a harbour\n")
    home.build()
    found = hermes_lance.open(home.folder).search("letters")
    assert any("leaver" in warning and "builtin_hybrid has answered" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("says", "leaves"),
    [
        ("", "questions to an address that the plugin does not tell (retriever roamer)"),
        ("sends_to = 'search.example'", "questions to search.example (retriever roamer)"),
        ("sends_to = None", "Nothing leaves this machine."),
    ],
)
def test_a_retriever_of_others_is_named_where_it_may_send_questions_away(home, says, leaves):
    code = f"""
class Roamer:
    name = "roamer"
    {says}

    def signature(self):
        return "roamer/1"

    def retrieve(self, query, view, rows):
        return view.lexical(query.text, rows)
"""
    home.plugin("retrievers", "roamer", code)
    assert home.library.status()["leaves"] == "Nothing leaves this machine."
    home.choose(retrievers="{active: roamer}")
    assert leaves in home.library.status()["leaves"]
