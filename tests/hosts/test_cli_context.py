"""`context`: exactly the block, or the stage that ended it, as text and as a document."""

from __future__ import annotations

import json

from hermes_lance.hosts.cli.main import run


def ask(capsys, *words):
    status = run([str(word) for word in words])
    return status, capsys.readouterr()


def test_the_block_is_printed_as_it_is(built, capsys):
    status, output = ask(capsys, "--home", built, "context", "when does the harbour office open?", "--mode", "always")
    assert status == 0
    assert output.out.startswith("[System note: ") and "[Workspace source: guide.md:" in output.out
    _, document = ask(
        capsys, "--home", built, "--json", "context", "when does the harbour office open?", "--mode", "always"
    )
    assert json.loads(document.out)["block"] + "\n" == output.out


def test_the_document_has_the_agreed_keys(built, capsys):
    _, output = ask(
        capsys, "--home", built, "context", "--json", "--mode", "gated", "when does the harbour office open?"
    )
    found = json.loads(output.out)
    assert list(found) == ["success", "injected", "stage", "reason", "block", "tokens", "sources"]
    assert list(found["sources"][0]) == ["path", "line_start", "line_end", "page_start", "generation", "sha256"]
    assert len(found["sources"][0]["sha256"]) == 64


def test_a_turn_without_context_names_the_stage_and_is_no_failure(built, capsys):
    status, output = ask(capsys, "--home", built, "context", "anything")
    assert status == 0 and "Ended by mode" in output.out and "workspace mode gated" in output.out.replace("\n ", "")


def test_history_is_read_from_a_file(built, capsys, tmp_path):
    file = tmp_path / "history.json"
    file.write_text('[{"role": "user", "content": [{"type": "text", "text": "the tides on Thursday"}]}]')
    words = ["context", "and when is it?", "--mode", "always", "--history", file]
    _, output = ask(capsys, "--home", built, "--json", *words)
    assert json.loads(output.out)["sources"][0]["path"] == "notes/tides.txt"


def test_a_history_that_is_none_is_refused_by_name(built, capsys, tmp_path):
    for content in ("{", '{"a": 1}', "[1]"):
        (tmp_path / "h.json").write_text(content)
        status, output = ask(capsys, "--home", built, "context", "x", "--history", tmp_path / "h.json")
        assert status == 2 and "h.json" in output.err
    status, output = ask(capsys, "--home", built, "context", "x", "--history", tmp_path / "none.json")
    assert status != 0 and "none.json" in output.err
