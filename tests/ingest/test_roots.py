"""A display path means one file, and config.yaml keeps everything that is not ours."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from hermes_lance.core.config import Config, RootSetting
from hermes_lance.core.config_file import resolve
from hermes_lance.core.errors import ConfigError, DatasetReadOnly, FileMissing, OutsideRoots, UsageError
from hermes_lance.ingest.roots import active_roots, add_root, located, nearest, overlaps, remove_root


def home_with(tmp_path: Path, *roots: tuple[str, bool]) -> Config:
    home = tmp_path / "home"
    (home / "workspace").mkdir(parents=True, exist_ok=True)
    return Config(home=home, roots=tuple(RootSetting(path, recursive) for path, recursive in roots))


def made(*folders: Path) -> None:
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)


def test_the_workspace_comes_first_then_the_others_in_order_each_once(tmp_path: Path) -> None:
    made(tmp_path / "b", tmp_path / "a")
    (tmp_path / "link").symlink_to("b")
    config = home_with(
        tmp_path,
        (f"{tmp_path}/b", True), (f"{tmp_path}/a/", False), (f"{tmp_path}/link", False), (f"{tmp_path}/a/../b", True),
        (f"{tmp_path}/home/workspace", True),
    )  # fmt: skip
    roots = active_roots(config)
    assert [(root.label, root.recursive, root.canonical) for root in roots] == [
        ("workspace", True, True), ("b", True, False), ("a", False, False),
    ]  # fmt: skip
    assert [root.key for root in roots] == ["workspace", str(tmp_path / "b"), str(tmp_path / "a")]


def test_labels_are_unique_and_never_a_name_in_the_workspace(tmp_path: Path) -> None:
    config = home_with(
        tmp_path, *((f"{tmp_path}/{path}", True) for path in ("x/notes", "y/notes", "x/workspace", "z/new"))
    )
    made(config.home / "workspace" / "notes", config.home / "workspace" / "notes-3")
    assert [root.label for root in active_roots(config)] == ["workspace", "notes-2", "notes-4", "workspace-2", "new"]


def test_a_missing_root_stays_a_root(tmp_path: Path) -> None:
    assert len(active_roots(home_with(tmp_path, ("/nowhere/at/all", True)))) == 2


def test_home_sign_variables_and_relative_paths_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("WHERE", str(tmp_path / "v"))
    config = home_with(tmp_path, ("~/a", True), ("$WHERE/b", True), ("c", True))
    assert [root.path for root in active_roots(config)[1:]] == [tmp_path / "a", tmp_path / "v/b", tmp_path / "home/c"]


def test_a_root_inside_another_is_named_and_owns_its_files(tmp_path: Path) -> None:
    config = home_with(tmp_path, (f"{tmp_path}/a", True), (f"{tmp_path}/a/b", False), (f"{tmp_path}/ab", True))
    roots = active_roots(config)
    assert len(overlaps(roots)) == 1 and "root b lies inside root a" in overlaps(roots)[0]

    def owner(path: str) -> str | None:
        found = nearest(roots, str(tmp_path / path))
        return found.label if found else None

    assert [owner(path) for path in ("a/x.md", "a/b/x.md", "a/b/deep/x.md", "ab/x.md", "abc/x.md")] == [
        "a", "b", "a", "ab", None,
    ]  # fmt: skip


def test_paths_and_places_are_each_others_inverse(tmp_path: Path) -> None:
    made(tmp_path / "extra" / "sub")
    config = home_with(tmp_path, (f"{tmp_path}/extra", True))
    roots = active_roots(config)
    for text, absolute in {
        "docs/a.md": config.home / "workspace/docs/a.md",
        "extra/sub/b.md": tmp_path / "extra/sub/b.md",
        "extra": tmp_path / "extra",
        "workspace": None,
        "don't/new\nline.md": config.home / "workspace/don't/new\nline.md",
    }.items():
        place = located(text, roots)
        assert text in (place.display_path, "workspace")
        if absolute is not None:
            assert located(str(absolute), roots) == place
            assert place.root.path / place.path == absolute
    assert located("workspace", roots).path == "" and located("./docs//a.md", roots).path == "docs/a.md"


def test_a_path_through_a_link_means_the_same_file(tmp_path: Path) -> None:
    made(tmp_path / "real" / "sub")
    (tmp_path / "short").symlink_to("real")
    roots = active_roots(home_with(tmp_path, (f"{tmp_path}/short", True)))
    assert located(f"{tmp_path}/short/sub/a.md", roots) == located(f"{tmp_path}/real/sub/a.md", roots)
    (tmp_path / "real" / "link.md").symlink_to("sub/a.md")
    assert located(f"{tmp_path}/short/link.md", roots).path == "link.md"


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.md", "docs/../../x.md", "~/x.md"])
def test_a_path_out_of_every_root_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(OutsideRoots):
        located(path, active_roots(home_with(tmp_path)))


def test_names_that_are_not_utf8_are_shown_and_found(tmp_path: Path) -> None:
    roots = active_roots(home_with(tmp_path))
    raw = os.fsdecode(os.fsencode(roots[0].path) + b"/caf\xe9.md")
    assert located(raw, roots).path == located("caf\\xe9.md", roots).path == "caf\\xe9.md"
    with pytest.raises(OutsideRoots) as caught:
        located(os.fsdecode(b"/caf\xe9"), roots)
    str(caught.value).encode("utf-8")


# Changing config.yaml.

SHARED = """\
# the host's own file
twice: 1
twice: 2
base: &base {a: 1}
model:
    default: "some/model"   # quoted on purpose
    flags: [a, b]
keys:
- yes
- 'no'
- 010
- 2024-01-01
-   deep: {x: 1}

# ours
knowledgebase:
    retrieval_mode: gated  # on
    roots:
    - /old/one        # a bare string
    - path: /old/two
      recursive: true
    max_file_mb: 3
tail: |
    kept as
      it is
"""


def config_in(tmp_path: Path, text: str | None) -> Config:
    home = tmp_path / "home"
    (home / "workspace").mkdir(parents=True, exist_ok=True)
    if text is not None:
        (home / "config.yaml").write_bytes(text.encode())
    return resolve(home)


def test_adding_keeps_every_line_of_the_shared_file(tmp_path: Path) -> None:
    made(tmp_path / "new notes")
    config = config_in(tmp_path, SHARED)
    root = add_root(config, tmp_path / "new notes", recursive=True)
    text = (config.home / "config.yaml").read_text()
    assert [line for line in SHARED.splitlines() if line not in text.splitlines()] == []
    again = resolve(config.home)
    assert again.roots == (*config.roots, RootSetting(str(tmp_path / "new notes"), True))
    assert active_roots(again)[-1] == root and root.label == "new notes"


def test_adding_and_removing_gives_the_old_file_back(tmp_path: Path) -> None:
    made(tmp_path / "notes")
    config = config_in(tmp_path, SHARED)
    add_root(config, tmp_path / "notes")
    remove_root(resolve(config.home), "notes")
    assert (config.home / "config.yaml").read_text() == SHARED


SPARSE = [
    None, "", "# only a comment\n", "model: x\n", "model: x", "knowledgebase:\n", "knowledgebase: {enabled: true}\n",
    "knowledgebase:\n  roots:\n", "knowledgebase:\n  roots: []\n", "{model: x}\n", "---\nmodel: x\n",
]  # fmt: skip


@pytest.mark.parametrize("text", SPARSE)
def test_a_missing_file_section_or_list_is_made(tmp_path: Path, text: str | None) -> None:
    made(tmp_path / "notes")
    config = config_in(tmp_path, text)
    add_root(config, tmp_path / "notes")
    assert resolve(config.home).roots == (RootSetting(str(tmp_path / "notes"), False),)
    for line in (text or "").splitlines():
        assert line.split(":")[0].strip("{") in (config.home / "config.yaml").read_text()


def test_roots_are_removed_by_label_path_or_as_written(tmp_path: Path) -> None:
    made(tmp_path / "a", tmp_path / "b", tmp_path / "c")
    (tmp_path / "link").symlink_to("c")
    text = f"knowledgebase:\n  roots:\n  - {tmp_path}/a\n  - path: {tmp_path}/b\n  - {tmp_path}/link\n"
    config = config_in(tmp_path, text)
    remove_root(config, "b")
    remove_root(resolve(config.home), f"{tmp_path}/link")
    assert remove_root(resolve(config.home), f"{tmp_path}/a/").label == "a"
    assert resolve(config.home).roots == ()


def test_a_folder_written_twice_is_removed_with_both_entries(tmp_path: Path) -> None:
    made(tmp_path / "a")
    config = config_in(tmp_path, f"knowledgebase:\n  roots: ['{tmp_path}/a', {{path: '{tmp_path}/a/'}}]\n")
    remove_root(config, "a")
    assert resolve(config.home).roots == ()


def test_what_cannot_be_added_or_removed_is_named(tmp_path: Path) -> None:
    made(tmp_path / "a")
    (tmp_path / "file").touch()
    config = config_in(tmp_path, f"knowledgebase:\n  roots:\n  - {tmp_path}/a\n")
    before = (config.home / "config.yaml").read_bytes()
    for path, error, words in [
        (tmp_path / "a", UsageError, "already a root"),
        (config.home / "workspace", UsageError, "the workspace"),
        (tmp_path / "file", UsageError, "not a folder"),
        (tmp_path / "nowhere", FileMissing, "no such folder"),
    ]:
        with pytest.raises(error, match=words):
            add_root(config, path)
    for identifier, words in [("workspace", "cannot be removed"), ("nothing", "nothing: not a root")]:
        with pytest.raises(UsageError, match=words):
            remove_root(config, identifier)
    assert (config.home / "config.yaml").read_bytes() == before


def test_mode_links_line_ends_and_the_byte_order_mark_are_looked_after(tmp_path: Path) -> None:
    made(tmp_path / "a", tmp_path / "dotfiles", tmp_path / "home")
    real = tmp_path / "dotfiles" / "config.yaml"
    real.write_bytes(b"model: x\r\nother: y\r\n")
    real.chmod(0o640)
    (tmp_path / "home" / "config.yaml").symlink_to(real)
    add_root(config_in(tmp_path, None), tmp_path / "a")
    assert (tmp_path / "home" / "config.yaml").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert real.read_bytes().count(b"\r\n") == real.read_bytes().count(b"\n") == 6
    assert sorted(os.listdir(real.parent)) == ["config.yaml"]


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    made(tmp_path / "a")
    config = config_in(tmp_path, None)
    add_root(config, tmp_path / "a")
    assert stat.S_IMODE((config.home / "config.yaml").stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["knowledgebase: [1]\n", "knowledgebase:\n  roots: {a: 1}\n", "- list\n"])
def test_a_file_that_cannot_be_edited_faithfully_is_left_alone(tmp_path: Path, text: str) -> None:
    made(tmp_path / "a")
    config = replace(config_in(tmp_path, None), config_file=tmp_path / "home" / "config.yaml")
    (tmp_path / "home" / "config.yaml").write_text(text)
    with pytest.raises(ConfigError):
        add_root(config, tmp_path / "a")
    assert (tmp_path / "home" / "config.yaml").read_text() == text


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "a")
    config = config_in(tmp_path, SHARED)

    def refuse(source: object, target: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(DatasetReadOnly):
        add_root(config, tmp_path / "a")
    assert (config.home / "config.yaml").read_text() == SHARED
    assert sorted(os.listdir(config.home)) == ["config.yaml", "workspace"]
