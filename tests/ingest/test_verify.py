"""Whether a citation stands: right after every kind of edit, with the index as it was and with one built anew."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.core.citation import Citation, readings
from hermes_lance.core.errors import FileMissing, OutsideRoots, UsageError
from hermes_lance.library import Library

CONFIG = "knowledgebase:\n  embedders: {active: builtin_hash, builtin_hash: {dims: 64}}\n"
WORDS = ["anchor", "berth", "cargo", "dock", "ebb", "ferry", "gale", "harbour", "inlet", "jetty", "keel", "lagoon"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "workspace" / "docs").mkdir(parents=True)
    (tmp_path / "config.yaml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def opened(home: Path) -> Library:
    return hermes_lance.open(home)


# -- what a citation means ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("docs/plan.md:10-42", Citation("docs/plan.md", 10, 42)),
        ("docs/plan.md:10", Citation("docs/plan.md", 10, 10)),
        ("docs/plan.md#L10-L42", Citation("docs/plan.md", 10, 42)),
        ("docs/plan.md#L7", Citation("docs/plan.md", 7, 7)),
        ("my plan.md, lines 3-4", Citation("my plan.md", 3, 4)),
        ("report.pdf#page=3", Citation("report.pdf", page_start=3, page_end=3)),
        ("report.pdf#page=3-5", Citation("report.pdf", page_start=3, page_end=5)),
        ("report.pdf, p. 3", Citation("report.pdf", page_start=3, page_end=3)),
        ("deck.pptx#slide 3", Citation("deck.pptx", locator="slide 3")),
        ("[Workspace source: docs/plan.md:12-18]", Citation("docs/plan.md", 12, 18)),
        ("[Source: notes/港口.md:2]", Citation("notes/港口.md", 2, 2)),
        ("docs/plan.md", Citation("docs/plan.md")),
        ("docs/plan.md:10-42 sha256:00ff00ff00ff", Citation("docs/plan.md", 10, 42, sha256="00ff00ff00ff")),
        ("a.md@sha256:00ff00ff", Citation("a.md", sha256="00ff00ff")),
    ],
)
def test_the_forms_of_a_citation(text, wanted):
    assert next(readings(text)) == wanted


def test_a_name_that_looks_like_a_place_is_a_name_where_there_is_such_a_file(home):
    for name in ("notes:10", "a#b.md"):
        (home / "workspace" / name).write_text("The lighthouse keeper.\n", encoding="utf-8")
    library = opened(home)
    library.index()
    for name in ("notes:10", "a#b.md"):
        found = library.verify(name)
        assert (found.verdict, found.path, found.start) == ("exact", name, None)


# -- random edits ---------------------------------------------------------------------------------------------------


def sentence(dice: random.Random) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(dice.randint(4, 9))) + f" {dice.randrange(10**6)}."


def document(dice: random.Random) -> list[str]:
    lines = ["# " + sentence(dice), ""]
    for number in range(dice.randint(5, 12)):
        if number % 3 == 2:
            lines += ["## " + sentence(dice), ""]
        lines += [sentence(dice) for _ in range(dice.randint(1, 4))] + [""] * dice.randint(1, 2)
    return lines


def unchanged(dice, path, lines, first, last):
    return "exact", path, first, last


def appended(dice, path, lines, first, last):
    """The file changes after the passage."""
    lines += ["", sentence(dice)]
    save(path, lines)
    return "exact", path, first, last


def pushed_down(dice, path, lines, first, last):
    """Lines come in above."""
    at = dice.randrange(first)
    new = [sentence(dice) for _ in range(dice.randint(1, 5))]
    lines[at:at] = new
    save(path, lines)
    return "moved", path, first + len(new), last + len(new)


def carried_to_the_end(dice, path, lines, first, last):
    """The passage is cut out and stands at the end of the file."""
    part = lines[first - 1 : last]
    rest = lines[: first - 1] + lines[last:] + ["", sentence(dice), ""]
    save(path, rest + part)
    return "moved", path, len(rest) + 1, len(rest) + len(part)


def renamed(dice, path, lines, first, last):
    to = path.with_name(f"renamed {dice.randrange(10**9)}.md")
    path.rename(to)
    return "moved", to, first, last


def word_changed(dice, path, lines, first, last):
    at = dice.randrange(first - 1, last)
    while not lines[at]:
        at = dice.randrange(first - 1, last)
    lines[at] = lines[at].replace(" ", " not ", 1) if " " in lines[at] else lines[at] + " not"
    save(path, lines)
    return "changed", path, None, None


def rewritten(dice, path, lines, first, last):
    lines[first - 1 : last] = [sentence(dice) for _ in range(dice.randint(1, 6))]
    save(path, lines)
    return "changed", path, None, None


def only_blanks(dice, path, lines, first, last):
    at = next(at for at in range(first - 1, last) if lines[at])
    lines[at] = dice.choice([lines[at] + "  ", "  " + lines[at], lines[at].replace(" ", "  ")])
    save(path, lines)
    return "changed, white space only", path, None, None


def other_line_ends(dice, path, lines, first, last):
    path.write_bytes("\r\n".join(lines).encode("utf-8"))
    return "exact", path, first, last


def deleted(dice, path, lines, first, last):
    path.unlink()
    return "gone", path, None, None


def save(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines), encoding="utf-8")


EDITS = (
    unchanged, appended, pushed_down, carried_to_the_end, renamed, word_changed, rewritten, only_blanks,
    other_line_ends, deleted,
)  # fmt: skip


@pytest.mark.parametrize("built_again", [False, True], ids=["index as it was", "index built anew"])
def test_every_verdict_is_right_for_random_edits(home, built_again):
    """Two hundred files, one edit in each, a random passage of each cited; then the same with a build in between, for
    which the citation names the generation that it came from."""
    dice = random.Random(20_260)
    cases = []
    for number in range(200 if not built_again else 60):
        path = home / "workspace" / "docs" / f"{number:03d}.md"
        lines = document(dice)
        save(path, lines)
        first = dice.randint(1, len(lines))
        last = min(len(lines), first + dice.randint(0, 6))
        while not any(lines[first - 1 : last]):
            first -= 1
        cases.append((path, lines, first, last))
    library = opened(home)
    asked = library.index().generation
    wanted = {}
    for number, (path, lines, first, last) in enumerate(cases):
        edit = EDITS[number % len(EDITS)]
        citation = f"docs/{path.name}:{first}-{last}"
        wanted[citation] = (edit.__name__, *edit(dice, path, list(lines), first, last))
    if built_again:
        library.index()
    wrong = []
    for citation, (edit, verdict, path, start, end) in wanted.items():
        found = library.verify(citation, generation=asked if built_again else None)
        said = found.verdict + (", white space only" if found.whitespace_only else "")
        here = (said, found.path) == (verdict, f"docs/{path.name}")
        if not here or (start is not None and (found.start, found.end) != (start, end)):
            wrong.append((citation, edit, verdict, start, end, said, found.path, found.start, found.end, found.detail))
    assert wrong == []


# -- single cases ---------------------------------------------------------------------------------------------------


def test_one_of_several_equal_lines_that_changes_is_changed_and_not_moved(home):
    path = home / "workspace" / "code.py"
    save(path, ["def a():", "    return harbour", "", "def b():", "    return harbour", ""])
    library = opened(home)
    library.index()
    save(path, ["def a():", "    return jetty", "", "def b():", "    return harbour", ""])
    assert library.verify("code.py:2").verdict == "changed"
    assert library.verify("code.py:5").verdict == "exact"
    save(path, ["# top", "def a():", "    return harbour", "", "def b():", "    return harbour", ""])
    assert [(one.verdict, one.start) for one in map(library.verify, ("code.py:2", "code.py:5"))] == [
        ("moved", 3),
        ("moved", 6),
    ]


def test_a_hash_tells_which_state_was_cited(home):
    path = home / "workspace" / "plan.md"
    save(path, ["# Plan", "", "Sail at noon with the ebb."])
    library = opened(home)
    library.index()
    sha = str(library.verify("plan.md:3").sha256)
    save(path, ["# Plan", "", "Sail at midnight with the flood."])
    library.index()
    assert library.verify("plan.md:3").verdict == "exact"
    assert library.verify("plan.md:3", sha256=sha[:12]).verdict == "changed"
    assert library.verify(f"[Workspace source: plan.md:3] sha256:{sha}").verdict == "changed"
    save(path, ["# Plan", "", "Sail at noon with the ebb."])
    assert library.verify("plan.md:3", sha256=sha).verdict == "exact"


def test_a_deleted_file_is_gone_though_a_copy_stood_elsewhere_before(home):
    text = ["# Tides", "", "The harbour master hands out berths at seven."]
    save(home / "workspace" / "a.md", text)
    save(home / "workspace" / "b.md", ["# Other", *text[1:]])
    library = opened(home)
    library.index()
    (home / "workspace" / "a.md").unlink()
    found = library.verify("a.md:3")
    assert found.verdict == "gone" and "b.md:3-3" in found.detail


def test_a_passage_that_went_into_a_new_file_is_moved(home):
    save(home / "workspace" / "a.md", ["# Tides", "", "The harbour master hands out berths at seven.", "", "More."])
    library = opened(home)
    library.index()
    save(home / "workspace" / "a.md", ["# Tides", "", "More."])
    save(home / "workspace" / "new.md", ["Taken over.", "", "The harbour master hands out berths at seven."])
    found = library.verify("a.md:3")
    assert (found.verdict, found.path, found.start, found.end) == ("moved", "new.md", 3, 3)


def test_what_cannot_be_judged_is_said(home, tmp_path):
    save(home / "workspace" / "plan.md", ["# Plan", "", "Sail."])
    library = opened(home)
    with pytest.raises(UsageError, match="not indexed, so nothing says what was cited"):
        library.verify("plan.md:3")
    library.index()
    with pytest.raises(UsageError, match="has no line 40"):
        library.verify("plan.md:40-42")
    with pytest.raises(OutsideRoots):
        library.verify("/etc/hostname:1")
    assert library.verify("never.md:3").verdict == "gone"
    (home / "workspace").rename(home / "elsewhere")
    with pytest.raises(FileMissing, match="nothing can be compared"):
        library.verify("plan.md:3")
