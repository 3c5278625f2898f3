"""Markup of many languages is cut along its real headings, its code and tables kept whole, its text left as it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_lance.core.choices import DEFAULT_CHUNKERS, DEFAULT_PARSERS, MARKUP
from hermes_lance.parse.headings import HeadingsChunker
from hermes_lance.parse.markup import LANGUAGES, MarkupParser, whole_blocks


def parsed(text: str, language: str):
    return MarkupParser().parse(text.encode(), path="a", media_type=f"text/{language}")


def trails(text: str, language: str) -> list[str]:
    return [" > ".join(section.trail) for section in parsed(text, language).sections]


def test_every_language_has_its_parser_and_chunker():
    assert set(MARKUP) == set(LANGUAGES) == set(MarkupParser.media_types)
    assert {DEFAULT_PARSERS[kind] for kind in MARKUP} == {"markup"}
    assert {DEFAULT_CHUNKERS[kind] for kind in MARKUP} == {"headings"}


RST = """\
========
 Manual
========

Intro.

Install
-------

Text::

   not a title
   -----------

.. code-block:: sh

   # comment

   make

`Use` it
--------

Deeper
~~~~~~

=====  =====
A      B
=====  =====
1      2
=====  =====

----

After a transition.

Last
====
"""


def test_titles_of_restructured_text_get_their_levels_by_order_of_appearance():
    assert trails(RST, "rst") == [
        "Manual", "Manual > Install", "Manual > Use it", "Manual > Use it > Deeper", "Manual > Use it > Deeper > Last",
    ]  # fmt: skip


def test_a_line_of_signs_below_running_text_or_too_short_is_no_title():
    assert trails("Text that goes\non here\n-------\n\nA\n=\n\nLonger title\n==\n\nReal\n====\n", "rst") == [
        "",
        "A",
        "Real",
    ]


def test_a_wide_title_may_have_a_line_as_wide_as_it_looks():
    assert trails("安装\n====\n\n使用方法\n==\n", "rst") == ["安装"]


def test_directives_literal_blocks_and_tables_of_restructured_text_stay_whole():
    blocks = [RST[start:end] for start, end in whole_blocks(RST, "text/rst")]
    assert [block.split("\n")[0] for block in blocks] == ["Text::", ".. code-block:: sh", "=====  ====="]
    assert blocks[1].endswith("   make\n") or blocks[1].endswith("   make")
    assert blocks[2].rstrip().endswith("=====")


ORG = """\
#+TITLE: Garden notes
#+FILETAGS: :plants:soil:
#+TODO: TODO WAIT | DONE

* TODO [#A] Plant the *beans* :work:urgent:
** WAIT Order [[https://example.org][seeds]]
#+begin_src sh
,* not a heading
echo
#+end_src
*not a heading either
* Harvest
"""


def test_headlines_of_org_lose_their_marks():
    assert trails(ORG, "org") == [
        "Garden notes",
        "Garden notes > Plant the *beans*",
        "Garden notes > Plant the *beans* > Order seeds",
        "Garden notes > Harvest",
    ]
    assert parsed(ORG, "org").facts == {"title": "Garden notes", "tags": "plants, soil"}
    assert [ORG[a:b] for a, b in whole_blocks(ORG, "text/org")] == [ORG[ORG.index("#+begin") : ORG.index("\n*not")]]


LATEX = r"""\documentclass{article}
\title{On {\em Locks} \thanks{Nobody}}
\author{A. Writer}
% \section{Hidden}
\begin{document}
\maketitle
\section[Short]{The \emph{first} section\label{sec:a}}
50\% of \verb|\section{no}| it.
\begin{verbatim}
\section{Not one}
\end{verbatim}
\subsection*{Deep $x$ -- 5\%}
\begin{table}
\begin{tabular}{ll} a & b \end{tabular}
\end{table}
\begin{broken}
\section{Second}
\end{document}
"""


def test_sections_of_latex_are_those_that_are_printed():
    assert trails(LATEX, "tex") == [
        "On Locks",
        "On Locks > The first section",
        "On Locks > The first section > Deep x – 5%",
        "On Locks > Second",
    ]
    assert parsed(LATEX, "tex").facts == {"title": "On Locks", "author": "A. Writer"}
    blocks = [LATEX[start:end] for start, end in whole_blocks(LATEX, "text/tex")]
    assert [block.partition("\n")[0] for block in blocks] == [r"\begin{verbatim}", r"\begin{table}"]


ASCIIDOC = """\
= Handbook
:author: A. Writer

== First

----
== not a title
----

[[anchor]]
=== Deep ===

====
An example.
====

Old style
---------

Not a title
--
"""


def test_titles_of_asciidoc_stand_outside_blocks():
    assert trails(ASCIIDOC, "asciidoc") == [
        "Handbook", "Handbook > First", "Handbook > First > Deep", "Handbook > Old style",
    ]  # fmt: skip


def test_titles_of_wiki_pages_stand_outside_comments_and_code():
    text = (
        "Intro\n== A [[page|link]] ==\n<!--\n== hidden ==\n-->\n<pre>\n== code ==\n</pre>\n"
        "=== B ''x'' === \n{|\n== cell ==\n|}\n== C ==\n"
    )
    assert trails(text, "wiki") == ["", "A link", "A link > B x", "C"]
    assert len(whole_blocks(text, "text/wiki")) == 3
    assert trails("h1. Top\n\nh2(#id). Sub\n\ntext\n", "wiki") == ["Top", "Top > Sub"]


def test_manual_pages_carry_their_name():
    text = (
        '.TH "GIT\\-LOG" "1" "2024"\n.SH "NAME"\ngit\\-log\n.SS Commit \\fBLimiting\\fR\n.nf\n.SX\n.fi\n.SH\nSEE ALSO\n'
    )
    assert trails(text, "troff") == [
        "git-log(1)", "git-log(1) > NAME", "git-log(1) > NAME > Commit Limiting", "git-log(1) > SEE ALSO",
    ]  # fmt: skip
    assert trails(".Dd June 1\n.Dt CAT 1\n.Sh NAME\n.Nm cat\n.Ss Sub part\n", "troff")[-1] == "cat(1) > NAME > Sub part"


def test_headings_of_pod_are_read_without_codes():
    assert trails("=head1 The C<open> call\n\ntext\n\n=head2 See L<Other|other/x>\n\n=cut\n", "pod") == [
        "The open call",
        "The open call > See Other",
    ]


def test_a_block_that_fits_is_never_cut():
    filler = "The quick survey of canal locks was filed under marigold in spring. " * 8
    code = "".join(f"   step {number}\n\n" for number in range(14))
    text = f"Title\n=====\n\n{filler}\n\n{filler}\n\n.. code-block:: sh\n\n{code}\n{filler}\n\n{filler}\n"
    document = parsed(text, "rst")
    pieces = HeadingsChunker(260, 0).pieces(document)
    assert any(code in text[piece.start : piece.end] for piece in pieces)


LINES = [
    "Title", "=====", "-----", "* Star", "** TODO Deep :x:", "#+begin_src", "#+end_src", r"\section{A {b}}", "== T ==",
    r"\subsection*", r"\begin{table}", r"\end{table}", "= T", "----", "{|", "|}", "<!--", "-->", ".SH NAME", ".SH",
    ".nf", ".fi", "=head1 X", "=begin x", "=end x", "text::", "   indented", "", "text", "| a | b |", "+--+--+",
    "==  ==", "%", r"\verb|", "'''", "\tx", "日本", "....", "h2. T", ":drawer:", ":end:", "[short", "{",
]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    lines=st.lists(st.sampled_from(LINES), max_size=40),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    language=st.sampled_from(sorted(LANGUAGES)),
)
def test_sections_and_passages_tile_any_text(lines, end, language):
    text = end.join(lines) + end + "last"
    document = MarkupParser().parse(text.encode(), path="a", media_type=language)
    assert "".join(text[part.start : part.end] for part in document.sections) == text
    pieces = HeadingsChunker(16, 0).pieces(document)
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text
    spans = whole_blocks(text, language)
    assert spans == sorted(spans) and all(0 <= start < stop <= len(text) for start, stop in spans)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize(
    "line",
    [
        "{" * 40,
        r"\section{" * 5,
        "* x\n",
        "#+begin_a\n",
        ".SH\n",
        "<!--",
        "a::\n b\n",
        "#+begin_a\nx\n* y\n",
        ".nf\n",
        "==  ==\n",
        "+--+\n|",
        "= x\n",
    ],
)
def test_long_files_that_mean_harm_are_scanned_at_once(language, line):
    text = line * (200_000 // len(line))
    assert LANGUAGES[language].scan(text).headings is not None


def test_sections_nested_without_end_have_a_trail_of_bounded_length():
    sections = parsed("".join("*" * level + f" H{level}\n" for level in range(1, 400)), "org").sections
    assert len(sections) == 399
    assert max(len(section.trail) for section in sections) == 16
    assert sections[3].trail == ("H1", "H2", "H3", "H4")
