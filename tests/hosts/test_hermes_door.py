"""The plugin folder itself: what it registers, with the package and without it, as a module and as a copy."""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextvars
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import types
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import hermes_lance
from hermes_lance.hosts import hermes
from hermes_lance.hosts.hermes import absence, commands
from hermes_lance.hosts.hermes.home import hermes_home

FOLDER = Path(hermes.__file__).parent
ENTRY_POINT = "hermes-lance"


class Context:
    """Keeps what a plugin registers; has only the capabilities that are named."""

    def __init__(self, *capabilities: str) -> None:
        self.seen: dict[str, list[dict[str, object]]] = {}
        for name in capabilities or ("register_tool", "register_cli_command", "register_command"):
            setattr(self, name, lambda _name=name, **facts: self.seen.setdefault(_name, []).append(facts))


# -- what it registers ---------------------------------------------------------------------------------------------


def test_register_offers_the_tool_and_both_commands():
    context = Context()
    hermes.register(context)
    (tool,) = context.seen["register_tool"]
    assert (tool["name"], tool["toolset"]) == ("workspace", "workspace")
    assert tool["schema"]["name"] == "workspace" and "type" not in tool["schema"], "the host adds the wrapper"  # type: ignore[index, operator]
    assert [one["name"] for one in context.seen["register_cli_command"]] == ["workspace"]
    assert [one["name"] for one in context.seen["register_command"]] == ["workspace"]


@pytest.mark.parametrize("capability", ["register_tool", "register_cli_command", "register_command", "nothing_known"])
def test_a_host_may_lack_any_capability(capability):
    context = Context(capability)
    hermes.register(context)
    assert set(context.seen) == {capability} - {"nothing_known"}


def test_register_asks_no_network(monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("register() opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    context = Context()
    hermes.register(context)
    assert "register_tool" in context.seen


def test_register_loads_nothing_heavy():
    ask = (
        "import sys, types; from hermes_lance.hosts import hermes\n"
        "hermes.register(types.SimpleNamespace(register_tool=lambda **_: None))\n"
        "print([m for m in ('lancedb', 'pyarrow', 'tantivy', 'onnxruntime', 'numpy', 'polars', 'click', 'yaml') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=True, env=with_package(), timeout=60
    )
    assert done.stdout.strip() == "[]"


# -- the files of the folder ---------------------------------------------------------------------------------------


def test_the_manifest_and_the_entry_point_have_one_name_and_the_version_is_ours():
    manifest = yaml.safe_load((FOLDER / "plugin.yaml").read_text(encoding="utf-8"))
    assert manifest["name"] == ENTRY_POINT
    assert manifest["kind"] == "standalone"
    assert manifest["version"] == hermes_lance.__version__
    assert "manifest_version" not in manifest, "version 2 is refused by `hermes plugins install`"
    assert manifest["provides_tools"] == ["workspace"]
    (entry,) = metadata.entry_points(group="hermes_agent.plugins", name=ENTRY_POINT)
    assert entry.value == "hermes_lance.hosts.hermes"
    assert callable(entry.load().register)


def test_no_word_in_the_front_makes_the_host_take_it_for_a_memory_provider():
    # 0.19.0 looks for these in the first 8,192 bytes when a manifest gives no kind.
    front = (FOLDER / "__init__.py").read_text(encoding="utf-8")
    assert "MemoryProvider" not in front and "register_memory_provider" not in front


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.name)
def test_outside_functions_the_folder_imports_itself_relatively_and_the_package_not_at_all(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    inside = {child for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for child in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level <= 1, f"{file.name}:{node.lineno} reaches out of the folder"
            ours = node.level == 0 and (node.module or "").startswith("hermes_lance")
        elif isinstance(node, ast.Import):
            ours = any(alias.name.startswith("hermes_lance") for alias in node.names)
        else:
            continue
        assert not ours or node in inside, f"{file.name}:{node.lineno} needs the package when it is loaded"


# -- a copy of the folder, the package hidden ----------------------------------------------------------------------

LOAD_A_COPY = """
import argparse, asyncio, contextlib, importlib.util, io, json, sys, types

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
sys.modules["hermes_plugins"] = types.ModuleType("hermes_plugins")
spec = importlib.util.spec_from_file_location(
    "hermes_plugins.hermes_lance", {folder!r} + "/__init__.py", submodule_search_locations=[{folder!r}])
plugin = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)
seen = {{}}
class Context:
    def __getattr__(self, kind):
        return lambda *names, **facts: seen.__setitem__(kind, facts)
plugin.register(Context())
parser = argparse.ArgumentParser()
seen["register_cli_command"]["setup_fn"](parser)
said = io.StringIO()
with contextlib.redirect_stderr(said):
    try:
        seen["register_cli_command"]["handler_fn"](parser.parse_args(["status", "--json"]))
        status = None
    except SystemExit as ending:
        status = ending.code
chat = asyncio.run(seen["register_command"]["handler"]("status"))
print(json.dumps({{"kinds": sorted(seen), "status": status, "terminal": said.getvalue(), "chat": chat}}))
"""


def load_a_copy(tmp_path: Path, *hidden: str) -> dict[str, object]:
    folder = tmp_path / "plugins" / "hermes-lance"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    program = LOAD_A_COPY.format(folder=str(folder), hidden=hidden)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=with_package(), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    loaded: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return loaded


def with_package() -> dict[str, str]:
    """An environment in which a child finds the package that is under test, wherever it stands."""
    return {**os.environ, "PYTHONPATH": str(Path(hermes_lance.__file__).parent.parent)}


def test_without_the_package_both_commands_answer_with_the_line_that_installs_it(tmp_path):
    loaded = load_a_copy(tmp_path, "hermes_lance")
    assert loaded["kinds"] == ["register_cli_command", "register_command"]
    assert loaded["status"] == 1
    for said in (loaded["terminal"], loaded["chat"]):
        assert f"{sys.executable} -m pip install hermes-lance" in str(said)
        assert str(said).count("install hermes-lance") == 1 and "Traceback" not in str(said)


def test_a_copy_beside_the_installed_package_offers_the_tool(tmp_path):
    assert "register_tool" in load_a_copy(tmp_path)["kinds"]  # type: ignore[operator]


def test_a_missing_dependency_of_the_package_is_named_with_the_same_line(tmp_path):
    loaded = load_a_copy(tmp_path, "click")
    assert "register_tool" in loaded["kinds"]  # type: ignore[operator]
    assert loaded["status"] == 1
    for said in (loaded["terminal"], loaded["chat"]):
        assert "package click" in str(said) and f"{sys.executable} -m pip install hermes-lance" in str(said)


def test_an_environment_without_pip_is_served_by_uv(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None)
    assert absence.install_command() == f"uv pip install --python {sys.executable} hermes-lance"


def test_an_interpreter_with_a_blank_in_its_path_is_quoted(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/opt/my python/bin/python")
    assert absence.install_command().startswith("'/opt/my python/bin/python' -m pip install")


# -- commands ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ([], ["workspace", "status"]),
        (["--json"], ["workspace", "status", "--json"]),
        (["--help"], ["workspace", "--help"]),
        (["retrieve", "a b", "--limit", "3"], ["workspace", "retrieve", "a b", "--limit", "3"]),
        (["--json", "list"], ["workspace", "--json", "list"]),
        (["why", "a.md"], ["why", "a.md"]),
        (["doctor", "--fix"], ["doctor", "--fix"]),
        (["delete", "a.md"], ["workspace", "delete", "a.md"]),
        (["forget", "a.md", "--purge"], ["forget", "a.md", "--purge"]),
        (["verify", "a.md:3"], ["verify", "a.md:3"]),
    ],
)
def test_words_are_handed_on_and_none_means_status(typed, words):
    assert commands.command_words(typed) == words


@pytest.mark.parametrize(
    "typed", [[], ["--json", "status"], ["--help"], ["retrieve", "--", "-x"], ["a", "-m", "gpt", "--yolo"]]
)
def test_the_parser_of_the_host_leaves_every_word_to_us(typed):
    parser = argparse.ArgumentParser()
    below = parser.add_subparsers(dest="command")
    ours = below.add_parser("workspace")
    commands.set_up(ours)
    ours.set_defaults(func=print)
    taken = parser.parse_args(["workspace", *typed])
    assert getattr(taken, commands.WORDS) == typed
    assert taken.func is print and taken.command == "workspace"


def test_the_terminal_ends_with_the_status_of_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    with pytest.raises(SystemExit) as ending:
        commands.run_in_terminal(argparse.Namespace(**{commands.WORDS: ["retrieve", "x", "--json"]}))
    assert ending.value.code == 10
    assert json.loads(capsys.readouterr().out)["code"] == "dataset-missing"


def test_a_chat_gets_the_text_and_a_status_that_is_not_zero(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", with_package()["PYTHONPATH"])
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    # A long path is folded at 80 columns.
    assert str(tmp_path) in "".join(asyncio.run(commands.run_in_chat("")).split())
    failed = asyncio.run(commands.run_in_chat("retrieve what's new"))
    assert failed.startswith("Error: ") and failed.endswith("(exit status 10)")
    assert "\x1b" not in failed and "Traceback" not in failed


# -- home ----------------------------------------------------------------------------------------------------------


def test_the_home_is_the_one_that_the_host_resolves_in_this_context(monkeypatch):
    override: contextvars.ContextVar[str] = contextvars.ContextVar("override", default="/homes/default")
    host = types.ModuleType("hermes_constants")
    host.get_hermes_home = lambda: Path(override.get())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hermes_constants", host)
    assert hermes_home() == Path("/homes/default")
    override.set("/homes/other")
    assert hermes_home() == Path("/homes/other")


def test_without_a_host_the_home_is_the_usual_one(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "hermes_constants", None)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    assert hermes_home() == tmp_path


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["index"], ["workspace", "index", "--background"]),
        (["index", "--full", "a b"], ["workspace", "index", "--background", "--full", "a b"]),
        (["--json", "index"], ["workspace", "--json", "index", "--background"]),
        (["retrieve", "index"], ["workspace", "retrieve", "index"]),
        (["why", "index"], ["why", "index"]),
        ([], ["workspace", "status"]),
    ],
)
def test_a_build_from_a_chat_gives_way_to_the_chats(words, given):
    assert commands.giving_way(commands.command_words(words)) == given


def test_a_setup_in_a_chat_says_that_it_needs_a_terminal_and_takes_flags_instead(home):
    said = commands.reply("setup", home)
    assert "no terminal" in said and "--yes" in said and "(exit status 2)" in said
    assert "Nothing leaves this machine." in commands.reply("setup --yes --mode off", home)
    assert "retrieval mode off" in commands.reply("status", home)
