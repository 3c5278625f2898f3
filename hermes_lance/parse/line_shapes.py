"""Where definitions start in source code for which there is no grammar, by the look of its lines.

Most languages say it with a word before the name; those that do not have an expression of their own here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from hermes_lance.parse.definitions import Mark

_WORDS = (
    "abstract async class contract data def defmodule defp defn defun define enum entity event extension export fn for "
    "func function impl instance interface inline let library local macro message method module namespace object "
    "open override package private proc procedure protected protocol public record resource rpc sealed service "
    "signature static struct sub subroutine task template theorem trait type typedef union unit val var view virtual"
)
_MODIFIER = "abstract async data export inline local open override private protected public sealed static virtual"
_DEFINING = set(_WORDS.split()) - set(_MODIFIER.split()) - {"for", "let", "val", "var"}
_LIKE_FIRST = {"i": "\u0130\u0131", "s": "\u017f"}
"""What else an expression that ignores case takes for these letters."""


def _in_any_case(words: Iterable[str]) -> str:
    """An expression for any of the words, the longest first. Each alternative begins with a set, by which the engine
    passes it over; it tries every one that begins with a letter of any case.
    """
    by_first: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        by_first.setdefault(word[0], []).append(word[1:])
    return "|".join(
        f"[{first}{first.upper()}{_LIKE_FIRST.get(first, '')}](?i:{'|'.join(rests)})"
        for first, rests in by_first.items()
    )


_DEFINING_WORD = _in_any_case({*_DEFINING, r"create[ \t]+(?:or[ \t]+replace[ \t]+)?\w+"})
_NO_NAMES = "an?|and|are|as|by|for|from|in|is|it|new|of|on|or|that|the|then|this|to|was|with"
"""Words of sentences: prose in comments has lines such as `record is`."""

# Where a line begins a definition without saying so by a word, as an expression for the whole of it from its start on.
_NAME = r"(?P<own>[A-Za-z_$][\w.$!?*<>=/-]{0,80})"
_OWN: Mapping[str, str] = {
    "asm": r"(?P<own>[A-Za-z_.$][\w.$@]{0,80}):",
    "awk": rf"function[ \t]+{_NAME}",
    "batch": r":(?P<own>[A-Za-z_][\w.-]{0,80})[ \t]*$",
    "clojure": rf"\((?:def[\w-]*|ns)[ \t]+(?:\^[^\s]+[ \t]+)*{_NAME}",
    "cmake": r"(?i:function|macro)[ \t]*\([ \t]*(?P<own>[A-Za-z_][\w.-]{0,80})",
    "coffeescript": r"(?P<own>[A-Za-z_$][\w.$]{0,80})[ \t]*[=:][ \t]*(?:\([^()\n]*\))?[ \t]*[-=]>",
    "commonlisp": rf"\(def[\w-]*[ \t]+\(?{_NAME}",
    "css": r"(?P<own>[.#@]?[A-Za-z*][^{}\n;]{0,80}?)[ \t]*\{",
    "d": r"(?:[\w.!\[\]*]+[ \t]+)+(?P<own>[A-Za-z_]\w{0,80})[ \t]*\([^;\n]*\)[^;\n]*$",
    "dart": r"(?:[\w.<>?,\[\]]+[ \t]+)+(?P<own>[A-Za-z_]\w{0,80})[ \t]*\([^;\n]*$",
    "dockerfile": r"(?i:from)[ \t]+(?:--\S+[ \t]+)?\S+[ \t]+(?i:as)[ \t]+(?P<own>\S{1,80})",
    "elisp": rf"\((?:cl-)?def[\w-]*[ \t]+'?{_NAME}",
    "elm": r"(?P<own>[a-z]\w{0,80})[ \t]*:(?!:)",
    "erlang": r"(?P<own>[a-z]\w{0,80})\([^\n]*(?:->|$)",
    "fortran": r"[ \t]*(?i:(?:[a-z*()0-9=]+[ \t]+){0,3}(?:subroutine|function|module|program))[ \t]+"
    r"(?P<own>[A-Za-z]\w{0,62})",
    "fsharp": r"(?:let|and)[ \t]+(?:rec[ \t]+|inline[ \t]+|private[ \t]+)*(?P<own>[A-Za-z_]\w{0,80})",
    "groovy": r"(?:[\w.<>\[\]]+[ \t]+)+(?P<own>[A-Za-z_]\w{0,80})[ \t]*\([^;\n]*\{[ \t]*$",
    "make": r"(?P<own>[A-Za-z0-9_.%/$(){}-]{1,80}(?:[ \t]+[A-Za-z0-9_.%/$(){}-]+){0,8})[ \t]*::?(?!=)",
    "matlab": r"function[ \t]+(?:[^=\n]{1,80}=[ \t]*)?(?P<own>[A-Za-z]\w{0,62})",
    "objc": r"(?:@(?:implementation|interface|protocol)[ \t]+|[-+][ \t]*\([^()\n]*\)[ \t]*)(?P<own>\w{1,80})",
    "ocaml": r"(?:let|and|module|type)[ \t]+(?:rec[ \t]+|type[ \t]+|nonrec[ \t]+)*(?P<own>[A-Za-z_][\w']{0,80})",
    "prolog": r"(?P<own>[a-z]\w{0,80})(?:\([^\n]*)?[ \t]*(?::-|\.[ \t]*$)",
    "r": r"(?P<own>[A-Za-z.][\w.]{0,80})[ \t]*(?:<-|=)[ \t]*function\b",
    "racket": rf"\(define[\w/-]*[ \t]+\(*{_NAME}",
    "scheme": rf"\(define[\w-]*[ \t]+\(*{_NAME}",
    "sql": r"(?i:create|alter)[ \t]+"
    r"(?:(?i:or|replace|temp|temporary|unique|global|local|materialized)[ \t]+){0,3}\w+[ \t]+"
    r"(?:(?i:if[ \t]+not[ \t]+exists)[ \t]+)?(?P<own>[\[\"`\w.\]]{1,80})",
    "tcl": r"(?:proc|namespace[ \t]+eval|oo::class[ \t]+create)[ \t]+(?P<own>[\w:.-]{1,80})",
    "verilog": r"(?:module|interface|package|class|function|task)[ \t]+(?:automatic[ \t]+)?(?P<own>[A-Za-z_]\w{0,80})",
    "vhdl": r"(?i:entity|architecture|package(?:[ \t]+body)?|process|component)[ \t]+(?P<own>[A-Za-z]\w{0,80})",
    "vim": r"(?i:fu(?:nction)?!?)[ \t]+(?P<own>[\w:#.<>]{1,80})",
}


@cache
def _line_start(language: str | None) -> re.Pattern[str]:
    """To be searched in a line feed and the text: the engine leaps from one to the next, but would stop everywhere for
    the start of a line.
    """
    own = _OWN.get(language or "")
    return re.compile(
        "\n(?:"
        + (f"{own}|" if own else "")
        + rf"(?P<lead>[ \t]{{0,4}}+)\(?(?:(?:{'|'.join(_MODIFIER.split())})[ \t]+){{0,4}}(?:{_DEFINING_WORD})[ \t]+"
        rf"(?:body[ \t]+)?[\"'`]?(?!(?:{_NO_NAMES})\b)(?P<name>[A-Za-z_][\w.:$?!-]{{0,80}})"
        r"|(?P<flush>(?<=[\s\S]\n\n)\S))",
        re.MULTILINE,
    )


def by_lines(text: str, language: str | None = None) -> list[Mark]:
    """Marks in character offsets, rising: lines that look like definitions, and unindented lines after an empty one."""
    marks: list[Mark] = []
    for found in _line_start(language).finditer("\n" + text):
        name = found["name"]
        start = found.start()
        if name is not None and found["lead"] and not _after_empty_line(text, start):
            continue
        if name is None and found.lastgroup != "flush":
            name = found[found.lastgroup or 0].strip(' \t"`[]')
        start = _comments_above(text, start) if name else start
        if marks and start <= marks[-1].start:
            if name and marks[-1].name is None:
                marks[-1] = Mark(marks[-1].start, name, (), True, ())
            continue
        marks.append(Mark(start, name, (), name is not None, ()))
    return marks


def _after_empty_line(text: str, start: int) -> bool:
    return start < 2 or not text[text.rfind("\n", 0, start - 1) + 1 : start].strip()


_COMMENT = re.compile(r"[ \t]*(?:#|//|--|;|%|/\*|\*|'|\"\"\"|@|\{-|\(\*|rem\b)", re.IGNORECASE)


def _comments_above(text: str, start: int) -> int:
    for _ in range(60):
        line = text.rfind("\n", 0, max(start - 1, 0)) + 1
        if start == 0 or not _COMMENT.match(text, line, start):
            return start
        start = line
    return start
