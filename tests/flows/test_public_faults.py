"""Faults that people have met in tools of this kind: each test is the class of input that brought one about."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from hermes_lance.core.names import printable

PRINTABLE = [chr(code) for code in range(1, 0x180) if chr(code) != "/" and chr(code) not in ".\0"]
OTHERS = "ΩЖאعहไ中あ한👍\u200b\u200d\u202e\u2028\ufeff\U000e0041"
CRAFTED = [
    "don't", "it's a test", "x' OR '1'='1", "a\" OR \"a\"=\"a", "'; DROP TABLE chunks; --", "%", "_", "a%b", "a_b",
    "\\", "\\'", "{}", "${HOME}", "%s", "*", "?", "[a]", "null", "None", "true", "0", "-1", "NaN", "axb",
    "id IS NOT NULL",
]  # fmt: skip


def word(number: int) -> str:
    """A word of letters that no other number has."""
    return "q" + "".join(chr(ord("a") + int(digit)) for digit in str(number)) + "q"


@pytest.mark.slow
def test_no_character_of_a_name_keeps_a_file_from_being_added_edited_renamed_and_deleted(home):
    names = [f"{number} {character}.md" for number, character in enumerate([*PRINTABLE, *OTHERS])]
    names += [f"{name}.md" for name in CRAFTED]
    folder = home.workspace / "it's a folder"
    folder.mkdir()
    for number, name in enumerate(names):
        (folder / name).write_text(f"first {word(number)}\n")
    report = home.build()
    assert (report.files.added, report.files.failed, report.files.skipped) == (len(names), 0, 0)

    def there() -> dict[str, str]:
        rows = home.open().export("chunks").select(["path", "text"]).to_pylist()
        found = {row["path"]: row["text"].strip() for row in rows}
        assert len(found) == len(rows)
        return found

    def wanted(texts: dict[str, str]) -> dict[str, str]:
        return {f"it's a folder/{printable(name)[0]}": text for name, text in texts.items()}

    texts = {name: f"first {word(number)}" for number, name in enumerate(names)}
    assert there() == wanted(texts)
    for number, name in enumerate(names):
        texts[name] = f"second edition {word(number)}"
        (folder / name).write_text(texts[name])
    assert home.build().files.changed == len(names)
    assert there() == wanted(texts)
    for name in names:
        (folder / name).rename(folder / f"moved {name}")
    report = home.build()
    assert (report.files.moved, report.files.removed, home.embedded) == (len(names), 0, [])
    texts = {f"moved {name}": text for name, text in texts.items()}
    assert there() == wanted(texts)
    library = home.open()
    for number in random.Random(4).sample(range(len(names)), 40):
        path = f"it's a folder/{printable(f'moved {names[number]}')[0]}"
        assert [hit.path for hit in library.search(word(number), mode="lexical")] == [path]
        assert {hit.path for hit in library.search("second edition", path=path)} == {path}
    for name in names[::2]:
        (folder / f"moved {name}").unlink()
        del texts[f"moved {name}"]
    assert home.build().files.removed == len(names[::2])
    assert there() == wanted(texts), "and no neighbour went with them"


SENTENCES = {
    "zh": (
        "数据库索引在周五迁移。|向量检索需要更多内存。|备份策略每天执行一次。|"
        "服务器证书将于三月过期。|用户权限由管理员分配。|日志文件保留三十天。|"
        "测试环境与生产环境分离。|新版本修复了登录错误。|网络延迟导致请求超时。|"
        "预算审批流程已经更新。|会议记录保存在共享文件夹。|搜索结果按相关性排序。"
    ),
    "ja": (
        "障害復旧の手順を確認してください。|契約書は法務部が保管します。|毎週月曜日に定例会議があります。|"
        "検索エンジンの設定を変更した。|在庫管理システムを更新する。|東京支店の電話番号が変わりました。|"
        "利用規約に同意が必要です。|冷蔵庫の温度を記録する。|新幹線の切符を予約した。|"
        "画像認識の精度を改善する。"
    ),
    "ko": (
        "데이터베이스 백업을 매일 실행합니다.|회의록은 공유폴더에 저장됩니다.|인증서가 다음달에 만료됩니다.|"
        "검색결과의 정확도를 개선했습니다.|고객문의는 담당자에게 전달하세요.|서버점검은 일요일 새벽에 진행됩니다.|"
        "출장비용은 월말에 정산합니다.|보안정책이 변경되었습니다."
    ),
}


def test_any_part_of_a_text_without_spaces_is_found_by_its_words_alone(home):
    dice = random.Random(3)
    asked = []
    for language, lines in SENTENCES.items():
        for number, line in enumerate(lines.split("|")):
            (home.workspace / f"{language}{number}.md").write_text(line + "\n", encoding="utf-8")
            for length in (2, 3, 4):
                start = dice.randrange(len(line) - length)
                part = line[start : start + length]
                if all(unicodedata.category(character) == "Lo" for character in part):
                    asked.append((part, f"{language}{number}.md"))
    home.build()
    library = home.open()
    found = [path in [hit.path for hit in library.search(part, mode="lexical", limit=10)] for part, path in asked]
    assert len(asked) > 50 and sum(found) >= 0.9 * len(found)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("released in 2026.4.10 of the series", "2026.4.10"),
        ("a state-of-the-art retriever", "state-of-the-art"),
        ("set max-retries to three", "max-retries"),
        ("candidate v1.2.3-rc.1 is out", "v1.2.3-rc.1"),
        ("write to anna.berg+x@example.org", "anna.berg+x@example.org"),
        ("it's the user's own café", "user's café"),
        ("see https://example.org/a/b?c=d&e=f#g", "https://example.org/a/b?c=d&e=f#g"),
        ("ERROR {code: 5} [main] retry=3 & gave up", "ERROR {code: 5} [main] retry=3 & gave up"),
        ("path C:\\Temp\\report_final (2).docx", "C:\\Temp\\report_final (2).docx"),
        ("резервные копии хранятся", "резервная копия"),
    ],
    ids=lambda value: value[:20],
)
def test_what_is_pasted_from_a_text_finds_it(home, put, text, question):
    put(home.workspace, {"it.md": text, **{f"other{number}.md": f"an unrelated note {number}" for number in range(5)}})
    home.build()
    for mode in ("lexical", "hybrid"):
        assert next(iter(home.open().search(question, mode=mode))).path == "it.md"


def test_what_comes_after_a_first_build_of_nothing_is_found_in_every_way(home, put):
    report = home.build()
    assert (report.files.seen, report.chunks.total) == (0, 0)
    assert len(home.open().search("kestrel")) == 0
    put(home.workspace, {f"{number}.md": f"kestrel number {word(number)}\n" for number in range(30)})
    home.build()
    library = home.open()
    for mode in ("lexical", "dense", "hybrid"):
        assert len(library.search("kestrel", mode=mode, limit=50)) == 30
    for number in (0, 13, 29):
        assert [hit.path for hit in library.search(word(number), mode="lexical")] == [f"{number}.md"]


@pytest.mark.slow
def test_after_many_small_builds_every_answer_is_that_of_one_clean_build(home, put, another_home):
    dice = random.Random(7)
    files: dict[str, str] = {}
    for step in range(24):
        path = f"{dice.randrange(15)}.md"
        files[path] = f"# Note {path}\n\nkestrel {word(step)} and heron {word(dice.randrange(24))}\n"
        put(home.workspace, {path: files[path]})
        if step % 5 == 4:
            gone = dice.choice(sorted(files))
            del files[gone]
            (home.workspace / gone).unlink()
        home.build()
    clean = another_home("clean")
    put(clean.workspace, files)
    clean.build()
    libraries = (home.open(), clean.open())
    for question in ["kestrel", "heron", *(word(number) for number in range(24))]:
        for mode in ("lexical", "dense", "hybrid"):
            one, other = (
                [(hit.path, hit.text, round(hit.score or 0, 4)) for hit in each.search(question, mode=mode)]
                for each in libraries
            )
            assert one == other, (question, mode)


@pytest.mark.slow
def test_of_many_mixed_files_each_has_one_state_and_another_process_finds_them(home, put):
    put(home.workspace, {f"text/{number}.md": f"# {number}\n\nkestrel {word(number)}\n" for number in range(1100)})
    put(home.workspace, {f"pictures/{number}.png": "x" for number in range(100)})
    put(home.workspace, {f"broken/{number}.pdf": f"no pdf {number}" for number in range(3)})
    put(home.workspace, {"build/.gitignore": "*.log\n", "build/a.log": "x", "build/b.txt": "y", ".hidden": "z"})
    for number in range(20):
        (home.workspace / f"empty{number}.md").touch()

    def asked(*words: str) -> dict[str, object]:
        command = [sys.executable, "-m", "hermes_lance", "--home", str(home.folder), *words, "--json"]
        done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, **path_of_package()})
        return dict(json.loads(done.stdout))

    report = home.build()
    status = asked("status", "--files")
    rows = status["files_detail"]
    assert isinstance(rows, list) and isinstance(status["files"], dict)
    on_disk = {
        os.path.relpath(os.path.join(place, name), home.workspace)
        for place, _, names in os.walk(home.workspace)
        for name in names
    }
    assert {row["path"] for row in rows} == on_disk and len(rows) == len(on_disk) == report.files.seen
    assert {state: sum(row["state"] == state for row in rows) for state in status["files"]} == status["files"]
    assert all(bool(row["reason"]) == (row["state"] != "indexed") for row in rows)
    assert status["files"] == {"indexed": 1101, "skipped": 123, "failed": 3, "pending": 0}
    hits = asked("search", word(1099))["hits"]
    assert isinstance(hits, list) and hits[0]["path"] == "text/1099.md"


def path_of_package() -> dict[str, str]:
    """For a process of its own: the package that is tested here."""
    import hermes_lance

    return {"PYTHONPATH": str(Path(hermes_lance.__file__).parent.parent)}
