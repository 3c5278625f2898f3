"""A build of artifacts: what it publishes, and when it publishes nothing."""

from __future__ import annotations

import pytest

import hermes_lance
from hermes_lance.core.errors import UsageError
from hermes_lance.ingest import collecting
from hermes_lance.testing import contents_of


@pytest.fixture
def home(tmp_path):
    (tmp_path / "config.yaml").write_text("knowledgebase: {embedders: {active: builtin_hash}}\n")
    for name in ("deploy", "roll-back"):
        file = tmp_path / "skills" / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"---\nname: {name}\ndescription: All about {name}.\n---\n")
    (tmp_path / "workspace" / "skills" / "mine").mkdir(parents=True)
    (tmp_path / "workspace" / "skills" / "mine" / "SKILL.md").write_text("---\nname: mine\n---\n")
    return tmp_path


def test_only_what_has_changed_is_written_and_nothing_twice(home):
    library = hermes_lance.open(home)
    first = library.index_artifacts()
    assert (first.written, first.reused, first.total, first.published) == (2, 0, 2, 1)
    again = hermes_lance.open(home).index_artifacts()
    assert (again.written, again.reused, again.total, again.published) == (0, 2, 2, 0)
    assert again.generation == first.generation and again.by_type == {"skill": 2}
    (home / "skills" / "deploy" / "SKILL.md").write_text("---\nname: deploy\ndescription: Other.\n---\n")
    changed = library.index_artifacts()
    assert (changed.written, changed.reused, changed.removed) == (1, 1, 0)
    (home / "skills" / "deploy" / "SKILL.md").unlink()
    gone = library.index_artifacts()
    assert (gone.written, gone.removed, gone.total) == (0, 1, 1)
    assert library.manifest().totals["artifacts"] == 1
    assert library.index_artifacts(full=True).published == 1


def test_documents_and_artifacts_are_built_without_disturbing_each_other(home):
    (home / "workspace" / "a.md").write_text("# A\n\nThe harbour.\n")
    library = hermes_lance.open(home)
    library.index()
    library.index_artifacts()
    assert library.search("harbour")[0].path == "a.md"
    (home / "workspace" / "b.md").write_text("# B\n\nThe lighthouse.\n")
    library.index()
    assert library.search("lighthouse")[0].path == "b.md"
    assert [one.artifact.id for one in library.route("deploy").rows] == ["skill:deploy"]
    assert library.index_artifacts().published == 0


def test_the_first_build_of_all_may_be_one_of_artifacts(home):
    library = hermes_lance.open(home)
    library.index_artifacts()
    assert library.route("roll back").rows[0].artifact.id == "skill:roll-back"
    assert len(library.search("harbour")) == 0
    (home / "workspace" / "a.md").write_text("# A\n\nThe harbour.\n")
    library.index()
    assert library.search("harbour")[0].path == "a.md" and library.manifest().totals["artifacts"] == 2


def test_the_workspace_is_no_source_unless_it_is_named(home):
    assert "skill:mine" not in ids(hermes_lance.open(home))
    with (home / "config.yaml").open("a") as file:
        file.write(f"local_knowledge: {{source_root: {home / 'workspace'}, custom_skill_dirs: [skills]}}\n")
    assert "skill:mine" in ids(hermes_lance.open(home))


def ids(library):
    library.index_artifacts()
    return [one.id for one in library.snapshot().artifacts.all()]


def test_a_dataset_of_somebody_else_is_only_read(home):
    dataset = hermes_lance.open(home)
    dataset.index_artifacts()
    borrowed = hermes_lance.open(home, dataset=dataset.dataset)
    assert borrowed.route("deploy").rows
    with pytest.raises(UsageError, match="never rebuilt"):
        borrowed.index_artifacts()


def test_vectors_are_made_once_and_kept_beside_those_of_documents(home, monkeypatch):
    from hermes_lance.models.hashing import HashEmbedder

    embedded = []
    before = HashEmbedder.embed_documents

    def counted(self, texts, **more):
        embedded.extend(texts)
        return before(self, texts, **more)

    monkeypatch.setattr(HashEmbedder, "embed_documents", counted)
    library = hermes_lance.open(home)
    library.index_artifacts()
    assert len(embedded) == 2 and len(contents_of(library.dataset).artifact_vectors) == 2
    (home / "workspace" / "a.md").write_text("# A\n\nThe harbour.\n")
    library.index()
    (home / "skills" / "deploy" / "SKILL.md").write_text("---\nname: deploy\ndescription: Other.\n---\n")
    library.index_artifacts()
    assert len(embedded) == 5, "two passages, and the skill that has changed"
    assert library.index_artifacts(full=True).published == 1 and len(embedded) == 5
    assert contents_of(library.dataset).artifact_vectors.keys() == {"skill:deploy", "skill:roll-back"}


def test_many_new_strings_are_embedded_in_batches_after_the_words_can_be_found(home, monkeypatch):
    monkeypatch.setattr(collecting, "FEW_STRINGS", 0)
    monkeypatch.setattr(collecting, "STRINGS_AT_ONCE", 1)
    library = hermes_lance.open(home)
    assert library.index_artifacts().published == 3, "words, then two batches"
    assert len(contents_of(library.dataset).artifact_vectors) == 2


def test_without_its_model_artifacts_are_found_by_words_and_get_vectors_later(home):
    library = hermes_lance.open(home)
    library.index_artifacts(embed=False)
    assert library.snapshot().artifact_vectors is None and library.route("deploy").rows
    assert library.index_artifacts().published == 1
    assert library.snapshot().artifact_vectors is not None
