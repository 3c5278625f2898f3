"""The lexical index: what is found, in which order, under which filters, and what a damaged folder says."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hermes_lance.core import schema
from hermes_lance.core.errors import DatasetBusy, DatasetDamaged
from hermes_lance.core.words import Analyser
from hermes_lance.store import lexical_fields, lexical_files, lexical_query
from hermes_lance.store.lexical import LexicalReader
from hermes_lance.store.lexical_query import LexicalFilters
from hermes_lance.store.lexical_writer import LexicalWriter

ANALYSER = Analyser()
ANY_TABLE = {column.name for table in ("chunks", "artifacts") for column in schema.load(table).columns}


def row(key: str, text: str, **columns: Any) -> SimpleNamespace:
    path = columns.pop("path", f"{key}.md")
    usual = {"root": "workspace", "kind": "markdown", "section": [], "media_type": "text/markdown", "ordinal": 0}
    own = {"id": key, "source_id": f"source of {path}", "path": path, "text": text}
    return record(**{**usual, **own, **columns})


def record(**columns: Any) -> SimpleNamespace:
    """A row as the writer takes it, with every field that a table may have."""
    return SimpleNamespace(**{**dict.fromkeys(ANY_TABLE), **columns})


def numbered(*keys: tuple[int, str]) -> list[tuple[int, int]]:
    """What `LexicalReader.keys` says of these row numbers and keys."""
    return [(serial, lexical_fields.key_number(key)) for serial, key in keys]


def write(folder: Path, rows: list[SimpleNamespace], first: int = 0) -> None:
    with LexicalWriter(folder) as writer:
        for serial, one in enumerate(rows, first):
            writer.add(one, serial)
        writer.commit()


@pytest.fixture
def index(tmp_path):
    """Writes rows to a new index and opens it."""

    def made(*rows: SimpleNamespace) -> LexicalReader:
        write(tmp_path / "index", list(rows))
        return LexicalReader(tmp_path / "index")

    return made


def found(reader: LexicalReader, text: str, limit: int = 10, **filters: Any) -> list[int]:
    return [serial for serial, _ in reader.search(ANALYSER.query(text), limit, LexicalFilters(**filters))]


# -- finding -----------------------------------------------------------------------------------------------------


def test_the_passage_with_the_words_comes_first(index):
    reader = index(row("a", "how to bake bread"), row("b", "restoring the index after a crash"), row("c", "crash"))
    assert found(reader, "How do I restore the index?") == [1]
    assert found(reader, "crash index")[0] == 1


def test_inflected_words_are_found(index):
    assert found(index(row("a", "The deployments were rolled back")), "deployment rolling") == [0]


def test_a_question_that_matches_nothing_gives_an_empty_page(index):
    reader = index(row("a", "bread"), row("b", "butter"))
    assert found(reader, "quantum") == []
    for nothing in ("", "   ", "?!", "* AND OR:", "-", "NOT", "\x00"):
        assert len(found(reader, nothing)) == 0, nothing


def test_operators_are_only_words(index):
    reader = index(row("a", "apples and pears"), row("b", "plums"))
    assert found(reader, "NOT plums") == [1]
    assert found(reader, "path:/etc +plums -apples")[:1] != [] and 1 in found(reader, "+plums -x")
    assert found(reader, 'text:* "') == []


def test_words_in_their_order_beat_the_same_words_scattered(index):
    reader = index(
        row("a", "writer lock busy: another lock held by a writer"), row("b", "the busy writer waits for lock")
    )
    assert found(reader, "busy writer")[0] == 1


def test_parts_of_identifiers_are_found(index):
    reader = index(row("a", "def getUserById(): ..."), row("b", "parse_http_date(value)"), row("c", "nothing"))
    assert found(reader, "user by id") == [0]
    assert found(reader, "http date") == [1]


def test_a_whole_snake_case_name_beats_a_longer_one_that_contains_it(index):
    reader = index(
        row("a", "foo_bar_baz foo_bar_baz foo_bar_baz"), row("b", "call to foo_bar and some further words here")
    )
    assert found(reader, "foo_bar")[0] == 1
    assert reader.verbatim(ANALYSER.query("foo_bar")) == [1]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("数据库向量检索系统", "检索"),
        ("データベースの復旧手順", "復旧"),
        ("猫が好き", "猫"),
        ("การค้นหาเอกสารภาษาไทย", "เอกสาร"),
        ("ສະບາຍດີຊາວໂລກ", "ຊາວໂລກ"),
        ("ការស្វែងរកឯកសារ", "ឯកសារ"),
        ("မြန်မာစာရှာဖွေရေး", "ရှာဖွေ"),
        ("한국어 문서에서 검색을", "문서"),
        ("ошибка восстановления индекса", "восстановление"),
        ("استعادة الفهرس بعد العطل", "إستعاده فهرس"),
        ("हिन्दी में खोज कैसे करें", "हिन्दी"),
        ("αναζήτηση εγγράφων", "αναζητηση"),
        ("Größenänderung der Übersicht", "grossenanderung ubersicht"),
        ("日本語Python入門", "python"),
    ],
)
def test_every_script_is_found(index, text, question):
    assert found(index(row("other", "an English text 12"), row("it", text)), question) == [1]


def test_headings_symbols_and_paths_are_searched_too(index):
    reader = index(
        row("a", "text", section=["Guide", "Retention"]),
        row("b", "text", symbol="open_snapshot", kind="code"),
        row("c", "text", path="notes/billing/invoices.md"),
    )
    assert found(reader, "retention") == [0]
    assert found(reader, "open_snapshot") == [1]
    assert found(reader, "billing") == [2]


def test_a_file_asked_for_by_name_comes_first_with_its_first_passage(index):
    reader = index(
        row("a", "see http_client and http_client again"),
        row("b", "second", path="src/http_client.py", ordinal=1),
        row("c", "first", path="src/http_client.py", ordinal=0),
        *(row(f"other{n}", f"text number {n}") for n in range(30)),
    )
    assert found(reader, "http_client")[0] == 2
    assert found(reader, "http_client.py")[0] == 2
    assert reader.verbatim(ANALYSER.query("http_client.py"))[0] == 2


def test_the_kind_alone_finds_nothing(index):
    reader = index(row("a", "words", kind="table"), row("b", "words of prose"))
    assert found(reader, "table") == []
    assert found(reader, "words table")[0] == 0


# -- the verbatim rule -------------------------------------------------------------------------------------------


def test_a_quotation_of_four_words_is_verbatim(index):
    reader = index(row("a", "It was the best of times, it was"), row("b", "best of it was the times"))
    assert reader.verbatim(ANALYSER.query("the best of times")) == [0]


def test_two_or_three_plain_words_are_no_quotation(index):
    reader = index(row("a", "restore the index"), row("b", "restore-index --force"))
    assert reader.verbatim(ANALYSER.query("restore the index")) == []
    assert reader.verbatim(ANALYSER.query("restore-index")) == [1]


def test_one_camel_case_name_is_verbatim_by_its_own_token(index):
    reader = index(row("a", "get user by id"), row("b", "getUserById()"))
    assert reader.verbatim(ANALYSER.query("getUserById")) == [1]
    assert reader.verbatim(ANALYSER.query("getuserbyid")) == []


def test_a_quotation_without_spaces_is_verbatim(index):
    reader = index(row("a", "数据库向量检索系统"), row("b", "数据 检索"))
    assert reader.verbatim(ANALYSER.query("向量检索系统")) == [0]


def test_verbatim_obeys_filters_and_limit(index):
    reader = index(*(row(f"r{n}", "four words stand here") for n in range(5)))
    query = ANALYSER.query("four words stand here")
    assert reader.verbatim(query, limit=2) == [0, 1]
    assert reader.verbatim(query, filters=LexicalFilters(source_ids=["source of r3.md"])) == [3]


# -- filters -----------------------------------------------------------------------------------------------------


def test_a_folder_filter_takes_in_everything_below_and_nothing_beside(index):
    reader = index(
        row("a", "word", path="docs/a.md"),
        row("b", "word", path="docs/deep/er/b.md"),
        row("c", "word", path="docs2/c.md"),
        row("d", "word", path="docs/d.md", root="/srv/other"),
    )
    key = lexical_fields.folder_key
    assert found(reader, "word", folder=key("workspace", "docs")) == [0, 1]
    assert found(reader, "word", folder=key("workspace", "docs/deep/")) == [1]
    assert found(reader, "word", folder=key("workspace", "docs/a.md")) == [0]
    assert found(reader, "word", folder=key("workspace", "")) == [0, 1, 2]
    assert found(reader, "word", folder=key("/srv/other", "")) == [3]
    assert found(reader, "word", folder=key("workspace", "doc")) == []


def test_a_filter_applies_before_the_best_are_cut_and_leaves_scores_alone(index):
    rows = [row(f"r{n}", "needle " * 3, path=f"many/{n}.md") for n in range(60)] + [row("it", "a needle in hay")]
    reader = index(*rows)
    (only,) = reader.search(ANALYSER.query("needle"), 3, LexicalFilters(source_ids=["source of it.md"]))
    everything = dict(reader.search(ANALYSER.query("needle"), 100))
    assert only[0] == 60 and only[1] == pytest.approx(everything[60])


def test_no_permitted_file_means_no_answer(index):
    assert found(index(row("a", "word")), "word", source_ids=[]) == []


def test_names_with_quotes_new_lines_and_emoji_can_be_filtered(index):
    names = ['it\'s "x".md', "new\nline.md", "😀/ü.md", "a  b.md", "\udce9.md"]
    reader = index(*(row(f"r{n}", "word", path=name) for n, name in enumerate(names)))
    for n, name in enumerate(names):
        assert found(reader, "word", folder=lexical_fields.folder_key("workspace", name)) == [n]


# -- order -------------------------------------------------------------------------------------------------------


def test_equal_scores_are_ordered_by_row_number_whatever_the_order_of_writing(tmp_path):
    rows = [(row(f"r{n}", "the same text", path=f"f{n:03}.md"), n) for n in range(40)]
    random.Random(1).shuffle(rows)
    with LexicalWriter(tmp_path / "index") as writer:
        for one, serial in rows:
            writer.add(one, serial)
        writer.commit()
    hits = LexicalReader(tmp_path / "index").search(ANALYSER.query("same text"), 10)
    assert [serial for serial, _ in hits] == list(range(10))


def test_limits_are_kept(index):
    reader = index(*(row(f"r{n}", "word") for n in range(30)))
    assert len(found(reader, "word", 7)) == 7
    assert found(reader, "word", 0) == []


# -- writing -----------------------------------------------------------------------------------------------------


def test_a_replaced_file_leaves_no_old_passage(tmp_path):
    folder = tmp_path / "index"
    write(folder, [row("a", "old words", source_id="s"), row("b", "other", source_id="t")])
    with LexicalWriter(folder) as writer:
        writer.delete_sources(["s"])
        writer.add(row("c", "new words", source_id="s"), 7)
        writer.commit()
    reader = LexicalReader(folder)
    assert found(reader, "old") == [] and found(reader, "words") == [7]
    assert reader.keys() == numbered((1, "b"), (7, "c")) and reader.count() == 2


def test_a_deletion_also_hits_rows_added_just_before(tmp_path):
    with LexicalWriter(tmp_path / "index") as writer:
        writer.add(row("a", "word", source_id="s"), 0)
        writer.delete_sources(["s"])
        writer.add(row("b", "word", source_id="t"), 1)
        writer.delete_sources(["t"])
        writer.add(row("c", "word", source_id="u"), 2)
        writer.commit()
    assert LexicalReader(tmp_path / "index").keys() == numbered((2, "c"))


def test_what_was_not_committed_is_lost_and_what_a_reader_has_opened_stays(tmp_path):
    write(tmp_path / "index", [row("a", "word")])
    reader = LexicalReader(tmp_path / "index")
    with LexicalWriter(tmp_path / "index") as writer:
        writer.delete_all()
        writer.commit()
        writer.add(row("b", "word"), 1)
    assert found(reader, "word") == [0]
    assert LexicalReader(tmp_path / "index").count() == 0


def test_keys_show_a_key_that_is_stored_twice(tmp_path):
    write(tmp_path / "index", [row("a", "x"), row("a", "y"), row("b", "z")])
    assert LexicalReader(tmp_path / "index").keys() == numbered((0, "a"), (1, "a"), (2, "b"))


def test_a_second_writer_is_told_that_the_index_is_busy(tmp_path):
    with LexicalWriter(tmp_path / "index"), pytest.raises(DatasetBusy, match="another process"):
        LexicalWriter(tmp_path / "index")
    LexicalWriter(tmp_path / "index").close()


def test_closing_twice_is_fine(tmp_path):
    writer = LexicalWriter(tmp_path / "index")
    writer.add(row("a", "word"), 0)
    writer.commit()
    writer.close()
    writer.close()
    with LexicalWriter(tmp_path / "index") as another:
        another.add(row("b", "word"), 1)
        another.commit()
    assert LexicalReader(tmp_path / "index").keys() == numbered((0, "a"), (1, "b"))


def test_an_empty_index_answers_nothing(tmp_path):
    write(tmp_path / "index", [])
    reader = LexicalReader(tmp_path / "index")
    assert found(reader, "word") == [] and reader.keys() == [] and reader.count() == 0


def test_nothing_readable_of_a_text_is_stored(tmp_path):
    folder = tmp_path / "index"
    write(folder, [row("a", "Correct horse battery staple, said the manual.")])
    assert all(b"horse battery" not in file.read_bytes() for file in folder.iterdir())


def test_artifacts_have_an_index_from_their_own_schema(tmp_path):
    artifact = record(
        id="skill:deploy", type="skill", title="Deploy", path="skills/deploy/SKILL.md",
        summary="Roll a release out", triggers=["ship it", "release"], entities=[], search_text="kubectl",
    )  # fmt: skip
    with LexicalWriter(tmp_path / "a", "artifacts") as writer:
        writer.add(artifact, 3)
        writer.commit()
    reader = LexicalReader(tmp_path / "a", "artifacts")
    for words in ("ship", "kubectl", "roll out", "SKILL.md"):
        assert found(reader, words) == [3], words
    assert reader.keys() == numbered((3, "skill:deploy"))


# -- snapshots ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("links", [True, False])
def test_a_clone_changes_without_changing_its_original(tmp_path, monkeypatch, links):
    write(tmp_path / "old", [row("a", "word", source_id="s"), row("b", "word", source_id="t")])
    if not links:

        def refused(*_: Any, **__: Any) -> None:
            raise OSError(95, "Operation not supported")

        monkeypatch.setattr(os, "link", refused)
    lexical_files.clone(tmp_path / "old", tmp_path / "new")
    shared = [file for file in (tmp_path / "new").iterdir() if file.stat().st_nlink > 1]
    assert bool(shared) == links and not any(file.name in ("meta.json", ".managed.json") for file in shared)
    before = lexical_files.file_hashes(tmp_path / "old")
    with LexicalWriter(tmp_path / "new") as writer:
        writer.delete_sources(["s"])
        writer.add(row("c", "word"), 2)
        writer.commit()
    assert lexical_files.file_hashes(tmp_path / "old") == before
    assert LexicalReader(tmp_path / "old").keys() == numbered((0, "a"), (1, "b"))
    assert LexicalReader(tmp_path / "new").keys() == numbered((1, "b"), (2, "c"))


def test_sizes_and_hashes_name_every_file_but_locks(tmp_path):
    write(tmp_path / "index", [row("a", "word")])
    sizes = lexical_files.file_sizes(tmp_path / "index")
    assert "meta.json" in sizes and not any(name.endswith(".lock") for name in sizes)
    assert sizes.keys() == lexical_files.file_hashes(tmp_path / "index").keys()
    assert all((tmp_path / "index" / name).stat().st_size == size for name, size in sizes.items())


# -- damage ------------------------------------------------------------------------------------------------------


def test_a_missing_index_is_named(tmp_path):
    with pytest.raises(DatasetDamaged, match="gone"):
        LexicalReader(tmp_path / "gone")
    assert not (tmp_path / "gone").exists()


def test_a_clone_of_nothing_is_refused(tmp_path):
    with pytest.raises(DatasetDamaged, match=r"meta\.json"):
        lexical_files.clone(tmp_path, tmp_path / "new")


def test_cut_or_missing_files_are_named_not_raised_as_engine_errors(tmp_path):
    write(tmp_path / "whole", [row(f"r{n}", f"word number {n}") for n in range(20)])
    names = [name for name in lexical_files.file_sizes(tmp_path / "whole") if name != ".managed.json"]
    for name in names:
        for damage in ("cut", "gone", "empty"):
            folder = tmp_path / f"{name}.{damage}"
            shutil.copytree(tmp_path / "whole", folder)
            file = folder / name
            if damage == "gone":
                file.unlink()
            else:
                os.truncate(file, file.stat().st_size // 2 if damage == "cut" else 0)
            try:
                reader = LexicalReader(folder)
                hits = found(reader, "word number")
                keys = reader.keys()
            except DatasetDamaged as error:
                assert str(folder) in str(error)
            else:
                assert len(hits) == 10 and len(keys) == 20, (name, damage)


def test_flipped_bits_never_raise_an_engine_error(tmp_path):
    """They may go unnoticed (the manifest's hashes are for that), but a panic of the engine must not escape."""
    rng = random.Random(3)
    write(tmp_path / "whole", [row(f"{n:032x}", f"word number {n} of foo_bar w{n % 7}") for n in range(100)])
    names = [name for name in lexical_files.file_sizes(tmp_path / "whole") if name != ".managed.json"]
    refused = 0
    for n in range(60):
        folder = tmp_path / f"flipped{n}"
        lexical_files.clone(tmp_path / "whole", folder)
        file = folder / rng.choice(names)
        data = bytearray(file.read_bytes())
        for _ in range(rng.choice([1, 20])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        file.unlink()
        file.write_bytes(data)
        try:
            reader = LexicalReader(folder)
            found(reader, "word number foo_bar w3")
            reader.keys()
        except DatasetDamaged as error:
            refused += 1
            assert str(folder) in str(error)
    assert 0 < refused < 60


def test_an_index_of_other_fields_is_damage_not_a_crash(tmp_path):
    import tantivy

    folder = tmp_path / "index"
    folder.mkdir()
    schema = tantivy.SchemaBuilder().add_text_field("other").build()
    tantivy.Index(schema, str(folder))
    with pytest.raises(DatasetDamaged, match="index"):
        LexicalReader(folder)


# -- any question ------------------------------------------------------------------------------------------------


def hostile_questions(rng: random.Random, count: int) -> list[str]:
    pools = [
        "abc DEF 019_-./:", "+-&|!(){}[]^\"~*?:\\/ ", "äöß ", "дом ", "数据かな", "ابت ", "हिन् ", "ไทย", "한국 ",
        "👍🏽\u200d", "\x00\x01\t\n\x7f\ud800\udfff\u202e",
    ]  # fmt: skip
    fixed = [
        "", " ", "*", "*:*", "NOT foo", "- -", "text:*", "path:/etc", "a AND", "OR", '"', "C++ \"x", "[1 TO 2]", "^2",
        "what's (this", "2024-01-01T00:00:00Z ERROR {\"a\": [1,2]} at x.py:12", "the of and", "foo_" * 500,
        "aB" * 5_000, "word " * 20_000, " ".join(f"w{n}" for n in range(17_000)), "数" * 30_000, "ж" * 50_000,
        "x" * 100_000, "a_" * 50_000, "👍" * 5_000, "/" * 100_000,
    ]  # fmt: skip
    made = ["".join(rng.choice(rng.choice(pools)) for _ in range(rng.randrange(60))) for _ in range(count)]
    return fixed + made


def test_no_question_raises_or_matches_everything(index):
    """Rows hold words that no question has, so that a hit would be a match of everything."""
    rng = random.Random(11)
    reader = index(*(row(f"qq{n}", "zzyzx qqfrob", path=f"qqpath/qq{n}.qqmd", kind="qqkind") for n in range(8)))
    for text in hostile_questions(rng, 2_000):
        query = ANALYSER.query(text)
        assert reader.search(query, 10) == [], text[:80]
        assert reader.verbatim(query) == [], text[:80]


def test_no_question_raises_where_words_do_match(index):
    rng = random.Random(12)
    texts = ["".join(q) for q in hostile_questions(rng, 60) if len(q) < 500]
    reader = index(*(row(f"r{n}", text + " дом 数据 a b", path=f"p{n}/a b.md") for n, text in enumerate(texts)))
    for text in hostile_questions(rng, 300):
        hits = reader.search(ANALYSER.query(text), 5, LexicalFilters(folder="workspace\0p1"))
        assert len(hits) <= 5
        reader.verbatim(ANALYSER.query(text))


def test_of_very_many_words_the_rarest_are_looked_up(index):
    common = [f"w{n}" for n in range(300)]
    reader = index(*(row(f"r{n}", " ".join(common)) for n in range(3)), row("it", "needle"))
    assert 3 in found(reader, " ".join([*common, "needle"]))
    assert len(lexical_query._rarest(reader._searcher, "text", common, 64)) == 64


# -- cost and fingerprints ---------------------------------------------------------------------------------------


def test_a_question_loads_no_heavy_package(tmp_path):
    write(tmp_path / "index", [row("a", "getUserById in a text")])
    code = (
        "import sys; from pathlib import Path; from hermes_lance.core.words import Analyser\n"
        "from hermes_lance.store.lexical import LexicalReader\n"
        f"hits = LexicalReader(Path({str(tmp_path / 'index')!r})).search(Analyser().query('user text'), 5)\n"
        "import json; print(json.dumps([len(hits), sorted({'numpy', 'pyarrow', 'lancedb'} & set(sys.modules))]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [1, []]


def test_the_fingerprint_follows_fields_and_analyser_but_not_weights():
    base = lexical_fields.lexical_digest("chunks")
    assert base == lexical_fields.lexical_digest("chunks", Analyser())
    assert base != lexical_fields.lexical_digest("artifacts")
    assert base != lexical_fields.lexical_digest("chunks", Analyser(gram_size=3))


def test_every_text_column_of_the_schema_is_searched_and_every_filter_column_is_raw():
    layout = lexical_fields.layout("chunks")
    assert layout.body in layout.analysed and layout.key not in layout.raw and "source_id" in layout.raw
    assert set(layout.weights.fields) <= set(layout.analysed)
