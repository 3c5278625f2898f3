"""Roots come, go, move, overlap, lose their disk and change their names; what is indexed follows, and nothing else."""

from __future__ import annotations

import shutil

from hermes_lance.hosts.cli.main import run
from hermes_lance.search.freshness import is_away


def test_a_name_in_the_workspace_takes_the_label_of_a_root_away_and_the_next_build_shows_it(home, put, tmp_path):
    put(tmp_path / "notes", {"a.md": "kestrel\n"})
    home.configure(f"  roots: [{tmp_path / 'notes'}]\n")
    home.build()
    assert home.paths("kestrel") == ["notes/a.md"]
    (home.workspace / "notes").mkdir()
    assert home.open().status()["stale"] is True
    report = home.build()
    assert (report.published, report.files.unchanged, home.embedded) == (1, 1, [])
    assert home.paths("kestrel") == ["notes-2/a.md"] and home.open().status()["stale"] is False
    assert home.build().published == 0


def test_another_depth_takes_effect_even_where_no_file_comes_or_goes(home, put, tmp_path):
    put(tmp_path / "shelf", {"a.md": "kestrel\n"})
    home.configure(f"  roots: [{{path: {tmp_path / 'shelf'}}}]\n")
    home.build()
    home.configure(f"  roots: [{{path: {tmp_path / 'shelf'}, recursive: true}}]\n")
    assert home.build().published == 1 and home.build().published == 0
    assert [root["recursive"] for root in home.open().manifest().roots] == [True, True]


def test_a_shallow_root_says_how_many_files_it_leaves_out_and_a_deep_one_takes_them(home, put, tmp_path):
    put(tmp_path / "shelf", {"a.md": "kestrel\n", "in/b.md": "heron\n", "in/deep/c.md": "heron\n", "in/x.png": "no"})
    home.configure(f"  roots: [{{path: {tmp_path / 'shelf'}}}]\n")
    (warning,) = home.build().warnings
    assert "left out 2 files in sub-folders" in warning and "--recursive" in warning
    home.configure(f"  roots: [{{path: {tmp_path / 'shelf'}, recursive: true}}]\n")
    report = home.build()
    assert (report.files.added, report.warnings) == (2, [])
    home.configure(f"  roots: [{{path: {tmp_path / 'shelf'}}}]\n")
    assert home.build().files.removed == 3, "the picture too"
    assert home.paths("heron") == []


def test_a_root_that_was_taken_out_is_told_from_one_that_is_not_there(home, put, tmp_path):
    put(tmp_path / "disk", {"a.md": "kestrel\n"})
    put(tmp_path / "out", {"b.md": "heron\n"})
    home.configure(f"  roots: [{tmp_path / 'disk'}, {tmp_path / 'out'}]\n")
    home.build()
    (tmp_path / "disk").rename(tmp_path / "unplugged")
    home.configure(f"  roots: [{tmp_path / 'disk'}]\n")
    status = home.open().status()
    kept, dropped = sorted(status["warnings"])
    assert "disk" in kept and "is not there; what is known of its 1 file is kept" in kept
    assert "out" in dropped and "no longer a root; the next build drops its 1 file" in dropped
    assert status["stale"] is True
    report = home.build()
    assert report.files.removed == 1 and any("kept" in warning for warning in report.warnings)
    assert home.states() == {"disk/a.md": ("indexed", None)}
    (check,) = [check for check in home.open().doctor() if check.name == "roots"]
    assert not check.ok and not check.fatal and "disk" in check.detail


def test_passages_of_a_root_that_is_not_there_are_shown_as_unverified_and_with_a_warning(home, put, tmp_path):
    put(tmp_path / "disk", {"a.md": "kestrel\n", "b.md": "heron\n"})
    home.configure(f"  roots: [{tmp_path / 'disk'}]\n")
    home.build()
    (tmp_path / "disk" / "b.md").unlink()
    answer = home.open().search("heron", mode="lexical")
    assert len(answer) == 0 and "gone" in answer.warnings[-1]
    (tmp_path / "disk").rename(tmp_path / "unplugged")
    answer = home.open().search("kestrel", mode="lexical")
    assert [hit.freshness for hit in answer] == ["unverified"]
    assert f"root {tmp_path / 'disk'} is not there" in answer.warnings[-1]
    assert "could not be compared" in home.open().why("disk/a.md").verdict
    (tmp_path / "unplugged").rename(tmp_path / "disk")
    assert [hit.freshness for hit in home.open().search("kestrel", mode="lexical")] == ["fresh"]
    report = home.build()
    assert (report.files.removed, report.files.unchanged, home.embedded) == (1, 1, [])


def test_a_folder_is_away_when_it_is_missing_or_empty_on_another_device(tmp_path):
    here = tmp_path.stat().st_dev
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.md").touch()
    (tmp_path / "empty").mkdir()
    assert is_away(str(tmp_path / "missing"), here) and is_away(str(tmp_path / "full" / "a.md"), here)
    assert is_away(str(tmp_path / "empty"), here + 1)
    for folder, dev in [("empty", here), ("empty", 0), ("full", here), ("full", here + 1)]:
        assert not is_away(str(tmp_path / folder), dev)
    assert not is_away(None, here)


def test_a_file_in_two_roots_is_indexed_once_and_doctor_says_that_they_overlap(home, put, tmp_path):
    put(tmp_path / "all", {"a.md": "kestrel\n", "part/b.md": "kestrel\n", "part/deep/c.md": "kestrel\n"})
    roots = f"  roots: [{tmp_path / 'all'}, {{path: {tmp_path / 'all' / 'part'}}}]\n"
    home.configure(roots)
    report = home.build()
    assert sorted(home.paths("kestrel")) == ["all/a.md", "all/part/deep/c.md", "part/b.md"]
    assert report.files.seen == 3
    checks = {check.name: check for check in home.open().doctor()}
    assert not checks["overlap"].ok and not checks["overlap"].fatal
    assert "root part lies inside root all" in checks["overlap"].detail
    home.configure(f"  roots: [{tmp_path / 'all'}]\n")
    report = home.build()
    assert (report.files.moved, home.embedded) == (1, [])
    assert sorted(home.paths("kestrel")) == ["all/a.md", "all/part/b.md", "all/part/deep/c.md"]
    assert "overlap" not in {check.name for check in home.open().doctor()}


def test_equal_names_in_two_roots_and_the_workspace_are_three_files(home, put, tmp_path):
    for folder, word in ((tmp_path / "x" / "notes", "kestrel"), (tmp_path / "y" / "notes", "heron")):
        put(folder, {"a.md": f"{word} one\n", "b.md": "egret\n"})
    put(home.workspace, {"a.md": "owl\n", "notes/a.md": "finch\n"})
    home.configure(f"  roots: [{tmp_path / 'x' / 'notes'}, {tmp_path / 'y' / 'notes'}]\n")
    home.build()
    assert [home.paths(word) for word in ("kestrel", "heron", "finch", "owl")] == [
        ["notes-2/a.md"], ["notes-3/a.md"], ["notes/a.md"], ["a.md"],
    ]  # fmt: skip
    (tmp_path / "x" / "notes" / "a.md").unlink()
    assert home.build().files.removed == 1
    assert home.paths("kestrel") == [] and home.paths("heron") == ["notes-3/a.md"]
    hits = home.open().search("egret", mode="lexical", path="notes-3")
    assert [hit.path for hit in hits] == ["notes-3/b.md"]


COMMENTED = """\
# ours
knowledgebase:
  embedders: {{active: builtin_hash}}
  roots:
    # the old disk
    - path: {old}  # it may move
      recursive: true
    - {other}
model: "kept"  # as it is
"""


def test_a_root_that_moved_is_told_once_and_nothing_is_embedded_again(home, put, tmp_path, capsys):
    old, new, other = (tmp_path / name for name in ("old disk", "new disk", "other"))
    files = {f"{folder}/{number}.md": f"# Note {number}\n\nheron {number}\n" for folder in "ab" for number in range(9)}
    put(old, {**files, "empty.md": "", "same.md": "twice\n", "b/same.md": "twice\n"})
    put(other, {"o.md": "kestrel\n"})
    config = home.folder / "config.yaml"
    config.write_text(COMMENTED.format(old=f"'{old}'", other=other))
    home.build()
    old.rename(new)
    assert run(["--home", str(home.folder), "workspace", "roots", "move", str(old), str(new), "--json"]) == 0
    assert '"new disk"' in capsys.readouterr().out
    wanted = COMMENTED.format(old="X", other=other).splitlines()
    assert [line.replace(f"{new}", "X").replace("'X'", "X") for line in config.read_text().splitlines()] == wanted
    report = home.build()
    assert (report.files.moved, report.files.removed, report.files.unchanged) == (20, 1, 1)
    assert home.embedded == [] and report.vectors_written == 0
    assert home.paths("kestrel") == ["other/o.md"] and len(home.paths("heron")) == 18
    assert {path.split("/")[0] for path in home.paths("heron")} == {"new disk"}
    assert home.build().published == 0


def test_the_workspace_that_moved_is_read_from_its_new_place_and_nothing_is_embedded_again(home, put, tmp_path):
    put(home.workspace, {"a.md": "kestrel\n", "in/b.md": "heron\n"})
    home.build()
    shutil.move(home.workspace, tmp_path / "elsewhere")
    (home.folder / "config.yaml").write_text(
        f"workspace: {{path: {tmp_path / 'elsewhere'}}}\nknowledgebase:\n  embedders: {{active: builtin_hash}}\n"
    )
    report = home.build()
    assert (report.files.unchanged, report.files.seen, home.embedded) == (2, 2, [])
    assert home.paths("heron") == ["in/b.md"]


def test_what_cannot_be_moved_is_named_and_the_configuration_stays(home, put, tmp_path, capsys):
    put(tmp_path / "shelf", {"a.md": "x\n"})
    home.configure(f"  roots: [{tmp_path / 'shelf'}]\n")
    before = (home.folder / "config.yaml").read_bytes()
    for old, new, words in [
        ("workspace", tmp_path / "shelf", "workspace.path"),
        ("nothing", tmp_path, "not a root"),
        ("shelf", tmp_path / "nowhere", "no such folder"),
        ("shelf", tmp_path / "shelf" / "a.md", "not a folder"),
        ("shelf", tmp_path / "shelf", "already a root"),
    ]:
        assert run(["--home", str(home.folder), "workspace", "roots", "move", old, str(new)]) != 0
        error = capsys.readouterr().err
        assert words in error and error.count("\n") == 1
    assert (home.folder / "config.yaml").read_bytes() == before


def test_a_root_behind_a_link_is_the_folder_itself(home, put, tmp_path):
    put(tmp_path / "real", {"a.md": "kestrel\n"})
    (tmp_path / "one").symlink_to("real")
    (tmp_path / "two").symlink_to("one")
    home.configure(f"  roots: [{tmp_path / 'one'}, {tmp_path / 'two'}, {tmp_path / 'real'}]\n")
    assert home.build().files.seen == 1
    assert home.paths("kestrel") == ["real/a.md"]
