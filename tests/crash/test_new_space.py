"""Another embedder: the old vectors answer until the new ones are complete, and words are always searched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hermes_lance.core.errors import Cancelled
from hermes_lance.ingest import vectors
from hermes_lance.store import failpoints
from hermes_lance.store import manifest as manifests
from hermes_lance.store.failpoints import FailpointReached


def set_dimensions(home, dimensions):
    config = home.folder / "config.yaml"
    words = config.read_text(encoding="utf-8").split("dims: ")
    config.write_text(f"{words[0]}dims: {dimensions}}}}}\n{words[1].partition(chr(10))[2]}", encoding="utf-8")


def dimensions(home):
    return home.library().snapshot().vectors.dimensions


def signature(size):
    return f"/{size}"


def build_a_part(home):
    """Stops after a few batches of vectors."""
    done = 0

    def progress(stage, number, *_):
        nonlocal done
        done = number if stage == "embed" else 0

    with pytest.raises(Cancelled):
        home.build(progress=progress, cancelled=lambda: done >= 4)
    assert home.library().manifest().space["building"]["dimensions"] == 1024
    assert dimensions(home) == 256


def search(library, mode):
    page = library.search("whale", mode=mode, limit=50)
    return len(page), [warning for warning in page.warnings if "vectors wait" in warning]


@pytest.fixture
def filled(home, monkeypatch):
    """Twelve files; every vector batch holds two rows and is published."""
    monkeypatch.setattr(vectors, "ROWS_IN_A_BATCH", 2)
    monkeypatch.setattr(vectors, "SECONDS_BETWEEN_PUBLICATIONS", -1.0)
    set_dimensions(home, 256)
    for number in range(12):
        home.write(f"{number}.txt", f"The whale of file {number}.")
    home.build()
    return home


def test_two_switches_of_the_embedder_never_mix_vectors_or_stop_an_answer(filled, clean_build, monkeypatch):
    home = filled
    before = home.contents()
    tables = {}
    for old, new in [(256, 1024), (1024, 256)]:
        held = home.library()
        assert held.embedder().dimensions == old
        set_dimensions(home, new)
        seen: list[int] = []
        real = manifests.move_pointer

        def moved(dataset, generation, held=held, seen=seen, real=real, old=old, new=new):
            real(dataset, generation)
            contents = home.contents()
            assert len(contents.vectors) == len(contents.rows) == 12, "a passage without its vectors"
            seen.append(dimensions(home))
            assert contents.space.endswith(signature(seen[-1])), "vectors of one space, the name of another"
            assert search(home.library(), "lexical") == (12, [])
            if seen[-1] == old:
                assert search(held, "dense") == (12, []), "the old space no longer answers"
            else:
                assert search(home.library(), "dense") == (12, []), "the new space does not answer"
            assert search(home.library(), "hybrid")[0] == 12

        with monkeypatch.context() as patch:
            patch.setattr(manifests, "move_pointer", moved)
            report = home.build()
        assert seen[-1] == new and seen == sorted(seen, key=lambda size: size == new), "back and forth"
        assert dimensions(home) == new
        tables[new] = report.vectors_written
        assert home.contents() == clean_build(home)
        assert home.healthy()
        assert home.build().published == 0
    assert tables == {1024: 12, 256: 0}, "the way back needs no embedding"
    assert replace(home.contents(), space="") == replace(before, space="")


def test_a_switch_that_is_stopped_anywhere_goes_on_from_there(filled, clean_build, monkeypatch):
    home = filled
    set_dimensions(home, 1024)
    written = 0
    for stop_at in range(0, 200, 9):
        steps = 0

        def reach(name, stop_at=stop_at):
            nonlocal steps
            steps += 1
            if steps > stop_at:
                raise FailpointReached(name)

        with monkeypatch.context() as patch:
            patch.setattr(failpoints, "reach", reach)
            try:
                written += home.build().vectors_written
                break
            except FailpointReached:
                pass
        contents = home.contents()
        assert len(contents.vectors) == 12 and contents.space.endswith(signature(dimensions(home)))
        assert search(home.library(), "lexical") == (12, [])
    assert dimensions(home) == 1024 and written < 12
    assert home.contents() == clean_build(home)
    assert home.healthy()


def test_turning_back_half_way_needs_no_changed_file_to_drop_the_other_space(filled):
    home = filled
    set_dimensions(home, 1024)
    build_a_part(home)
    set_dimensions(home, 256)
    assert home.build().published == 1
    space = home.library().manifest().space
    assert (space["building"], [one["until"] for one in space["earlier"]]) == (None, [None])
    assert home.build().published == 0
    assert home.healthy()


def test_turning_back_half_way_keeps_the_old_space_and_its_table_pure(filled, clean_build):
    home = filled
    set_dimensions(home, 1024)
    build_a_part(home)
    home.write("late.txt", "A late whale.")
    home.build(embed=False)
    set_dimensions(home, 256)
    assert home.build().vectors_written == 1
    assert home.library().manifest().space["building"] is None
    assert dimensions(home) == 256
    assert search(home.library(), "dense") == (13, [])
    assert home.contents() == clean_build(home)
    assert home.healthy()


def test_files_that_change_during_a_switch_are_in_the_new_space_when_it_is_done(filled, clean_build):
    home = filled
    set_dimensions(home, 1024)
    build_a_part(home)
    home.write("3.txt", "The whale of file 3 has changed.")
    (home.workspace / "4.txt").unlink()
    home.write("late.txt", "A late whale.")
    home.build()
    assert dimensions(home) == 1024
    assert home.contents() == clean_build(home)
    assert home.healthy()


def test_the_old_space_is_asked_with_its_own_options_while_others_are_configured(filled):
    home = filled
    set_dimensions(home, 1024)
    held = home.library()
    assert search(held, "dense") == (12, [])
    home.build()
    assert search(held, "dense") == (12, [])


def test_without_its_options_an_old_space_waits_and_a_search_says_so(filled, monkeypatch):
    home = filled
    set_dimensions(home, 1024)
    held = home.library()
    del held.snapshot().manifest.space["active"]["options"]
    assert search(held, "hybrid")[1]
    home.build()
    assert search(held, "hybrid") == (12, [])


def test_a_run_stopped_inside_a_batch_keeps_the_batches_before_it(tmp_path, monkeypatch):
    import hermes_lance
    from hermes_lance.core.errors import Cancelled
    from hermes_lance.ingest import vectors

    monkeypatch.setattr(vectors, "ROWS_IN_A_BATCH", 2)
    (tmp_path / "config.yaml").write_text("knowledgebase:\n  embedders:\n    active: builtin_hash\n")
    (tmp_path / "workspace").mkdir()
    for number in range(6):
        (tmp_path / "workspace" / f"{number}.txt").write_text(f"whale number {number}\n")
    library = hermes_lance.open(tmp_path)
    model, embedded = library.embedder(), []

    class Slow:
        def __getattr__(self, name):
            return getattr(model, name)

        def embed_documents(self, texts, *, cancelled=None):
            embedded.extend(texts)
            if len(embedded) > 4:
                raise Cancelled("inside a batch")
            return model.embed_documents(texts, cancelled=cancelled)

    monkeypatch.setattr(library, "_embedder", Slow())
    with pytest.raises(Cancelled, match="4 of 6 passages embedded"):
        library.index()
    assert library.manifest().totals["vectors_pending"] == 2
    monkeypatch.setattr(library, "_embedder", model)
    assert library.index().vectors_written == 2
