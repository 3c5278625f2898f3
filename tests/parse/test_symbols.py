"""Code is cut by definition, in every language that a grammar comes with."""

from __future__ import annotations

import pytest

from hermes_lance.core.records import Document
from hermes_lance.parse.grammars import grammar, known_languages
from hermes_lance.parse.symbols import SymbolsChunker

# One file for each language: a container `Shelf` with the long members `lookup` and `insert`, or two functions.
BODY = {
    "python": "class Shelf:\n    '''Books.'''\n\n    # finds\n    def lookup(self, a):\n{0}\n    def insert(self, b):\n{0}\n",
    "javascript": "class Shelf {{\n  // finds\n  lookup(a) {{\n{0}\n  }}\n\n  insert(b) {{\n{0}\n  }}\n}}\n",
    "typescript": "export class Shelf {{\n  // finds\n  lookup(a: number) {{\n{0}\n  }}\n\n  insert(b: any) {{\n{0}\n  }}\n}}\n",
    "tsx": "export class Shelf {{\n  // finds\n  lookup(a: number) {{\n{0}\n  }}\n\n  insert(b: any) {{\n{0}\n  }}\n}}\n",
    "java": "public class Shelf {{\n  // finds\n  int lookup(int a) {{\n{0}\n  }}\n\n  void insert(int b) {{\n{0}\n  }}\n}}\n",
    "csharp": "namespace N {{\nclass Shelf {{\n  // finds\n  int lookup(int a) {{\n{0}\n  }}\n\n  void insert(int b) {{\n{0}\n  }}\n}}\n}}\n",
    "cpp": "namespace n {{\nclass Shelf {{\n  // finds\n  int lookup(int a) {{\n{0}\n  }}\n\n  void insert(int b) {{\n{0}\n  }}\n}};\n}}\n",
    "rust": "impl Shelf {{\n    /// finds\n    fn lookup(&self) {{\n{0}\n    }}\n\n    #[inline]\n    fn insert(&mut self) {{\n{0}\n    }}\n}}\n",
    "php": "<?php\nclass Shelf {{\n  // finds\n  function lookup($a) {{\n{0}\n  }}\n\n  function insert($b) {{\n{0}\n  }}\n}}\n",
    "scala": "class Shelf {{\n  // finds\n  def lookup(a: Int) = {{\n{0}\n  }}\n\n  def insert(b: Int) = {{\n{0}\n  }}\n}}\n",
    "kotlin": "class Shelf {{\n  // finds\n  fun lookup(a: Int) {{\n{0}\n  }}\n\n  fun insert(b: Int) {{\n{0}\n  }}\n}}\n",
    "swift": "class Shelf {{\n  // finds\n  func lookup(a: Int) {{\n{0}\n  }}\n\n  func insert(b: Int) {{\n{0}\n  }}\n}}\n",
    "ruby": "class Shelf\n  # finds\n  def lookup(a)\n{0}\n  end\n\n  def insert(b)\n{0}\n  end\nend\n",
    "c": "// finds\nint lookup(int a) {{\n{0}\n}}\n\nvoid insert(int *b) {{\n{0}\n}}\n",
    "go": "package p\n\n// finds\nfunc lookup(a int) {{\n{0}\n}}\n\nfunc insert(b int) {{\n{0}\n}}\n",
    "lua": "-- finds\nfunction lookup(a)\n{0}\nend\n\nfunction insert(b)\n{0}\nend\n",
    "bash": "# finds\nlookup() {{\n{0}\n}}\n\ninsert() {{\n{0}\n}}\n",
}
LINE = {
    "python": "        total = combine(total, weights[3], 'leaf')",
    "php": "    $total = combine($total, $weights[3], 'leaf');",
    "ruby": "    total = combine(total, weights[3], 'leaf')",
    "lua": "  total = combine(total, weights[3], 'leaf')",
    "bash": "  total=$(combine \"$total\" weights leaf)",
    "go": "\ttotal = combine(total, weights[3], \"leaf\")",
    "kotlin": "    total = combine(total, weights[3], \"leaf\")",
    "swift": "    total = combine(total, weights[3], \"leaf\")",
    "scala": "    total = combine(total, weights(3), \"leaf\")",
}  # fmt: skip
DEFAULT_LINE = '    total = combine(total, weights[3], "leaf");'


def source(language: str, lines: int = 20) -> str:
    return BODY[language].format("\n".join([LINE.get(language, DEFAULT_LINE)] * lines))


def cut(text: str, language: str, target: int = 512):
    document = Document(text, f"text/x-{language}", "test", lang=language)
    chunker = SymbolsChunker(target, 40)
    return chunker.pieces(document), chunker.chunker_label(document)


def test_a_sample_exists_for_every_grammar():
    assert set(BODY) == known_languages()
    assert all(grammar(language) is not None for language in BODY)


@pytest.mark.parametrize("language", sorted(BODY))
def test_a_definition_of_some_size_is_a_passage_with_its_name(language, covered):
    text = source(language)
    pieces, label = cut(text, language)
    covered(Document(text, "", ""), pieces)
    assert label == f"symbols/1:{language}"
    insert = next(piece for piece in pieces if piece.symbol == "insert")
    assert "lookup" not in text[insert.start : insert.end]
    assert text[insert.start : insert.end].lstrip()[:1] not in "}"
    if "Shelf" in text:
        assert insert.trail[-1] == "Shelf"


@pytest.mark.parametrize("language", sorted(BODY))
def test_the_comment_above_belongs_to_the_definition(language):
    text = source(language)
    pieces, _ = cut(text, language)
    lookup = next(piece for piece in pieces if "lookup" in (piece.symbol or ""))
    assert "finds" in text[lookup.start : lookup.end]


@pytest.mark.parametrize("language", sorted(BODY))
def test_names_and_spans_hold_in_files_that_are_not_ascii(language, covered):
    text = source(language).replace("finds", "findet Bücher 日本語 👍").replace("leaf", "Blätter")
    pieces, label = cut(text, language)
    covered(Document(text, "", ""), pieces)
    assert label == f"symbols/1:{language}"
    insert = next(piece for piece in pieces if piece.symbol == "insert")
    start = text.rfind("\n", 0, text.index("insert")) + 1
    assert insert.start <= start < insert.end
    assert text[insert.start - 1] == "\n"


def test_small_neighbours_are_joined_and_named_together():
    text = "".join(f"def f{i}(x):\n    return x + {i}\n\n\n" for i in range(4))
    pieces, _ = cut(text, "python")
    assert [piece.symbol for piece in pieces] == ["f0, f1, f2, f3"]


def test_the_head_of_a_class_is_no_crumb():
    pieces, _ = cut(source("python"), "python")
    assert pieces[0].symbol == "Shelf, lookup"


def test_decorators_stay_with_their_function():
    text = "import x\n\n\n@x.cached\n@x.timed\n" + "def lookup():\n" + "    total = combine(1, 2, 3)\n" * 30
    pieces, _ = cut(text, "python")
    lookup = next(piece for piece in pieces if "lookup" in (piece.symbol or ""))
    assert "@x.cached" in text[lookup.start : lookup.end]


def test_a_definition_beyond_the_target_is_cut_and_keeps_its_name():
    text = source("python", 120)
    pieces, _ = cut(text, "python", 256)
    assert sum(piece.symbol == "insert" for piece in pieces) > 2


def test_without_a_grammar_lines_show_where_definitions_start():
    text = "".join(
        f"{word} {name} do\n" + "  total = combine total, weights, 3\n" * 25 + "end\n\n"
        for word, name in (("defmodule", "Shelf.Lookup"), ("defmodule", "Shelf.Insert"))
    )
    pieces, label = cut(text, "elixir")
    assert label == "symbols/1:lines"
    assert [piece.symbol for piece in pieces] == ["Shelf.Lookup", "Shelf.Insert"]


def test_a_minified_file_is_cut_by_size_and_says_so(covered):
    text = "var a=1;" * 5_000 + "function lastOneStanding(){return 42}"
    pieces, label = cut(text, "javascript")
    covered(Document(text, "", ""), pieces)
    assert label == "symbols/1:window"
    assert "lastOneStanding" in text[pieces[-1].start : pieces[-1].end]


def test_garbage_that_the_grammar_cannot_follow_is_cut_by_lines(covered):
    text = "".join("({[<>]});'\"`\\/"[(i * 7919) % 15 - 1] + ("\n" if i % 60 == 59 else "") for i in range(60_000))
    pieces, label = cut(text, "cpp")
    covered(Document(text, "", ""), pieces)
    assert label in {"symbols/1:lines", "symbols/1:cpp"}


def test_deep_nesting_is_no_danger(covered):
    text = "x = " + "(" * 2_000 + "1" + ")" * 2_000 + "\n\n\ndef after():\n    return 1\n"
    pieces, _ = cut(text, "python")
    covered(Document(text, "", ""), pieces)
