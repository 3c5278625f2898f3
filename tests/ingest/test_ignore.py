"""Ignore rules mean what they mean to git, and a bad rule is a warning."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from hermes_lance.core.records import Root, SourceFile
from hermes_lance.ingest import ignore
from hermes_lance.ingest.walk import Walk, WalkSettings

FILES = [
    "a.log", "keep.log", "a.txt", "a.b", "build/out.md", "src/build/in.md", "src/a.log", "src/keep.log",
    "secret-stuff/x.md", "x/tmp/t.md", "x/tmp/deep/t.md", "tmp/t.md", "#literal.md", "!bang.md", "trailing ",
    "foo", "dir/foo/bar", "dir/foo/keep", "foo2/a/b/c.md", "foo2/keep/c.md", "doc/a/b.md", "doc/b.md", "doc/x/y/b.md",
    "é.md", "à", "ab.md", "x1.md", "xz.md", "a[b].md", "star*.md", "q?.md", "new\nline.md", "tab\tname",
    "deep/er/.gitkeep", "deep/er/still/z.md", "z", "cache/z", "cache/keep.me", "A.LOG", "back\\slash", "x y.md",
    "nested/a.log", "nested/b.tmpx", "nested/sub/a.log", "voilà", "other/foo/x", "q/foo/x", "onlydir/f", "onlydirf",
    "a/b/c/d/e.md", "a/x/e.md", "a/e.md", "ends.",
]  # fmt: skip

RULES = [
    "*.log\n!keep.log\n/build/\nsecret*/\n**/tmp/*.md\n# comment\n\\#literal.md\ntrailing\\ \n",
    "foo\n!foo\n",
    "foo/\n",
    "dir/foo/*\n!dir/foo/keep\n",
    "foo2/**\n!foo2/keep/\n!foo2/keep/**\n",
    "foo2/*\n!foo2/keep/\n",
    "doc/**/b.md\n",
    "doc/*/b.md\n",
    "?.md\n",
    "[!a]b.md\nx[0-9].md\n",
    "x[[:digit:]].md\n[[:upper:]].LOG\n",
    "*\n!*/\n!*.md\n",
    "*\n",
    "**\n!*.md\n",
    "**/\n",
    "*/\n!src/\n",
    "/*\n!/doc\n/doc/*\n!/doc/a\n",
    "\\!bang.md\n",
    "!bang.md\n",
    "à\nvoilà\n",
    "trailing \n",
    "tab\t\n",
    "tab*\n",
    "a\\[b\\].md\nstar\\*.md\nq\\?.md\n",
    "a[b.md\n",
    "foo\\\n",
    "back\\\\slash\n",
    "\r\n*.log\r\n",
    "x y.md\n",
    "/z\ncache/z\n",
    "*z\n",
    "z/\n",
    "new*\n",
    "[^a]*.log\n",
    "a[!x]b\n",
    "**/foo\n",
    "**/foo/**\n",
    "a/**/e.md\n",
    "a/**/**/e.md\n",
    "a/*/e.md\n",
    "onlydir*/\n",
    "doc\n!doc/b.md\n",
    "*.md\n!doc/\n!doc/**\n",
    "/\n!\n\n   \n*.b\n",
    "ends.\n",
    "*.\n",
    "*a*a*\n",
    "\\a.txt\n",
    "./a.txt\n",
    "src//a.log\n",
    "[]-]*\n",
    "[[]*\n",
    "a.txt  \n",
]

NESTED = [
    {"": "*.log\n", "nested": "!a.log\n"},
    {"": "foo\n", "other": "!foo\n"},
    {"": "*.md\n", "a": "!e.md\n", "a/b": "e.md\n"},
    {"nested": "/a.log\n"},
    {"nested": "sub/\n", "nested/sub": "!a.log\n"},
    {"": "/nested/sub/a.log\n", "nested": "*.tmpx\n"},
    {"deep": "er/still\n", "": "!z.md\n"},
]


def tree(top: Path, rules: dict[str, str], name: str = ignore.GITIGNORE) -> None:
    for path in FILES:
        file = top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text\n")
    for folder, text in rules.items():
        (top / folder / name).write_bytes(text.encode())


def ours(top: Path, **settings: object) -> set[str]:
    """Files that the walk takes."""
    root = Root("workspace", "workspace", top.resolve(), True, True)
    walk = Walk([root], WalkSettings(include_hidden=True, **settings))  # type: ignore[arg-type]
    return {found.path for found in walk if isinstance(found, SourceFile)}


def git_says(top: Path, files: Sequence[str] = FILES) -> set[str]:
    """Files that git does not ignore, but for rule files."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    if not (top / ".git").exists():
        subprocess.run(["git", "init", "-q", str(top)], check=True, env=environment)
    asked = "\0".join(files).encode()
    run = subprocess.run(
        ["git", "-C", str(top), "check-ignore", "--no-index", "-z", "--stdin"],
        input=asked, stdout=subprocess.PIPE, env=environment, check=False,
    )  # fmt: skip
    assert run.returncode in (0, 1)
    return set(files) - {os.fsdecode(path) for path in run.stdout.split(b"\0") if path}


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git itself")
@pytest.mark.parametrize("rules", [*({"": text} for text in RULES), *NESTED], ids=repr)
def test_the_same_files_are_left_out_as_git_leaves_out(tmp_path: Path, rules: dict[str, str]) -> None:
    tree(tmp_path, rules)
    assert ours(tmp_path) == git_says(tmp_path)


GROVE = [
    f"{folder}{name}" for folder in ("", "a/", "b/", "a/b/", "a/b/a/", "ab/") for name in ("x", "ab.md", "a b", "#x")
]
PARTS = [
    "a",
    "b",
    "x",
    "ab",
    "*",
    "**",
    "?",
    "*.md",
    "a*",
    "*b",
    "[ab]",
    "[!a]",
    "[a-b]?",
    "\\#x",
    "a\\ b",
    "\\*",
    "a b",
]
LINES = strategies.builds(
    lambda keeps, start, parts, end, blanks: f"{keeps}{start}{'/'.join(parts)}{end}{blanks}",
    strategies.sampled_from(["", "", "!"]),
    strategies.sampled_from(["", "", "/", "**/"]),
    strategies.lists(strategies.sampled_from(PARTS), min_size=1, max_size=3),
    strategies.sampled_from(["", "", "", "/", "/**", "/*"]),
    strategies.sampled_from(["", "", "", " ", "\\ ", "\t"]),
)
RULE_FILES = strategies.dictionaries(
    strategies.sampled_from(["", "a", "a/b", "ab"]), strategies.lists(LINES, min_size=1, max_size=5), max_size=3
)


@pytest.fixture(scope="module")
def grove(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("grove")
    for path in GROVE:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text("text\n")
    return top


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git itself")
@pytest.mark.parametrize("name", ignore.IGNORE_FILES)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rules=RULE_FILES)
def test_any_rules_in_any_folders_leave_out_what_git_leaves_out(
    grove: Path, name: str, rules: dict[str, list[str]]
) -> None:
    for folder in ("", "a", "a/b", "ab"):
        for file in (ignore.GITIGNORE, name):
            (grove / folder / file).unlink(missing_ok=True)
            if folder in rules and file == name:
                (grove / folder / file).write_text("\n".join(rules[folder]))
    taken = ours(grove)
    for folder in rules:  # under its other name git does not know it
        (grove / folder / name).rename(grove / folder / ignore.GITIGNORE)
    assert taken == git_says(grove, GROVE)


def test_hermesignore_has_the_last_word_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.md\n!kept.md\n")
    (tmp_path / ".hermesignore").write_text("!mine.md\nkept.md\n")
    for name in ("mine.md", "kept.md", "other.md", "plain.txt"):
        (tmp_path / name).write_text("x")
    assert ours(tmp_path) == {"mine.md", "plain.txt"}


def test_a_nested_rule_file_beats_one_above_it(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hermesignore").write_text("*.md\n")
    (tmp_path / "sub" / ".gitignore").write_text("!*.md\n")
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "sub" / "a.md").write_text("x")
    assert ours(tmp_path) == {"sub/a.md"}


def test_each_kind_of_rule_file_can_be_switched_off(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("git.md\n")
    (tmp_path / ".hermesignore").write_text("hermes.md\n")
    for name in ("git.md", "hermes.md"):
        (tmp_path / name).write_text("x")
    assert ours(tmp_path, rule_files=(ignore.HERMESIGNORE,)) == {"git.md"}
    assert ours(tmp_path, rule_files=(ignore.GITIGNORE,)) == {"hermes.md"}
    assert ours(tmp_path, rule_files=()) == {"git.md", "hermes.md"}


def test_the_rule_is_named_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / ".gitignore").write_text("# drafts\n\n*.draft\n")
    (tmp_path / "notes" / "one.draft").write_text("x")
    root = Root("workspace", "workspace", tmp_path.resolve(), True, True)
    rows = [found for found in Walk([root], WalkSettings()) if isinstance(found, tuple)]
    rules = {file.path: skipped.rule for file, skipped in rows}
    assert rules == {"notes/.gitignore": None, "notes/one.draft": "notes/.gitignore:3"}


def test_a_rule_that_is_not_valid_is_a_warning_with_its_place_and_the_others_hold(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("a[b\nfoo\\\n[[:nonsense:]]x\n[z-a]\n*.log\n")
    (tmp_path / "a.log").write_text("x")
    root = Root("workspace", "workspace", tmp_path.resolve(), True, True)
    walk = Walk([root], WalkSettings())
    assert [found.path for found in walk if isinstance(found, SourceFile)] == []
    assert [warning.split(":")[1] for warning in walk.warnings] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    "data", [b"*.log\0\n", "*.log\n".encode("utf-16"), b"\xff" * 2_000_000], ids=["nul", "16", "big"]
)
def test_a_rule_file_that_is_no_text_is_a_warning(tmp_path: Path, data: bytes) -> None:
    (tmp_path / ".gitignore").write_bytes(data)
    (tmp_path / "a.log").write_text("x")
    root = Root("workspace", "workspace", tmp_path.resolve(), True, True)
    walk = Walk([root], WalkSettings())
    assert [found.path for found in walk if isinstance(found, SourceFile)] == ["a.log"]
    assert len(walk.warnings) == 1 and ".gitignore" in walk.warnings[0]


def test_a_rule_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("*.md\n")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / ".gitignore").symlink_to(outside)
    (tmp_path / "root" / "a.md").write_text("x")
    assert ours(tmp_path / "root") == {"a.md"}


def test_a_byte_order_mark_does_not_spoil_the_first_rule(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbf*.log\n")
    (tmp_path / "a.log").write_text("x")
    assert ours(tmp_path) == set()


def test_rule_files_are_never_indexed_even_when_a_rule_asks_for_them(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("!.gitignore\n!.hermesignore\n")
    (tmp_path / ".hermesignore").write_text("!.gitignore\n")
    assert ours(tmp_path) == set()


def test_litter_is_left_out_and_a_rule_brings_it_back(tmp_path: Path) -> None:
    for path in (
        "node_modules/a.md",
        "__pycache__/a.md",
        ".git/a.md",
        "a.md~",
        "a.swp",
        ".#lock.md",
        "#save#",
        "ok.md",
    ):
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("x")
    assert ours(tmp_path) == {"ok.md"}
    (tmp_path / ".hermesignore").write_text("!node_modules/\n!*~\n")
    assert ours(tmp_path) == {"ok.md", "node_modules/a.md", "a.md~"}


@pytest.mark.parametrize("rules", ["*\n!*/\n!*.md\n", "*\n!*\n", "/*\n!**/\n!**\n"], ids=repr)
def test_a_rule_that_keeps_anything_does_not_ask_for_litter(tmp_path: Path, rules: str) -> None:
    (tmp_path / ".gitignore").write_text(rules)
    for path in (".git/a.md", "node_modules/x/a.md", "web/dist/a.md", "web/package.json.md", "in/a.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    (tmp_path / "web" / "package.json").write_text("{}")
    assert ours(tmp_path) - {"web/package.json"} == {"in/a.md", "web/package.json.md"}
    (tmp_path / ".hermesignore").write_text("!node_modules/\n")
    assert "node_modules/x/a.md" in ours(tmp_path)


def test_build_output_is_left_out_only_beside_its_project_file(tmp_path: Path) -> None:
    for path in ("rust/target/a.md", "rust/Cargo.toml", "archery/target/a.md", "web/dist/a.md", "web/package.json"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    assert ours(tmp_path) == {"rust/Cargo.toml", "archery/target/a.md", "web/package.json"}
    (tmp_path / "rust" / ".hermesignore").write_text("!target/\n")
    assert "rust/target/a.md" in ours(tmp_path)


def test_a_folder_marked_as_a_cache_is_left_out_but_a_root_never_is(tmp_path: Path) -> None:
    mark = "Signature: 8a477f597d28d172789f06886806bc55\n"
    for folder, text in (("cache", mark), ("fake", "no signature"), ("", mark)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "CACHEDIR.TAG").write_text(text)
        (tmp_path / folder / "a.md").write_text("x")
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "pyvenv.cfg").write_text("home = /usr\n")
    assert ours(tmp_path) == {"CACHEDIR.TAG", "a.md", "fake/CACHEDIR.TAG", "fake/a.md"}


def test_a_rule_full_of_stars_does_not_take_for_ever() -> None:
    rule = ignore.parsed("x:1", b"*a" * 12 + b"b")
    assert rule is not None
    started = time.process_time()
    assert not rule.fits(b"a" * 250, False)
    assert rule.fits(b"a" * 249 + b"b", False)
    assert time.process_time() - started < 5, "backtracking would need years"


@pytest.mark.parametrize(
    ("name", "place"), [("a.md", None), ("x\ny", "f:2"), ("latin\udce9.md", "f:1")], ids=["plain", "feed", "bytes"]
)
def test_any_name_can_be_asked_about(name: str, place: str | None) -> None:
    rules = ignore.RuleFile([("f:1", b"lat*"), ("f:2", b"**/x*")])
    rule = rules.verdict(name, f"sub/{name}", False)
    assert (rule.place if rule is not None else None) == place
