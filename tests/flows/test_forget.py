"""Forgetting: a document leaves for good, its copies too, until that is lifted; a purge leaves no trace of its text."""

from __future__ import annotations

import gzip
import json
import shutil
import zlib
from pathlib import Path
from typing import Any

import pytest

import hermes_lance
from hermes_lance.core.errors import FileMissing, GenerationMissing, OutsideRoots, Purged, UsageError
from hermes_lance.library import Library
from hermes_lance.store import compact, forgotten
from hermes_lance.store.lock import writing
from hermes_lance.store.tables import Tables, versions_on_disk
from hermes_lance.testing import contents_of

CONFIG = "knowledgebase:\n  embedders: {active: builtin_hash, builtin_hash: {dims: 64}}\n"
PHRASE = "zanzibar heliotrope conspiracy"
SECRET = f"# Private\n\nThe {PHRASE} begins at noon.\n\n## More\n\nNobody may read of quuxville again.\n"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    (tmp_path / "workspace" / "notes").mkdir(parents=True)
    (tmp_path / "config.yaml").write_text(CONFIG, encoding="utf-8")
    for number in range(6):
        write(tmp_path, f"notes/{number}.md", f"# Note {number}\n\nThe lighthouse keeper counts {number} ships.\n")
    write(tmp_path, "private.md", SECRET)
    return hermes_lance.open(tmp_path)


def write(home: Path, name: str, text: str) -> Path:
    path = home / "workspace" / name
    path.write_text(text, encoding="utf-8")
    return path


def state(library: Library, path: str) -> dict[str, Any]:
    return next(row for row in library.status(files=True)["files_detail"] if row["path"] == path)


def hits(library: Library, query: str) -> list[str]:
    return [hit.path for hit in library.search(query, mode="lexical")]


def test_a_forgotten_file_stays_away_through_builds_until_that_is_lifted(library, tmp_path):
    library.index()
    assert hits(library, "quuxville") == ["private.md"]
    done = library.forget(["private.md"])
    assert (done.paths, done.copies, done.chunks > 0) == (["private.md"], [], True)
    for full in (False, True):
        library.index(full=full)
        assert hits(library, "quuxville") == []
        row = state(library, "private.md")
        assert (row["state"], row["chunks"]) == ("skipped", 0) and row["reason"].startswith("forgotten: ")
    write(tmp_path, "private.md", SECRET + "\nA new line about quuxville.\n")
    library.index(only_paths=["private.md"])
    assert hits(library, "quuxville") == []
    assert library.lift(["private.md"]) == ["private.md"]
    report = library.index()
    assert report.files.added == 1 and hits(library, "quuxville") == ["private.md"]
    assert (tmp_path / "workspace" / "private.md").exists()


def test_a_build_after_forgetting_has_nothing_to_do(library):
    library.index()
    library.forget(["private.md"])
    first = library.index()
    again = library.index()
    assert (again.generation, again.published, again.files.skipped) == (first.generation, 0, 1)


def test_equal_contents_under_another_path_stay_away_too(library, tmp_path):
    write(tmp_path, "notes/copy.md", SECRET)
    library.index()
    done = library.forget(["private.md"])
    assert done.copies == ["notes/copy.md"]
    write(tmp_path, "notes/later.md", SECRET)
    (tmp_path / "workspace" / "notes" / "copy.md").rename(tmp_path / "workspace" / "moved.md")
    library.index()
    library.index()
    assert hits(library, "quuxville") == []
    assert "private.md" in state(library, "notes/later.md")["reason"]
    write(tmp_path, "moved.md", "Something else about quuxville.\n")
    library.index()
    assert hits(library, "quuxville") == ["moved.md"]
    library.lift(["private.md"])
    library.index()
    assert set(hits(library, "quuxville")) == {"private.md", "notes/later.md", "moved.md"}


def test_a_file_is_forgotten_before_it_was_ever_indexed_and_after_it_is_gone(library, tmp_path):
    library.forget([tmp_path / "workspace" / "private.md"])
    library.index()
    assert hits(library, "quuxville") == []
    (tmp_path / "workspace" / "notes" / "3.md").unlink()
    library.index()
    library.forget(["notes/3.md"])
    write(tmp_path, "notes/3.md", "# Note 3\n\nBack again with a wombat.\n")
    library.index()
    assert hits(library, "wombat") == []
    assert [one.shown for one in library.forgotten()] == ["notes/3.md", "private.md"]


def test_the_list_outlives_a_repair_and_the_loss_of_the_tables(library):
    library.index()
    library.forget(["private.md"])
    shutil.rmtree(library.dataset / "side")
    library.doctor(fix=True)
    library.index(full=True)
    assert hits(library, "quuxville") == []
    shutil.rmtree(library.dataset / "lance" / "chunks.lance")
    library.doctor(fix=True)
    library.index()
    assert hits(library, "quuxville") == [] and hits(library, "lighthouse")


def test_what_cannot_be_forgotten_is_said(library, tmp_path):
    library.index()
    with pytest.raises(FileMissing, match=r"absent\.md: no such file"):
        library.forget(["absent.md"])
    with pytest.raises(UsageError, match="notes: not a document"):
        library.forget(["notes"])
    with pytest.raises(UsageError, match="a root, not a document"):
        library.forget([tmp_path / "workspace"])
    with pytest.raises(OutsideRoots):
        library.forget(["/etc/hostname"])
    with pytest.raises(UsageError, match="was not forgotten"):
        library.lift(["private.md"])
    assert not (library.dataset / forgotten.FILE).exists()


def test_a_list_that_cannot_be_read_stops_the_build_instead_of_bringing_files_back(library):
    library.index()
    library.forget(["private.md"])
    (library.dataset / forgotten.FILE).write_text("{", encoding="utf-8")
    with pytest.raises(hermes_lance.HermesLanceError, match="list of forgotten files cannot be read"):
        library.index()
    (check,) = [one for one in library.doctor() if one.name == "forgotten"]
    assert not check.ok and check.fatal


def test_why_names_what_was_forgotten_dropped_or_lifted(library, tmp_path):
    library.index()
    assert "New since" in library.why(write(tmp_path, "new.md", "# New\n\nAn owl.\n")).verdict
    library.forget(["private.md", "new.md"])
    library.drop(["notes/1.md"])
    for path in ("private.md", "new.md"):
        found = library.why(path)
        assert "forget" in found.verdict and "forgotten" in [one.stage for one in found.stages]
    assert "dropped on purpose" in library.why("notes/1.md").verdict
    write(tmp_path, "notes/copy.md", SECRET)
    library.index()
    assert "the same contents as private.md" in library.why("notes/copy.md").verdict
    library.lift(["private.md"])
    library.index()
    assert library.why("private.md").verdict.startswith("Indexed as ")


def test_a_deleted_document_returns_when_its_bytes_change(library, tmp_path):
    library.index()
    done = library.drop(["private.md"])
    assert done.paths == ["private.md"] and done.chunks > 0
    path = tmp_path / "workspace" / "private.md"
    path.touch()
    for full in (False, True):
        library.index(full=full)
        assert hits(library, "quuxville") == []
    assert state(library, "private.md")["reason"].startswith("dropped: ")
    assert library.index().published == 0
    path.write_text(SECRET + "\nOne more line.\n", encoding="utf-8")
    library.index()
    assert hits(library, "quuxville") == ["private.md"]
    with pytest.raises(UsageError, match=r"absent\.md: not in the index"):
        library.drop(["absent.md"])


# -- purge ----------------------------------------------------------------------------------------------------------


def test_after_a_purge_the_text_is_nowhere(library, tmp_path):
    write(tmp_path, "private.md", SECRET.replace("noon", "midnight"))
    library.index()
    write(tmp_path, "private.md", SECRET)
    write(tmp_path, "notes/copy.md", SECRET)
    library.index()
    with writing(library.dataset, 1):
        compact.pin(library.dataset, library.manifest().id)
    write(tmp_path, "notes/0.md", "# Note 0\n\nThe lighthouse keeper counts nothing.\n")
    library.index()
    before = contents_of(library.dataset)
    assert places_of(tmp_path, PHRASE), "the search below must be able to find it"
    done = library.forget(["private.md"], purge=True)
    assert done.proof is not None and done.proof.found == []
    assert done.proof.tables == 5 and done.proof.versions >= 5 and done.proof.phrases > 0 and done.proof.indexes == 1
    for text in (PHRASE, "quuxville", "heliotrope"):
        assert places_of(tmp_path, text) == []
    after = contents_of(library.dataset)
    gone = {key for key, row in before.rows.items() if row.path in {"private.md", "notes/copy.md"}}
    assert after.rows == {key: row for key, row in before.rows.items() if key not in gone}
    assert after.vectors == {key: of for key, of in before.vectors.items() if key not in gone}
    assert all(one.ok for one in library.doctor())
    assert library.index().published == 0


def places_of(home: Path, text: str) -> list[str]:
    """Where the text is found below the knowledge base: tables, terms, stored fields, bytes, unpacked bytes."""
    dataset = home / "knowledgebase" / "indexes"
    found = []
    wanted = text.encode("utf-8")
    for place in (dataset, *dataset.glob("pinned/*")):
        tables = Tables(place)
        for name in tables.names():
            for version in versions_on_disk(place / "lance" / f"{name}.lance"):
                columns = tables.table(name).schema.names
                rows = [row for batch in tables.read(name, columns, version=version) for row in batch.to_pylist()]
                found += [f"{name}@{version}"] * (text in repr(rows))
        for folder in place.glob("lexical/*/chunks"):
            found += [f"{folder}: {term}" for term in words_in(folder) if term in text.split()]
    for file in (home / "knowledgebase").rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            found += [str(file)] * any(wanted in form for form in (data, *unpacked(data)))
    return found


def words_in(folder: Path) -> set[str]:
    import tantivy

    index = tantivy.Index.open(str(folder))
    searcher = index.searcher()
    every = searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs)).hits
    assert all(searcher.doc(address).to_dict() == {} for _, address in every), "nothing is stored"
    return {term for term, _ in searcher.terms_with_prefix("text", "")}


def unpacked(data: bytes) -> list[bytes]:
    forms = []
    for unpack in (gzip.decompress, zlib.decompress):
        try:
            forms.append(unpack(data))
        except (OSError, EOFError, zlib.error):
            continue
    return forms


def test_an_older_generation_is_said_to_be_purged(library, tmp_path):
    first = library.index().generation
    write(tmp_path, "notes/0.md", "# Note 0\n\nAnother text.\n")
    library.index()
    assert len(library.search("lighthouse", generation=first, mode="lexical")) > 0
    library.forget(["private.md"], purge=True)
    with pytest.raises(Purged, match="a purge has removed it"):
        library.search("lighthouse", generation=first)
    assert [one.id for one in library.generations()] == [library.manifest().id]
    with pytest.raises(GenerationMissing):
        library.search("lighthouse", generation="99999999")
    assert len(library.search("lighthouse", mode="lexical")) > 0


def test_a_kept_generation_without_the_document_stays_readable(library, tmp_path):
    (tmp_path / "workspace" / "private.md").unlink()
    kept = library.index().generation
    with writing(library.dataset, 1):
        compact.pin(library.dataset, kept)
    write(tmp_path, "private.md", SECRET)
    library.index()
    with writing(library.dataset, 1):
        compact.pin(library.dataset, library.manifest().id)
    library.forget(["private.md"], purge=True)
    assert [path.name for path in (library.dataset / "pinned").iterdir()] == [kept]
    assert len(library.search("lighthouse", generation=kept, mode="lexical")) > 0


def test_vectors_of_a_text_that_other_files_hold_stay(library, tmp_path):
    write(tmp_path, "private.md", "# Note 0\n\nThe lighthouse keeper counts 0 ships.\n")
    write(tmp_path, "twin.txt", "The lighthouse keeper counts 0 ships.\n")
    library.index()
    before = contents_of(library.dataset)
    library.forget(["private.md"], purge=True)
    after = contents_of(library.dataset)
    assert after.vectors == {key: before.vectors[key] for key in after.rows}


def test_what_doctor_has_put_aside_goes_with_a_purge(library):
    library.index()
    shutil.rmtree(library.dataset / "lance" / "sources.lance")
    library.doctor(fix=True)
    assert (library.dataset / "aside").exists()
    library.index()
    library.forget(["private.md"], purge=True)
    assert not (library.dataset / "aside").exists()
    assert (
        json.loads((library.dataset / forgotten.FILE).read_text(encoding="utf-8"))["forgotten"][0]["pending"] is False
    )


def test_a_document_that_is_no_longer_on_the_disk_is_purged_from_older_generations(library, tmp_path):
    library.index()
    (tmp_path / "workspace" / "private.md").unlink()
    library.index()
    assert places_of(tmp_path, PHRASE), "older generations still hold it"
    done = library.forget(["private.md"], purge=True)
    assert done.chunks == 0 and done.proof is not None and done.proof.phrases > 0
    assert places_of(tmp_path, PHRASE) == []
    write(tmp_path, "notes/again.md", SECRET)
    library.index()
    assert hits(library, "quuxville") == [] and places_of(tmp_path, PHRASE) == []


def test_a_document_of_another_root_is_forgotten_by_its_label(library, tmp_path):
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "deep.txt").write_text(f"The {PHRASE} again.\n", encoding="utf-8")
    library.add_root(shelf)
    library.index()
    done = library.forget(["shelf/deep.txt"], purge=True)
    assert done.paths == ["shelf/deep.txt"] and state(library, "shelf/deep.txt")["reason"].startswith("forgotten: ")
    library.index(full=True)
    assert "shelf/deep.txt" not in hits(library, "zanzibar")
    assert library.lift([shelf / "deep.txt"]) == ["shelf/deep.txt"]
    library.index()
    assert "shelf/deep.txt" in hits(library, "zanzibar")
