"""Plugins of a home in builds and questions: what they change, what is redone, and what happens when they fail."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

import hermes_lance

PARSER = """
from hermes_lance.core.records import Document

class Shout:
    name = "shout"
    media_types = ("text/x-shout", ".shout")

    def signature(self):
        return "shout/1"

    def parse(self, data, *, path, media_type):
        return Document(text=data.decode("utf-8").upper() + " loudly", media_type=media_type, parser=self.signature())
"""
CHUNKER = """
from hermes_lance.core.records import Piece

class Lines:
    name = "lines"
    media_types = ("*",)

    def __init__(self, minimum=1):
        self.minimum = minimum

    def signature(self):
        return "lines/1"

    def pieces(self, document):
        found, at = [], 0
        for line in document.text.splitlines(keepends=True):
            found.append(Piece(at, at + len(line), "text"))
            at += len(line)
        return found
"""
EMBEDDER = """
import numpy as np

class Letters:
    name = "letters"
    dimensions = 26
    window_tokens = 256
    scripts = frozenset()
    fusion_weight = 0.2

    def signature(self):
        return "letters/1"

    def embed_query(self, text):
        vector = np.zeros(26, dtype=np.float32)
        for letter in text.lower():
            if "a" <= letter <= "z":
                vector[ord(letter) - 97] += 1
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector

    def embed_documents(self, texts, *, cancelled=None):
        return np.stack([self.embed_query(text) for text in texts])

    def count_tokens(self, texts):
        return [len(text.split()) for text in texts]
"""
RETRIEVER = """
class Longest:
    name = "longest"

    def signature(self):
        return "longest/1"

    def retrieve(self, query, view, rows):
        found = {row for row, _ in [*view.lexical(query.text, rows), *view.dense(query.text, rows)]}
        return sorted(((row, float(len(view.passage(row).text))) for row in found), key=lambda one: (-one[1], one[0]))
"""
RERANKER = """
class Shortest:
    name = "shortest"

    def signature(self):
        return "shortest/1"

    def scores(self, query, candidates, *, timeout):
        return [-float(len(one.text)) for one in candidates]
"""


class Home:
    """A home whose library is opened afresh for every act."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "workspace").mkdir(parents=True)
        self.choose()

    def choose(self, **chosen: str) -> None:
        """Writes the configuration; each category gets the YAML that is given for it."""
        chosen = {"embedders": "{active: builtin_hash, builtin_hash: {dims: 64}}", **chosen}
        lines = [f"  {category}: {yaml}" for category, yaml in chosen.items()]
        (self.folder / "config.yaml").write_text("\n".join(["knowledgebase:", *lines, ""]), encoding="utf-8")

    def plugin(self, category: str, name: str, source: str) -> None:
        folder = self.folder / "plugins" / "workspace" / category / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text(textwrap.dedent(source), encoding="utf-8")
        (folder / "plugin.yaml").write_text(f"name: {name}\n", encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        path = self.folder / "workspace" / name
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1, 1))

    @property
    def library(self):
        return hermes_lance.open(self.folder)

    def build(self):
        return self.library.index()

    def found(self, words: str, **how):
        return [hit.path for hit in self.library.search(words, **how)]

    def parsers(self) -> dict[str, str]:
        return {one["path"]: one["parser"] for one in self.library.status(files=True)["files_detail"]}


@pytest.fixture
def home(tmp_path) -> Home:
    return Home(tmp_path / "home")


def test_a_parser_that_is_named_alone_serves_what_it_says_and_ours_the_rest(home):
    home.plugin("parsers", "shout", PARSER)
    home.choose(parsers="{active: shout}")
    home.write("a.md", "# Narwhal\n\nIt sings.\n")
    home.write("b.shout", "a walrus")
    assert home.build().warnings == []
    assert home.parsers() == {"a.md": "markdown/2", "b.shout": "shout/1"}
    assert home.library.search("walrus")[0].text == "A WALRUS loudly"


def test_a_suffix_can_be_given_to_a_parser_even_where_such_files_are_never_opened(home):
    home.plugin("parsers", "shout", PARSER)
    home.write("b.mp3", "a walrus")
    assert home.build().problems[0].code == "binary-suffix"
    home.choose(parsers='{active: {".mp3": shout}}')
    assert home.build().problems == []
    assert home.found("walrus") == ["b.mp3"]


OF_ANOTHER_TYPE = PARSER.replace("media_type=media_type", "media_type='text/markdown'")


@pytest.mark.parametrize("source", [PARSER, OF_ANOTHER_TYPE])
@pytest.mark.parametrize("yaml", ["{active: shout}", '{active: {".shout": shout}}'])
def test_files_that_were_read_as_text_are_read_again_once_their_suffix_is_given_to_a_parser(home, yaml, source):
    home.write("a.txt", "a narwhal")
    home.write("b.shout", "a walrus")
    home.build()
    assert home.parsers() == {"a.txt": "builtin_text/2", "b.shout": "builtin_text/2"}
    home.plugin("parsers", "shout", source)
    home.choose(parsers=yaml)
    assert home.build().files.changed == 1
    assert home.parsers() == {"a.txt": "builtin_text/2", "b.shout": "shout/1"}
    assert home.build().files.changed == 0
    home.plugin("parsers", "shout", source.replace("shout/1", "shout/2"))
    assert home.build().files.changed == 1
    home.choose()
    assert home.build().files.changed == 1
    assert home.parsers() == {"a.txt": "builtin_text/2", "b.shout": "builtin_text/2"}


def test_what_a_parser_that_is_named_alone_has_made_stays_while_it_cannot_be_had(home):
    home.plugin("parsers", "shout", PARSER)
    home.choose(parsers="{active: shout}")
    home.write("b.shout", "a walrus")
    home.build()
    home.plugin("parsers", "shout", "raise RuntimeError('an update went wrong')\n")
    home.write("c.shout", "a narwhal")
    report = home.build()
    assert "an update went wrong" in report.warnings[0]
    assert home.parsers() == {"b.shout": "shout/1", "c.shout": "builtin_text/2"}
    home.plugin("parsers", "shout", PARSER)
    assert home.build().files.changed == 1
    assert home.parsers() == {"b.shout": "shout/1", "c.shout": "shout/1"}


def test_a_changed_parser_redoes_its_own_files_only(home):
    home.plugin("parsers", "shout", PARSER)
    home.choose(parsers="{active: shout}")
    home.write("a.md", "# Narwhal\n\nIt sings.\n")
    home.write("b.shout", "a walrus")
    home.build()
    home.plugin("parsers", "shout", PARSER.replace("shout/1", "shout/2").replace("loudly", "softly"))
    report = home.build()
    assert (report.files.changed, report.files.unchanged) == (1, 1)
    assert home.library.search("walrus")[0].text == "A WALRUS softly"


def test_a_changed_chunker_or_option_redoes_the_files_of_its_media_types_only(home):
    home.plugin("chunkers", "lines", CHUNKER)
    home.choose(chunkers="{active: {text/plain: lines}}")
    home.write("a.md", "# Narwhal\n\nIt sings.\n")
    home.write("b.txt", "one walrus\ntwo walrus\n")
    assert home.build().chunks.total == 3
    home.plugin("chunkers", "lines", CHUNKER.replace("lines/1", "lines/2"))
    report = home.build()
    assert (report.files.changed, report.files.unchanged) == (1, 1)
    home.choose(chunkers="{active: {text/plain: lines}, lines: {minimum: 5}}")
    report = home.build()
    assert (report.files.changed, report.files.unchanged) == (1, 1)


def test_a_changed_embedder_makes_vectors_anew_and_reads_nothing(home):
    home.plugin("embedders", "letters", EMBEDDER)
    home.choose(embedders="{active: letters}")
    home.write("a.txt", "The narwhal sings.")
    assert home.build().vectors_written == 1
    assert home.found("narwhal", mode="dense") == ["a.txt"]
    pieces = home.library.manifest().fingerprints["pieces"]
    home.plugin("embedders", "letters", EMBEDDER.replace("letters/1", "letters/2"))
    report = home.build()
    assert (report.files.unchanged, report.files.changed, report.vectors_written) == (1, 0, 1)
    assert home.library.manifest().fingerprints["pieces"] == pieces
    assert home.library.manifest().space["active"]["signature"] == "letters/2"


def test_a_retriever_changes_the_order_and_nothing_that_is_stored(home):
    home.write("a.txt", "walrus walrus")
    home.write("b.txt", "walrus " + "and many other words that are in here " * 9)
    home.build()
    assert home.found("walrus", mode="lexical") == ["a.txt", "b.txt"]
    before = home.library.manifest()
    home.plugin("retrievers", "longest", RETRIEVER)
    home.choose(retrievers="{active: longest}")
    answer = home.library.search("walrus", mode="lexical")
    assert [hit.path for hit in answer] == ["b.txt", "a.txt"]
    assert answer[0].score == float(len(answer[0].text)) and answer[0].ranks["lexical"] == 2
    turn = home.library.context("walrus?", mode="always")
    assert [source.path for source in turn.sources] == ["b.txt", "a.txt"]
    home.build()
    assert home.library.manifest().id == before.id, "nothing is redone"
    assert not home.library.status()["stale"]


def test_a_reranker_changes_the_order_and_nothing_that_is_stored(home):
    home.write("a.txt", "walrus walrus walrus " + "and many other words that are in here " * 9)
    home.write("b.txt", "a walrus")
    home.build()
    before = home.library.manifest()
    assert home.found("walrus", mode="lexical")[0] == "b.txt"
    home.plugin("rerankers", "shortest", RERANKER.replace("-float", "float"))
    home.choose(rerankers="{active: shortest}")
    answer = home.library.search("walrus", mode="lexical")
    assert [hit.path for hit in answer] == ["a.txt", "b.txt"] and answer.warnings == ()
    home.plugin("rerankers", "shortest", RERANKER.replace("shortest/1", "shortest/2"))
    assert home.found("walrus", mode="lexical") == ["b.txt", "a.txt"]
    home.build()
    assert home.library.manifest().id == before.id and not home.library.status()["stale"]


def test_where_the_extra_for_pictures_is_missing_pdfs_are_read_as_ever_and_the_build_says_so(home, monkeypatch):
    monkeypatch.setattr("hermes_lance.ingest.signatures.find_spec", lambda name: None)
    home.choose(ocr="true")
    home.write("a.txt", "The narwhal sings.")
    home.write("b.png", "no picture")
    report = home.build()
    assert any("pdf_ocr (parsers): the extra `ocr` is not installed" in one for one in report.warnings)
    assert home.found("narwhal") == ["a.txt"]
    state = home.library.status()["plugins"]["parsers"]
    assert state["resolved"]["application/pdf"] == "pdf" and state["fallback"]


def test_a_retriever_sees_nothing_outside_the_filters_of_the_question(home):
    home.plugin(
        "retrievers",
        "nosy",
        RETRIEVER.replace("return sorted", "return [(row, 1.0) for row in range(50)] or sorted"),
    )
    home.choose(retrievers="{active: nosy}")
    home.write("a.txt", "walrus one")
    home.write("b.txt", "walrus two")
    home.build()
    answer = home.library.search("walrus", path="a.txt")
    assert [hit.path for hit in answer] == ["a.txt"]
    assert "49 of its 50 rows are none, or twice" in answer.warnings[0]


def test_where_a_retriever_fails_ours_answers_and_says_so(home):
    home.plugin("retrievers", "longest", RETRIEVER.replace("found = {", "found = 1 / 0 or {"))
    home.choose(retrievers="{active: longest}")
    home.write("a.txt", "walrus")
    home.build()
    answer = home.library.search("walrus")
    assert [hit.path for hit in answer] == ["a.txt"]
    assert "plugin longest (retrievers): ZeroDivisionError" in answer.warnings[0]
    assert "builtin_hybrid has answered" in answer.warnings[0]


def test_reciprocal_ranks_can_be_chosen_by_the_name_of_the_retriever(home):
    home.write("a.txt", "walrus")
    home.build()
    home.choose(retrievers="{active: builtin_hybrid_rrf}")
    assert home.library.search("walrus")[0].score == pytest.approx(2 / 61)
    home.choose(retrievers="{active: builtin_hybrid, builtin_hybrid: {fusion: rrf}}")
    assert home.library.search("walrus")[0].score == pytest.approx(2 / 61)


CHOICES = {
    "parsers": ("shout", PARSER, '{active: {".shout": shout, text/plain: shout}}'),
    "chunkers": ("lines", CHUNKER, "{active: lines}"),
    "embedders": ("letters", EMBEDDER, "{active: letters}"),
    "rerankers": ("shortest", RERANKER, "{active: shortest}"),
    "retrievers": ("longest", RETRIEVER, "{active: longest}"),
}


@pytest.mark.parametrize("category", ["parsers", "chunkers", "embedders"])
def test_a_plugin_that_cannot_say_its_version_cannot_be_had_either(home, category):
    name, source, yaml = CHOICES[category]
    home.plugin(category, name, source.replace("def signature(self):\n", "def signature(self):\n        1 / 0\n"))
    home.choose(**{category: yaml})
    home.write("a.txt", "The narwhal sings.")
    assert any("ZeroDivisionError" in one for one in home.build().warnings)
    assert home.found("narwhal") == ["a.txt"]
    assert home.library.status()["plugins"][category]["fallback"]


@pytest.mark.parametrize("category", CHOICES)
def test_on_a_fresh_dataset_ours_takes_the_place_of_a_plugin_that_fails_and_all_say_so(home, category):
    name, source, yaml = CHOICES[category]
    home.plugin(category, name, "import nothing_of_that_name\n" + source)
    home.choose(**{category: yaml})
    home.write("a.txt", "The narwhal sings.")
    said = f"plugin {name} ({category}): ModuleNotFoundError"
    report = home.build()
    answer = home.library.search("narwhal")
    status = home.library.status()
    assert [hit.path for hit in answer] == ["a.txt"]
    warnings = {"build": report.warnings, "search": answer.warnings, "status": status["warnings"]}
    told = {door for door, said_there in warnings.items() if any(said in one for one in said_there)}
    assert told >= ({"search", "status"} if category in {"retrievers", "rerankers"} else {"build", "status"})
    state = status["plugins"][category]
    assert (state["available"], state["fallback"]) == (False, True)
    assert not status["stale"]
    (check,) = (one for one in home.library.doctor() if one.name == "plugins")
    assert not check.ok and not check.fatal and said in check.detail
    assert "__init__.py, line 1" in check.detail and "Install nothing_of_that_name" in (check.remedy or "")


def test_what_a_parser_has_made_stays_while_it_cannot_be_had(home):
    home.plugin("parsers", "shout", PARSER)
    home.choose(parsers="{active: {text/plain: shout}}")
    home.write("a.txt", "a walrus")
    home.build()
    home.plugin("parsers", "shout", "raise RuntimeError('an update went wrong')\n")
    home.write("b.txt", "a narwhal")
    report = home.build()
    assert "an update went wrong" in report.warnings[0]
    assert home.parsers() == {"a.txt": "shout/1", "b.txt": "builtin_text/2"}
    home.plugin("parsers", "shout", PARSER)
    report = home.build()
    assert home.parsers() == {"a.txt": "shout/1", "b.txt": "shout/1"}
    assert (report.warnings, report.files.changed) == ([], 1)


def test_an_embedder_that_is_gone_leaves_its_vectors_and_new_text_is_found_by_words(home):
    home.plugin("embedders", "letters", EMBEDDER)
    home.choose(embedders="{active: letters}")
    home.write("a.txt", "The narwhal sings.")
    home.build()
    home.plugin("embedders", "letters", "raise RuntimeError('gone')\n")
    home.write("b.txt", "The walrus listens.")
    report = home.build()
    assert any("vectors wait" in one and "gone" in one for one in report.warnings)
    assert report.vectors_pending == 1 and "b.txt" in home.found("walrus")
    assert home.library.manifest().space["active"]["embedder"] == "letters"


def test_status_and_doctor_say_where_each_plugin_comes_from_and_ask_how_it_is(home):
    ill = CHUNKER + "\n    def healthcheck(self):\n        return {'healthy': False, 'message': 'too old'}\n"
    home.plugin("chunkers", "lines", CHUNKER)
    home.choose(chunkers="{active: lines}")
    state = home.library.status()["plugins"]
    assert list(state) == ["parsers", "chunkers", "embedders", "rerankers", "retrievers", "index_stores"]
    assert state["chunkers"]["plugin_name"] == "lines" and state["chunkers"]["source"] == "folder"
    assert {one["source"] for category, one in state.items() if category != "chunkers"} == {"builtin"}
    assert all(one["available"] and not one["fallback"] for one in state.values())
    home.plugin("chunkers", "lines", ill)
    (check,) = (one for one in home.library.doctor() if one.name == "plugins")
    assert check.detail == "chunkers: lines: too old"
