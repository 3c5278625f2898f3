"""The strings that the embedder is given for one passage."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_lance.models.embed_text import windows


def words(text: str) -> float:
    return len(text.split())


def cut(text: str, trail: tuple[str, ...] = (), window: int = 10, most: int = 4) -> list[str]:
    return windows(text, trail, window_tokens=window, most=most, tokens=words)


def test_a_passage_that_fits_is_one_string_with_its_trail():
    assert cut("Run it.", ("Guide", "Install"), window=20) == ["Guide > Install\n\nRun it."]


def test_without_a_trail_the_string_is_the_text():
    assert cut("Run the installer.") == ["Run the installer."]


def test_a_longer_passage_gives_even_windows_each_with_the_trail():
    text = "\n".join(f"line {index}" for index in range(12))
    found = cut(text, ("Guide",))
    assert len(found) == 3
    assert all(window.startswith("Guide\n\n") for window in found)
    assert "".join(window.removeprefix("Guide\n\n") for window in found) == text
    assert max(map(words, found)) <= 10


def test_there_are_never_more_windows_than_allowed():
    assert len(cut("word " * 1000, most=2)) == 2
    assert len(cut("word " * 1000, most=1)) == 1


def test_a_little_too_much_stays_one_string():
    assert len(cut("word " * 11)) == 1


def test_of_a_trail_that_is_too_long_the_innermost_headings_stay():
    assert cut("text", ("a b c d e f", "g h")) == ["g h\n\ntext"]
    assert cut("text", ("a b c d e f g",)) == ["text"]


def test_a_blank_passage_is_not_embedded_as_its_headings():
    assert cut(" \n", ("Guide",)) == [" \n"]


@given(st.text(alphabet=st.sampled_from("ab \n漢\t."), max_size=300), st.integers(1, 5))
def test_windows_together_hold_all_of_the_text_but_blanks(text, most):
    found = cut(text, most=most)
    assert 1 <= len(found) <= most
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_heading_that_the_trail_already_says_is_not_said_twice():
    made = windows("## Rolling back ##\n\nUndo it.\n", ("Deploy", "Rolling back"), window_tokens=99, most=2, tokens=len)
    assert made == ["Deploy > Rolling back\n\nUndo it.\n"]


def test_a_passage_that_is_only_its_heading_stays_whole():
    assert windows("# Foo\n", ("Foo",), window_tokens=99, most=2, tokens=len) == ["Foo\n\n# Foo\n"]


def test_a_heading_stays_where_the_trail_was_too_long_to_be_kept():
    heading = "a very long heading indeed"
    text = f"# {heading}\n\nbody of it\n"
    assert "".join(windows(text, (heading,), window_tokens=40, most=9, tokens=len)).startswith("# a very long")
