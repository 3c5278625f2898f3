"""Damaged files: one of our errors and never another one, and doctor says which file it is."""

from __future__ import annotations

import os
import random
import shutil

import pytest

from hermes_lance.core.errors import DatasetNewer, HermesLanceError
from hermes_lance.store import check


@pytest.fixture
def built(home):
    """A built home with a second generation on top of the first, so that all kinds of files are there."""
    for number in range(5):
        home.write(f"{number}.md", f"# Whale {number}", f"The blue whale number {number} sings.", "It eats krill.")
    home.build()
    home.write("3.md", "# Whale", "The grey whale sings.")
    home.build(embed=False)
    home.build()
    return home


def files(home):
    current = home.library().manifest()
    lexical = home.dataset / "lexical" / current.lexical["folder"]
    side = [entry["file"] for entry in [*current.text_segments, *current.vector_segments, current.files] if entry]
    return [
        *(home.dataset / "side" / name for name in side),
        *(lexical / name for name in current.lexical["files"]),
        home.dataset / "generations" / f"{current.id}.json",
    ]


def use(home):
    """Everything that only reads; errors of ours are fine."""
    acts = [
        lambda: [list(home.library().search("whale", mode=mode, limit=20)) for mode in ("lexical", "dense", "hybrid")],
        lambda: home.library().search("grey whale sings", path="3.md"),
        lambda: home.library().status(files=True),
        lambda: home.library().why("3.md", "whale"),
        lambda: home.library().generations(),
    ]
    failed = 0
    for act in acts:
        try:
            act()
        except HermesLanceError as error:
            failed += 1
            assert "\n" not in str(error) and len(str(error)) < 600
    return failed


def flipped(data, dice):
    data = bytearray(data)
    for _ in range(dice.choice([1, 1, 4])):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(data)


def cut(data, dice):
    return data[: dice.randrange(len(data))]


def zeroed(data, dice):
    start = dice.randrange(len(data))
    return data[:start] + bytes(min(64, len(data) - start)) + data[start + 64 :]


@pytest.mark.parametrize("damage", [flipped, cut, zeroed])
def test_damage_anywhere_gives_our_errors_and_doctor_names_the_file(built, damage):
    dice = random.Random(5)
    rounds = int(os.environ.get("DAMAGE_ROUNDS", "2"))
    for path in files(built):
        whole = path.read_bytes()
        for _ in range(rounds):
            broken = damage(whole, dice)
            if broken == whole:
                continue
            # A new file: what is mapped stays as it is, as when a disk returns other bytes than were written.
            path.unlink()
            path.write_bytes(broken)
            use(built)
            found = [one for one in check.checks(built.dataset) if not one.ok]
            assert found, f"{path.name}: not noticed"
            assert any(path.name in one.detail for one in found), found
        path.unlink()
        path.write_bytes(whole)
    assert [one for one in check.checks(built.dataset) if not one.ok and one.name != "permissions"] == []


def test_missing_files_give_our_errors_and_can_be_made_again(built, clean_build):
    before = built.contents()
    for path in files(built)[:-1]:
        whole = path.read_bytes()
        path.unlink()
        assert use(built) >= 1 or path.suffix == ".vectors"
        assert any(path.name in one.detail for one in check.checks(built.dataset) if not one.ok)
        path.write_bytes(whole)
    for folder in ("side", "lexical"):
        shutil.rmtree(built.dataset / folder)
        assert any(not one.ok and one.fatal for one in built.library().doctor())
        assert [one for one in built.library().doctor(fix=True) if not one.ok and one.fatal] == []
        built.build()
        assert built.contents() == before == clean_build(built)


def test_a_repair_leaves_what_a_later_release_wrote_byte_for_byte(built):
    newest = built.dataset / "generations" / f"{built.library().manifest().id}.json"
    newest.write_text(newest.read_text(encoding="utf-8").replace('"minimum_reader": 1', '"minimum_reader": 2'))
    places = [path for path in built.dataset.rglob("*") if path.is_file() and path.name != "writer.lock"]
    before = {path: path.read_bytes() for path in places}
    with pytest.raises(DatasetNewer):
        built.library().doctor(fix=True)
    assert {path: path.read_bytes() for path in before} == before
