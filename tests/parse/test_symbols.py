"""Code is cut by definition, in every language that a grammar comes with."""

from __future__ import annotations

import pytest

from hermes_lance.core.records import Document
from hermes_lance.parse.grammars import grammar, known_languages
from hermes_lance.parse.symbols import SymbolsChunker

# For each language a container `Shelf` with the members `lookup` and `insert`, or two functions: what stands before
# the first member, the comment and the heads of both members, what ends a member, what ends the file.
SHAPES = {
    "python": ('class Shelf:\n    "Books."\n', "    # finds", "    def lookup(self):", "    def insert(self):", "", ""),
    "javascript": ("class Shelf {", "  // finds", "  lookup(a) {", "  insert(b) {", "  }", "}"),
    "typescript": ("export class Shelf {", "  // finds", "  lookup(a: number) {", "  insert(b: any) {", "  }", "}"),
    "tsx": ("export class Shelf {", "  // finds", "  lookup(a: number) {", "  insert(b: any) {", "  }", "}"),
    "java": ("public class Shelf {", "  // finds", "  int lookup(int a) {", "  void insert(int b) {", "  }", "}"),
    "csharp": ("namespace N {\nclass Shelf {", "  // finds", "  int lookup() {", "  void insert() {", "  }", "}\n}"),
    "cpp": ("namespace n {\nclass Shelf {", "  // finds", "  int lookup() {", "  void insert() {", "  }", "};\n}"),
    "rust": ("impl Shelf {", "    /// finds", "    fn lookup() {", "    #[inline]\n    fn insert() {", "    }", "}"),
    "php": ("<?php\nclass Shelf {", "  // finds", "  function lookup() {", "  function insert() {", "  }", "}"),
    "scala": ("class Shelf {", "  // finds", "  def lookup(a: Int) = {", "  def insert(b: Int) = {", "  }", "}"),
    "kotlin": ("class Shelf {", "  // finds", "  fun lookup(a: Int) {", "  fun insert(b: Int) {", "  }", "}"),
    "swift": ("class Shelf {", "  // finds", "  func lookup(a: Int) {", "  func insert(b: Int) {", "  }", "}"),
    "ruby": ("class Shelf", "  # finds", "  def lookup(a)", "  def insert(b)", "  end", "end"),
    "c": ("", "// finds", "int lookup(int a) {", "void insert(int *b) {", "}", ""),
    "go": ("package p\n", "// finds", "func lookup(a int) {", "func insert(b int) {", "}", ""),
    "lua": ("", "-- finds", "function lookup(a)", "function insert(b)", "end", ""),
    "haskell": ("class Shelf a where", "  -- finds", "  lookup a = do", "  insert b = do", "", ""),
    "hcl": ("", "# finds", 'variable "lookup" {', 'resource "aws" "insert" {', "}", ""),
    "powershell": ("class Shelf {", "  # finds", "  [int] lookup($a) {", "  [int] insert($b) {", "  }", "}"),
    "zig": (
        "pub const Shelf = struct {",
        "  // finds",
        "  pub fn lookup() u8 {",
        "  pub fn insert() u8 {",
        "  }",
        "};",
    ),
    "bash": ("", "# finds", "lookup() {", "insert() {", "}", ""),
}
LINE = {
    "python": "        total = combine(total, weights[3], 'leaf')",
    "php": "    $total = combine($total, $weights[3], 'leaf');",
    "ruby": "    total = combine(total, weights[3], 'leaf')",
    "lua": "  total = combine(total, weights[3], 'leaf')",
    "bash": "  total=$(combine \"$total\" weights leaf)",
    "haskell": "    total <- combine total weights leaf",
    "hcl": "  total = combine(total, weights, \"leaf\")",
    "powershell": "    $total = combine $total $weights 'leaf'",
    "go": "\ttotal = combine(total, weights[3], \"leaf\")",
    "kotlin": "    total = combine(total, weights[3], \"leaf\")",
    "swift": "    total = combine(total, weights[3], \"leaf\")",
    "scala": "    total = combine(total, weights(3), \"leaf\")",
}  # fmt: skip
DEFAULT_LINE = '    total = combine(total, weights[3], "leaf");'


def source(language: str, lines: int = 20) -> str:
    before, comment, lookup, insert, end, after = SHAPES[language]
    body = "\n".join([LINE.get(language, DEFAULT_LINE)] * lines)
    return "\n".join([before, comment, lookup, body, end, "", insert, body, end, after]) + "\n"


def last_name(symbol: str | None) -> str:
    """Blocks of HCL are named with their kind, such as `resource.aws.insert`."""
    return (symbol or "").rpartition(".")[2]


def cut(text: str, language: str, target: int = 512):
    document = Document(text, f"text/x-{language}", "test", lang=language)
    chunker = SymbolsChunker(target, 40)
    return chunker.pieces(document), chunker.chunker_label(document)


def test_a_sample_exists_for_every_grammar():
    assert set(SHAPES) == known_languages()
    assert all(grammar(language) is not None for language in SHAPES)


@pytest.mark.parametrize("language", sorted(SHAPES))
def test_a_definition_of_some_size_is_a_passage_with_its_name(language, covered):
    text = source(language)
    pieces, label = cut(text, language)
    covered(Document(text, "", ""), pieces)
    assert label == f"symbols/2:{language}"
    insert = next(piece for piece in pieces if last_name(piece.symbol) == "insert")
    assert "lookup" not in text[insert.start : insert.end]
    assert text[insert.start : insert.end].lstrip()[:1] not in "}"
    if "Shelf" in text:
        assert insert.trail[-1] == "Shelf"


@pytest.mark.parametrize("language", sorted(SHAPES))
def test_the_comment_above_belongs_to_the_definition(language):
    text = source(language)
    pieces, _ = cut(text, language)
    lookup = next(piece for piece in pieces if "lookup" in (piece.symbol or ""))
    assert "finds" in text[lookup.start : lookup.end]


@pytest.mark.parametrize("language", sorted(SHAPES))
def test_names_and_spans_hold_in_files_that_are_not_ascii(language, covered):
    text = source(language).replace("finds", "findet Bücher 日本語 👍").replace("leaf", "Blätter")
    pieces, label = cut(text, language)
    covered(Document(text, "", ""), pieces)
    assert label == f"symbols/2:{language}"
    insert = next(piece for piece in pieces if last_name(piece.symbol) == "insert")
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
    assert label == "symbols/2:lines"
    assert [piece.symbol for piece in pieces] == ["Shelf.Lookup", "Shelf.Insert"]


def test_a_minified_file_is_cut_by_size_and_says_so(covered):
    text = "var a=1;" * 5_000 + "function lastOneStanding(){return 42}"
    pieces, label = cut(text, "javascript")
    covered(Document(text, "", ""), pieces)
    assert label == "symbols/2:window"
    assert "lastOneStanding" in text[pieces[-1].start : pieces[-1].end]


def test_garbage_that_the_grammar_cannot_follow_is_cut_by_lines(covered):
    text = "".join("({[<>]});'\"`\\/"[(i * 7919) % 15 - 1] + ("\n" if i % 60 == 59 else "") for i in range(60_000))
    pieces, label = cut(text, "cpp")
    covered(Document(text, "", ""), pieces)
    assert label in {"symbols/2:lines", "symbols/2:cpp"}


def test_deep_nesting_is_no_danger(covered):
    text = "x = " + "(" * 2_000 + "1" + ")" * 2_000 + "\n\n\ndef after():\n    return 1\n"
    pieces, _ = cut(text, "python")
    covered(Document(text, "", ""), pieces)
