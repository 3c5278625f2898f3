"""Citations of an answer against what its agent was given."""

from __future__ import annotations

import pytest

from hermes_lance.core.injected import InjectedSource
from hermes_lance.search.citations import check


def given(path: str, lines: tuple[int, int] | None = None, pages: tuple[int, int] | None = None) -> InjectedSource:
    place = f":{lines[0]}-{lines[1]}" if lines else f"#page={pages[0]}-{pages[1]}" if pages else ""
    start, end = lines or (None, None)
    first, last = pages or (None, None)
    return InjectedSource("workspace", path, f"{path}{place}", start, end, first, last, "0" * 32, None, "1")


GIVEN = (
    given("docs/plan.md", (12, 18)), given("docs/plan.md", (19, 30)), given("a/report.pdf", pages=(3, 4)),
    given("app/[id]/page.tsx", (1, 9)), given("notes/plan.txt", (1, 2)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("citation", "verdict"),
    [
        ("docs/plan.md", "exact"),
        ("docs/plan.md:12-18", "exact"),
        ("docs/plan.md:14", "exact"),
        ("docs/plan.md:12-30", "exact"),
        ("docs/plan.md#L13-L15", "exact"),
        ("docs/plan.md, lines 12-18", "exact"),
        ("./docs/plan.md:12", "exact"),
        ("`docs/plan.md`", "exact"),
        ("plan.md:12-18", "exact"),
        ("a/report.pdf#page=3", "exact"),
        ("report.pdf, page 4", "exact"),
        ("app/[id]/page.tsx:2", "exact"),
        ("docs/plan.md:10-18", "wrong lines"),
        ("docs/plan.md:40-50", "wrong lines"),
        ("docs/plan.md:18-31", "wrong lines"),
        ("a/report.pdf#page=7", "wrong lines"),
        ("a/report.pdf:3", "wrong lines"),
        ("docs/other.md:12-18", "unknown source"),
        ("lan.md", "unknown source"),
    ],
)
def test_a_citation_is_judged_by_its_path_and_its_place(citation, verdict):
    found = check(f"It is so [Source: {citation}].", GIVEN)
    assert [(one.text, one.verdict) for one in found.citations] == [(citation, verdict)]
    assert found.sound == (verdict == "exact")


def test_a_wrong_place_comes_with_what_was_given():
    one = check("[Source: docs/plan.md:99]", GIVEN).citations[0]
    assert one.path == "docs/plan.md" and one.given == ("docs/plan.md:12-18", "docs/plan.md:19-30")


def test_what_is_not_cited_is_named():
    found = check("A [Source: docs/plan.md:13] and B [source: report.pdf].", GIVEN)
    assert found.uncited == ("docs/plan.md:19-30", "app/[id]/page.tsx:1-9", "notes/plan.txt:1-2")
    assert check("nothing is cited here [1] [Sources of error: many]", GIVEN).citations == ()


def test_several_sources_in_one_pair_of_brackets():
    for text in ("[Sources: docs/plan.md:12; a/report.pdf#page=3]", "[Source: docs/plan.md:12, a/report.pdf#page=3]"):
        assert [one.verdict for one in check(text, GIVEN).citations] == ["exact", "exact"]


def test_a_file_name_that_two_sources_share_names_neither():
    both = (given("a/x.md", (1, 2)), given("b/x.md", (1, 2)))
    assert check("[Source: x.md:1]", both).citations[0].verdict == "unknown source"


def test_an_answer_full_of_brackets_is_read_in_a_moment():
    assert check("[Source: " * 20_000 + "[" * 20_000, GIVEN).citations == ()


def test_a_name_is_cited_as_its_agent_was_shown_it():
    found = check("[Source: docs/plan.md:1) end.md:3]", [given("docs/plan.md:1] end.md", (1, 9))])
    assert [one.verdict for one in found.citations] == ["exact"]
