"""The frame of the command line: options in either place, one document, one line for an error, its status."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from hermes_lance.hosts.cli import main as command_line
from hermes_lance.hosts.cli.main import COMMANDS, cli, run

HEAVY = ["lancedb", "lance", "torch", "polars", "pyarrow", "numpy", "tantivy", "onnxruntime", "rich", "tokenizers"]
REPORT = f"""
import atexit, json, sys
from hermes_lance.hosts.cli.main import main
atexit.register(lambda: print("loaded", json.dumps([n for n in {HEAVY!r} if n in sys.modules]), file=sys.stderr))
main()
"""


def loaded(*arguments: object) -> list[str]:
    """Heavy packages that a command of its own imported; it must have gone well."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    last = [line for line in done.stderr.splitlines() if line.startswith("loaded ")][-1]
    found: list[str] = json.loads(last.removeprefix("loaded "))
    return found


def test_help_and_version_import_nothing_heavy():
    assert loaded("--help") == []
    assert loaded("--version") == []


def test_status_and_a_build_with_nothing_to_do_import_nothing_heavy(built):
    assert loaded("--home", built, "status") == []
    assert loaded("--home", built, "build") == []


def test_a_lexical_search_needs_tantivy_only(built):
    assert loaded("--home", built, "search", "--mode", "lexical", "harbour") == ["tantivy"]


NOT_FOR_WORDS = [
    "importlib.metadata", "ctypes", "tempfile", "shutil", "socket", "asyncio", "hermes_lance.core.build_records",
    "hermes_lance.ingest", "hermes_lance.models.load", "hermes_lance.parse", "hermes_lance.store.publish",
    "hermes_lance.store.lexical_writer", "hermes_lance.store.tables", "rich", "ruamel.yaml",
]  # fmt: skip
"""Modules that a search by words has no use for; each would cost one to twenty milliseconds of a tenth of a second."""


def test_a_lexical_search_loads_nothing_that_only_builds_and_models_need(built):
    code = (
        "import atexit, json, sys; from hermes_lance.hosts.cli.main import process;"
        f"loaded = lambda: [name for name in {NOT_FOR_WORDS!r} if name in sys.modules];"
        "atexit.register(lambda: print(json.dumps(loaded()), file=sys.stderr)); process()"
    )
    arguments = ["--home", str(built), "search", "--mode", "lexical", "--json", "harbour"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(done.stdout)["count"] > 0
    assert json.loads(done.stderr.splitlines()[-1]) == []


def test_without_a_configuration_file_no_yaml_is_loaded(home, tmp_path):
    code = (
        "import sys; from hermes_lance.hosts.cli.main import run;"
        f"status = run(['--home', {str(tmp_path / 'nothing')!r}, 'search', 'harbour', '--json']);"
        "sys.exit('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False).returncode == 0


@pytest.mark.parametrize("arguments", [["search", "harbour"], ["search"], ["search", "--as-of", "99999999", "harbour"]])
def test_a_process_ends_with_the_status_and_the_output_of_the_same_run_in_another(built, cli, arguments):
    inside = cli("--home", built, *arguments, "--json")
    code = (
        "import atexit; from hermes_lance.hosts.cli.main import process;"
        "atexit.register(print, 'what others registered'); process()"
    )
    command = [sys.executable, "-c", code, "--home", str(built), *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == inside.status
    document, last = done.stdout.splitlines()
    assert json.loads(document) == inside.json and last == "what others registered"


def test_a_run_in_a_host_leaves_the_environment_alone(built, cli):
    before = dict(os.environ)
    assert cli("--home", built, "search", "harbour").status == 0
    assert dict(os.environ) == before


def test_a_hybrid_search_does_without_lancedb(built):
    assert not {"lancedb", "lance", "pyarrow", "polars", "torch"} & set(loaded("--home", built, "search", "harbour"))


def test_help_tells_of_every_command_what_its_own_help_begins_with(cli):
    overview = cli("--help").out
    for name in COMMANDS:
        own = cli(name, "--help")
        assert own.status == 0
        assert own.out.startswith("Usage: ")
        assert name in overview


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in COMMANDS)], ids=" ".join)
def test_help_fits_80_columns(cli, arguments):
    assert max(map(len, cli(*arguments).out.splitlines())) <= 80


def test_global_options_are_accepted_before_and_after_the_command(cli, built):
    before = cli("--home", built, "--json", "search", "tide").json
    after = cli("search", "tide", "--json", "--home", built).json
    assert before == after
    assert before["success"]


def test_the_later_of_two_places_wins(cli, built, tmp_path):
    assert cli("--home", tmp_path, "search", "tide", "--home", built, "--json").status == 0


def test_the_home_comes_from_the_environment(cli, built, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(built))
    assert cli("status", "--json").json["home"] == str(built)


def test_version_is_text_or_a_document(cli):
    assert cli("--version").out == "hermes-lance 0.1.0\n"
    assert cli("--version", "--json").json == {"success": True, "version": "0.1.0"}
    assert cli("search", "--version").out == "hermes-lance 0.1.0\n"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["bogus"], "bogus"),
        (["serch"], "did you mean 'search'"),
        (["search", "--bogus", "x"], "--bogus"),
        (["search"], "QUERY"),
        (["search", "x", "--limit", "0"], "--limit"),
        (["search", "x", "--mode", "psychic"], "--mode"),
        (["generations", "bogus"], "bogus"),
        (["--wait", "-1", "status"], "--wait"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(cli, arguments, word):
    text = cli(*arguments)
    assert text.status == 2
    assert text.out == ""
    assert text.err.startswith("Error: ") and text.err.count("\n") == 1
    assert word in text.err
    document = cli("--json", *arguments)
    assert document.status == 2
    assert document.err == ""
    assert set(document.json) == {"success", "error", "code", "hint"}
    assert document.json["success"] is False and document.json["code"] == "usage"
    assert word in document.json["error"]


def test_no_command_shows_the_help_and_is_wrong_use(cli):
    assert "Commands:" in cli().err
    assert cli().status == 2
    assert cli("--json").json["code"] == "usage"


def test_help_as_json_is_one_document(cli):
    assert "QUERY" in cli("search", "--json", "--help").json["help"]


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["search", "x"], 10, "dataset-missing"),
        (["generations", "list"], 10, "dataset-missing"),
        (["generations", "gc"], 10, "dataset-missing"),
        (["build", "no-such-folder"], 33, "file-missing"),
        (["status", "--dataset", "no-such-folder"], 33, "file-missing"),
        (["--config", "no-such-file", "status"], 3, "config"),
    ],
)
def test_an_error_has_its_code_and_status(cli, home, arguments, status, code):
    text = cli("--home", home, *arguments)
    assert text.status == status
    assert text.out == ""
    assert text.err.startswith("Error: ") and text.err.count("\n") == 1
    document = cli("--home", home, "--json", *arguments)
    assert document.status == status
    assert document.json["code"] == code
    assert document.json["hint"]


def test_a_broken_configuration_is_one_line(cli, home):
    (home / "config.yaml").write_text("knowledgebase: [\n", encoding="utf-8")
    ending = cli("--home", home, "status")
    assert ending.status == 3
    assert "config.yaml" in ending.err and ending.err.count("\n") == 1


def test_what_nobody_expected_is_one_line_with_its_type(cli, built, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a bug\nin two lines")

    monkeypatch.setattr("hermes_lance.library.Library.status", broken)
    ending = cli("--home", built, "status")
    assert ending.status == 1
    assert ending.err == "Error: ZeroDivisionError: a bug in two lines. Run with --verbose for the traceback.\n"
    assert "Traceback" in cli("--home", built, "status", "--verbose").err
    assert cli("--home", built, "status", "--verbose", "--json").json["code"] == "unexpected"


def test_main_honours_the_arguments_and_can_be_called_again(built, monkeypatch, capsys):
    for _ in range(2):
        monkeypatch.setattr(sys, "argv", ["hermes-lance", "--home", str(built), "search", "tide", "--json"])
        with pytest.raises(SystemExit) as ending:
            command_line.main()
        assert ending.value.code == 0
        assert json.loads(capsys.readouterr().out)["count"] > 0
    monkeypatch.setattr(sys, "argv", ["hermes-lance", "--version"])
    with pytest.raises(SystemExit):
        command_line.main()
    assert capsys.readouterr().out == "hermes-lance 0.1.0\n"


def test_nothing_is_left_behind_between_runs(cli, built):
    assert json.loads(cli("--home", built, "--json", "status").out)
    assert cli("--home", built, "status").out.startswith("Home")


def test_a_reader_that_goes_away_ends_the_run_quietly(built):
    command = [sys.executable, "-m", "hermes_lance", "--home", str(built), "status", "--files"]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_an_output_that_is_full_is_an_error_in_one_line(built):
    command = [sys.executable, "-m", "hermes_lance", "--home", str(built), "status", "--json"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"Error: output: ") and done.stderr.count(b"\n") == 1


def test_no_streams_at_all_are_no_trouble(built):
    command = f"{sys.executable} -m hermes_lance --home '{built}' status >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], timeout=60, check=False).returncode == 0


def test_an_ascii_console_shows_escapes_and_json_stays_utf_8(built, shell):
    env = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    text = shell("--home", built, "search", "港口", env=env)
    assert text.status == 0
    assert text.out.isascii() and "\\u6e2f" in text.out
    assert "港口" in shell("--home", built, "search", "港口", "--json", env=env).out


def test_an_argument_that_is_not_utf_8_is_shown_and_not_fatal(built):
    command = [os.fsencode(sys.executable), b"-m", b"hermes_lance", b"--home", os.fsencode(built)]
    for tail in ([b"search", b"caf\xe9", b"--json"], [b"why", b"caf\xe9", b"--json"]):
        done = subprocess.run([*command, *tail], capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert "caf\\xe9" in json.loads(done.stdout.decode("utf-8")).get("query", "caf\\xe9")
    done = subprocess.run([*command, b"caf\xe9"], capture_output=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1


def test_every_command_of_the_list_is_there():
    assert cli.list_commands(None) == list(COMMANDS)  # type: ignore[arg-type]
    assert run(["--quiet", "--version"]) == 0
