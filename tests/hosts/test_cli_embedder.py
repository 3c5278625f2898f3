"""`workspace embedder`: vectors of another embedder beside the old ones, one turn, the way back, and consent."""

from __future__ import annotations

import contextlib
import json
import random

import pytest
import yaml

from hermes_lance.hosts.cli import consent

CONFIG = "# mine\nmodel: x  # the host's\nknowledgebase:\n  # vectors\n  embedders: {active: builtin_hash}\n"


@pytest.fixture
def ready(cli, home):
    (home / "config.yaml").write_text(CONFIG, encoding="utf-8")
    assert cli("--home", home, "build", "--quiet").status == 0
    return home


@pytest.fixture
def embedder(cli, ready):
    return lambda *words: cli("--home", ready, "workspace", "embedder", *words)


def configured(home):
    return yaml.safe_load((home / "config.yaml").read_text(encoding="utf-8"))["knowledgebase"]["embedders"]


def questions(folder, rows):
    file = folder / "questions.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return file


def test_a_change_writes_the_configuration_between_its_comments_and_the_way_back_embeds_nothing(embedder, ready):
    before = embedder("show", "--json").json["active"]
    found = embedder("use", "builtin-hash", "--set", "dims=64", "--json").json
    assert (found["switched"], found["now"]["dimensions"], found["vectors_written"]) == (True, 64, before["vectors"])
    assert configured(ready) == {"active": "builtin_hash", "builtin_hash": {"dims": 64}}
    text = (ready / "config.yaml").read_text(encoding="utf-8")
    assert all(part in text for part in ("# mine", "# the host's", "  # vectors"))
    shown = embedder("show", "--json").json
    assert [one["dimensions"] for one in shown["earlier"]] == [1024] and shown["rollback"] == "builtin_hash"
    generation = int(found["generation"])
    back = embedder("rollback", "--json").json
    assert (back["switched"], back["now"]["dimensions"], back["vectors_written"]) == (True, 1024, 0)
    assert int(back["generation"]) == generation + 1, "one publication"
    assert configured(ready) == {"active": "builtin_hash"}


def test_texts_that_came_since_are_embedded_when_going_back(cli, embedder, ready):
    embedder("use", "builtin_hash", "--set", "dims=64")
    (ready / "workspace" / "late.txt").write_text("A walrus was late.", encoding="utf-8")
    cli("--home", ready, "build")
    assert embedder("rollback", "--json").json["vectors_written"] == 1
    hits = cli("--home", ready, "search", "walrus", "--mode", "dense", "--json").json["hits"]
    assert hits[0]["path"] == "late.txt"


def test_what_is_kept_goes_with_the_garbage_and_then_there_is_no_way_back(cli, embedder, ready):
    embedder("use", "builtin_hash", "--set", "dims=64")
    removed = cli("--home", ready, "generations", "gc", "--json").json["removed"]
    assert removed["vector_spaces"] == 1
    assert len(list((ready / "knowledgebase" / "indexes" / "lance").glob("vectors_*.lance"))) == 1
    assert embedder("show", "--json").json["earlier"] == []
    ending = embedder("rollback")
    assert (ending.status, "generations gc" in ending.err) == (2, True)
    assert all(one["ok"] for one in cli("--home", ready, "doctor", "--json").json["checks"])


def test_the_one_in_use_already_is_no_change(embedder, ready):
    found = embedder("use", "builtin_hash", "--json").json
    assert (found["success"], found["switched"], found["vectors_written"]) == (True, False, 0)
    assert "already" in embedder("use", "builtin_hash").out


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["use", "minillm"], 20, "minilm"),
        (["use", "builtin_hash", "--set", "dim=3"], 3, "did you mean dims?"),
        (["use", "builtin_hash", "--set", "dims"], 2, "KEY=VALUE"),
        (["use", "builtin_hash", "--set", "dims=many"], 3, "dims"),
        (["use", "builtin_hash", "--unless-worse", "nowhere"], 33, "nowhere"),
        (["rollback"], 2, "no earlier vectors"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_changed(embedder, ready, words, status, said):
    ending = embedder(*words)
    assert (ending.status, said in ending.err) == (status, True), ending.err
    assert (ready / "config.yaml").read_text(encoding="utf-8") == CONFIG
    assert embedder("show", "--json").json["active"]["dimensions"] == 1024


def test_a_variable_that_names_the_embedder_is_in_the_way_of_a_change(embedder, monkeypatch):
    monkeypatch.setenv("HERMES_LANCE_EMBEDDER", "builtin_hash")
    ending = embedder("use", "minilm")
    assert (ending.status, "HERMES_LANCE_EMBEDDER" in ending.err) == (2, True)


MANY = [
    ("a1.md", "The walrus sleeps on the ice."),
    ("a2.md", "Pelicans dive for herring."),
    ("a3.md", "The lighthouse keeper paints his door."),
    ("a4.md", "Rope is coiled beside the winch."),
]


def test_a_worse_one_does_not_turn_and_using_it_later_costs_nothing(cli, embedder, ready, tmp_path):
    # By vectors alone, which are the worse the fewer numbers they have for so many words.
    (ready / "config.yaml").write_text(f"{CONFIG}  search: {{dense_weight: 1.0}}\n", encoding="utf-8")
    draw = random.Random(5)
    every = ["".join(draw.sample("abcdefghiklmnoprstuvw", 9)) for _ in range(400)]
    rows = []
    for number in range(60):
        words = draw.sample(every, 12)
        (ready / "workspace" / f"n{number}.md").write_text(" ".join(words), encoding="utf-8")
        rows.append({"query": " ".join(draw.sample(words, 3)), "expected": f"n{number}.md"})
    cli("--home", ready, "build")
    file = questions(tmp_path, rows)
    text = (ready / "config.yaml").read_bytes()
    shown = embedder("show", "--json").json
    ending = embedder("use", "builtin_hash", "--set", "dims=32", "--unless-worse", file, "--json")
    assert (ending.status, ending.json["success"], ending.json["code"]) == (1, False, "worse")
    judged = ending.json["judgement"]
    assert judged["queries"] == 60 and judged["difference"] < 0 and judged["p_value"] < 0.05
    assert (ready / "config.yaml").read_bytes() == text
    after = embedder("show", "--json").json
    assert (after["active"], after["building"]) == (shown["active"], None)
    assert [(one["dimensions"], one["until"]) for one in after["earlier"]] == [(32, None)]
    assert (
        cli("--home", ready, "build", "--json").json["generation"]
        == cli("--home", ready, "status", "--json").json["generation"]
    )
    taken = embedder("use", "builtin_hash", "--set", "dims=32", "--json").json
    assert (taken["switched"], taken["vectors_written"]) == (True, 0)


def test_one_that_is_no_worse_turns_and_says_by_how_much(embedder, ready, tmp_path):
    file = questions(tmp_path, [{"query": "tide", "expected": ["notes/tides.txt"]}, {"query": "x", "expected": "gone"}])
    ending = embedder("use", "builtin_hash", "--set", "dims=512", "--unless-worse", file)
    assert ending.status == 0
    assert "not worse beyond noise. 1 question left" in " ".join(ending.out.split())
    assert configured(ready)["builtin_hash"] == {"dims": 512}


def test_a_judged_set_in_the_layout_of_beir_is_asked_as_well(embedder, ready, tmp_path):
    folder = tmp_path / "set"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        "\n".join(json.dumps({"_id": name, "text": text}) for name, text in MANY), encoding="utf-8"
    )
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "who paints a door"}), encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta3.md\t1\n", encoding="utf-8")
    found = embedder("use", "builtin_hash", "--set", "dims=256", "--unless-worse", folder, "--json").json
    assert (found["switched"], found["judgement"]["queries"], found["judgement"]["data"]) == (True, 1, "set")


@pytest.mark.parametrize(
    ("line", "said"),
    [("{", "not valid JSON"), ('{"query": "x"}', "not a question"), ('{"query": "x", "expected": "no"}', "is indexed")],
)
def test_questions_that_cannot_be_asked_are_refused_before_anything_turns(embedder, ready, tmp_path, line, said):
    file = tmp_path / "q.jsonl"
    file.write_text(line, encoding="utf-8")
    ending = embedder("use", "builtin_hash", "--set", "dims=64", "--unless-worse", file)
    assert (ending.status, said in ending.err) == (2, True), ending.err
    shown = embedder("show", "--json").json
    assert (shown["active"]["dimensions"], shown["building"]) == (1024, None)
    assert (ready / "config.yaml").read_text(encoding="utf-8") == CONFIG


def test_a_service_needs_its_own_yes_and_is_told_what_it_would_be_sent(embedder, ready):
    ending = embedder("use", "openai", "--yes")
    assert ending.status == 2 and "--send-text-to openai" in ending.err
    said = " ".join(ending.out.split())
    assert "Leaves this machine: passages and questions to api.openai.com (embedder openai)." in said
    assert "texts, about" in said and "tokens" in said and "$0.01" in said
    assert (ready / "config.yaml").read_text(encoding="utf-8") == CONFIG


def test_whoever_is_asked_and_says_nothing_has_said_no(embedder, ready, monkeypatch):
    monkeypatch.setattr(consent, "can_ask", lambda _: True)
    monkeypatch.setattr("click.confirm", lambda text, default: default)
    ending = embedder("use", "openai")
    assert (ending.status, "nothing was changed" in ending.out) == (1, True)
    assert (ready / "config.yaml").read_text(encoding="utf-8") == CONFIG


def test_a_service_without_its_key_changes_nothing(embedder, ready, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ending = embedder("use", "openai", "--yes", "--send-text-to", "openai")
    assert ending.status in (20, 22)
    assert (ready / "config.yaml").read_text(encoding="utf-8") == CONFIG


def test_a_server_on_this_machine_needs_no_consent_and_one_that_fails_puts_everything_back(embedder, ready):
    pytest.importorskip("openai")
    options = ["base_url=http://127.0.0.1:9/v1", "retries=0", "timeout=1", "model=m", "dimensions=8"]
    ending = embedder("use", "openai", *(word for one in options for word in ("--set", one)))
    assert (ending.status, "the configuration is as it was" in ending.err) == (22, True), ending.err
    assert (ready / "config.yaml").read_text(encoding="utf-8") == CONFIG
    shown = embedder("show", "--json").json
    assert (shown["active"]["dimensions"], shown["building"]) == (1024, None)


def test_while_another_process_writes_nothing_is_changed(embedder, ready):
    from hermes_lance.store.lock import writing

    with writing(ready / "knowledgebase" / "indexes", 0.0):
        ending = embedder("use", "builtin_hash", "--set", "dims=64", "--wait", "0")
    assert (ending.status, "as it was" in ending.err) == (11, True), ending.err
    assert (ready / "config.yaml").read_text(encoding="utf-8") == CONFIG


def test_a_change_that_is_stopped_says_how_to_go_on_and_how_to_give_it_up(cli, embedder, ready, monkeypatch):
    from hermes_lance.hosts.cli import embedder as door

    @contextlib.contextmanager
    def pressed(_):
        yield lambda: True

    with monkeypatch.context() as patch:
        patch.setattr(door, "interruptible", pressed)
        ending = embedder("use", "builtin_hash", "--set", "dims=64")
    assert ending.status == 130
    assert "`hermes-lance build` goes on" in ending.err and "embedder use builtin_hash` gives it up" in ending.err
    assert embedder("show", "--json").json["active"]["dimensions"] == 1024
    cli("--home", ready, "build")
    assert embedder("show", "--json").json["active"]["dimensions"] == 64


def test_status_tells_that_a_build_would_make_vectors_of_other_options(cli, ready):
    stale = lambda: cli("--home", ready, "status", "--json").json["stale"]  # noqa: E731
    assert stale() is False
    (ready / "config.yaml").write_text(f"{CONFIG[:-1][:-1]}, builtin_hash: {{dims: 64}}}}\n", encoding="utf-8")
    assert stale() is True
    cli("--home", ready, "build")
    assert stale() is False


def test_nothing_indexed_yet_means_only_the_configuration(cli, home):
    found = cli("--home", home, "workspace", "embedder", "use", "builtin_hash", "--set", "dims=64", "--json").json
    assert (found["success"], found["now"], configured(home)["builtin_hash"]) == (True, None, {"dims": 64})


def test_what_is_shown_fits_eighty_columns(embedder):
    embedder("use", "builtin_hash", "--set", "dims=64")
    for words in (["show"], ["rollback"], ["use", "openai"]):
        assert max(len(line) for line in embedder(*words).out.splitlines()) <= 80
