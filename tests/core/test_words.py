"""Words, identifiers, scripts: what a question and a document are made of."""

from __future__ import annotations

import random
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_lance.core import identifiers, scripts, words
from hermes_lance.core.words import Analyser

ANALYSER = Analyser()

# -- identifiers: the fast finders against a slow one that looks at one character at a time ---------------------


def kind_of(char: str) -> str:
    if char == "_":
        return "_"
    if char in "0123456789":
        return "digit"
    if ord(char) < 256 and unicodedata.category(char) == "Lu":
        return "upper"
    if ord(char) < 256 and unicodedata.category(char) == "Ll" and char != "µ":
        return "lower"
    return "other"


def is_border(kinds: list[str], at: int) -> bool:
    """A camelCase word is cut before position `at`."""
    before, here, after, second = kinds[at - 1], kinds[at], kinds[at + 1], kinds[at + 2]
    if here != "upper":
        return False
    if before == "lower":
        return True
    if before == "digit":
        return after == "lower"
    return before == "upper" and after == "lower" and second == "lower"


def slow_find(text: str) -> identifiers.Identifiers:
    kinds = [kind_of(char) for char in text] + ["other"] * 3
    camel, snake = [], []
    at = 0
    while at < len(text):
        end = at
        while kinds[end] != "other":
            end += 1
        name = text[at:end].strip("_")
        if "_" in name:
            snake.append(name)
        word = at
        while word < end:
            stop = word
            while stop < end and kinds[stop] != "_":
                stop += 1
            if any(is_border(kinds, place) for place in range(word + 1, stop)):
                camel.append(text[word:stop])
            word = stop + 1
        at = end + 1
    return identifiers.Identifiers(tuple(camel), tuple(snake))


def each(found: identifiers.Found, texts: list[str]) -> list[identifiers.Identifiers]:
    return [found.of(index) for index in range(len(texts))]


NAME_LIKE = st.text(alphabet="abzABZ019__ .é\u00c9ßя数\n-", max_size=60)


@given(st.lists(NAME_LIKE, max_size=6))
@settings(max_examples=500, deadline=None)
def test_both_finders_agree_with_one_that_reads_character_by_character(texts):
    expected = [slow_find(text) for text in texts]
    assert [identifiers.find(text) for text in texts] == expected
    assert each(identifiers._find_by_bytes(texts), texts) == expected
    assert each(identifiers.find_all(texts), texts) == expected


@given(st.lists(st.text(max_size=200), max_size=4))
@settings(max_examples=200, deadline=None)
def test_both_finders_agree_on_any_unicode(texts):
    texts = [words.clean(text) for text in texts]
    assert each(identifiers._find_by_bytes(texts), texts) == [identifiers.find(text) for text in texts]


def test_the_byte_finder_is_used_for_bulk_and_gives_the_same():
    texts = ["getUserById(foo_bar)\n" * 300, "", "nothing here", "HTTPServer"]
    assert sum(map(len, texts)) > identifiers.BULK_CHARS
    assert each(identifiers.find_all(texts), texts) == [identifiers.find(text) for text in texts]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserById", ("get", "User", "By", "Id")),
        ("HTTPServerName", ("HTTP", "Server", "Name")),
        ("utf8Decode", ("utf8", "Decode")),
        ("URLs", ("URLs",)),
        ("A3F4", ("A3F4",)),
        ("plain", ("plain",)),
    ],
)
def test_camel_case_is_cut_where_a_reader_would(word, parts):
    assert identifiers.camel_parts(word) == parts


def test_a_very_long_word_takes_no_quadratic_time():
    assert identifiers.find("aB" * 100_000).snake == ()
    assert identifiers.find("a" * 1_000_000) == identifiers.Identifiers((), ())


# -- scripts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("the rollback plan", "Latin"),
        ("größte Übung", "Latin"),
        ("как работает поиск", "Cyrillic"),
        ("数据库向量检索", "Han"),
        ("كيف يعمل البحث", "Arabic"),
        ("यह कैसे काम करता है", "Devanagari"),
        ("ค้นหาอย่างไร", "Thai"),
        ("검색은 어떻게", "Hangul"),
        ("ひらがな", "Hiragana"),
        ("αναζήτηση", "Greek"),
        ("", ""),
        ("123 !?", ""),
    ],
)
def test_the_dominant_script_is_that_of_most_letters(text, script):
    assert scripts.dominant_script(text) == script


def test_the_share_outside_a_models_scripts_decides_about_its_weight():
    assert scripts.share_outside("как работает git", {"Latin"}) > 0.5
    assert scripts.share_outside("the word поиск in English", {"Latin"}) < 0.5
    assert scripts.share_outside("как", ()) == 0.0
    assert scripts.share_outside("123", {"Latin"}) == 0.0


def test_script_ranges_are_sorted_and_do_not_overlap():
    assert all(a[1] < b[0] for a, b in zip(scripts._RANGES, scripts._RANGES[1:], strict=False))


# -- questions ---------------------------------------------------------------------------------------------------


def test_stop_words_are_dropped_but_stay_in_the_phrase():
    query = ANALYSER.query("How do I restore the index?")
    assert query.terms == ("restor", "index")
    assert [token for _, token in query.phrase] == ["how", "do", "i", "restor", "the", "index"]
    assert query.neighbours == (("restor", "index"),)


def test_a_question_of_stop_words_only_keeps_them():
    query = ANALYSER.query("What is this?")
    assert query.only_stop_words and not query.empty
    assert query.terms == ("what", "is", "this")


@pytest.mark.parametrize("text", ["", "   ", "!?", "-- && ||", "\x00\x01", "()*:\\", "👍"])
def test_nothing_but_signs_is_empty(text):
    assert ANALYSER.query(text).empty


def test_the_remains_of_contractions_are_no_words():
    assert ANALYSER.query("what's the server's port").terms == ("server", "port")
    assert ANALYSER.query("vitamin d").terms == ("vitamin", "d")


def test_camel_case_is_whole_and_in_parts():
    query = ANALYSER.query("where is getUserById defined")
    assert {"getuserbyid", "get", "user", "by", "id", "defin"} <= set(query.terms)
    assert query.names == ("getuserbyid",) and not query.plain and query.identifier is None


@pytest.mark.parametrize("text", ["getUserById", " `getUserById`? ", "getUserById."])
def test_one_identifier_alone_is_recognised(text):
    assert ANALYSER.query(text).identifier == "getuserbyid"


def test_a_snake_case_name_is_one_token_of_its_own():
    assert ANALYSER.query("foo_bar").identifier == "idzfoobar"
    assert ANALYSER.query("_foo_bar").identifier == "idzfoobar"
    assert "idzfoobar" not in ANALYSER.texts(["foo_bar_baz"])[0].words.split()
    assert "idzfoobarbaz" in ANALYSER.texts(["foo_bar_baz"])[0].words.split()
    assert ANALYSER.query("foo_bar and bar_baz").identifier is None


def test_plain_words_are_told_from_things_with_a_shape():
    assert ANALYSER.query("restore the index").plain
    for text in ("foo-bar", "setup.py", "fooBar", "foo_bar", "v2 format", "a/b"):
        assert not ANALYSER.query(text).plain, text


def test_scripts_without_spaces_give_pairs_instead_of_words():
    query = ANALYSER.query("Python数据库")
    assert query.terms == ("python",)
    assert query.pairs == ("数据", "据库")
    assert ANALYSER.query("猫").pairs == ("猫",)


def test_a_word_that_touches_such_a_run_is_found_in_documents_too():
    assert "python" in ANALYSER.texts(["日本語Python入門"])[0].words.split("\n")[1]


def test_every_character_of_a_run_begins_a_token():
    assert words.pairs("数据库") == ["数据", "据库", "库"]


def test_grams_ignore_accents_and_letter_variants_but_keep_vowel_signs():
    assert words.spaced_grams("ёлка") == words.spaced_grams("елка")
    assert words.spaced_grams("أحمد") == words.spaced_grams("احمد")
    assert words.spaced_grams("كِتَاب") == words.spaced_grams("كتاب")
    assert "ी" in "".join(words.spaced_grams("हिन्दी"))
    assert words.spaced_grams("검색은") == ["검색", "색은"]


def test_composed_and_decomposed_text_are_the_same_words():
    composed = "Résumé dès"
    assert ANALYSER.query(composed).terms == ANALYSER.query(unicodedata.normalize("NFD", composed)).terms


def test_case_and_accents_do_not_matter():
    assert ANALYSER.query("CAFÉ İstanbul").terms == ANALYSER.query("cafe istanbul").terms


@pytest.mark.parametrize(
    "written, plain",
    [
        ("CAFÉ", "cafe"),
        ("İstanbul", "istanbul"),
        ("Größe", "grosse"),
        ("oﬃce", "office"),
        ("Ａｂｃ", "abc"),
        ("ПРИВЕТ", "привет"),
    ],
)
def test_words_are_folded_to_ascii_where_they_can_and_to_lower_case(written, plain):
    assert words.folded(f"a {written} b") == f"a {plain} b"
    assert ANALYSER.query(written).terms == ANALYSER.query(plain).terms


def test_lone_surrogates_are_replaced():
    assert ANALYSER.query("a\ud800b").text == "a\ufffdb"
    assert ANALYSER.texts(["a\udfffb"])[0].words == "a\ufffdb"


def test_latin_documents_cost_no_extra_fields():
    assert ANALYSER.texts(["plain words", "größe"]) == [
        words.AnalysedText("plain words", "", ""),
        words.AnalysedText("grosse", "", ""),
    ]


def test_the_digest_names_the_parameters():
    assert Analyser().digest() == Analyser().digest()
    assert Analyser(gram_size=3).digest() != Analyser().digest()


def random_text(rng: random.Random) -> str:
    pools = [
        "abcXYZ019_-./:'\"()[]{}*?!^~\\ \t\n",
        "äöüßéñøŁ ", "абвгдежё ", "数据库かなカナ", "ابتثأىة ", "हिन्दीक़ ", "ไทยลาว", "한국어 ", "👍🏽\u200d\ufe0f",
        "\ud800\udfff\x00\x01\x7f\u202e\ufeff",
    ]  # fmt: skip
    return "".join(rng.choice(rng.choice(pools)) for _ in range(rng.randrange(0, 80)))


def test_two_thousand_random_strings_are_analysed_without_complaint():
    rng = random.Random(5)
    for _ in range(2_000):
        text = random_text(rng)
        query = ANALYSER.query(text)
        assert all(query.terms) and all(query.pairs) and all(query.grams)
        assert len(set(query.terms)) == len(query.terms)
        (analysed,) = ANALYSER.texts([text])
        analysed.words.encode("utf-8")


def test_importing_the_words_loads_no_engine():
    code = "import sys, hermes_lance.core.words; print({'numpy', 'tantivy', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_question_needs_no_numpy():
    code = (
        "import sys; from hermes_lance.core.words import Analyser; "
        "Analyser().query('getUserById 数据'); print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
