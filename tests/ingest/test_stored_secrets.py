"""Planted secrets are in nothing that a build of artifacts leaves: every table version, every term, every byte."""

from __future__ import annotations

import json

import pytest

import hermes_lance
from hermes_lance.core import schema
from hermes_lance.store.lexical_fields import GRAMS, PAIRS, layout, opened
from hermes_lance.store.tables import Tables, versions_on_disk

PLACES = (
    "option", "short_option", "bearer", "pair", "command", "env", "header", "user_info", "url_path", "url_query",
    "prompt", "job_script", "front_matter", "markdown", "comment", "variable", "alias",
)  # fmt: skip


@pytest.fixture
def planted(tmp_path):
    """A home with a secret in each of the places, and these secrets; none of them stands in any file of ours."""
    secret = {place: f"qz{number:02d}w7kp9x{number:02d}vj3m8t5hb" for number, place in enumerate(PLACES)}

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    servers = {
        "shelf": {
            "command": f"npx shelf --token {secret['command']}",
            "args": ["--api-key", secret["option"], "-k", secret["short_option"], "Bearer", secret["bearer"],
                     f"password={secret['pair']}"],
            "env": {"SHELF_TOKEN": secret["env"]},
            "headers": {"Authorization": f"Bearer {secret['header']}"},
        },
        "far": {
            "url": f"https://me:{secret['user_info']}@far.example/{secret['url_path']}/sse?token={secret['url_query']}"
        },
    }  # fmt: skip
    knowledge = {"source_root": str(tmp_path / "root"), "state_dir": str(tmp_path / "state")}
    embedders = {"embedders": {"active": "builtin_hash"}}
    config = {"mcp_servers": servers, "local_knowledge": knowledge, "knowledgebase": embedders}
    write("config.yaml", json.dumps(config))
    job = {"name": "j", "prompt": f"Use password={secret['prompt']} today.", "script": f"a.sh {secret['job_script']}"}
    write("cron/jobs.json", json.dumps({"jobs": [job]}))
    write("skills/s/SKILL.md", f"---\nname: s\ndescription: Takes api_key {secret['front_matter']}.\n---\n")
    write("root/docs/a.md", f"# Setup\n\napi_key: {secret['markdown']}\n")
    write("root/scripts/a.sh", f"# Token {secret['comment']}.\nexport A_TOKEN={secret['variable']}\n")
    write("state/okfs/t.md", f"---\ntool: t\nschema_hash: x\naliases: ['use token {secret['alias']}']\n---\n")
    return tmp_path, secret


def test_no_planted_secret_is_stored_anywhere(planted):
    home, secret = planted
    library = hermes_lance.open(home)
    assert library.index_artifacts().total == 7
    library.index_artifacts(full=True)
    left: set[tuple[str, str]] = set()

    def look(where, text):
        left.update((where, place) for place, value in secret.items() if value in text.lower())

    tables = Tables(library.dataset)
    for name in ("artifacts", "edges"):
        for version in versions_on_disk(tables.folder / f"{name}.lance"):
            for batch in tables.read(name, schema.load(name).names, version=version):
                look(f"table {name}", json.dumps(batch.to_pylist(), ensure_ascii=False))
    for folder in (library.dataset / "lexical").glob("*/artifacts"):
        from hermes_lance.core.words import Analyser

        searcher = opened(folder, Analyser()).searcher()
        fields = layout("artifacts")
        for field in (*fields.analysed, *fields.raw, PAIRS, GRAMS):
            look(f"terms of {field}", "\n".join(term for term, _ in searcher.terms_with_prefix(field, "")))
    for path in library.dataset.rglob("*"):
        if path.is_file():
            look(f"bytes of {path.suffix}", path.read_bytes().decode("latin-1"))
    assert left == set()


def test_the_look_finds_what_is_there(planted):
    """The places are read at all: what may be stored is found in each of them."""
    home, _ = planted
    library = hermes_lance.open(home)
    library.index_artifacts()
    said = json.dumps([str(one) for one in library.snapshot().artifacts.all()])
    assert all(word in said for word in ("shelf", "SHELF_TOKEN", "far.example", "A_TOKEN", "Setup"))
