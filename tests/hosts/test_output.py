"""Whatever a file holds, a terminal only shows it, in 80 columns."""

from __future__ import annotations

import io
import json

import pytest

from hermes_lance.hosts import output
from hermes_lance.hosts.output import Console, as_json, columns_of, cut, cut_path, error_line, shown, wrapped


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("plain", "plain"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[31mred", "\\e[31mred"),
        ("bell\x07 del\x7f csi\x9b", "bell\\x07 del\\x7f csi\\x9b"),
        ("abc\u202etxt.exe", "abc\\u202etxt.exe"),
        ("caf\udce9", "caf\\xe9"),
        ("夜間 נמל 🚢", "夜間 נמל 🚢"),
    ],
)
def test_what_a_terminal_would_act_on_is_shown_as_an_escape(text, harmless):
    assert shown(text) == harmless


def test_wide_characters_take_two_columns_and_combining_marks_none():
    assert columns_of("abc") == 3
    assert columns_of("港口") == 4
    assert columns_of("e\u0301") == 1


@pytest.mark.parametrize("text", ["short", "a" * 200, "港口" * 60, "one two three " * 20])
@pytest.mark.parametrize("width", [4, 10, 40])
def test_a_cut_text_fits(text, width):
    assert columns_of(cut(text, width)) <= width
    assert columns_of(cut(text, width, keep_end=True)) <= width


def test_a_cut_path_keeps_its_root_and_its_file_name():
    assert cut_path("workspace/some/very/long/way/down/report.md", 30).startswith("work")
    assert cut_path("workspace/some/very/long/way/down/report.md", 30).endswith("report.md")
    for width in range(8, 50):
        assert columns_of(cut_path("workspace/港口/very/long/way/down/report.md", width)) <= width


def test_wrapped_lines_fit_and_lose_no_word():
    text = "some words and averyveryverylongwordwithoutanyblank 港口办公室七点开门 end"
    lines = wrapped(text, 12, indent="  ", hanging="    ")
    assert all(columns_of(line) <= 12 for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_the_document_is_utf_8_and_not_escaped():
    assert as_json({"path": "夜間/ü.md"}) == '{"path": "夜間/ü.md"}\n'.encode()


def test_numbers_that_json_lacks_become_null():
    assert json.loads(as_json({"score": float("nan"), "inner": [float("inf"), 1.5]})) == {
        "score": None,
        "inner": [None, 1.5],
    }


def test_a_lone_surrogate_does_not_break_the_document():
    assert json.loads(as_json({"path": "caf\udce9"}))["path"] == "caf\\xe9"


def test_an_error_is_one_line():
    assert error_line("a\nb: broke", "Do\nthis.") == "Error: a b: broke. Do this."


def console(monkeypatch, *, encoding: str = "utf-8") -> tuple[Console, io.BytesIO]:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding=encoding, write_through=True))
    return Console(), raw


def test_a_console_that_knows_few_characters_gets_escapes(monkeypatch):
    made, raw = console(monkeypatch, encoding="ascii")
    made.line("夜 ü")
    assert raw.getvalue() == b"\\u591c \\xfc\n"


def test_the_document_is_utf_8_on_such_a_console_too(monkeypatch):
    made, raw = console(monkeypatch, encoding="ascii")
    made.document({"path": "夜"})
    assert raw.getvalue().decode("utf-8") == '{"path": "夜"}\n'


def test_a_table_fits_whatever_its_cells_hold(monkeypatch):
    made, raw = console(monkeypatch)
    rows = [["docs/" + "x" * 90 + "/file.md", "12,345", "a long reason " * 9], ["夜" * 50, "1", "\x1b[2J\n"]]
    made.table(["file", "pieces", "reason"], rows, right=(1,))
    made.table(["file", "pieces", "reason"], rows, right=(1,), wrap=True)
    lines = raw.getvalue().decode("utf-8").splitlines()
    assert max(map(columns_of, lines)) <= output.COLUMNS
    assert any("12,345" in line for line in lines)
    assert "\x1b" not in raw.getvalue().decode("utf-8")


def test_colour_is_for_terminals_that_want_it(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert Console(out=Terminal()).styled("x", "bold") == "\x1b[1mx\x1b[0m"
    assert Console(out=Terminal(), colour=False).styled("x", "bold") == "x"
    assert Console(out=io.StringIO()).styled("x", "bold") == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Console(out=Terminal()).styled("x", "bold") == "x"
