"""Columns are defined in `schemas/` alone: history, records and places agree with it."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_lance.core import records, schema

FOLDER = schema.schemas_folder()
HISTORY: dict[str, str] = json.loads((FOLDER / "history.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("version", sorted(schema.digests()))
def test_a_schema_only_changes_with_its_version(version):
    assert HISTORY.get(version) == schema.digests()[version], (
        f"{version} differs from history.json: raise its version and add the line "
        f'"{version.split("@")[0]}@<new version>": "{schema.digests()[version]}" (old lines stay)'
    )


def test_the_digest_sees_names_types_nulls_roles_and_order_but_not_words(tmp_path, monkeypatch):
    raw = json.loads((FOLDER / "vectors.json").read_text(encoding="utf-8"))

    def digest_with(change):
        changed = json.loads(json.dumps(raw))
        change(changed["columns"])
        (tmp_path / "chunks.json").write_text("{}")
        (tmp_path / "vectors.json").write_text(json.dumps(changed), encoding="utf-8")
        schema.load.cache_clear()
        return schema.digest_of("vectors")

    monkeypatch.setattr(schema, "schemas_folder", lambda: tmp_path)
    try:
        same = digest_with(lambda columns: None)
        assert digest_with(lambda columns: columns[0].update(doc="Other words.")) == same
        others = {
            digest_with(lambda columns: columns[0].update(name="other")),
            digest_with(lambda columns: columns[0].update(type="int64")),
            digest_with(lambda columns: columns[1].update(null=True)),
            digest_with(lambda columns: columns[1].update(role="stored")),
            digest_with(lambda columns: columns.reverse()),
        }
    finally:
        schema.load.cache_clear()
    assert len(others) == 5 and same not in others


def test_history_is_without_gaps():
    for name in schema.TABLES:
        versions = sorted(int(entry.split("@")[1]) for entry in HISTORY if entry.split("@")[0] == name)
        assert versions == list(range(1, schema.load(name).version + 1))


@pytest.mark.parametrize("name", schema.TABLES)
def test_a_schema_is_complete(name):
    table = schema.load(name)
    assert table.name == name
    assert len(set(table.names)) == len(table.names)
    (key,) = table.by_role("key")
    assert not key.null
    assert [column.name for column in table.columns if not column.doc.endswith(".")] == []
    arrow = schema.arrow_schema(name, dimensions=4)
    assert arrow.names == table.names
    assert [field.nullable for field in arrow] == [column.null for column in table.columns]


def test_no_schema_file_is_without_a_reader():
    known = {f"{name}.json" for name in schema.TABLES} | {"history.json", "tools.json"}
    assert {file.name for file in FOLDER.iterdir()} - known == set()


def test_a_known_file_has_the_columns_of_sources_in_their_order():
    assert [field.name for field in dataclasses.fields(records.KnownFile)] == schema.load("sources").names


def test_a_chunk_row_has_the_columns_of_chunks():
    fields = {field.name for field in dataclasses.fields(records.ChunkRow)}
    assert isinstance(vars(records.ChunkRow)["text_sha"], property)
    assert fields | {"text_sha"} == set(schema.load("chunks").names)


def test_a_checkout_and_an_editable_install_use_the_schemas_beside_the_package(checkout, tmp_path):
    import hermes_lance

    assert Path(hermes_lance.__file__).resolve() == checkout / "hermes_lance" / "__init__.py"
    assert checkout / "schemas" == FOLDER
    ask = "import hermes_lance.core.schema as schema; print(schema.schemas_folder())"
    from_checkout = subprocess.run(
        [sys.executable, "-S", "-c", ask], cwd=checkout, capture_output=True, text=True, check=True
    )
    assert Path(from_checkout.stdout.strip()) == checkout / "schemas"
    from_elsewhere = subprocess.run(
        [sys.executable, "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert Path(from_elsewhere.stdout.strip()) == checkout / "schemas"
