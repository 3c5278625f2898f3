"""Plugins of a home: found by name, loaded late, made in two ways, refused where they are not trusted."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import pytest

from hermes_lance.core import plugins
from hermes_lance.core.errors import ConfigError, PluginFailed, PluginMissing

CHUNKER = """
from hermes_lance.core.records import Piece

class Base:
    pass

class Lines(Base):
    name = "lines"
    media_types = ("*",)

    def __init__(self, size=1, target_tokens=0):
        self.size, self.target_tokens = size, target_tokens

    def signature(self):
        return f"lines/1:{self.size}"

    def pieces(self, document):
        return [Piece(0, len(document.text), "text")]

class Second(Lines):
    pass
"""


def put(home: Path, source: str, category: str = "chunkers", name: str = "lines", yaml: str | None = "") -> Path:
    """A plugin folder of a home."""
    folder = home / "plugins" / "workspace" / category / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text(textwrap.dedent(source), encoding="utf-8")
    if yaml is not None:
        (folder / "plugin.yaml").write_text(yaml, encoding="utf-8")
    return folder


def test_the_first_class_with_the_shape_of_the_category_is_the_plugin(tmp_path):
    put(tmp_path, CHUNKER, yaml="description: By line.\n")
    made = plugins.make("chunkers", "lines", {"size": 3}, home=tmp_path, offered={"target_tokens": 9, "other": 1})
    assert (type(made).__name__, made.size, made.target_tokens) == ("Lines", 3, 9)
    found = plugins.find("chunkers", "Lines", tmp_path)
    assert (found.source, found.description) == ("folder", "By line.")


def test_with_register_the_last_instance_counts_and_other_categories_do_no_harm(tmp_path):
    put(
        tmp_path,
        CHUNKER
        + """
def register(ctx):
    ctx.register_workspace_chunker(Lines(1))
    ctx.register_tool("anything", schema={})
    ctx.register_workspace_parser(object())
    ctx.register_workspace_chunker(Lines(**ctx.options))
""",
    )
    assert plugins.make("chunkers", "lines", {"size": 5}, home=tmp_path).size == 5


def test_a_register_that_registers_nothing_is_told_so(tmp_path):
    put(tmp_path, "def register(ctx):\n    ctx.register_workspace_parser(1)\n")
    with pytest.raises(PluginFailed, match=r"lines \(chunkers\).*register_workspace_chunker"):
        plugins.make("chunkers", "lines", home=tmp_path)


def test_a_subclass_of_the_contract_needs_methods_of_its_own(tmp_path):
    put(tmp_path, "from hermes_lance.core.contracts import Chunker\nclass Mine(Chunker):\n    name = 'mine'\n")
    with pytest.raises(PluginFailed, match=r"neither register\(ctx\) nor a class with signature\(\), pieces\(\)"):
        plugins.make("chunkers", "lines", home=tmp_path)


def test_what_a_plugin_lacks_of_its_contract_is_named(tmp_path):
    put(
        tmp_path,
        "class Mine:\n    def signature(self): return '1'\n    def pieces(self, document): return []\n",
    )
    with pytest.raises(PluginFailed, match="Mine lacks name, media_types"):
        plugins.make("chunkers", "lines", home=tmp_path)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\nimport no_such_package_at_all\n", "ModuleNotFoundError.*__init__.py, line 2"),
        ("x = 1\n\ndef f(:\n", "SyntaxError.*__init__.py, line 3"),
        ("from . import other\n", "ZeroDivisionError.*other.py, line 2"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3.*__init__.py, line 2"),
        ("def register(ctx):\n    ctx.nonsense\n", "AttributeError: ctx has no nonsense.*line 2"),
    ],
)
def test_whatever_is_wrong_in_a_plugin_is_said_with_file_and_line(tmp_path, source, said):
    folder = put(tmp_path, source)
    (folder / "other.py").write_text("x = 0\ny = 1 / x\n", encoding="utf-8")
    with pytest.raises(PluginFailed, match=rf"plugin lines \(chunkers\): {said}"):
        plugins.make("chunkers", "lines", home=tmp_path)


def test_a_plugin_that_has_failed_is_tried_again_when_it_is_mended(tmp_path):
    put(tmp_path, "raise ValueError('no')\n")
    with pytest.raises(PluginFailed):
        plugins.make("chunkers", "lines", home=tmp_path)
    put(tmp_path, CHUNKER)
    first = plugins.make("chunkers", "lines", home=tmp_path)
    put(tmp_path, CHUNKER.replace("lines/1", "lines/2"))
    os.utime(tmp_path / "plugins/workspace/chunkers/lines/__init__.py", ns=(1, 1))
    second = plugins.make("chunkers", "lines", home=tmp_path)
    assert (first.signature(), second.signature()) == ("lines/1:1", "lines/2:1")


def test_two_homes_of_one_process_have_plugins_of_their_own(tmp_path):
    for name in ("one", "two"):
        put(tmp_path / name, CHUNKER.replace("lines/1", name))
    made = [plugins.make("chunkers", "lines", home=tmp_path / name) for name in ("one", "two", "one")]
    assert [one.signature() for one in made] == ["one:1", "two:1", "one:1"]


def test_only_the_folder_of_the_home_is_looked_at(tmp_path, monkeypatch):
    put(tmp_path / "project", CHUNKER)
    put(tmp_path / "home" / "workspace", CHUNKER)
    monkeypatch.chdir(tmp_path / "project")
    with pytest.raises(PluginMissing) as caught:
        plugins.make("chunkers", "lines", home=tmp_path / "home")
    assert str(tmp_path / "home" / "plugins" / "workspace" / "chunkers") in str(caught.value)


def test_a_folder_is_run_only_when_it_is_named(tmp_path):
    put(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w').close()\n" + CHUNKER, name="other")
    put(tmp_path, CHUNKER)
    plugins.make("chunkers", "lines", home=tmp_path)
    plugins.find("chunkers", "other", tmp_path)
    assert not (tmp_path / "ran").exists()
    plugins.make("chunkers", "other", home=tmp_path)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["_lines", ".lines"])
def test_folders_that_begin_with_a_dot_or_an_underscore_are_no_plugins(tmp_path, name):
    put(tmp_path, CHUNKER, name=name)
    with pytest.raises(PluginMissing):
        plugins.make("chunkers", name, home=tmp_path)


def test_hyphen_underscore_and_case_make_no_other_name(tmp_path):
    put(tmp_path, CHUNKER, name="By-Lines")
    assert plugins.make("chunkers", " by_lines ", home=tmp_path).name == "lines"
    put(tmp_path, CHUNKER, name="by_lines")
    with pytest.raises(PluginFailed, match="By-Lines and by_lines have the same name"):
        plugins.make("chunkers", "by-lines", home=tmp_path)


def test_a_name_of_ours_is_ours_whatever_folders_there_are(tmp_path):
    put(tmp_path, "raise ValueError\n", name="headings")
    assert plugins.find("chunkers", "headings", tmp_path).source == "builtin"
    assert plugins.make("chunkers", "headings", home=tmp_path).name == "headings"


def test_an_unknown_option_is_named_with_the_nearest_known_one(tmp_path):
    put(tmp_path, CHUNKER)
    with pytest.raises(ConfigError, match=r"knowledgebase.chunkers.lines.sise .*did you mean size"):
        plugins.make("chunkers", "lines", {"sise": 3}, home=tmp_path)


def test_a_plugin_may_say_that_it_is_not_available(tmp_path):
    put(
        tmp_path,
        CHUNKER.replace("    def signature", "    def is_available(self):\n        return False\n\n    def signature"),
    )
    with pytest.raises(PluginMissing, match="says that it is not available"):
        plugins.make("chunkers", "lines", home=tmp_path)


posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")


@posix
@pytest.mark.parametrize(
    "place", ["plugins", "plugins/workspace/chunkers/lines", "plugins/workspace/chunkers/lines/plugin.yaml"]
)
def test_a_plugin_that_everybody_may_write_to_is_refused(tmp_path, place):
    put(tmp_path, CHUNKER)
    (tmp_path / place).chmod(0o777)
    with pytest.raises(PluginFailed, match="can be written by everybody") as caught:
        plugins.make("chunkers", "lines", home=tmp_path)
    assert "chmod o-w" in caught.value.hint
    (tmp_path / place).chmod(0o755)
    assert plugins.make("chunkers", "lines", home=tmp_path).name == "lines"


@posix
def test_a_link_that_leads_out_is_refused(tmp_path):
    elsewhere = put(tmp_path / "elsewhere", CHUNKER)
    place = tmp_path / "home" / "plugins" / "workspace" / "chunkers"
    place.mkdir(parents=True)
    (place / "lines").symlink_to(elsewhere)
    with pytest.raises(PluginFailed, match="a link that leads out"):
        plugins.make("chunkers", "lines", home=tmp_path / "home")
    folder = put(tmp_path / "home", CHUNKER, name="mine")
    (folder / "more.py").symlink_to(elsewhere / "__init__.py")
    with pytest.raises(PluginFailed, match=r"more.py is a link that leads out"):
        plugins.make("chunkers", "mine", home=tmp_path / "home")


@posix
def test_a_home_that_is_a_link_itself_has_its_plugins(tmp_path):
    put(tmp_path / "real", CHUNKER)
    (tmp_path / "home").symlink_to(tmp_path / "real")
    assert plugins.make("chunkers", "lines", home=tmp_path / "home").name == "lines"
