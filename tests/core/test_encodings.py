"""Text in old and unmarked encodings is read as it was written, and binary data is not taken for any of it."""

from __future__ import annotations

import random
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_lance.core.text import decode

TEXTS = {
    "German": "Grüße aus Köln. Die Straße ist naß, und der Käse schmeckt süß. Übermäßig große Äpfel.\n",
    "French": "L'été dernier, nous étions à la plage; où êtes-vous allés ? Ça coûte 25 francs à Genève, à Noël.\n",
    "Polish": "Zażółć gęślą jaźń. Książka leży na stole, a świeża kawa stygnie. Łódź i Kraków są piękne.\n",
    "Czech": "Příliš žluťoučký kůň úpěl ďábelské ódy. Dobrý den, jak se máte? Děkuji, mám se dobře.\n",
    "Hungarian": "Árvíztűrő tükörfúrógép. Jó napot kívánok, hogy van? Köszönöm szépen, jól vagyok.\n",
    "Turkish": "Pijamalı hasta yağız şoföre çabucak güvendi. İstanbul'da güneşli bir gün geçirdik, çok güzeldi.\n",
    "Russian": "Съешь ещё этих мягких французских булок, да выпей же чаю. Сегодня хорошая погода.\n",
    "Ukrainian": "Щастя, здоров'я, її їжак. Україна має гарну погоду сьогодні, а ввечері буде дощ.\n",
    "Greek": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Καλημέρα, τι κάνετε σήμερα; Ο καιρός είναι καλός.\n",
    "Hebrew": "שלום עולם, מה שלומך היום? אני הולך לבית הספר כל בוקר עם החברים שלי.\n",
    "Arabic": "مرحبا بالعالم، كيف حالك اليوم؟ أذهب إلى المدرسة كل صباح مع أصدقائي.\n",
    "Thai": "สวัสดีครับ วันนี้อากาศดีมาก เราไปเดินเล่นในสวนสาธารณะกันเถอะ\n",
    "Japanese": "東京都の天気予報は晴れです。明日は雨でしょう。カタカナも含む日本語の文章を試験します。\n",
    "Chinese": "今天天气很好，我们去公园散步。数据库索引测试。中文编码检测需要足够的文本。\n",
    "Taiwanese": "今天天氣很好，我們去公園散步。資料庫索引測試。中文編碼檢測需要足夠的文本。\n",
    "Korean": "안녕하세요. 오늘 날씨가 좋습니다. 데이터베이스 색인 시험입니다. 한국어 문장을 검사합니다.\n",
}
OLD = {
    "German": "cp1252 latin-1 cp850 cp437",
    "French": "cp1252 latin-1 cp850 mac_roman",
    "Polish": "cp1250 iso8859-2 cp852",
    "Czech": "cp1250",
    "Hungarian": "cp1250 iso8859-2",
    "Turkish": "cp1254 iso8859-9",
    "Russian": "cp1251 koi8-r cp866 iso8859-5 mac_cyrillic",
    "Ukrainian": "cp1251 koi8-u",
    "Greek": "cp1253 iso8859-7",
    "Hebrew": "cp1255 iso8859-8",
    "Arabic": "cp1256 iso8859-6",
    "Thai": "tis-620 cp874",
    "Japanese": "shift_jis cp932 euc_jp iso2022_jp",
    "Chinese": "gb18030 gbk gb2312",
    "Taiwanese": "big5",
    "Korean": "euc_kr cp949 johab iso2022_kr",
}
WIDE = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]


def decoded(data: bytes):
    found = decode(data)
    assert found is not None
    return found


@pytest.mark.parametrize(("language", "codec"), [(name, codec) for name in OLD for codec in OLD[name].split()])
@pytest.mark.parametrize("times", [1, 10])
def test_old_encodings_without_a_label_are_recognised(language, codec, times):
    data = (TEXTS[language] * times).encode(codec, "ignore")
    found = decoded(data)
    assert found.text == data.decode(codec)
    assert found.replaced_chars == 0


@pytest.mark.parametrize("codec", WIDE)
@pytest.mark.parametrize("language", sorted(TEXTS))
def test_wide_text_without_a_mark_is_recognised_in_every_script(language, codec):
    found = decoded((TEXTS[language] * 3).encode(codec))
    assert (found.text, found.encoding, found.replaced_chars) == (TEXTS[language] * 3, codec, 0)


@pytest.mark.parametrize(
    "head",
    [
        "# -*- coding: {} -*-\n",
        "#!/usr/bin/python3\n# vim: set fileencoding={} :\n",
        '<?xml version="1.0" encoding="{}"?>\n',
        '<meta http-equiv="Content-Type" content="text/html; charset={}">\n',
        "<meta charset='{}'>\n",
    ],
)
def test_what_a_file_says_of_itself_counts_more_than_a_guess(head):
    # One accented letter fits many pages, so that a guess would be Western.
    text = head.format("iso-8859-2") + "the owner is Mr Łoś, nobody else\n"
    found = decoded(text.encode("iso-8859-2"))
    assert (found.text, found.encoding) == (text, "iso8859-2")


def test_a_label_that_is_wrong_or_no_encoding_is_passed_over():
    for label in ("utf-8", "base64", "rot13", "no-such-thing", "ascii"):
        text = f"# coding: {label}\n{TEXTS['German']}"
        assert decoded(text.encode("cp1252")).text == text


def test_a_label_is_read_as_browsers_read_it():
    text = "<meta charset=iso-8859-1>\nShe said “hello”\n"
    assert decoded(text.encode("cp1252")).text == text


def test_utf8_stays_utf8_whatever_it_says():
    text = "# coding: latin-1\nGrüße\n"
    assert decoded(text.encode()).text == text


def test_a_file_with_a_copyright_sign_of_an_old_page_is_read():
    found = decoded(b"Copyright \xa9 1999 by the authors. All rights reserved.\n")
    assert found.text.startswith("Copyright © 1999") and found.encoding == "cp1252"


def test_bytes_that_the_encoding_does_not_know_are_counted():
    data = "Съешь ещё этих мягких французских булок, да выпей же чаю\n".encode("cp1251") * 1_300 + b"\x98\n"
    found = decoded(data)
    assert found.replaced_chars == 1 and found.text.startswith("Съешь ещё")


def test_a_lone_surrogate_is_replaced_and_counted():
    found = decoded("ok ".encode("utf-16-le") * 60 + b"\x3d\xd8" + "end".encode("utf-16-le"))
    assert found.text.endswith("end") and found.replaced_chars == 1
    found = decoded("größe ".encode() * 9 + b"\xed\xa0\xbd end")
    assert found.text.endswith(" end") and found.replaced_chars == 3
    found.text.encode("utf-8")


def _numbers(kind: str, draw) -> bytes:
    return b"".join(struct.pack(kind, draw()) for _ in range(600))


RANDOM = random.Random(7)
BINARY = {
    "small integers of four bytes": _numbers("<i", lambda: RANDOM.randrange(2000)),
    "integers of two bytes": _numbers("<h", lambda: RANDOM.randrange(2000)),
    "sound": _numbers("<h", lambda: int(RANDOM.gauss(0, 3000))),
    "quiet sound": _numbers("<h", lambda: int(RANDOM.gauss(0, 300))),
    "sound that begins like a mark": b"\xff\xfe" + _numbers("<h", lambda: int(RANDOM.gauss(0, 3000))),
    "fractions": _numbers("<f", RANDOM.random),
    "noise without NULs": bytes(RANDOM.randrange(1, 256) for _ in range(3000)),
    "compressed": zlib.compress(RANDOM.randbytes(2000)),
    "mostly NULs": bytes(RANDOM.choice((0, 0, 0, RANDOM.randrange(256))) for _ in range(3000)),
}


@pytest.mark.parametrize("name", sorted(BINARY))
def test_numbers_and_noise_are_no_text(name):
    assert decode(BINARY[name]) is None


@given(st.binary(max_size=300), st.sampled_from([b"", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"coding: cp949\n"]))
def test_no_bytes_make_decoding_fail(data, head):
    found = decode(head + data)
    if found is not None:
        found.text.encode("utf-8")
