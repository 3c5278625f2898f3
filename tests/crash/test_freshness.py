"""Files that change between build and search: old text is never called fresh, and what is gone is not shown."""

from __future__ import annotations

import errno
import os
import shutil

import pytest

from hermes_lance.ingest import contents
from hermes_lance.store import compact

ODD_NAMES = [
    "plain.md", "don't 'quote'.md", 'double " quote.md', "two  spaces .md", "new\nline.md", "größe.md", "данные.md",
    "数据.md", "データ.md", "बिल्ली.md", "ملف.md", "ไฟล์.md", "😀🐋.md", "e\u0301 combined.md", "%s {0} $HOME `id`.md",
    "back\\slash.md", "-rf.md", os.fsdecode(b"latin-\xe9 and \xff.md"),
]  # fmt: skip
ODD_FOLDERS = ["", "it's a folder/深い/", os.fsdecode(b"\xfe\n/")]
MODES = ["lexical", "dense", "hybrid"]


def texts(home, mode="hybrid", words="narwhal"):
    """Text to freshness of every hit."""
    return {hit.text: hit.freshness for hit in home.library().search(words, mode=mode, limit=50)}


@pytest.fixture(params=ODD_FOLDERS, ids=["top", "quote and script", "bytes and line feed"])
def odd(home, request):
    """A built home with a file of every odd name; file number n says so."""
    top = home.workspace / request.param
    top.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, name in enumerate(ODD_NAMES):
        paths.append(top / name)
        paths[-1].write_text(f"The narwhal number{number} dives.\n", encoding="utf-8")
    home.build()
    return home, paths


def says(number):
    return f"The narwhal number{number} dives.\n"


def test_every_odd_name_is_found_fresh_and_cited_printably(odd):
    home, paths = odd
    for mode in MODES:
        assert texts(home, mode) == {says(number): "fresh" for number in range(len(paths))}
    for number, path in enumerate(paths):
        (first, *_) = home.library().search(f"narwhal number{number}", mode="lexical")
        assert first.text == says(number)
        first.path.encode("utf-8")
        relative = os.path.relpath(path, home.workspace)
        if relative.isprintable() and relative.isascii():
            assert first.path == relative
        assert len(home.library().search("narwhal", path=first.path)) == 1


def test_edited_renamed_and_deleted_files_of_every_name_are_noticed_before_the_next_build(odd, clean_build):
    home, paths = odd
    expected = {says(number): "fresh" for number in range(len(paths))}
    for number, path in enumerate(paths):
        match number % 4:
            case 0:
                path.write_text(f"The narwhal number{number} naps.\n", encoding="utf-8")
                expected[says(number)] = "changed"
            case 1:
                path.rename(path.with_name(f"renamed {number}.md"))
                del expected[says(number)]
            case 2:
                path.unlink()
                del expected[says(number)]
            case 3:
                os.utime(path, ns=(1, 1))
    for mode in MODES:
        assert texts(home, mode) == expected
    page = home.library().search("narwhal", limit=50)
    assert page.warnings == (f"{len(paths) - len(expected)} hits were left out: their files are gone; run "
                             "`hermes-lance build`",)  # fmt: skip
    home.build()
    after = {says(number): "fresh" for number in range(len(paths)) if number % 4 in (1, 3)}
    after |= {f"The narwhal number{number} naps.\n": "fresh" for number in range(0, len(paths), 4)}
    for mode in MODES:
        assert texts(home, mode) == after
    assert home.contents() == clean_build(home)


@pytest.fixture
def one(home):
    home.write("sub/one.md", "The narwhal dives.")
    home.build()
    return home, home.workspace / "sub" / "one.md"


def rewritten(path, text):
    path.write_text(text, encoding="utf-8")


def replaced_by_other(path, text):
    other = path.with_name("other")
    other.write_text(text, encoding="utf-8")
    stamp = path.stat()
    os.utime(other, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    other.rename(path)


@pytest.mark.parametrize("change", [rewritten, replaced_by_other])
def test_text_of_the_same_length_is_noticed_whether_written_over_or_put_in_its_place(one, change):
    home, path = one
    change(path, "The narwhal SINKS.\n"[: path.stat().st_size])
    assert path.stat().st_size == len("The narwhal dives.\n")
    assert texts(home) == {"The narwhal dives.\n": "changed"}


def folder_replaced_by_file(path):
    shutil.rmtree(path.parent)
    path.parent.write_text("a file where the folder was")


@pytest.mark.parametrize(
    "remove",
    [
        lambda path: path.unlink(),
        lambda path: shutil.rmtree(path.parent),
        lambda path: (path.unlink(), path.mkdir()),
        folder_replaced_by_file,
        lambda path: (path.unlink(), path.symlink_to("nowhere")),
        lambda path: path.parent.rename(path.parent.with_name("elsewhere")),
    ],
    ids=["deleted", "folder deleted", "became a folder", "folder became a file", "dangling link", "folder renamed"],
)
def test_what_is_gone_is_left_out_with_a_warning_and_no_ghost_stays_after_the_next_build(one, clean_build, remove):
    home, path = one
    remove(path)
    page = home.library().search("narwhal")
    assert [hit.text for hit in page] == []
    assert any("gone; run" in warning for warning in page.warnings)
    home.build()
    page = home.library().search("narwhal")
    assert page.warnings == () or "gone" not in page.warnings[0]
    assert all(hit.freshness == "fresh" for hit in page)
    assert home.contents() == clean_build(home)


def test_an_older_generation_and_a_search_while_building_see_one_state_only(one):
    home, path = one
    library = home.library()
    old = library.manifest().id
    compact.pin(home.dataset, old)
    held = library.snapshot()
    rewritten(path, "The beluga sings.\n")
    home.build()
    assert [hit.text for hit in library.search("narwhal", mode="lexical")] == []
    assert [hit.text for hit in library.search("beluga", mode="lexical")] == ["The beluga sings.\n"]
    page = library.search("narwhal", mode="lexical", generation=old)
    assert [(hit.text, hit.freshness) for hit in page] == [("The narwhal dives.\n", "unverified")]
    assert held.id == old and {segment.text(at) for _, segment, at in held.text.living()} >= {"The narwhal dives.\n"}


def test_a_file_that_can_no_longer_be_read_keeps_its_passages_but_not_as_fresh(one, monkeypatch):
    home, path = one
    path.chmod(0)
    if os.geteuid() == 0:
        # Root reads everything, so the refusal of the system is played.
        def refused(location):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), location)

        monkeypatch.setattr(contents, "opened", refused)
    os.utime(path, ns=(1, 1))
    home.build()
    marks = texts(home).values()
    assert marks and set(marks) <= {"changed", "unverified"}
    path.chmod(0o600)


def test_a_file_edited_at_once_after_the_build_is_read_by_the_next_one(one):
    """Also within one tick of the clock of the file system, where the time of change says nothing."""
    home, path = one
    for number in range(6):
        stamp = path.stat()
        rewritten(path, f"The narwhal div{number}s.\n")
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        home.build()
        assert texts(home) == {f"The narwhal div{number}s.\n": "fresh"}
