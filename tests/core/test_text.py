"""Decoding keeps what is in the file, and front matter never gets in the way."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_lance.core.text import decode, front_matter

GERMAN = "Grüße aus Köln: 25 °C, naïve café, ½ Liter"


def decoded(data: bytes):
    found = decode(data)
    assert found is not None
    return found


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff"), min_size=1))
def test_utf8_comes_back_character_for_character(text):
    found = decode(text.encode("utf-8"))
    # Text made mostly of control characters is taken for binary.
    assert found is None or (found.text == text and found.replaced_chars == 0)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_decides_and_is_dropped(codec):
    found = decoded(("\ufeff" + GERMAN).encode(codec))
    assert found.text == GERMAN
    assert found.encoding == codec[:6]


def test_the_mark_of_utf8_is_dropped_so_that_a_heading_stands_first():
    assert decoded(b"\xef\xbb\xbf# Titel").text == "# Titel"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_recognised_by_its_nuls(codec):
    assert decoded(GERMAN.encode(codec)).text == GERMAN


def test_line_ends_stay_as_they_are():
    assert decoded(b"one\r\ntwo\rthree\n").text == "one\r\ntwo\rthree\n"


def test_accented_letters_of_old_western_files_are_read():
    assert decoded(GERMAN.encode("latin-1")).text == GERMAN
    assert decoded("She said “hello” – it’s 5€".encode("cp1252")).text == "She said “hello” – it’s 5€"


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("shift_jis", "東京都の天気予報は晴れです。明日は雨でしょう。"),
        ("gb18030", "今天天气很好，我们去公园散步。数据库索引测试。"),
        ("koi8-r", "Съешь ещё этих мягких французских булок"),
    ],
)
def test_unlabelled_files_of_other_scripts_are_guessed(codec, text):
    assert decoded(text.encode(codec)).text == text


def test_one_bad_line_spoils_no_other():
    data = "ok line: größe\n".encode() + "bad line: größe\n".encode("latin-1") + "ok again: naïve\n".encode()
    found = decoded(data)
    assert found.encoding == "utf-8"
    assert "ok line: größe\n" in found.text and "ok again: naïve\n" in found.text
    assert found.replaced_chars == 2


def test_a_file_cut_inside_its_last_letter_is_still_utf8():
    found = decoded("price in euros: 5€".encode()[:-1])
    assert found.text.startswith("price in euros: 5")
    assert (found.encoding, found.replaced_chars) == ("utf-8", 1)


def test_a_replacement_character_of_the_file_itself_is_no_loss():
    assert decoded("a � b".encode()).replaced_chars == 0


@pytest.mark.parametrize(
    "data",
    [bytes(range(256)) * 64, b"\x7fELF\x02\x01\x01" + bytes(4000), b"before\x00after\n" * 40, os.urandom(4096)],
    ids=["all bytes", "program", "nul in text", "random"],
)
def test_binary_data_is_no_text(data):
    assert decode(data) is None


def test_nuls_that_a_crash_left_late_in_a_log_are_replaced_one_for_one():
    data = b"a line of a long log file\n" * 2000 + b"\x00" * 8 + b"the end\n"
    found = decoded(data)
    assert len(found.text) == len(data)
    assert "\x00" not in found.text and found.text.endswith("the end\n")
    assert found.replaced_chars == 8


def test_front_matter_gives_its_fields_and_where_the_body_starts():
    text = "---\ntitle: Rotate the key\ntags: [security, runbook]\ndate: 2024-01-05\n---\nSteps follow.\n"
    found = front_matter(text)
    assert found.fields == {"title": "Rotate the key", "tags": "security, runbook", "date": "2024-01-05"}
    assert text[found.body_start :] == "Steps follow.\n"


def test_toml_front_matter_is_read_too():
    found = front_matter('+++\ntitle = "Deploy notes"\n+++\n\n# Deploy\n')
    assert found.fields == {"title": "Deploy notes"}


def test_templates_and_broken_yaml_are_read_line_by_line():
    found = front_matter("---\ntitle: Broken: [yaml\nlayout: {{ page.layout }}\n---\nbody\n")
    assert found.fields["title"] == "Broken: [yaml"
    assert front_matter("---\n{{ header }}\n---\nbody\n").body_start > 0


def test_a_rule_or_an_unclosed_block_is_no_front_matter():
    assert front_matter("---\n\ntext\n\n---\n").body_start == 0
    assert front_matter("---\ntitle: x\nno end\n").body_start == 0
    assert front_matter("text\n---\ntitle: x\n---\n").body_start == 0


def test_aliases_in_yaml_are_never_multiplied():
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    lines += [
        f"{here}: &{here} [{','.join(['*' + before] * 9)}]" for before, here in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    fields = front_matter("---\n" + "\n".join(lines) + "\n---\nbody\n").fields
    assert sum(map(len, fields.values())) < 1000


@given(st.text(max_size=200))
def test_no_front_matter_raises(block):
    front_matter("---\n" + block + "\n---\nbody")
    front_matter("+++\n" + block + "\n+++\nbody")
